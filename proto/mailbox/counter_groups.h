// SPDX-License-Identifier: Apache-2.0
//
// A block's counters in groups of 1, 2, 4, 8 or 16, each group in the width of its largest: counters beside each other
// in a catalogue are of one unit and of like size.
//   EncodeCounters(deltas, out);
//   DecodeCounters(in, deltas);   // as many as were written
#ifndef SIDEBAND_PROTO_MAILBOX_COUNTER_GROUPS_H_
#define SIDEBAND_PROTO_MAILBOX_COUNTER_GROUPS_H_

#include <cstdint>
#include <span>

#include "proto/mailbox/bit_stream.h"

namespace sideband::mailbox {

// Three bits for the logarithm of the group's size, the cheapest; then each group: a width, and its numbers in it. The
// last group may be shorter.
void EncodeCounters(std::span<const uint64_t> counters, BitWriter& out);
// Fills `counters`. An impossible size of group makes it false; whether the bits were there is the reader's ok().
bool DecodeCounters(BitReader& in, std::span<uint64_t> counters);

// What EncodeCounters would write.
size_t CountersBits(std::span<const uint64_t> counters);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_COUNTER_GROUPS_H_
