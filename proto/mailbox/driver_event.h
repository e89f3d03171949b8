// SPDX-License-Identifier: Apache-2.0
//
// GET_DRIVER_EVENT_MSG: messages of the driver, such as an Xid with its text, which the device keeps in order until
// they are read. The layout and the numbers are those of NVIDIA's public smbpbi.h (open-gpu-kernel-modules, MIT;
// docs/design/smbpbi-facts.md, 3.9).
// arg1 is a DriverEventStep and arg2 a dword of scratch memory, from which on the record is then; 5D has its bytes.
//   SIDEBAND_ASSIGN_OR_RETURN(const DriverEvent event, DriverEvent::Decode(bytes));
#ifndef SIDEBAND_PROTO_MAILBOX_DRIVER_EVENT_H_
#define SIDEBAND_PROTO_MAILBOX_DRIVER_EVENT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"

namespace sideband::mailbox {

// A read record is dropped. The other two name, in data-in, the first sequence number or time of what is to be read.
enum class DriverEventStep : uint8_t { kOldest = 0, kBySequence = 1, kByTime = 2 };

struct DriverEvent {
  static constexpr size_t kHeaderBytes = 12;
  static constexpr size_t kTextBytesMax = 80;  // with the terminating zero
  static constexpr size_t kBytesMax = kHeaderBytes + kTextBytesMax;

  uint16_t xid = 0;
  bool later_lost = false;  // records after this one were dropped for want of room
  bool text_truncated = false;
  uint32_t sequence = 0;
  uint32_t time_s = 0;  // since the epoch of 1970
  std::string text;     // without zeros

  // A multiple of four bytes, at most kBytesMax: a longer text is truncated, which the record says.
  Bytes Encode() const;
  // `bytes` may go on after the record. INVALID_ARGUMENT: a record of an impossible size, or one that is cut off.
  // Characters that cannot be printed are replaced by '?'.
  static absl::StatusOr<DriverEvent> Decode(ByteSpan bytes);
  bool operator==(const DriverEvent&) const = default;
};

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_DRIVER_EVENT_H_
