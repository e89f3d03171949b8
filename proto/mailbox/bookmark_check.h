// SPDX-License-Identifier: Apache-2.0
//
// TRIGGER BOOKMARK's arg2: a check of its operands, which another controller may have overwritten before the command.
// (README.md, "Opcodes")
//   command.arg2 = BookmarkCheck(scope, bookmark);
#ifndef SIDEBAND_PROTO_MAILBOX_BOOKMARK_CHECK_H_
#define SIDEBAND_PROTO_MAILBOX_BOOKMARK_CHECK_H_

#include <cstdint>

namespace sideband::mailbox {

// 1 to 255; an arg2 of 0 checks nothing.
constexpr uint8_t BookmarkCheck(uint32_t scope, uint32_t bookmark) {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;  // 2^64 over the golden ratio
  return static_cast<uint8_t>(1 + ((uint64_t{scope} << 32 | bookmark) * kOdd >> 32) % 255);
}

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_BOOKMARK_CHECK_H_
