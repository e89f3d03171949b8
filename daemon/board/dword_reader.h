// SPDX-License-Identifier: Apache-2.0
//
// Reads items of several dwords, each of which is a command's data.
//   AddDwords(round, ScratchReads(0, 3), [](const std::vector<uint32_t>& dwords) { Show(dwords[2]); });
#ifndef SIDEBAND_DAEMON_BOARD_DWORD_READER_H_
#define SIDEBAND_DAEMON_BOARD_DWORD_READER_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "daemon/board/group_round.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/word.h"

namespace sideband::daemon {

// SCRATCH_READ of `count` dwords from `first` on. first + count is at most 256.
std::vector<mailbox::CommandWord> ScratchReads(uint8_t first, uint8_t count);

// `take` has as many dwords as there are words. It is not called if any is absent.
void AddDwords(GroupRound& round, const std::vector<mailbox::CommandWord>& words,
               std::function<void(const std::vector<uint32_t>&)> take);

// The bytes of dwords, the least significant one first.
Bytes BytesOf(const std::vector<uint32_t>& dwords);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BOARD_DWORD_READER_H_
