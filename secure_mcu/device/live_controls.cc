// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/live_controls.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/clocks/clock_limits.h"
#include "proto/mailbox/counting.h"

namespace sideband::mcu {
namespace {

using clocks::AddResult;
using mailbox::BlockRotation;
using mailbox::CountingConfig;
using mailbox::RotationPart;
using mailbox::RotationPlan;
using mailbox::RotationRequest;
using mailbox::TimelineKind;

// Whether `a` is `b`, or after it: numbers start again after 2^32.
bool IsFrom(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) >= 0; }

TimelineKind KindOf(TriggerCause cause) {
  switch (cause) {
    case TriggerCause::kOnce:
      return TimelineKind::kOnce;
    case TriggerCause::kGrid:
      return TimelineKind::kGrid;
    case TriggerCause::kExternal:
      return TimelineKind::kExternal;
    case TriggerCause::kLatch:
      break;
  }
  return TimelineKind::kLatch;
}

mailbox::TimelineEntry EntryOf(const TriggerPackets& packets, uint64_t may_stop) {
  const ReferencePacket& reference = packets.reference;
  mailbox::TimelineEntry entry{.trigger_id = reference.number,
                               .kind = KindOf(reference.cause),
                               .reference_cycle = reference.cycle,
                               .scheduler = reference.scheduler,
                               .bookmark = reference.bookmark.value_or(0)};
  for (size_t row = 0; row < packets.rows.size(); ++row) {
    const std::optional<ClockPacket>& packet = packets.rows[row];
    if (!packet) continue;
    entry.domains |= uint64_t{1} << row;
    entry.clocks.push_back({.local_clock = packet->local_clock,
                            .changes = packet->changes,
                            .coalesced = packet->coalesced,
                            .arrival = mailbox::HasDomain(may_stop, row) ? packet->arrival : 0});
  }
  return entry;
}

// Counter sets of all plans of a VM: others are to have some, too.
constexpr size_t kSetsOfVmMax = 16;

// Whether an event was not counted in all cycles in which it could have been.
bool IsPartial(const BlockRotation& numbers, const std::vector<RotationPlan>& plans) {
  return std::ranges::any_of(numbers.parts, [&](const RotationPart& part) {
    const auto plan = std::ranges::find(plans, part.plan, &RotationPlan::number);
    return part.enabled[0] > 0 && (plan == plans.end() || plan->sets.size() > 1);
  });
}

// Not of another VM: that its number is returned would tell that it is in force there.
bool IsSamePlan(RotationRequest a, const RotationRequest& b) {
  a.contexts = b.contexts;
  return a == b;
}

}  // namespace

ClockFits::ClockFits(const std::vector<mailbox::ClockDomain>& domains, uint64_t reference_hz) {
  const clocks::Ticks segment_max = clocks::Ticks(kSegmentSeconds * reference_hz) * clocks::kTicksPerCycle;
  for (const mailbox::ClockDomain& domain : domains) {
    fits_.push_back({.domain = domain,
                     .strip = *clocks::ClockStrip::Create(clocks::LimitsOf(domain), {.segment_max = segment_max}),
                     .numbers = {}});
  }
}

void ClockFits::Add(const mailbox::TimelineEntry& entry) {
  auto clock = entry.clocks.begin();
  for (size_t domain = 0; domain < fits_.size(); ++domain) {
    if (mailbox::HasDomain(entry.domains, domain)) AddPacket(entry, *clock++, fits_[domain]);
  }
}

void ClockFits::AddPacket(const mailbox::TimelineEntry& entry, const mailbox::TimelineClock& clock, Fit& fit) {
  const auto result = fit.strip.Add(clocks::PacketOf(fit.domain, entry, clock, fit.numbers));
  if (!result.ok() || *result == AddResult::kOutside || *result == AddResult::kResynchronise) return;
  const bool begins = *result == AddResult::kAfterLongestSegment && fit.strip.Hulls()->packets == 1;
  if (*result == AddResult::kAfterLongestSegment && !begins) {
    fit.first_trigger = fit.newest_trigger;  // both segments have the packet before
  } else if (*result != AddResult::kAdded || !fit.has_packets) {
    fit.first_trigger = entry.trigger_id;
  }
  fit.newest_trigger = entry.trigger_id;
  fit.has_packets = true;
}

std::vector<mailbox::ClockHull> ClockFits::HullsFrom(uint32_t first_trigger_id) const {
  std::vector<mailbox::ClockHull> hulls;
  for (size_t domain = 0; domain < fits_.size(); ++domain) {
    const Fit& fit = fits_[domain];
    if (!fit.has_packets || fit.strip.unsound() || !IsFrom(fit.newest_trigger, first_trigger_id)) continue;
    mailbox::ClockHull& hull = hulls.emplace_back(clocks::HullOf(*fit.strip.Hulls()));
    hull.domain = static_cast<uint8_t>(domain);
    hull.first_trigger_id = fit.first_trigger;
  }
  return hulls;
}

std::vector<mailbox::ClockDomain> ClockControls::Domains() const {
  std::vector<mailbox::ClockDomain> domains;
  if (!chip_.has_clocks()) return domains;
  for (const DomainInfo& info : chip_.clocks().domains()) {
    mailbox::ClockDomain& domain = domains.emplace_back();
    domain.name = info.domain_name;
    domain.nominal_hz = info.nominal_hz;
    domain.period_min = info.shortest;
    domain.period_max = info.longest;
    domain.bar_low = static_cast<int64_t>(info.bar_low);
    // The bars of a clock that may stop end at the arrival stamp.
    domain.bar_high = static_cast<int64_t>(std::max(info.bar_low, info.bar_high));
    domain.wander = info.wander;
    if (info.channel != kDeviceChannel) domain.slice = info.channel;
    domain.announces = info.announces;
  }
  return domains;
}

uint8_t ClockControls::DomainOf(uint8_t channel, uint32_t domain) const {
  const auto row = chip_.has_clocks() ? chip_.clocks().FindRow(channel, domain) : std::nullopt;
  return row ? static_cast<uint8_t>(*row + 1) : 0;
}

absl::Status ClockControls::Select(uint64_t domains) {
  const size_t rows = chip_.has_clocks() ? chip_.clocks().domains().size() : 0;
  if ((domains & ~mailbox::MaskOfDomains(rows)) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("a clock domain of ", rows, " that is not there"));
  }
  if (rows > 0) chip_.clocks().scheduler().Select(domains);
  return absl::OkStatus();
}

uint64_t ClockControls::GridPeriodMin() const {
  uint64_t longest = 0;
  for (const mailbox::ClockDomain& domain : Domains()) {
    if (!domain.MayStop()) longest = std::max(longest, static_cast<uint64_t>(domain.bar_high - domain.bar_low));
  }
  return 2 * longest >> mailbox::kInstantFractionBits;
}

void ClockControls::SetOwnBookmark(uint32_t bookmark) {
  if (chip_.has_clocks()) chip_.clocks().scheduler().SetBookmark(bookmark);
}

mailbox::Timeline ClockControls::TimelineFrom(uint32_t first_trigger_id) {
  mailbox::Timeline timeline{.first_trigger_id = first_trigger_id};
  if (!chip_.has_clocks()) return timeline;
  const std::vector<DomainInfo>& domains = chip_.clocks().domains();
  for (size_t row = 0; row < domains.size(); ++row) {
    if (domains[row].longest == 0) timeline.may_stop |= uint64_t{1} << row;
  }
  for (const TriggerPackets& packets : chip_.clocks().PacketsFrom(first_trigger_id, chip_.now())) {
    timeline.entries.push_back(EntryOf(packets, timeline.may_stop));
  }
  timeline.lost = chip_.clocks().lost_triggers();
  return timeline;
}

std::vector<std::optional<mailbox::ClockReading>> ClockControls::Readings() const {
  std::vector<std::optional<mailbox::ClockReading>> readings;
  if (!chip_.has_clocks()) return readings;
  for (const std::optional<ClockPacket>& packet : chip_.clocks().readings()) {
    auto& reading = readings.emplace_back();
    if (!packet) continue;
    reading = mailbox::ClockReading{.local_clock = packet->local_clock,
                                    .horizon_lag = packet->horizon_lag,
                                    .arrival = packet->arrival - chip_.now(),
                                    .changes = packet->changes};
  }
  return readings;
}

std::vector<mailbox::ServedBookmark> ClockControls::Bookmarks() const {
  std::vector<mailbox::ServedBookmark> bookmarks;
  // Blocks that are released are in no snapshot.
  std::vector<uint16_t> places;
  uint16_t place = 0;
  for (BlockId block = 0; block < chip_.memory().size(); ++block) {
    places.push_back(place);
    if (!chip_.memory().released(block)) ++place;
  }
  for (const KeptBookmark& kept : chip_.bookmarks().kept()) {
    bookmarks.push_back({.number = kept.number,
                         .block = places[kept.block],
                         .bookmark = kept.asked.bookmark,
                         .asked_ns = kept.asked.asked_ns,
                         .served_ns = kept.served_ns,
                         .counters = {kept.counters.begin(), kept.counters.end()}});
  }
  return bookmarks;
}

void ClockControls::AddNumbers(mailbox::Snapshot& snapshot) const {
  snapshot.clocks = Readings();
  snapshot.bookmarks = Bookmarks();
}

std::optional<uint32_t> CountingControls::revision() const {
  return chip_.guests().has_gates() ? std::optional(revision_) : std::nullopt;
}

CountingConfig CountingControls::Get() const {
  CountingConfig config{.revision = revision_};
  config.selections = chip_.selections();
  for (uint32_t slice = 0; slice < chip_.slices(); ++slice) {
    CounterGate& gate = chip_.guests().gate(static_cast<uint8_t>(slice));
    config.groups.push_back(gate.groups());
    config.hosts.push_back(gate.host());
  }
  for (const Tenant& tenant : tenants_) GetTenant(tenant, config);
  return config;
}

void CountingControls::GetTenant(const Tenant& tenant, CountingConfig& config) const {
  const uint16_t vm = chip_.memory().header(tenant.binding.vm).vm;
  const bool is_confidential = confidential_.contains(vm);
  if (!tenant.binding.context) {
    const VmControl& control = chip_.guests().vm_control(tenant.binding.vm);
    config.vms[vm] = is_confidential ? mailbox::Shown(control) : control;
    return;
  }
  const BlockId context = *tenant.binding.context;
  if (is_confidential || chip_.memory().released(context)) return;
  config.contexts[{vm, chip_.memory().header(context).context}] = chip_.guests().context_control(context);
}

absl::Status CountingControls::Check(const CountingConfig& config) const {
  SIDEBAND_RETURN_IF_ERROR(chip_.CheckSelections(config.selections));
  for (const Tenant& tenant : tenants_) SIDEBAND_RETURN_IF_ERROR(CheckPins(tenant, config));
  return mailbox::CheckChange(Get(), config, confidential_);
}

// A multiplexed event is not counted in all of its gate's open cycles, as a pinned one has to be.
absl::Status CountingControls::CheckPins(const Tenant& tenant, const CountingConfig& config) const {
  if (!chip_.has_rotation()) return absl::OkStatus();
  const uint16_t vm = chip_.memory().header(tenant.binding.vm).vm;
  const auto control = config.vms.find(vm);
  const uint16_t plan = chip_.rotation().turns().chosen(tenant.binding.context.value_or(tenant.binding.vm));
  const bool is_pinned =
      control != config.vms.end() && (control->second.pinned & chip_.rotation().turns().GroupsInTurns(plan)) != 0;
  if (!is_pinned) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("VM ", vm, ": a pinned group has events that take turns"));
}

void CountingControls::Apply(const CountingConfig& config) {
  for (uint8_t slice = 0; slice < config.groups.size(); ++slice) {
    chip_.guests().gate(slice).groups() = config.groups[slice];
    chip_.guests().gate(slice).host() = config.hosts[slice];
  }
  for (const Tenant& tenant : tenants_) ApplyTenant(tenant, config);
  chip_.SetSelections(config.selections);
  for (uint8_t slice = 0; slice < config.groups.size(); ++slice) chip_.guests().ShowGate(slice);
  ++revision_;
}

void CountingControls::ApplyTenant(const Tenant& tenant, const CountingConfig& config) {
  const uint16_t vm = chip_.memory().header(tenant.binding.vm).vm;
  if (!tenant.binding.context) {
    const VmControl& changed = config.vms.at(vm);
    if (confidential_.contains(vm)) {
      chip_.guests().vm_control(tenant.binding.vm).allowed = changed.allowed;
    } else {
      ApplyVm(tenant.binding.vm, changed);
    }
    return;
  }
  const BlockId block = *tenant.binding.context;
  const auto context = config.contexts.find({vm, chip_.memory().header(block).context});
  if (context != config.contexts.end()) ApplyContext(block, context->second);
}

std::vector<uint8_t> CountingControls::RunningSlices(const VmControl& changed, BlockId vm) const {
  std::vector<uint8_t> slices;
  const VmControl& now = chip_.guests().vm_control(vm);
  if (!changed.guest_load || (now.guest_load && now.guest_value == changed.guest_value)) return slices;
  for (uint8_t slice = 0; slice < chip_.slices(); ++slice) {
    const auto& resident = chip_.resident(slice);
    if (resident && resident->vm == vm && chip_.guests().gate(slice).in_guest()) slices.push_back(slice);
  }
  return slices;
}

// The exits store newer values than `changed` was made from.
void CountingControls::ApplyVm(BlockId vm, const VmControl& changed) {
  VmControl& control = chip_.guests().vm_control(vm);
  const GateValue before = control.guest_value;
  const std::vector<uint8_t> running = RunningSlices(changed, vm);
  for (const uint8_t slice : running) chip_.guests().Exit(slice, chip_.now());
  const GateValue stored = control.guest_value;
  control = changed;
  if (changed.guest_value == before) control.guest_value = stored;
  for (const uint8_t slice : running) chip_.guests().Enter(slice, chip_.now());
}

void CountingControls::ApplyContext(BlockId context, const ContextControl& changed) {
  ContextControl& control = chip_.guests().context_control(context);
  const bool is_new = changed.load && control != changed;
  control = changed;
  for (uint8_t slice = 0; is_new && slice < chip_.slices(); ++slice) {
    const auto& resident = chip_.resident(slice);
    if (resident && resident->context == context) chip_.guests().gate(slice).WriteContextValue(changed.value);
  }
}

mailbox::Counting RotationControls::CountingOf(size_t event) const {
  if (empty()) return mailbox::Counting::kFixed;
  const std::vector<uint16_t>& turning = chip_.rotation().turns().events();
  if (!std::ranges::binary_search(turning, event)) return mailbox::Counting::kFixed;
  const bool is_derived = chip_.rotation().turns().plans()[0].counters.IsDerived(event);
  return is_derived ? mailbox::Counting::kDerived : mailbox::Counting::kRotated;
}

RotationPlan RotationControls::Describe(const TurnPlan& plan) const {
  RotationPlan described{
      .number = plan.number, .of_device = plan.of_device, .sets = {}, .derived = {}, .settings = plan.settings};
  const size_t events = chip_.events();
  described.derived = mailbox::EmptySet(events);
  for (const mailbox::EventSet& set : plan.counters.sets) {
    mailbox::EventSet turning = mailbox::EmptySet(events);
    for (const uint16_t event : chip_.rotation().turns().events()) {
      if (!mailbox::Includes(set, event) || chip_.rotation().turns().is_of_device(event) != plan.of_device) continue;
      mailbox::Insert(event, turning);
      if (plan.counters.IsDerived(event)) mailbox::Insert(event, described.derived);
    }
    described.sets.push_back(std::move(turning));
  }
  return described;
}

std::vector<RotationPlan> RotationControls::Plans() const {
  std::vector<RotationPlan> plans;
  if (empty()) return plans;
  for (const TurnPlan& plan : chip_.rotation().turns().plans()) plans.push_back(Describe(plan));
  return plans;
}

std::optional<BlockId> RotationControls::FindBlock(uint16_t vm, uint16_t context) const {
  for (const Tenant& tenant : tenants_) {
    const BlockId block = tenant.binding.context.value_or(tenant.binding.vm);
    const mailbox::BlockHeader& header = chip_.memory().header(block);
    if (header.vm == vm && header.context == context && !chip_.memory().released(block)) return block;
  }
  return std::nullopt;
}

std::optional<RotationPlan> RotationControls::Get(uint16_t vm, uint16_t context) const {
  const auto block = empty() ? std::nullopt : FindBlock(vm, context);
  if (!block) return std::nullopt;
  const uint16_t number = chip_.rotation().turns().chosen(*block);
  return Describe(*std::ranges::find(chip_.rotation().turns().plans(), number, &TurnPlan::number));
}

std::vector<BlockId> RotationControls::BlocksOf(const RotationRequest& request) const {
  std::vector<BlockId> blocks;
  for (const uint16_t context : request.contexts) {
    if (const auto block = FindBlock(request.vm, context)) blocks.push_back(*block);
  }
  if (!request.contexts.empty()) return blocks;
  for (const Tenant& tenant : tenants_) {
    const BlockId block = tenant.binding.context.value_or(tenant.binding.vm);
    if (chip_.memory().header(block).vm == request.vm) blocks.push_back(block);
  }
  return blocks;
}

absl::Status RotationControls::Check(const RotationRequest& request) const {
  if (empty()) return absl::UnimplementedError("no rotation");
  const size_t wanted = request.contexts.empty() ? 1 : request.contexts.size();
  if (BlocksOf(request).size() < wanted) {
    return absl::InvalidArgumentError(absl::StrCat("no VM ", request.vm, ", or not all of the contexts"));
  }
  return chip_.rotation().CheckSettings(request.settings);
}

absl::Status RotationControls::Apply(const RotationRequest& request) {
  SIDEBAND_RETURN_IF_ERROR(Check(request));
  SIDEBAND_ASSIGN_OR_RETURN(const uint16_t number, PlanFor(request));
  for (const BlockId block : BlocksOf(request)) chip_.rotation().turns().Choose(block, number);
  return absl::OkStatus();
}

absl::StatusOr<uint16_t> RotationControls::PlanFor(const RotationRequest& request) {
  std::erase_if(requests_, [this](const auto& plan) { return !chip_.rotation().turns().IsInForce(plan.first); });
  const auto same = std::ranges::find_if(requests_, [&](const auto& plan) { return IsSamePlan(plan.second, request); });
  const uint64_t pinned = chip_.guests().vm_control(*FindBlock(request.vm, mailbox::kNoContext)).pinned;
  if (same == requests_.end()) return MakePlan(request, pinned);
  if ((pinned & chip_.rotation().turns().GroupsInTurns(same->first)) == 0) return same->first;
  return absl::InvalidArgumentError("events of a gate group that is pinned take turns in the plan");
}

// A VM has its share of the numbers of a boot, so that none is left without.
uint32_t RotationControls::PlansOfVmMax() const {
  std::set<BlockId> vms;
  for (const Tenant& tenant : tenants_) vms.insert(tenant.binding.vm);
  return kAddedPlansMax / static_cast<uint32_t>(std::max<size_t>(1, vms.size()));
}

absl::StatusOr<uint16_t> RotationControls::MakePlan(const RotationRequest& request, uint64_t pinned) {
  uint32_t& made = made_[request.vm];
  if (made >= PlansOfVmMax()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("VM ", request.vm, " has had ", made, " plans since the device booted: it can have no more"));
  }
  const bool fill = request.settings.profile == mailbox::RotationProfile::kFast;
  const size_t sets_max = std::max(kSetsOfVmMax, chip_.rotation().turns().plans()[0].counters.sets.size());
  SIDEBAND_ASSIGN_OR_RETURN(
      const uint16_t number,
      chip_.rotation().Plan({.events = request.events, .always = request.always, .fill = fill}, request.settings,
                            sets_max - std::min(sets_max, OtherSetsOf(request)), pinned));
  ++made;
  requests_[number] = request;
  return number;
}

// The sets of the plans that the VM's other blocks have chosen.
size_t RotationControls::OtherSetsOf(const RotationRequest& request) const {
  const std::vector<BlockId> blocks = BlocksOf(request);
  std::set<uint16_t> numbers;
  for (const BlockId block : BlocksOf({.vm = request.vm, .contexts = {}, .events = {}, .always = {}})) {
    if (std::ranges::find(blocks, block) == blocks.end()) numbers.insert(chip_.rotation().turns().chosen(block));
  }
  size_t sets = 0;
  for (const TurnPlan& plan : chip_.rotation().turns().plans()) {
    if (plan.number > 0 && numbers.contains(plan.number)) sets += plan.counters.sets.size();
  }
  return sets;
}

absl::Status RotationControls::Learn(uint16_t vm, uint16_t context) {
  SIDEBAND_ASSIGN_OR_RETURN(const BlockId block, BlockToRotate(vm, context));
  if (!chip_.rotation().CanLearn(*FindBlock(vm, mailbox::kNoContext))) {
    return absl::FailedPreconditionError(absl::StrCat("nothing can be learnt of VM ", vm));
  }
  const auto& settings =
      std::ranges::find(chip_.rotation().turns().plans(), chip_.rotation().turns().chosen(block), &TurnPlan::number)
          ->settings;
  if (settings.stable_slot == settings.fluctuating_slot) {
    return absl::FailedPreconditionError("all turns of the scope are equally long");
  }
  chip_.rotation().turns().Learn(block);
  return absl::OkStatus();
}

absl::Status RotationControls::SetPass(uint16_t vm, uint16_t context, uint32_t pass) {
  SIDEBAND_ASSIGN_OR_RETURN(const BlockId block, BlockToRotate(vm, context));
  return chip_.rotation().turns().ChoosePass(block, pass);
}

absl::StatusOr<BlockId> RotationControls::BlockToRotate(uint16_t vm, uint16_t context) const {
  if (empty()) return absl::UnimplementedError("no rotation");
  const auto block = FindBlock(vm, context);
  if (!block) return absl::InvalidArgumentError(absl::StrCat("no VM ", vm, ", or no context ", context, " of it"));
  return *block;
}

bool RotationControls::IsEstimated(BlockId block) const {
  return !empty() && (chip_.rotation().TakesTurns(block) || IsPartial(chip_.rotation().NumbersOf(block), Plans()));
}

void RotationControls::AddNumbers(mailbox::Snapshot& snapshot) const {
  if (empty()) return;
  const std::vector<RotationPlan> plans = Plans();
  for (BlockId block = 0; block < chip_.memory().size(); ++block) {
    if (chip_.memory().released(block)) continue;
    BlockRotation numbers = chip_.rotation().NumbersOf(block);
    mailbox::BlockHeader& header = snapshot.blocks[snapshot.rotation.size()];
    if (IsPartial(numbers, plans)) header.flags |= mailbox::kFlagEstimated;
    snapshot.rotation.push_back(std::move(numbers));
  }
}

}  // namespace sideband::mcu
