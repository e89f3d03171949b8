// SPDX-License-Identifier: Apache-2.0
#include "daemon/stream/resume_token.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>

#include "absl/status/status.h"
#include "proto/base/status_macros.h"
#include "proto/envelope/primitives.h"
#include "proto/envelope/secret_access.h"

namespace sideband::daemon {
namespace {

using sideband::v1::SubscribeRequest;

constexpr uint8_t kVersion = 1;
constexpr size_t kHeaderBytes = 1 + std::tuple_size_v<TokenSalt> + 8;
constexpr size_t kDigestBytes = 32;

// Equal requests are those that ask for the same stream: a stream mode is the default if there is none.
std::string Canonical(const SubscribeRequest& request) {
  SubscribeRequest canonical = request;
  canonical.clear_resume_token();
  canonical.DiscardUnknownFields();
  if (canonical.stream_mode() == SubscribeRequest::STREAM_MODE_UNSPECIFIED) {
    canonical.set_stream_mode(SubscribeRequest::STREAM_MODE_SAMPLE);
  }
  return canonical.SerializeAsString();
}

// For whom and for what a token is.
absl::StatusOr<std::array<uint8_t, kDigestBytes>> DigestOf(const std::string& identity,
                                                           const SubscribeRequest& request) {
  ByteWriter text;
  // With its length: no identity continues as a request.
  text.U64(identity.size());
  text.Raw(AsBytes(identity));
  text.Raw(AsBytes(Canonical(request)));
  std::array<uint8_t, kDigestBytes> digest;
  if (EVP_Digest(text.written().data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    return absl::InternalError("OpenSSL has no SHA-256");
  }
  return digest;
}

// A key is of one stream, so that its tokens' numbers never repeat under it.
envelope::AeadNonce NonceOf(ByteSpan header) {
  envelope::AeadNonce nonce{};
  std::copy(header.end() - 8, header.end(), nonce.end() - 8);
  return nonce;
}

}  // namespace

absl::StatusOr<std::string> TokenSealer::Seal(const StreamPosition& position) {
  ByteWriter header;
  header.U8(kVersion);
  header.Raw(salt_);
  header.U64(sequence_++);
  Bytes text = EncodePosition(position);
  std::array<uint8_t, envelope::kAeadTagBytes> tag;
  SIDEBAND_RETURN_IF_ERROR(sealer_.Seal(NonceOf(header.written()), header.written(), text, tag));
  std::string token(header.written().begin(), header.written().end());
  token.append(text.begin(), text.end());
  token.append(tag.begin(), tag.end());
  return token;
}

absl::StatusOr<std::unique_ptr<ResumeTokens>> ResumeTokens::Create() {
  envelope::Secret key(envelope::kAeadKeyBytes);
  const auto bytes = key.Write(envelope::SecretAccess::Get());
  if (RAND_priv_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    return absl::InternalError("the system returned no random bytes");
  }
  return std::unique_ptr<ResumeTokens>(new ResumeTokens(std::move(key)));
}

absl::StatusOr<envelope::Secret> ResumeTokens::KeyOf(const std::string& identity, const SubscribeRequest& request,
                                                     ByteSpan salt) const {
  SIDEBAND_ASSIGN_OR_RETURN(const auto info, DigestOf(identity, request));
  return envelope::HkdfSha256(key_, salt, info, envelope::kAeadKeyBytes);
}

absl::StatusOr<TokenSealer> ResumeTokens::Begin(const std::string& identity, const SubscribeRequest& request) const {
  TokenSalt salt;
  if (RAND_bytes(salt.data(), static_cast<int>(salt.size())) != 1) {
    return absl::InternalError("the system returned no random bytes");
  }
  SIDEBAND_ASSIGN_OR_RETURN(const envelope::Secret key, KeyOf(identity, request, salt));
  SIDEBAND_ASSIGN_OR_RETURN(envelope::AeadSealer sealer, envelope::AeadSealer::Create(key));
  return TokenSealer(std::move(sealer), salt);
}

std::optional<StreamPosition> ResumeTokens::Open(const std::string& identity, const SubscribeRequest& request,
                                                 const std::string& token) const {
  const ByteSpan bytes = AsBytes(token);
  if (bytes.size() < kHeaderBytes + envelope::kAeadTagBytes || bytes[0] != kVersion) return std::nullopt;
  const ByteSpan header = bytes.first(kHeaderBytes);
  const auto tag = bytes.last<envelope::kAeadTagBytes>();
  const auto key = KeyOf(identity, request, header.subspan(1, std::tuple_size_v<TokenSalt>));
  if (!key.ok()) return std::nullopt;
  const ByteSpan sealed = bytes.subspan(kHeaderBytes, bytes.size() - kHeaderBytes - envelope::kAeadTagBytes);
  Bytes text(sealed.begin(), sealed.end());
  if (!envelope::AeadOpen(*key, NonceOf(header), header, text, tag).ok()) return std::nullopt;
  return DecodePosition(text);
}

}  // namespace sideband::daemon
