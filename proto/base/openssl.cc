// SPDX-License-Identifier: Apache-2.0
#include "proto/base/openssl.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <ctime>

#include "absl/strings/str_cat.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband {
namespace {

constexpr size_t kPemBytesMax = 1 << 20;

// Without it OpenSSL would ask for a pass phrase on the terminal.
int NoPassPhrase(char* /*buffer*/, int /*size*/, int /*is_writing*/, void* /*argument*/) { return -1; }

using StackPtr = std::unique_ptr<STACK_OF(X509), decltype([](STACK_OF(X509) * stack) { sk_X509_free(stack); })>;

// A stack that does not own its certificates.
StackPtr StackOf(const CertificateChain& chain) {
  StackPtr stack(sk_X509_new_null());
  for (const CertificatePtr& certificate : chain) sk_X509_push(stack.get(), certificate.get());
  return stack;
}

std::optional<absl::Time> TimeOf(const ASN1_TIME* time) {
  std::tm utc{};
  if (ASN1_TIME_to_tm(time, &utc) != 1) return std::nullopt;
  return absl::FromTM(utc, absl::UTCTimeZone());
}

}  // namespace

BioPtr MemoryReader(absl::string_view bytes) {
  return BioPtr(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
}

CertificatePtr ReadCertificate(BIO* reader) {
  return CertificatePtr(PEM_read_bio_X509(reader, nullptr, NoPassPhrase, nullptr));
}

KeyPtr ReadPrivateKey(BIO* reader) { return KeyPtr(PEM_read_bio_PrivateKey(reader, nullptr, NoPassPhrase, nullptr)); }

absl::Status OpenSslFailed(absl::string_view what) {
  ERR_clear_error();
  return absl::InternalError(absl::StrCat("OpenSSL could not ", what));
}

absl::StatusOr<CertificateChain> LoadCertificates(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string pem, ReadFile(path, kPemBytesMax));
  const BioPtr reader = MemoryReader(pem);
  CertificateChain certificates;
  while (CertificatePtr certificate = ReadCertificate(reader.get())) certificates.push_back(std::move(certificate));
  ERR_clear_error();
  if (certificates.empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": no certificate in PEM form"));
  return certificates;
}

absl::Time NotAfter(const X509* certificate) {
  return TimeOf(X509_get0_notAfter(certificate)).value_or(absl::InfinitePast());
}

std::string UtcText(const ASN1_TIME* time) {
  const std::optional<absl::Time> at = TimeOf(time);
  return at ? absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", *at, absl::UTCTimeZone()) : "an unknown time";
}

Bytes ToDer(const X509& certificate) {
  Bytes der(static_cast<size_t>(i2d_X509(&certificate, nullptr)));
  uint8_t* out = der.data();
  i2d_X509(&certificate, &out);
  return der;
}

CertificatePtr FromDer(ByteSpan der) {
  const uint8_t* in = der.data();
  CertificatePtr certificate(d2i_X509(nullptr, &in, static_cast<long>(der.size())));
  ERR_clear_error();
  return certificate != nullptr && in == der.data() + der.size() ? std::move(certificate) : nullptr;
}

absl::StatusOr<CertificateRoots> CertificateRoots::Load(const std::vector<std::string>& files) {
  StorePtr store(X509_STORE_new());
  if (store == nullptr) return absl::InternalError("OpenSSL cannot keep certificates");
  for (const std::string& file : files) {
    SIDEBAND_ASSIGN_OR_RETURN(const CertificateChain certificates, LoadCertificates(file));
    for (const CertificatePtr& certificate : certificates) X509_STORE_add_cert(store.get(), certificate.get());
  }
  return CertificateRoots(std::move(store));
}

absl::Status CertificateRoots::Verify(const CertificateChain& chain, std::optional<absl::Time> now) const {
  const StoreContextPtr context(X509_STORE_CTX_new());
  const StackPtr others = StackOf(chain);
  if (chain.empty() || X509_STORE_CTX_init(context.get(), store_.get(), chain.front().get(), others.get()) != 1) {
    return absl::PermissionDeniedError("there is no certificate to verify");
  }
  X509_VERIFY_PARAM* const how = X509_STORE_CTX_get0_param(context.get());
  if (now) {
    X509_VERIFY_PARAM_set_time(how, absl::ToTimeT(*now));
  } else {
    X509_VERIFY_PARAM_set_flags(how, X509_V_FLAG_NO_CHECK_TIME);
  }
  if (X509_verify_cert(context.get()) == 1) return absl::OkStatus();
  const int error = X509_STORE_CTX_get_error(context.get());
  ERR_clear_error();
  return absl::PermissionDeniedError(X509_verify_cert_error_string(error));
}

}  // namespace sideband
