// SPDX-License-Identifier: Apache-2.0
//
// The increments of a block's counters, written in the shortest of some forms: in groups of 1, 2, 4, 8 or 16, each in
// the width of its largest, since counters beside each other in a catalogue are of one unit and of like size; or each
// as wide as the counter was before, less what the sixteen around it have in common, since what has counted much goes
// on so.
//   EncodeCounters(increments, before, out);
//   DecodeCounters(in, before, increments);   // as many as were written
#ifndef SIDEBAND_PROTO_MAILBOX_COUNTER_GROUPS_H_
#define SIDEBAND_PROTO_MAILBOX_COUNTER_GROUPS_H_

#include <cstdint>
#include <span>

#include "proto/mailbox/bit_stream.h"

namespace sideband::mailbox {

// `before` is as long as `increments`, or empty where nothing was there before. Three bits for the form. 0 to 4 are the
// logarithm of the group's size: each group is a width, and its numbers in it. 5 is groups of 16, each 8 bits of what
// all are narrower than before, plus 64, and its numbers in the widths that follow. The last group may be shorter.
void EncodeCounters(std::span<const uint64_t> increments, std::span<const uint64_t> before, BitWriter& out);
// Fills `increments`. An impossible form makes it false; whether the bits were there is the reader's ok().
bool DecodeCounters(BitReader& in, std::span<const uint64_t> before, std::span<uint64_t> increments);

// What EncodeCounters would write.
size_t CountersBits(std::span<const uint64_t> increments, std::span<const uint64_t> before);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_COUNTER_GROUPS_H_
