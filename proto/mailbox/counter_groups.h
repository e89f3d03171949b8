// SPDX-License-Identifier: Apache-2.0
//
// Encodes the increments of a block's counters in the shortest of several forms. Forms 0 to 4 use groups of 1, 2, 4, 8
// or 16 counters, with the width of the group's largest increment: adjacent counters of a catalogue have the same unit
// and similar sizes. Form 5 derives each width from the counter's value in the base, less a difference common to a
// group of sixteen: counters with high values tend to have high increments. Form 6 writes the sum of all increments,
// and each increment's difference from its counter's share of that sum: counters that go on as before grow in
// proportion.
//   EncodeCounters(increments, before, Forms::kProportional, out);
//   DecodeCounters(in, before, Forms::kProportional, increments);   // as many as were written
#ifndef SIDEBAND_PROTO_MAILBOX_COUNTER_GROUPS_H_
#define SIDEBAND_PROTO_MAILBOX_COUNTER_GROUPS_H_

#include <cstdint>
#include <span>

#include "proto/mailbox/bit_stream.h"

namespace sideband::mailbox {

// Which forms a stream may contain: the number of the last one.
enum class Forms : uint8_t {
  kAsBefore = 5,      // framing kDelta
  kProportional = 6,  // framing kSections
};

// `before` has the size of `increments`, or is empty if the block has no base. The form takes three bits. Forms 0 to 4
// are the logarithm of the group's size: each group is a width and its increments in that width. Form 5 has groups of
// 16: each group is 8 bits with the common difference plus 64, and its increments in the resulting widths. Form 6 is
// three bits with the logarithm of the group's size, the sum as a number, and groups of differences, each with its sign
// in the least significant bit. The last group may be shorter. Sums and differences are modulo 2^64.
void EncodeCounters(std::span<const uint64_t> increments, std::span<const uint64_t> before, Forms forms,
                    BitWriter& out);
// Fills `increments`. Returns false for an invalid form; in.ok() reports missing bits.
bool DecodeCounters(BitReader& in, std::span<const uint64_t> before, Forms forms, std::span<uint64_t> increments);

// The number of bits that EncodeCounters would write.
size_t CountersBits(std::span<const uint64_t> increments, std::span<const uint64_t> before, Forms forms);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_COUNTER_GROUPS_H_
