// SPDX-License-Identifier: Apache-2.0
//
// Which sets each generation of a context counts, and what earlier ones have taught of its periods
// (counter-rotation.md, "Published method"): in profile `two-set` a first run with set 0 alone, then pass after pass of
// the others, the last of set 0 again, from the first again after the last.
//   RotationPasses passes;
//   passes.Keep(block, /*channel=*/0, generation, periods);       // a life ended: what it has shown
//   const TurnScope scope = passes.ScopeOf({block, identity}, /*channel=*/0, number, /*sets=*/5, settings);
#ifndef SIDEBAND_SECURE_MCU_CHIP_ROTATION_PASSES_H_
#define SIDEBAND_SECURE_MCU_CHIP_ROTATION_PASSES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "proto/mailbox/rotation.h"
#include "secure_mcu/chip/own_periods.h"
#include "secure_mcu/chip/turn_policy.h"
#include "secure_mcu/pipeline/page_tables.h"
#include "secure_mcu/pipeline/rotation_order.h"

namespace sideband::mcu {

// A block, and whose generation it is.
struct RotationRun {
  BlockId block = 0;
  RotationIdentity identity;
};

// Sets of a plan that each generation counts: all if a pass is of all. At least 1.
size_t SetsOfPass(const mailbox::RotationSettings& settings, size_t sets);

// What was learnt of a context, and its passes, are gone with the VM: another's begins anew. Not thread-safe.
class RotationPasses {
 public:
  // Profile `fast`: the block's generation is kept, from its begin, once it has ended; if it has none, the next.
  // `two-set`: the next generation is a first run again.
  void Learn(BlockId block);
  // The pass of the next generation, modulo the plan's passes; later ones count up from it. Without a first run
  // nothing is learnt.
  void ChooseNext(BlockId block, uint32_t pass) { blocks_[block].asked = pass; }

  // Of a life that ended; ignored if its generation was not to be learnt.
  void Keep(BlockId block, uint8_t channel, uint32_t generation, const OwnPeriods& periods);
  // Of a life that begins under a plan of `sets` sets. A generation's lives on other channels have the same sets.
  TurnScope ScopeOf(const RotationRun& run, uint8_t channel, uint16_t plan, size_t sets,
                    const mailbox::RotationSettings& settings);

 private:
  struct Block {
    // Of the run in turn; none before the first.
    std::optional<RotationIdentity> identity;
    uint16_t plan = 0;
    mailbox::RotationProfile profile = mailbox::RotationProfile::kFast;
    bool is_first_run = false;
    uint32_t pass = 0, next_pass = 0;
    std::optional<uint32_t> learns;  // the generation that is to be learnt
    // Of the next run.
    std::optional<uint32_t> asked;
    bool learns_next = false;
    std::map<uint8_t, OwnPeriods> periods;  // by channel
  };
  static void BeginRun(const RotationIdentity& identity, uint16_t plan, const mailbox::RotationSettings& settings,
                       uint32_t passes, Block& block);

  std::map<BlockId, Block> blocks_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_ROTATION_PASSES_H_
