// SPDX-License-Identifier: Apache-2.0
//
// The rotation numbers of all memory blocks: each is the sum of what is shown of the contexts that it has had, those
// that are gone included (counter-rotation.md, "Numbers").
//   RotationNumbers numbers(/*events=*/40);
//   numbers.Add(block, generation, plan, before, now, indices);      // what is shown of a context, before and now
//   const mailbox::BlockRotation row = numbers.Of(block, generation);
#ifndef SIDEBAND_SECURE_MCU_CHIP_ROTATION_NUMBERS_H_
#define SIDEBAND_SECURE_MCU_CHIP_ROTATION_NUMBERS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "proto/mailbox/rotation.h"
#include "secure_mcu/chip/rotation_life.h"
#include "secure_mcu/pipeline/page_tables.h"

namespace sideband::mcu {

// Not thread-safe.
class RotationNumbers {
 public:
  // `events`: those of all plans, whatever their scope.
  explicit RotationNumbers(size_t events) : events_(events) {}

  // Adds the difference of two showings of one context. `indices` are those of its events among all. The numbers of
  // another generation of the block begin at 0.
  void Add(BlockId block, uint32_t generation, uint16_t plan, const LeafNumbers& before, const LeafNumbers& now,
           std::span<const size_t> indices);
  // The plan's cycles are of mailbox::kForgottenPlan from now on. No context is under it.
  void Forget(uint16_t plan);
  // Of a block that has none yet, without parts. An event that has no bound in one of the contexts has none.
  mailbox::BlockRotation Of(BlockId block, uint32_t generation) const;

 private:
  struct Row {
    uint32_t generation = 0;
    std::map<uint16_t, mailbox::RotationPart> parts;  // by the plan's number
    std::vector<LeafNumbers::Event> events;
  };

  const size_t events_;
  std::map<BlockId, Row> rows_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_ROTATION_NUMBERS_H_
