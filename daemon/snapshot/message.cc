// SPDX-License-Identifier: Apache-2.0
#include "daemon/snapshot/message.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "daemon/snapshot/device_snapshot.h"

namespace sideband::daemon {
namespace {

// The documented ranges of the well-known types: years 1 to 9999, and up to 10000 years.
constexpr int64_t kSecondsMin = -62'135'596'800, kSecondsMax = 253'402'300'799;
constexpr int64_t kDurationSecondsMax = 315'576'000'000;
constexpr int32_t kNanosMax = 999'999'999;

sideband::v1::Event::Counting CountingMessage(mailbox::Counting counting) {
  switch (counting) {
    case mailbox::Counting::kFixed:
      return sideband::v1::Event::COUNTING_FIXED;
    case mailbox::Counting::kRotated:
      return sideband::v1::Event::COUNTING_ROTATED;
    case mailbox::Counting::kDerived:
      return sideband::v1::Event::COUNTING_DERIVED;
  }
  return sideband::v1::Event::COUNTING_UNSPECIFIED;
}

void FillEstimate(const Estimate& estimate, uint64_t hertz, sideband::v1::Estimate& out) {
  if (estimate.deviation != mailbox::kUnknownNumber) out.set_standard_error(estimate.deviation);
  out.set_lower(estimate.lower);
  if (estimate.upper != mailbox::kUnknownNumber) out.set_upper(estimate.upper);
  out.set_time_enabled_ns(NanosecondsOf(estimate.time.enabled, hertz));
  out.set_time_running_ns(NanosecondsOf(estimate.time.running, hertz));
  out.set_method(estimate.method == EstimateMethod::kRandomTurns ? sideband::v1::Estimate::METHOD_RANDOM_TURNS
                                                                 : sideband::v1::Estimate::METHOD_MODEL);
}

// Whether the event is counted in a row: the count of a device-scope event is unknown for a VM.
bool IsOf(const mailbox::BlockHeader& block, const mailbox::EventInfo& event) {
  const bool is_foreign = LevelOf(block) != Level::kDevice && event.scope == mailbox::EventScope::kDevice;
  return !is_foreign && !event.masked;
}

}  // namespace

void SetTime(absl::Time from, google::protobuf::Timestamp& to) {
  // Rounds towards the past, so that the nanoseconds count forwards.
  const int64_t seconds = absl::ToUnixSeconds(from);
  to.set_seconds(seconds);
  to.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(from - absl::FromUnixSeconds(seconds))));
}

void SetDuration(absl::Duration from, google::protobuf::Duration& to) {
  to.set_seconds(absl::IDivDuration(from, absl::Seconds(1), &from));
  to.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(from)));
}

uint64_t NanosecondsOf(uint64_t cycles, uint64_t hertz) {
  constexpr uint64_t kLongest = std::numeric_limits<uint64_t>::max();
  if (hertz == 0) return 0;
  const absl::uint128 time = absl::uint128(cycles) * 1'000'000'000 / hertz;
  return time > kLongest ? kLongest : static_cast<uint64_t>(time);
}

absl::StatusOr<absl::Time> TimeOf(const google::protobuf::Timestamp& from, absl::string_view field) {
  const bool good =
      from.seconds() >= kSecondsMin && from.seconds() <= kSecondsMax && from.nanos() >= 0 && from.nanos() <= kNanosMax;
  if (!good) return absl::InvalidArgumentError(absl::StrCat(field, ": is not a time"));
  return absl::FromUnixSeconds(from.seconds()) + absl::Nanoseconds(from.nanos());
}

absl::StatusOr<absl::Duration> PositiveDurationOf(const google::protobuf::Duration& from, absl::string_view field) {
  const bool good = from.seconds() >= 0 && from.seconds() <= kDurationSecondsMax && from.nanos() >= 0 &&
                    from.nanos() <= kNanosMax && (from.seconds() > 0 || from.nanos() > 0);
  if (!good) return absl::InvalidArgumentError(absl::StrCat(field, ": must be above zero"));
  return absl::Seconds(from.seconds()) + absl::Nanoseconds(from.nanos());
}

using mailbox::kAnySlice;

sideband::v1::ScopeCounters::State StateMessage(mailbox::BlockState state) {
  switch (state) {
    case mailbox::BlockState::kActive:
      return sideband::v1::ScopeCounters::STATE_ACTIVE;
    case mailbox::BlockState::kIdle:
      return sideband::v1::ScopeCounters::STATE_IDLE;
    case mailbox::BlockState::kRetired:
      return sideband::v1::ScopeCounters::STATE_RETIRED;
  }
  return sideband::v1::ScopeCounters::STATE_UNSPECIFIED;
}

sideband::v1::Event EventMessage(const Topology& topology, size_t index) {
  const mailbox::Catalog& catalog = topology.catalog();
  const mailbox::EventInfo& event = catalog.events[index];
  sideband::v1::Event out;
  out.set_name(event.name);
  out.set_unit(event.unit);
  out.set_scope(event.scope == mailbox::EventScope::kDevice ? sideband::v1::Event::SCOPE_DEVICE
                                                            : sideband::v1::Event::SCOPE_CONTEXT);
  out.set_description(event.description);
  out.set_masked(event.masked);
  if (topology.coverage().IsGated(index)) out.set_gate_group(catalog.gate_groups[event.details.gate_group].name);
  out.set_counting(CountingMessage(event.details.counting));
  return out;
}

sideband::v1::Scope ScopeMessage(const DeviceInfo& device, const Topology& topology, uint16_t vm, uint16_t context) {
  sideband::v1::Scope out;
  out.set_device(device.name);
  if (mailbox::IsHostBlock({.vm = vm, .context = context})) {
    out.set_host(true);
    out.set_slice(context);
    return out;
  }
  const mailbox::VmInfo* vm_info = topology.FindVm(vm);
  if (vm_info == nullptr) return out;
  out.set_vm(vm_info->name);
  out.set_vm_uuid(vm_info->uuid.ToString());
  out.set_confidential(vm_info->confidential);
  out.set_generation(vm_info->generation);
  uint8_t slice = vm_info->slice;
  if (const mailbox::ContextInfo* context_info = topology.FindContext(vm, context)) {
    out.set_context(context_info->name);
    out.set_generation(context_info->generation);
    slice = context_info->slice;
  }
  if (slice != kAnySlice) out.set_slice(slice);
  return out;
}

void FillScopeHeader(const DeviceInfo& device, const Topology& topology, const mailbox::BlockHeader& block,
                     sideband::v1::ScopeCounters& out) {
  *out.mutable_scope() = ScopeMessage(device, topology, block.vm, block.context);
  // The block's generation is newer than the catalogue's if a restart came between reading the two.
  out.mutable_scope()->set_generation(block.generation);
  out.set_state(StateMessage(block.state));
  for (std::string& flag : mailbox::FlagNames(block.flags)) out.add_flags(std::move(flag));
}

void FillCounter(const Topology& topology, size_t event, const ShownCount& shown, sideband::v1::Counter& out) {
  out.set_event(topology.catalog().events[event].name);
  out.set_count(shown.count);
  const bool is_whole = !topology.coverage().IsGated(event) && !shown.estimate;
  if (!is_whole) out.set_coverage(shown.coverage);
  if (shown.estimate) {
    FillEstimate(*shown.estimate, topology.catalog().reference_clock_hz, *out.mutable_estimate());
  }
}

uint16_t FlagsForOwner(const Topology& topology, const mailbox::Snapshot& data, size_t row) {
  uint16_t flags = data.blocks.at(row).flags;
  if (!topology.coverage().IsWhole(data.Counters(row))) flags |= mailbox::kFlagPartial;
  if (data.rotation.empty() || !topology.rotation().has_rotated_events()) return flags;
  flags = static_cast<uint16_t>(flags & ~mailbox::kFlagEstimated);
  const auto& events = topology.catalog().events;
  for (size_t i = 0; i < std::min<size_t>(data.counters_per_block, events.size()); ++i) {
    if (!IsOf(data.blocks[row], events[i])) continue;
    if (!topology.rotation().IsWhole(data, row, i)) flags |= mailbox::kFlagPartial;
    if (topology.rotation().Of(data, row, i)) flags |= mailbox::kFlagEstimated;
  }
  return flags;
}

void FillScopeCounters(const DeviceInfo& device, const Topology& topology, const mailbox::Snapshot& data, size_t row,
                       Uncounted uncounted, sideband::v1::ScopeCounters& out) {
  const Coverage& coverage = topology.coverage();
  const Rotation& rotation = topology.rotation();
  const auto counters = data.Counters(row);
  mailbox::BlockHeader block = data.blocks.at(row);
  block.flags = FlagsForOwner(topology, data, row);
  FillScopeHeader(device, topology, block, out);
  const auto& events = topology.catalog().events;
  for (size_t i = 0; i < std::min(counters.size(), events.size()); ++i) {
    if (!IsOf(block, events[i])) continue;
    const double covered = coverage.OfCount(i, counters) * rotation.CoverageOf(data, row, i);
    if (covered == 0 && uncounted == Uncounted::kDropped) continue;
    FillCounter(topology, i, {rotation.Shown(data, row, i), covered, rotation.Of(data, row, i)}, *out.add_counters());
  }
}

}  // namespace sideband::daemon
