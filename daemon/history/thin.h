// SPDX-License-Identifier: Apache-2.0
//
// Turns a chunk into a coarser one: counters are cumulative, so leaving out frames costs resolution and no counts.
//   if (const auto tail = Thin(previous, oldest, /*every=*/10)) …
#ifndef SIDEBAND_DAEMON_HISTORY_THIN_H_
#define SIDEBAND_DAEMON_HISTORY_THIN_H_

#include <cstdint>
#include <optional>

#include "daemon/history/chunk.h"

namespace sideband::daemon {

// `tail`, where not nullptr a chunk of the same layout, extended by the frames of `source` whose publication is a
// multiple of `every` and, where it is final, by its last, which has the final counts of what ends there. nullopt:
// there are none. Works with one decoded frame.
std::optional<ChunkView> Thin(const ChunkView* tail, const ChunkView& source, uint32_t every);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HISTORY_THIN_H_
