// SPDX-License-Identifier: Apache-2.0
//
// Reduces the resolution of a chunk. Counters are cumulative, so dropping frames loses resolution and no counts.
//   if (const auto tail = Thin(previous, oldest, /*every=*/10)) Keep(*tail);
#ifndef SIDEBAND_DAEMON_HISTORY_THIN_H_
#define SIDEBAND_DAEMON_HISTORY_THIN_H_

#include <cstdint>
#include <optional>

#include "daemon/history/chunk.h"

namespace sideband::daemon {

// Returns `tail` extended by the frames of `source` whose publication is a multiple of `every`. If `source` is final,
// its last frame is included, too, since it has the final counts. `tail` is a chunk of the same layout, or nullptr.
// nullopt if the result has no frames. Needs one decoded frame of memory.
std::optional<ChunkView> Thin(const ChunkView* tail, const ChunkView& source, uint32_t every);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HISTORY_THIN_H_
