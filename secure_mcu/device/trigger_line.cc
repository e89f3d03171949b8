// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/trigger_line.h"

#include <algorithm>
#include <utility>

namespace sideband::mcu {
namespace {

using Picoseconds = TriggerLine::Picoseconds;

constexpr uint64_t kPicosecondsPerSecond = 1'000'000'000'000;
constexpr uint64_t kPicosecondsPerNanosecond = 1000;

}  // namespace

Picoseconds TriggerLine::reached() const {
  Picoseconds latest = 0;
  for (const End* const end : ends_) latest = std::max(latest, end->reached());
  return latest;
}

void TriggerLine::Send(const End& sender, Picoseconds sent) const {
  for (End* const end : ends_) {
    if (end != &sender) end->Receive(sent);
  }
}

LineEnd::LineEnd(const Options& options, Chip& chip, Advance advance)
    : options_(options), chip_(chip), advance_(std::move(advance)) {
  options_.line.Connect(*this);
}

Picoseconds LineEnd::InstantOf(uint64_t cycle) const {
  return options_.powered_on + Picoseconds(cycle) * kPicosecondsPerSecond / options_.clock_hz;
}

uint64_t LineEnd::CycleAt(Picoseconds instant) const {
  const Picoseconds since = instant - std::min(instant, options_.powered_on);
  return absl::Uint128Low64((since * options_.clock_hz + kPicosecondsPerSecond - 1) / kPicosecondsPerSecond);
}

uint32_t LineEnd::Trigger(uint64_t cycle, TriggerKind kind) {
  advance_(cycle);
  newest_ = {.pulses = newest_ ? newest_->pulses + 1 : 1,
             .is_own = kind == TriggerKind::kRegisterWrite,
             .reference_cycle = chip_.now()};
  return chip_.Trigger(kind);
}

uint32_t LineEnd::Send() {
  const uint32_t id = Trigger(std::max(chip_.now(), CycleAt(options_.line.reached())), TriggerKind::kRegisterWrite);
  options_.line.Send(*this, InstantOf(chip_.now()));
  return id;
}

void LineEnd::Receive(Picoseconds sent) {
  const uint64_t delay_ns =
      std::uniform_int_distribution<uint64_t>(options_.wire_min_ns, options_.wire_max_ns)(random_);
  Trigger(std::max(chip_.now(), CycleAt(sent + Picoseconds(delay_ns) * kPicosecondsPerNanosecond)),
          TriggerKind::kExternal);
}

}  // namespace sideband::mcu
