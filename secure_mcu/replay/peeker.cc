// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/replay/peeker.h"

#include <algorithm>
#include <span>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"

namespace sideband::mcu {
namespace {

constexpr char kHypervisor[] = "vm0";

absl::StatusOr<BlockId> BlockOf(const Peek& peek, const std::vector<Tenant>& tenants) {
  if (peek.vm == kHypervisor && peek.context.empty()) return BlockId{0};
  const auto named = std::find_if(tenants.begin(), tenants.end(), [&](const Tenant& tenant) {
    return tenant.vm == peek.vm && tenant.context == peek.context;
  });
  if (named != tenants.end()) return named->binding.context.value_or(named->binding.vm);
  return absl::InvalidArgumentError(
      absl::StrCat("the schedule has no '", peek.vm, peek.context.empty() ? "" : "/", peek.context, "'"));
}

absl::StatusOr<uint16_t> EventOf(const Peek& peek, const std::vector<std::string>& events) {
  const auto named = std::find(events.begin(), events.end(), peek.event);
  if (named != events.end()) return static_cast<uint16_t>(named - events.begin());
  return absl::InvalidArgumentError(absl::StrCat("the signal map has no event '", peek.event, "'"));
}

}  // namespace

absl::StatusOr<Peeker> Peeker::Create(const std::vector<Peek>& peeks, const std::string& path,
                                      const std::vector<std::string>& events, const std::vector<Tenant>& tenants) {
  std::vector<Reading> readings;
  for (const Peek& peek : peeks) {
    const auto block = BlockOf(peek, tenants);
    const auto event = EventOf(peek, events);
    SIDEBAND_RETURN_IF_ERROR(AtLine(block.status(), path, peek.line));
    SIDEBAND_RETURN_IF_ERROR(AtLine(event.status(), path, peek.line));
    readings.push_back({peek.cycle, *block, *event});
  }
  return Peeker(std::move(readings));
}

void Peeker::PlayTo(uint64_t cycle, const Chip& chip, Player& player) {
  while (counts_.size() < readings_.size() && readings_[counts_.size()].cycle <= cycle) {
    const Reading& reading = readings_[counts_.size()];
    player.PlayTo(reading.cycle);
    uint64_t count = 0;
    chip.AddLiveCounts(reading.block, {&reading.event, 1}, {&count, 1});
    counts_.push_back(count);
  }
  player.PlayTo(cycle);
}

void Peeker::ReadNothing() {
  while (counts_.size() < readings_.size() && readings_[counts_.size()].cycle == 0) counts_.push_back(0);
}

}  // namespace sideband::mcu
