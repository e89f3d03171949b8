// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/rotation_passes.h"

#include <algorithm>
#include <utility>

#include "secure_mcu/chip/rotation_plan.h"

namespace sideband::mcu {
namespace {

bool IsSameContext(const RotationIdentity& a, const RotationIdentity& b) {
  return a.uuid == b.uuid && a.vm == b.vm && a.context == b.context;
}

// Set 0, which the first run has counted, is left to the last pass.
TurnScope SetsOf(size_t pass, size_t passes, size_t sets, size_t of_pass) {
  if (passes == 1) return {.first = 0, .sets = sets, .learnt = {}};
  if (pass + 1 == passes) return {.first = 0, .sets = 1, .learnt = {}};
  const size_t first = 1 + pass * of_pass;
  return {.first = first, .sets = std::min(of_pass, sets - first), .learnt = {}};
}

}  // namespace

size_t SetsOfPass(const mailbox::RotationSettings& settings, size_t sets) {
  return settings.sets_per_pass == 0 ? sets : std::min<size_t>(settings.sets_per_pass, sets);
}

void RotationPasses::Learn(BlockId id) {
  Block& block = blocks_[id];
  const bool is_fast = block.profile == mailbox::RotationProfile::kFast;
  if (block.identity && is_fast) {
    block.learns = block.identity->generation;
  } else if (!block.is_first_run) {
    block.learns_next = true;
  }
}

void RotationPasses::Keep(BlockId id, uint8_t channel, uint32_t generation, const OwnPeriods& periods) {
  const auto found = blocks_.find(id);
  if (found != blocks_.end() && found->second.learns == generation) found->second.periods[channel] = periods;
}

void RotationPasses::BeginRun(const RotationIdentity& identity, uint16_t plan,
                              const mailbox::RotationSettings& settings, uint32_t passes, Block& block) {
  const bool is_other = block.identity && !IsSameContext(*block.identity, identity);
  if (is_other) block = {.asked = block.asked, .learns_next = block.learns_next};
  const bool is_first = !block.identity || block.plan != plan;
  if (is_first) block.next_pass = 0;
  block.identity = identity, block.plan = plan, block.profile = settings.profile;
  const auto asked = std::exchange(block.asked, std::nullopt);
  const bool is_two_set = settings.profile == mailbox::RotationProfile::kTwoSet;
  block.is_first_run = is_two_set && !asked && (is_first || block.learns_next);
  if (block.is_first_run || (block.learns_next && !is_two_set)) {
    block.learns = identity.generation;
    block.learns_next = false;
  }
  if (block.is_first_run) return;
  block.pass = asked.value_or(block.next_pass) % passes;
  block.next_pass = block.pass + 1;
}

TurnScope RotationPasses::ScopeOf(const RotationRun& run, uint8_t channel, uint16_t plan, size_t sets,
                                  const mailbox::RotationSettings& settings) {
  Block& block = blocks_[run.block];
  const size_t of_pass = SetsOfPass(settings, sets);
  const bool is_known = block.identity && IsSameContext(*block.identity, run.identity) &&
                        block.identity->generation == run.identity.generation && block.plan == plan;
  const auto passes = static_cast<uint32_t>(Passes(sets, settings.sets_per_pass));
  if (!is_known) BeginRun(run.identity, plan, settings, passes, block);
  if (block.is_first_run) return {.first = 0, .sets = 1, .is_first_run = true, .learnt = {}};
  const auto periods = block.periods.find(channel);
  TurnScope scope = SetsOf(block.pass, passes, sets, of_pass);
  if (periods != block.periods.end()) scope.learnt = periods->second;
  return scope;
}

}  // namespace sideband::mcu
