// SPDX-License-Identifier: Apache-2.0
//
// How far a reader of a stream has come, and its resume token: the position, encrypted and authenticated with a key of
// this run of the daemon, for one identity and one request. README.md has the bytes.
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
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/base/bytes.h"
#include "proto/envelope/hpke.h"
#include "proto/envelope/secret.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// The position in a device's updates, in STREAM_MODE_SAMPLE.
struct DevicePosition {
  uint32_t device = 0;  // its id in the store
  std::string name;
  uint64_t boot_id = 0;  // of the last update; 0: none yet
  uint64_t after = 0;    // the publication that the reader does not miss any more
  // When the pacer's next update is due; nullopt: no update yet.
  std::optional<absl::Duration> due;
  // The time up to which the reader has everything: of the last update, if there was one. To the millisecond.
  absl::Time host_time = absl::UnixEpoch();
  // The newest sample that was sent of the board, by the steady and the host's clock; nullopt: none.
  std::optional<absl::Duration> sensors_steady;
  absl::Time sensors_time = absl::UnixEpoch();  // to the millisecond
  bool operator==(const DevicePosition&) const = default;
};

// The position in a board's events, in STREAM_MODE_ON_CHANGE.
struct BoardPosition {
  std::string name;
  uint64_t messages = 0;         // the position of the driver's newest message that was sent
  uint64_t reader_id = 0;        // of the board's reader, at whose start positions begin at 0
  std::vector<uint64_t> raised;  // by mailbox::BoardEvent: the count that was sent
  bool operator==(const BoardPosition&) const = default;
};

struct StreamPosition {
  uint64_t policy_version = 0;
  absl::Time time = absl::UnixEpoch();  // of the token, to the millisecond
  uint64_t state = 0;                   // the digest of what was sent; of STREAM_MODE_ON_CHANGE
  std::vector<DevicePosition> devices;
  std::vector<BoardPosition> boards;
  bool operator==(const StreamPosition&) const = default;
};

Bytes EncodePosition(const StreamPosition& position);
// nullopt where the bytes are malformed.
std::optional<StreamPosition> DecodePosition(ByteSpan bytes);

// The largest token of a request. The positions of 256 devices, which is the most that a daemon has, fit with names of
// up to 60 bytes.
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
