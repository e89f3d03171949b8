// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous requests as commands of a round: submitted, polled a bounded number of times, and their result read from
// scratch memory, from dword 0 on.
//   AddAsync(round, {.type = AsyncType::kEnergy, .dwords = 2},
//            [](const std::vector<uint32_t>& result) { Show(result[0]); });
#ifndef SIDEBAND_DAEMON_BOARD_ASYNC_READER_H_
#define SIDEBAND_DAEMON_BOARD_ASYNC_READER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "daemon/board/group_round.h"
#include "proto/mailbox/async_request.h"

namespace sideband::daemon {

// A request that has not ended after these is absent. The pauses between them sum up to a second.
inline constexpr int kAsyncPollsMax = 16;

struct AsyncQuestion {
  mailbox::AsyncType type;
  std::optional<uint32_t> parameter;  // dword 0 before the request
  uint8_t dwords;                     // of the result, from dword 0 on
};

// `take` is called with the result of a request that has succeeded. A request that the board does not support is not
// made again until its capabilities are read again. Without scratch memory, nothing is added.
void AddAsync(GroupRound& round, const AsyncQuestion& question, std::function<void(const std::vector<uint32_t>&)> take);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_ASYNC_READER_H_
