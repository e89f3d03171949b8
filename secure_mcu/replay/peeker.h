// SPDX-License-Identifier: Apache-2.0
//
// Plays a chip's timeline and reads live counts at the cycles of a list.
//   SIDEBAND_ASSIGN_OR_RETURN(Peeker peeker, Peeker::Create(peeks, "P.csv", events, tenants));
//   while (NextChunk()) peeker.PlayTo(end_of_chunk, *chip, player);
//   peeker.counts();   // one for each row of the list that the trace reached
#ifndef SIDEBAND_SECURE_MCU_REPLAY_PEEKER_H_
#define SIDEBAND_SECURE_MCU_REPLAY_PEEKER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "secure_mcu/chip/chip.h"
#include "secure_mcu/chip/player.h"
#include "secure_mcu/replay/peek_list.h"

namespace sideband::mcu {

class Peeker {
 public:
  // "PATH:LINE: description" where a row names a VM, context or event that the replay does not have.
  static absl::StatusOr<Peeker> Create(const std::vector<Peek>& peeks, const std::string& path,
                                       const std::vector<std::string>& events, const std::vector<Tenant>& tenants);

  // Plays to `cycle`, and reads the rows up to and including it on the way. At the cycle of a switch the switch is
  // first.
  void PlayTo(uint64_t cycle, const Chip& chip, Player& player);
  // Reads the rows of cycle 0 of a trace without a cycle, which has no wires: they are 0.
  void ReadNothing();
  const std::vector<uint64_t>& counts() const { return counts_; }

 private:
  struct Reading {
    uint64_t cycle;
    BlockId block;
    uint16_t event;
  };

  explicit Peeker(std::vector<Reading> readings) : readings_(std::move(readings)) {}

  std::vector<Reading> readings_;
  std::vector<uint64_t> counts_;  // of the first readings
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_REPLAY_PEEKER_H_
