// SPDX-License-Identifier: Apache-2.0
//
// What `sideband-mcu replay --peek` reads while the trace runs: a CSV file of live counts.
// - cycle,vm,context,event
// - 512,vm1,ctx0,issue_cycles
//   SIDEBAND_ASSIGN_OR_RETURN(const std::vector<Peek> peeks, LoadPeeks("P.csv"));
#ifndef SIDEBAND_SECURE_MCU_REPLAY_PEEK_LIST_H_
#define SIDEBAND_SECURE_MCU_REPLAY_PEEK_LIST_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace sideband::mcu {

// The live count of an event in a block, of the cycles below `cycle`.
struct Peek {
  uint64_t cycle = 0;
  std::string vm;       // "vm0": the hypervisor's block
  std::string context;  // empty: the VM's own block
  std::string event;
  size_t line = 0;  // in the file, for messages
};

// The rows in the file's order, with ascending cycles. Every error is "FILE:LINE: description".
absl::StatusOr<std::vector<Peek>> LoadPeeks(const std::string& path);
// `path` is for messages only.
absl::StatusOr<std::vector<Peek>> ParsePeeks(const std::string& text, const std::string& path);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_REPLAY_PEEK_LIST_H_
