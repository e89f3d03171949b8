// SPDX-License-Identifier: Apache-2.0
//
// Resume tokens: a stream's position, encrypted and authenticated with a key of this run of the daemon, for one
// identity and one request. README.md has the bytes.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto tokens, ResumeTokens::Create());
//   SIDEBAND_ASSIGN_OR_RETURN(TokenSealer sealer, tokens->Begin(identity, request));
//   SIDEBAND_ASSIGN_OR_RETURN(*response.mutable_resume_token(), sealer.Seal(reached));
//   if (const auto position = tokens->Open(identity, request, request.resume_token())) Resume(*position);
#ifndef SIDEBAND_DAEMON_STREAM_RESUME_TOKEN_H_
#define SIDEBAND_DAEMON_STREAM_RESUME_TOKEN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "daemon/stream/stream_position.h"
#include "proto/envelope/primitives.h"
#include "proto/envelope/secret.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// Of a request. The positions of 256 devices, which is the most that a daemon has, fit with names of up to 60 bytes.
inline constexpr size_t kResumeTokenBytesMax = 32 << 10;

// Differs between streams.
using TokenSalt = std::array<uint8_t, 16>;

// Makes the tokens of one stream. Not thread-safe.
class TokenSealer {
 public:
  // INTERNAL where OpenSSL fails.
  absl::StatusOr<std::string> Seal(const StreamPosition& position);

 private:
  friend class ResumeTokens;
  TokenSealer(envelope::AeadSealer sealer, const TokenSalt& salt) : sealer_(std::move(sealer)), salt_(salt) {}

  // A key for each stream could use up the secure heap, which the keys of confidential VMs are in.
  envelope::AeadSealer sealer_;
  TokenSalt salt_;
  uint64_t sequence_ = 0;
};

// Thread-safe.
class ResumeTokens {
 public:
  // Draws the key. INTERNAL where the system returns no random bytes.
  static absl::StatusOr<std::unique_ptr<ResumeTokens>> Create();

  // For a stream with this request, whose own token does not matter. INTERNAL where OpenSSL fails.
  absl::StatusOr<TokenSealer> Begin(const std::string& identity, const sideband::v1::SubscribeRequest& request) const;
  // nullopt, for every reason, where the token was not made by this object for this identity and an equal request.
  std::optional<StreamPosition> Open(const std::string& identity, const sideband::v1::SubscribeRequest& request,
                                     const std::string& token) const;

 private:
  explicit ResumeTokens(envelope::Secret key) : key_(std::move(key)) {}
  // The key of a stream's tokens.
  absl::StatusOr<envelope::Secret> KeyOf(const std::string& identity, const sideband::v1::SubscribeRequest& request,
                                         ByteSpan salt) const;

  const envelope::Secret key_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_STREAM_RESUME_TOKEN_H_
