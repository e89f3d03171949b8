// SPDX-License-Identifier: Apache-2.0
#include "proto/exchange/messages.h"

#include <openssl/err.h>
#include <openssl/evp.h>

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/record.h"
#include "proto/envelope/secret.h"

namespace sideband::exchange {
namespace {

template <typename Digest>
absl::StatusOr<Digest> DigestOf(const EVP_MD* algorithm, ByteSpan bytes) {
  Digest digest{};
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, algorithm, nullptr) != 1) {
    return absl::InternalError("OpenSSL cannot make a digest");
  }
  return digest;
}

constexpr char kThisProgram[] = "/proc/self/exe";
constexpr size_t kProgramBytesMax = size_t{1} << 30;

constexpr size_t kPemBytesMax = 1 << 20;

absl::Status NotIdentity(const std::string& path, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", why));
}

// P-256 and P-384.
bool IsUsable(EVP_PKEY* key) {
  const int bits = EVP_PKEY_get_bits(key);
  return EVP_PKEY_get_base_id(key) == EVP_PKEY_EC && (bits == 256 || bits == 384);
}

absl::StatusOr<KeyPtr> LoadKey(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(std::string pem, ReadFile(path, kPemBytesMax, FileTrust::kPrivate));
  const envelope::ScopedWipe wipe(pem);
  KeyPtr key = ReadPrivateKey(MemoryReader(pem).get());
  ERR_clear_error();
  if (key == nullptr) return NotIdentity(path, "no private key in PEM form, or an encrypted one");
  if (!IsUsable(key.get())) return NotIdentity(path, "not a key on P-256 or P-384");
  return key;
}

bool IsSigned(EVP_PKEY* key, ByteSpan text, ByteSpan signature) {
  const DigestContextPtr context(EVP_MD_CTX_new());
  return context != nullptr && EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha384(), nullptr, key) == 1 &&
         EVP_DigestVerify(context.get(), signature.data(), signature.size(), text.data(), text.size()) == 1;
}

// Reads a field of fixed size. Past the end, the array keeps what it has, and `in` is no longer ok().
template <typename Array>
void ReadInto(ByteReader& in, Array& array) {
  std::ranges::copy(in.Raw(array.size()), array.begin());
}

using attestation::EvidenceKind;

constexpr uint8_t kRequestMagic[] = {'S', 'B', 'X', 'Q'};
constexpr uint8_t kRequestVersion = 1;
constexpr size_t kKindBytes = sizeof(kRequestMagic) + 4;

absl::Status MalformedRequest(absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("exchange request: ", why));
}

// Everything but the evidence and its length.
void WriteBound(const ExchangeRequest& request, ByteWriter& out) {
  out.Raw(kRequestMagic);
  out.U8(kRequestVersion);
  out.U8(envelope::kSuiteHpke);
  out.U16(static_cast<uint16_t>(request.kind));
  out.Raw(request.device.bytes);
  out.Raw(request.vm.bytes);
  out.Raw(request.public_key);
  out.Raw(request.nonce);
  out.Raw(request.challenge);
}

absl::StatusOr<EvidenceKind> ReadEvidenceKind(ByteReader& in) {
  if (!std::ranges::equal(in.Raw(sizeof(kRequestMagic)), kRequestMagic)) return MalformedRequest("no such thing");
  if (in.U8() != kRequestVersion) return MalformedRequest("of an unknown version");
  if (in.U8() != envelope::kSuiteHpke) return MalformedRequest("of another suite");
  const auto kind = static_cast<EvidenceKind>(in.U16());
  if (kind != EvidenceKind::kTest && kind != EvidenceKind::kSevSnp)
    return MalformedRequest("with an unknown kind of evidence");
  return kind;
}

constexpr uint8_t kStatementMagic[] = {'S', 'B', 'X', 'S'};
constexpr uint8_t kStatementVersion = 1;

absl::Status MalformedAnswer(absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("exchange answer: ", why));
}

absl::StatusOr<SealerKind> ReadSealerKind(ByteReader& in) {
  if (!std::ranges::equal(in.Raw(sizeof(kStatementMagic)), kStatementMagic)) return MalformedAnswer("no such thing");
  if (in.U8() != kStatementVersion) return MalformedAnswer("of an unknown version");
  if (in.U8() != envelope::kSuiteHpke) return MalformedAnswer("of another suite");
  const auto sealer = static_cast<SealerKind>(in.U8());
  if (in.U8() != 0 || (sealer != SealerKind::kDaemon && sealer != SealerKind::kDevice)) {
    return MalformedAnswer("of an unknown kind of sealer");
  }
  return sealer;
}

void Labelled(absl::string_view label, ByteSpan bytes, ByteWriter& out) {
  out.Raw({reinterpret_cast<const uint8_t*>(label.data()), label.size()});
  out.Raw(bytes);
}

ByteSpan Sized16(ByteReader& in) { return in.Raw(in.U16()); }

}  // namespace

absl::StatusOr<Sha256Digest> Sha256(ByteSpan bytes) { return DigestOf<Sha256Digest>(EVP_sha256(), bytes); }

absl::StatusOr<Sha512Digest> Sha512(ByteSpan bytes) { return DigestOf<Sha512Digest>(EVP_sha512(), bytes); }

absl::StatusOr<Sha384Digest> MeasureThisProgram() {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string program, ReadFile(kThisProgram, kProgramBytesMax));
  return DigestOf<Sha384Digest>(EVP_sha384(), AsBytes(program));
}

absl::StatusOr<SealerIdentity> SealerIdentity::Load(const std::string& certificate_file, const std::string& key_file) {
  SIDEBAND_ASSIGN_OR_RETURN(const CertificateChain chain, LoadCertificates(certificate_file));
  if (chain.size() > kCertificatesMax) return NotIdentity(certificate_file, "more than 8 certificates");
  SIDEBAND_ASSIGN_OR_RETURN(KeyPtr key, LoadKey(key_file));
  if (X509_check_private_key(chain.front().get(), key.get()) != 1) {
    ERR_clear_error();
    return NotIdentity(key_file, absl::StrCat("not the key of ", certificate_file));
  }
  std::vector<Bytes> certificates;
  for (const CertificatePtr& certificate : chain) certificates.push_back(ToDer(*certificate));
  return SealerIdentity(std::move(certificates), std::move(key));
}

absl::StatusOr<Bytes> SealerIdentity::Sign(ByteSpan text) const {
  const DigestContextPtr context(EVP_MD_CTX_new());
  size_t size = static_cast<size_t>(EVP_PKEY_get_size(key_.get()));
  Bytes signature(size);
  if (context == nullptr || EVP_DigestSignInit(context.get(), nullptr, EVP_sha384(), nullptr, key_.get()) != 1 ||
      EVP_DigestSign(context.get(), signature.data(), &size, text.data(), text.size()) != 1) {
    return absl::InternalError("OpenSSL cannot sign");
  }
  signature.resize(size);
  return signature;
}

absl::Status VerifySigned(const CertificateRoots& roots, const std::vector<ByteSpan>& certificates, ByteSpan text,
                          ByteSpan signature, std::optional<absl::Time> now) {
  CertificateChain chain;
  for (const ByteSpan der : certificates) {
    chain.push_back(FromDer(der));
    if (chain.back() == nullptr) return absl::PermissionDeniedError("the sealer's certificate is malformed");
  }
  if (const absl::Status trusted = roots.Verify(chain, now); !trusted.ok()) {
    return absl::PermissionDeniedError(absl::StrCat("the sealer's certificate is not trusted: ", trusted.message()));
  }
  EVP_PKEY* const key = X509_get0_pubkey(chain.front().get());
  if (key != nullptr && IsUsable(key) && IsSigned(key, text, signature)) return absl::OkStatus();
  ERR_clear_error();
  return absl::PermissionDeniedError("the sealer's signature is not of its certificate");
}

bool IsOfDevice(ByteSpan der, const Uuid& device) {
  const CertificatePtr certificate = FromDer(der);
  if (certificate == nullptr) return false;
  const GeneralNamesPtr names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate.get(), NID_subject_alt_name, nullptr, nullptr)));
  const std::string expected = absl::StrCat("urn:uuid:", device.ToString());
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_URI) continue;
    const ASN1_IA5STRING* const uri = name->d.uniformResourceIdentifier;
    const absl::string_view text(reinterpret_cast<const char*>(ASN1_STRING_get0_data(uri)),
                                 static_cast<size_t>(ASN1_STRING_length(uri)));
    if (text == expected) return true;
  }
  return false;
}

Bytes EncodeRequest(const ExchangeRequest& request) {
  ByteWriter out;
  WriteBound(request, out);
  out.U32(static_cast<uint32_t>(request.evidence.size()));
  out.Raw(request.evidence);
  return std::move(out).Take();
}

absl::StatusOr<ExchangeRequest> ParseRequest(ByteSpan bytes) {
  if (bytes.size() > kRequestBytesMax) return MalformedRequest("too long");
  ByteReader in(bytes);
  ExchangeRequest request;
  SIDEBAND_ASSIGN_OR_RETURN(request.kind, ReadEvidenceKind(in));
  if (in.remaining() < kRequestFixedBytes - kKindBytes) return MalformedRequest("truncated");
  ReadInto(in, request.device.bytes);
  ReadInto(in, request.vm.bytes);
  ReadInto(in, request.public_key);
  ReadInto(in, request.nonce);
  ReadInto(in, request.challenge);
  if (in.U32() != in.remaining()) return MalformedRequest("of another size than its evidence");
  if (request.nonce == envelope::GuestNonce{}) return MalformedRequest("without a nonce");
  const ByteSpan evidence = in.Raw(in.remaining());
  request.evidence.assign(evidence.begin(), evidence.end());
  return request;
}

absl::StatusOr<ReportData> ReportDataOf(const ExchangeRequest& request) {
  ByteWriter out;
  static const std::string kLabel = "sideband/2 evidence";
  out.Raw(AsBytes(kLabel));
  WriteBound(request, out);
  return Sha512(out.written());
}

const char* SealerName(SealerKind kind) { return kind == SealerKind::kDevice ? "device" : "daemon"; }

Bytes EncodeStatement(const Statement& statement) {
  ByteWriter out;
  out.Raw(kStatementMagic);
  out.U8(kStatementVersion);
  out.U8(envelope::kSuiteHpke);
  out.U8(static_cast<uint8_t>(statement.sealer));
  out.U8(0);
  out.Raw(statement.device.bytes);
  out.U64(statement.boot_id);
  out.Raw(statement.vm.bytes);
  out.U32(statement.generation);
  out.Raw(statement.enc);
  out.Raw(statement.measurement);
  out.Raw(statement.request);
  out.U16(static_cast<uint16_t>(statement.events.size()));
  for (const std::string& event : statement.events) out.String(event);
  return std::move(out).Take();
}

absl::StatusOr<Statement> ParseStatement(ByteSpan bytes) {
  ByteReader in(bytes);
  Statement statement;
  SIDEBAND_ASSIGN_OR_RETURN(statement.sealer, ReadSealerKind(in));
  ReadInto(in, statement.device.bytes);
  statement.boot_id = in.U64();
  ReadInto(in, statement.vm.bytes);
  statement.generation = in.U32();
  ReadInto(in, statement.enc);
  ReadInto(in, statement.measurement);
  ReadInto(in, statement.request);
  const size_t events = in.U16();
  if (events > kStatementEventsMax) return MalformedAnswer("too many events");
  for (size_t i = 0; i < events && in.ok(); ++i) statement.events.push_back(in.String());
  if (!in.ok() || in.remaining() != 0) return MalformedAnswer("a statement of a wrong length");
  return statement;
}

Bytes EncodeAnswer(ByteSpan statement, const std::vector<Bytes>& certificates, ByteSpan signature) {
  ByteWriter out;
  out.U32(static_cast<uint32_t>(statement.size()));
  out.Raw(statement);
  out.U8(static_cast<uint8_t>(certificates.size()));
  for (const Bytes& certificate : certificates) {
    out.U16(static_cast<uint16_t>(certificate.size()));
    out.Raw(certificate);
  }
  out.U16(static_cast<uint16_t>(signature.size()));
  out.Raw(signature);
  return std::move(out).Take();
}

absl::StatusOr<AnswerView> ParseAnswer(ByteSpan bytes) {
  if (bytes.size() > kAnswerBytesMax) return MalformedAnswer("too long");
  ByteReader in(bytes);
  AnswerView answer;
  answer.statement = in.Raw(in.U32());
  const size_t certificates = in.U8();
  if (certificates == 0 || certificates > kCertificatesMax) return MalformedAnswer("no such number of certificates");
  for (size_t i = 0; i < certificates; ++i) answer.certificates.push_back(Sized16(in));
  answer.signature = Sized16(in);
  if (!in.ok() || in.remaining() != 0) return MalformedAnswer("of a wrong length");
  return answer;
}

Bytes HpkeInfo(const Sha256Digest& request) {
  ByteWriter out;
  Labelled("sideband/2 exchange", request, out);
  return std::move(out).Take();
}

absl::StatusOr<Bytes> ExportContext(ByteSpan statement) {
  SIDEBAND_ASSIGN_OR_RETURN(const Sha256Digest digest, Sha256(statement));
  ByteWriter out;
  Labelled("sideband/2 root", digest, out);
  return std::move(out).Take();
}

}  // namespace sideband::exchange
