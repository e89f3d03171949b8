// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/confidentiality.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "daemon/snapshot/device_snapshot.h"
#include "proto/mailbox/blocks.h"

namespace sideband::daemon {
namespace {

using mailbox::BlockHeader;
using mailbox::BlockRotation;
using mailbox::EventEstimate;
using mailbox::kForgottenPlan;
using mailbox::kUnknownNumber;
using mailbox::RotationPart;

bool IsConfidential(const Topology& topology, const BlockHeader& block) {
  const mailbox::VmInfo* const vm = topology.FindVm(block.vm);
  return vm != nullptr && vm->confidential;
}

void AppendBlock(const mailbox::Snapshot& from, size_t block, mailbox::Snapshot& to) {
  const auto counters = from.Counters(block);
  to.blocks.push_back(from.blocks[block]);
  to.counters.insert(to.counters.end(), counters.begin(), counters.end());
  if (block < from.rotation.size()) to.rotation.push_back(from.rotation[block]);
}

mailbox::Snapshot WithoutConfidential(const Topology& topology, mailbox::Snapshot&& raw) {
  mailbox::Snapshot shown = {.boot_id = raw.boot_id,
                             .snapshot_id = raw.snapshot_id,
                             .catalog_hash = raw.catalog_hash,
                             .trigger_id = raw.trigger_id,
                             .reference_time_ns = raw.reference_time_ns,
                             .counters_per_block = raw.counters_per_block};
  shown.counters.reserve(raw.counters.size());
  for (size_t block = 0; block < raw.blocks.size(); ++block) {
    if (!IsConfidential(topology, raw.blocks[block])) AppendBlock(raw, block, shown);
  }
  // The compiler may not elide this, unlike a fill of memory that is about to be freed.
  OPENSSL_cleanse(raw.counters.data(), raw.counters.size() * sizeof(uint64_t));
  for (mailbox::BlockRotation& numbers : raw.rotation) {
    OPENSSL_cleanse(numbers.events.data(), numbers.events.size() * sizeof(mailbox::EventEstimate));
  }
  return shown;
}

std::span<uint64_t> DeviceRow(mailbox::Snapshot& shown) {
  return std::span(shown.counters).first(shown.counters_per_block);
}

bool IsSameBoot(const DeviceSnapshot* before, const mailbox::Snapshot& now) {
  return before != nullptr && before->data.boot_id == now.boot_id;
}

// Adds to the device's numbers of rotation what those of VMs and hosts have gained since `before`.
void AddRotation(const Topology& topology, const mailbox::Snapshot* before, Redacted& redacted) {
  static const mailbox::BlockRotation kNone;
  mailbox::Snapshot& shown = redacted.shown;
  if (shown.rotation.empty()) return;
  const mailbox::BlockBases bases(shown.blocks, before);
  RotationSum sum(topology.rotation(), shown.rotation[0], std::move(redacted.device_row_squares));
  for (size_t block = 1; block < shown.blocks.size(); ++block) {
    if (LevelOf(shown.blocks[block]) == Level::kContext) continue;
    const size_t place = bases.PlaceOf(block);
    const bool was_there = before != nullptr && place < before->rotation.size();
    sum.Add({was_there ? before->rotation[place] : kNone, bases.Of(block).counters},
            {shown.rotation[block], shown.Counters(block)});
  }
  shown.rotation[0] = sum.numbers();
  redacted.device_row_squares = sum.squares();
}

// Adds to the device's row what the blocks of VMs and hosts have counted since `before`. A block that `before` lacks
// contributes its whole count.
void AddIncrements(const Topology& topology, const mailbox::Snapshot* before, Redacted& redacted) {
  mailbox::Snapshot& shown = redacted.shown;
  // Block 0 is the device's own: CheckAgainst() has made sure of that.
  const mailbox::BlockBases bases(shown.blocks, before);
  const std::span<uint64_t> row = DeviceRow(shown);
  for (size_t block = 1; block < shown.blocks.size(); ++block) {
    // Contexts are included in their VM's block.
    if (LevelOf(shown.blocks[block]) == Level::kContext) continue;
    const mailbox::BaseBlock base = bases.Of(block);
    // A counter that a faulty device lets fall adds nothing: the device's row must never decrease.
    const auto counters = shown.Counters(block);
    for (size_t i = 0; i < row.size(); ++i) row[i] += counters[i] - std::min(counters[i], base.counter(i));
  }
  AddRotation(topology, before, redacted);
}

// Continues the device's row. After a restart of the device all counts are new, so every block contributes its whole
// count.
void CountOn(const Topology& topology, const DeviceSnapshot& before, Redacted& redacted) {
  mailbox::Snapshot& shown = redacted.shown;
  if (!IsSameBoot(&before, shown)) return AddIncrements(topology, nullptr, redacted);
  shown.blocks[0].generation = before.data.blocks[0].generation;
  std::ranges::copy(before.data.Counters(0), DeviceRow(shown).begin());
  if (!shown.rotation.empty() && !before.data.rotation.empty()) {
    shown.rotation[0] = before.data.rotation[0];
    redacted.device_row_squares = before.device_row_squares;
  }
  AddIncrements(topology, &before.data, redacted);
}

void WipeEstimate(const Rotation& rotation, size_t event, mailbox::Snapshot& shown) {
  if (shown.rotation.empty() || !rotation.IsRotated(event)) return;
  auto& numbers = shown.rotation[0].events;
  if (rotation.PlaceOf(event) < numbers.size()) numbers[rotation.PlaceOf(event)] = {};
}

// The counts of device-scope events are not shown. They stay at their last value, or at zero, so that a snapshot does
// not even contain them.
void WithholdDeviceScope(const Topology& topology, const DeviceSnapshot* before, mailbox::Snapshot& shown) {
  const bool goes_on = IsSameBoot(before, shown) && CountsTheSame(*before->topology, topology);
  const std::span<uint64_t> row = DeviceRow(shown);
  const std::vector<mailbox::EventInfo>& events = topology.catalog().events;
  for (size_t i = 0; i < row.size(); ++i) {
    if (events[i].scope != mailbox::EventScope::kDevice) continue;
    row[i] = goes_on ? before->data.Counters(0)[i] : 0;
    WipeEstimate(topology.rotation(), i, shown);
  }
}

// Sets the device's row to zeros and derives its header from the shown blocks.
void ClearDeviceRow(mailbox::Snapshot& shown) {
  std::ranges::fill(DeviceRow(shown), 0);
  if (!shown.rotation.empty()) shown.rotation[0] = {};
  // The device's own state and flags would show whether a confidential VM is at work.
  BlockHeader row{.generation = shown.blocks[0].generation,
                  .flags = mailbox::kFlagConfidentialExcluded,
                  .trigger_id = shown.trigger_id,
                  .reference_time_ns = shown.reference_time_ns};
  for (const BlockHeader& block : std::span(shown.blocks).subspan(1)) {
    row.flags |= block.flags;
    if (block.state == mailbox::BlockState::kActive) row.state = mailbox::BlockState::kActive;
  }
  shown.blocks[0] = row;
}

// The device's own block has none of the counts to be removed.
void TakeOwnBlock(const Topology& topology, const DeviceSnapshot* before, mailbox::Snapshot& shown) {
  WithholdDeviceScope(topology, before, shown);
  shown.blocks[0].flags |= mailbox::kFlagConfidentialExcluded;
}

// The device's own block as it is, beside the shown VMs.
Redacted WithWholeDevice(const Topology& topology, mailbox::Snapshot&& raw) {
  Redacted redacted{.shown = WithoutConfidential(topology, std::move(raw))};
  const bool lacks_private_vms = !topology.device_block_has_confidential_counts() ||
                                 std::ranges::any_of(topology.catalog().vms, &mailbox::VmInfo::is_private);
  if (lacks_private_vms) redacted.shown.blocks[0].flags |= mailbox::kFlagConfidentialExcluded;
  return redacted;
}

// Makes the device's row of the shown VMs.
void MakeSum(const Topology& topology, const DeviceSnapshot* before, const RowStart& start, Redacted& redacted) {
  ClearDeviceRow(redacted.shown);
  if (before != nullptr && CountsTheSame(*before->topology, topology)) return CountOn(topology, *before, redacted);
  redacted.shown.blocks[0].generation = start.generation;
  // Counters of other events have no last value to continue from, but were published before.
  redacted.device_row_is_new = before != nullptr || !start.is_first_of_boot;
  if (!redacted.device_row_is_new) AddIncrements(topology, nullptr, redacted);
}

// A number that a faulty device lets fall adds nothing.
uint64_t Gain(uint64_t base, uint64_t now) { return now - std::min(base, now); }

void AddGains(const std::vector<uint64_t>& base, const std::vector<uint64_t>& now, std::vector<uint64_t>& sums) {
  if (sums.size() < now.size()) sums.resize(now.size());
  for (size_t i = 0; i < now.size(); ++i) sums[i] += Gain(i < base.size() ? base[i] : 0, now[i]);
}

const RotationPart* FindPart(const BlockRotation& numbers, uint16_t plan) {
  const auto found = std::ranges::find(numbers.parts, plan, &RotationPart::plan);
  return found == numbers.parts.end() ? nullptr : &*found;
}

// The parts are ascending.
RotationPart& PartOf(BlockRotation& numbers, uint16_t plan) {
  const auto at = std::ranges::lower_bound(numbers.parts, plan, {}, &RotationPart::plan);
  if (at != numbers.parts.end() && at->plan == plan) return *at;
  return *numbers.parts.insert(at, {.plan = plan});
}

// A device forgets a plan in the same way: what was enabled stays known, but not of which sets.
void Forget(uint16_t plan, BlockRotation& numbers) {
  const auto part = std::ranges::find(numbers.parts, plan, &RotationPart::plan);
  const std::vector<uint64_t> enabled = part->enabled;
  numbers.parts.erase(part);
  AddGains({}, enabled, PartOf(numbers, kForgottenPlan).enabled);
}

template <typename IsToGo>
void ForgetIf(IsToGo is_to_go, BlockRotation& numbers) {
  std::vector<uint16_t> plans;
  for (const RotationPart& part : numbers.parts) {
    if (part.plan != kForgottenPlan && is_to_go(part.plan)) plans.push_back(part.plan);
  }
  for (const uint16_t plan : plans) Forget(plan, numbers);
}

// NaN: unknown.
double SquareOf(const EventEstimate& numbers, uint64_t counted) {
  if (numbers.deviation != kUnknownNumber) return std::pow(static_cast<double>(numbers.deviation), 2);
  if (numbers.upper == kUnknownNumber) return std::numeric_limits<double>::quiet_NaN();
  // No number between two bounds varies by more than half of their distance.
  return std::pow(static_cast<double>(Gain(counted, numbers.upper)) / 2, 2);
}

uint64_t RootOf(double square) {
  const double root = std::ceil(std::sqrt(std::max(square, 0.0)));
  // Also of NaN.
  return root < static_cast<double>(kUnknownNumber) ? static_cast<uint64_t>(root) : kUnknownNumber;
}

}  // namespace

Redacted Redact(const Topology& topology, mailbox::Snapshot&& raw, const DeviceSnapshot* before, const RowStart& start,
                Complement rule) {
  // Both states are sticky within a boot: the counts of confidential VMs remain in the device's own block even if the
  // device no longer reports that there were any.
  const bool was_withheld = IsSameBoot(before, raw) && before->device_scope_withheld;
  const bool was_sum = IsSameBoot(before, raw) && before->device_row_is_sum;
  if (!topology.has_had_confidential_vm() && !was_withheld) return {.shown = std::move(raw)};
  if (rule == Complement::kAllow) return WithWholeDevice(topology, std::move(raw));
  Redacted redacted{.shown = WithoutConfidential(topology, std::move(raw)),
                    .device_scope_withheld = true,
                    .device_row_withheld = rule == Complement::kWithhold,
                    .device_row_is_sum = topology.device_block_has_confidential_counts() || was_sum};
  if (redacted.device_row_is_sum) {
    MakeSum(topology, before, start, redacted);
  } else {
    TakeOwnBlock(topology, before, redacted.shown);
  }
  return redacted;
}

RotationSum::RotationSum(const Rotation& rotation, const BlockRotation& before, std::vector<double> squares)
    : rotation_(rotation), numbers_(before), squares_(std::move(squares)) {
  numbers_.events.resize(std::max(numbers_.events.size(), rotation.events()));
  squares_.resize(numbers_.events.size());
  ForgetIf([&](uint16_t plan) { return !rotation.IsKnown(plan); }, numbers_);
}

void RotationSum::AddTimes(BlockRotation base, const BlockRotation& now) {
  static const RotationPart kNone;
  // Cycles that the device has moved from one part to another are not a gain.
  ForgetIf([&](uint16_t plan) { return FindPart(now, plan) == nullptr; }, base);
  for (const RotationPart& part : now.parts) {
    const RotationPart* const before = FindPart(base, part.plan);
    const RotationPart& from = before == nullptr ? kNone : *before;
    RotationPart& sum = PartOf(numbers_, part.plan);
    AddGains(from.enabled, part.enabled, sum.enabled);
    AddGains(from.running, part.running, sum.running);
  }
}

void RotationSum::AddEvent(size_t event, const Row& base, const Row& now) {
  const EventEstimate* const found = rotation_.Find(now.numbers, event);
  if (found == nullptr) return;
  const EventEstimate* const earlier = rotation_.Find(base.numbers, event);
  const EventEstimate from = earlier == nullptr ? EventEstimate{} : *earlier;
  const size_t place = rotation_.PlaceOf(event);
  EventEstimate& sum = numbers_.events[place];
  sum.estimate += Gain(from.estimate, found->estimate);
  const bool is_bounded = sum.upper != kUnknownNumber && found->upper != kUnknownNumber;
  sum.upper = is_bounded ? sum.upper + Gain(from.upper, found->upper) : kUnknownNumber;
  const double before =
      earlier == nullptr ? 0 : SquareOf(from, event < base.counters.size() ? base.counters[event] : 0);
  squares_[place] += SquareOf(*found, now.counters[event]) - before;
  sum.deviation = RootOf(squares_[place]);
}

void RotationSum::Add(const Row& base, const Row& now) {
  AddTimes({.parts = base.numbers.parts, .events = {}}, now.numbers);
  for (size_t event = 0; event < now.counters.size(); ++event) {
    if (rotation_.IsRotated(event)) AddEvent(event, base, now);
  }
}

void Confidentiality::ForgetUnlessSameBoot(uint64_t boot_id) {
  if (boot_id == boot_id_) return;
  boot_id_ = boot_id;
  vms_.clear();
  instances_.clear();
  reported_.clear();
  is_device_block_mixed_ = false;
  before_ = nullptr;
}

void Confidentiality::Remember(const mailbox::VmInfo& vm) {
  // Once the sets are full, WhyConfidential() reports every VM as confidential; nothing more has to be remembered.
  if (vms_.size() >= remembered_max_ || instances_.size() >= remembered_max_) return;
  vms_.insert(vm.uuid);
  instances_.emplace(vm.id, vm.generation);
}

absl::string_view Confidentiality::WhyConfidential(const mailbox::VmInfo& vm) const {
  if (const absl::string_view required = requirement_(vm.uuid); !required.empty()) return required;
  if (vms_.contains(vm.uuid) || instances_.contains({vm.id, vm.generation})) {
    return "it was confidential since the device started";
  }
  if (vms_.size() >= remembered_max_ || instances_.size() >= remembered_max_) {
    return "the device has had too many confidential VMs to remember";
  }
  return "";
}

bool Confidentiality::WasCountedForDevice(const mailbox::VmInfo& vm) const {
  if (!vm.is_private) return true;
  const mailbox::VmInfo* const earlier = before_ == nullptr ? nullptr : before_->FindVm(vm.id);
  // A VM is private for a whole generation, so one of these reports is wrong.
  return earlier != nullptr && earlier->generation == vm.generation && !earlier->is_private;
}

std::shared_ptr<const Topology> Confidentiality::Corrected(const std::shared_ptr<const Topology>& said,
                                                           std::vector<size_t> vms) {
  // Pointer equality is kept, since views and history layouts are keyed by the topology's address.
  const bool were_private = !is_device_block_mixed_;
  if (said == said_ && vms == corrected_vms_ && corrected_->catalog().confidential_vms_were_private == were_private) {
    return corrected_;
  }
  mailbox::Catalog catalog = said->catalog();
  for (const size_t vm : vms) catalog.vms[vm].confidential = true;
  catalog.has_had_confidential_vm = true;
  catalog.confidential_vms_were_private = were_private;
  said_ = said;
  corrected_vms_ = std::move(vms);
  corrected_ = std::make_shared<const Topology>(std::move(catalog), said->hash());
  return corrected_;
}

Confidentiality::Verdict Confidentiality::Judge(const std::shared_ptr<const Topology>& said, uint64_t boot_id) {
  absl::MutexLock lock(&mu_);
  ForgetUnlessSameBoot(boot_id);
  is_device_block_mixed_ |= said->device_block_has_confidential_counts();
  Verdict verdict;
  std::vector<size_t> refused;
  const std::vector<mailbox::VmInfo>& vms = said->catalog().vms;
  for (size_t i = 0; i < vms.size(); ++i) {
    if (!vms[i].confidential) {
      const absl::string_view reason = WhyConfidential(vms[i]);
      if (reason.empty()) continue;
      refused.push_back(i);
      // Reported once per VM and boot, so that a device cannot flood the log and the audit log.
      if (reported_.size() < remembered_max_ && reported_.insert(vms[i].uuid).second) {
        verdict.to_report.push_back({vms[i].uuid, reason});
      }
    }
    // Refused VMs, too: a device cannot change first the UUID and then the id of a VM to be believed.
    Remember(vms[i]);
    is_device_block_mixed_ |= WasCountedForDevice(vms[i]);
  }
  before_ = said;
  verdict.refused = refused.size();
  // A confidential VM that has left the catalogue still affects the device's row (docs/decisions/0003).
  const bool is_past_right = (said->has_had_confidential_vm() || (vms_.empty() && !is_device_block_mixed_)) &&
                             said->device_block_has_confidential_counts() == is_device_block_mixed_;
  verdict.topology = refused.empty() && is_past_right ? said : Corrected(said, std::move(refused));
  return verdict;
}

ConfidentialityBook::ConfidentialityBook(const SealerSet& sealers, const ExchangeBook* exchanges,
                                         const PolicyHolder& policy, size_t devices_max)
    : requirement_([&sealers, exchanges, &policy](const Uuid& vm) -> absl::string_view {
        if (sealers.HasKey(vm)) return "it has a sealing key";
        if (exchanges != nullptr && exchanges->Serves(vm)) return "a guest is trusted with its sealing keys";
        return policy.Current().policy->GrantsSeal(vm) ? "the policy grants `seal` on it" : "";
      }),
      devices_max_(devices_max) {}

std::shared_ptr<Confidentiality> ConfidentialityBook::Of(const Uuid& device) {
  absl::MutexLock lock(&mu_);
  const auto known = devices_.find(device);
  if (known != devices_.end()) return known->second;
  // With a limit of 0, Confidentiality treats every VM as confidential. The object is not stored: the map stays
  // bounded.
  if (devices_.size() >= devices_max_) return std::make_shared<Confidentiality>(requirement_, /*remembered_max=*/0);
  return devices_.emplace(device, std::make_shared<Confidentiality>(requirement_)).first->second;
}

}  // namespace sideband::daemon
