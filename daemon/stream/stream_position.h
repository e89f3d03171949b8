// SPDX-License-Identifier: Apache-2.0
//
// How far a reader of a stream has come: the content of a resume token. README.md has the bytes.
//   const Bytes bytes = EncodePosition(reached);
//   if (const auto position = DecodePosition(bytes)) Resume(*position);
#ifndef SIDEBAND_DAEMON_STREAM_STREAM_POSITION_H_
#define SIDEBAND_DAEMON_STREAM_STREAM_POSITION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "proto/base/bytes.h"

namespace sideband::daemon {

// Of STREAM_MODE_SAMPLE.
struct DevicePosition {
  uint32_t device = 0;  // its id in the store
  std::string name;
  uint64_t boot_id = 0;  // of the last update; 0: none yet
  uint64_t after = 0;    // the publication that the reader does not miss any more
  // Of the pacer; nullopt: no update yet.
  std::optional<absl::Duration> due;
  // Up to which the reader has everything: of the last update, if there was one. To the millisecond.
  absl::Time host_time = absl::UnixEpoch();
  // The newest sample that was sent of the board, by the steady and the host's clock; nullopt: none.
  std::optional<absl::Duration> sensors_steady;
  absl::Time sensors_time = absl::UnixEpoch();  // to the millisecond
  bool operator==(const DevicePosition&) const = default;
};

// Of STREAM_MODE_ON_CHANGE: the events of a board.
struct BoardPosition {
  std::string name;
  uint64_t messages = 0;         // the position of the driver's newest message that was sent
  uint64_t reader_id = 0;        // of the board's reader, whose start begins positions anew
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

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_STREAM_STREAM_POSITION_H_
