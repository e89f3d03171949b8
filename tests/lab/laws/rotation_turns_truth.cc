// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/laws/rotation_turns_truth.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "proto/mailbox/counting.h"
#include "secure_mcu/chip/turn_policy.h"

namespace sideband::mcu {
namespace {

constexpr size_t kTurnsOfEpoch = 64;
constexpr double kLeastSpread = 1e-6;

}  // namespace

TruthScope ScopeOf(const mailbox::RotationSettings& settings, size_t sets, std::optional<uint32_t> pass) {
  const size_t of_pass = settings.sets_per_pass == 0 ? sets : std::min<size_t>(sets, settings.sets_per_pass);
  const bool is_two_set = settings.profile == mailbox::RotationProfile::kTwoSet;
  if (is_two_set && !pass) return {.first = 0, .sets = 1, .is_first_run = true};
  if (of_pass == sets) return {.first = 0, .sets = sets};
  // The sets after the first run's in their order, and that one last.
  const size_t first = 1 + pass.value_or(0) * of_pass;
  if (first >= sets) return {.first = 0, .sets = 1};
  return {.first = first, .sets = std::min(of_pass, sets - first)};
}

RotationTurnsTruth::RotationTurnsTruth(const mailbox::RotationSettings& settings, const CounterPlan& plan,
                                       std::vector<uint16_t> events, std::optional<uint16_t> instructions,
                                       uint64_t dead_cycles, const RotationOrder& order, const TruthScope& scope)
    : settings_(settings),
      plan_(plan),
      events_(std::move(events)),
      instructions_(instructions),
      dead_cycles_(scope.sets > 1 ? dead_cycles : 0),
      order_(order),
      scope_(scope) {}

// --- Slots ----------------------------------------------------------------------------------------------------------

void RotationTurnsTruth::BeginResidency() {
  if (settings_.profile == mailbox::RotationProfile::kFast) round_ = place_ = 0;
  if (epoch_.empty()) is_within_ = true;
  rounds_ = 0;
  BeginSlot();
}

size_t RotationTurnsTruth::RoundSize() const {
  return shares_.empty() ? scope_.sets : std::accumulate(shares_.begin(), shares_.end(), size_t{0});
}

void RotationTurnsTruth::BeginSlot() {
  const uint64_t of_class = Class() == RotationClass::kStable ? settings_.stable_slot : settings_.fluctuating_slot;
  if (settings_.profile == mailbox::RotationProfile::kTwoSet) {
    if (left_ == 0) left_ = scope_.is_first_run ? settings_.interval : of_class;
    length_ = left_;
    set_ = place_;
  } else {
    length_ = of_class;
    set_ = shares_.empty() ? order_.SetAt(residency_, round_ * scope_.sets + place_)
                           : order_.RoundOf(residency_, round_, shares_)[place_];
  }
  set_ += scope_.first;
  dead_ = std::min(dead_cycles_, length_);
  slot_ = {.set = set_, .counts = {}, .open = {}};
}

void RotationTurnsTruth::Count(const std::vector<uint64_t>& gains, const std::vector<bool>& open, bool is_own) {
  slot_.counts.resize(gains.size());
  slot_.open.resize(gains.size());
  if (!is_dead()) {
    ++slot_.running;
    for (size_t event = 0; event < gains.size(); ++event) {
      slot_.counts[event] += gains[event];
      slot_.open[event] += open[event] ? 1 : 0;
    }
  }
  ++slot_.enabled;
  if (!is_own) return;
  ++slot_.own;
  // One set is always in turn.
  if (slot_.own < length_ || plan_.sets.size() == 1) return;
  EndSlot(true);
  BeginSlot();
}

void RotationTurnsTruth::EndSlot(bool is_whole) {
  Look(slot_);
  epoch_.push_back(slot_);
  left_ = settings_.profile == mailbox::RotationProfile::kTwoSet ? left_ - slot_.own : 0;
  if (left_ == 0 && ++place_ == RoundSize()) place_ = 0, ++round_;
  if (!is_whole || place_ > 0) return;
  ++rounds_;
  if ((!is_within_ && rounds_ < kTurnsOfEpoch) || !MayClose()) return;
  Close();
  is_within_ = true;
}

void RotationTurnsTruth::EndResidency() {
  if (slot_.enabled > 0 && plan_.sets.size() > 1) EndSlot(false);
  slot_ = {};
  ++residency_;
  ++ended_;
  is_within_ = false;
  if (ended_ % scope_.sets == 0 && MayClose()) Close();
}

// --- Classes --------------------------------------------------------------------------------------------------------

void RotationTurnsTruth::Look(const Slot& slot) {
  if (!instructions_) return;
  look_.instructions += slot.counts[*instructions_];
  look_.cycles += slot.running;
  look_cycles_ += slot.own;
  if (look_cycles_ < settings_.interval) return;
  looks_.push_back(look_);
  look_ = {};
  look_cycles_ = 0;
}

RotationClass RotationTurnsTruth::Class() const {
  const size_t window = settings_.step + 1;
  const bool is_online = settings_.profile == mailbox::RotationProfile::kFast && looks_.size() >= window;
  if (!is_online) return RotationClass::kFluctuating;
  return ClassOfWindow(std::span(looks_).last(window), settings_.threshold_per_mille);
}

// --- Epochs ---------------------------------------------------------------------------------------------------------

bool RotationTurnsTruth::MayClose() const {
  for (size_t set = scope_.first; set < scope_.first + scope_.sets; ++set) {
    if (static_cast<size_t>(std::ranges::count(epoch_, set, &Slot::set)) < kTurnsOfEpoch) return false;
  }
  return true;
}

// The variance of what a slot counts beyond its length's part, over the square of its mean.
double RotationTurnsTruth::SpreadOf(uint16_t event) const {
  double count = 0, running = 0, slots = 0;
  const auto is_counted = [&](const Slot& slot) {
    return slot.open[event] > 0 && mailbox::Includes(plan_.sets[slot.set], event);
  };
  for (const Slot& slot : epoch_) {
    if (!is_counted(slot)) continue;
    count += static_cast<double>(slot.counts[event]);
    running += static_cast<double>(slot.open[event]);
    ++slots;
  }
  if (slots < 2 || count == 0) return 0;
  double squares = 0;
  for (const Slot& slot : epoch_) {
    if (!is_counted(slot)) continue;
    squares +=
        std::pow(static_cast<double>(slot.counts[event]) - count / running * static_cast<double>(slot.open[event]), 2);
  }
  const double spread = squares / (slots - 1) / std::pow(count / slots, 2);
  return spread < kLeastSpread ? 0 : spread;
}

void RotationTurnsTruth::Close() {
  std::vector<double> needs(scope_.sets);
  for (const uint16_t event : events_) {
    const double spread = SpreadOf(event);
    for (size_t set = 0; set < scope_.sets; ++set) {
      if (mailbox::Includes(plan_.sets[scope_.first + set], event)) needs[set] += spread;
    }
  }
  epoch_.clear();
  ended_ = 0;
  if (!settings_.adapt || settings_.profile != mailbox::RotationProfile::kFast) return;
  std::vector<double> roots;
  for (size_t set = 0; set < scope_.sets; ++set) {
    if (!needs_.empty()) needs[set] = (needs_[set] + needs[set]) / 2;
    roots.push_back(std::sqrt(needs[set]));
  }
  needs_ = needs;
  shares_ = SharesOf(roots);
  if (std::ranges::max(shares_) == 1) shares_.clear();
}

}  // namespace sideband::mcu
