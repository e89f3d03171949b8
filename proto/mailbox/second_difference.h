// SPDX-License-Identifier: Apache-2.0
//
// Numbers that grow evenly, each as its difference from what goes on as before.
//   SecondDifference out, in;
//   stream.Number(out.Encode(value));
//   const uint64_t same = in.Decode(stream_of_peer.Number());
#ifndef SIDEBAND_PROTO_MAILBOX_SECOND_DIFFERENCE_H_
#define SIDEBAND_PROTO_MAILBOX_SECOND_DIFFERENCE_H_

#include <cstdint>

#include "proto/mailbox/bit_stream.h"

namespace sideband::mailbox {

// One end of one row of numbers, any at all: arithmetic is modulo 2^64. Not thread-safe.
class SecondDifference {
 public:
  // The difference with its sign, as WithSign has it.
  uint64_t Encode(uint64_t value) {
    const uint64_t code = WithSign(value - Expected());
    Advance(value);
    return code;
  }
  uint64_t Decode(uint64_t code) {
    const uint64_t value = Expected() + WithoutSign(code);
    Advance(value);
    return value;
  }

 private:
  uint64_t Expected() const { return last_ + step_; }
  // The first number is no step: it would spoil what is expected of the second.
  void Advance(uint64_t value) {
    step_ = has_last_ ? value - last_ : 0;
    last_ = value;
    has_last_ = true;
  }

  uint64_t last_ = 0, step_ = 0;
  bool has_last_ = false;
};

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_SECOND_DIFFERENCE_H_
