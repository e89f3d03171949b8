// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/exposition/exposition.h"
#include "daemon/snapshot/coverage.h"
#include "daemon/snapshot/device_info.h"
#include "proto/exposition/prometheus_text.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {
namespace {

// Measures of how exact the counters of multiplexed events are (daemon/snapshot/coverage.h).
enum class EstimateNumber : uint8_t { kCoverage, kLower, kUpper, kStandardError };

void WriteClock(absl::string_view name, const DeviceFrame& frame, TextBuffer& out) {
  if (!frame.is_fresh()) return;
  const uint64_t hertz = frame.device().view->topology()->catalog().reference_clock_hz;
  // A device may not know its clock.
  if (hertz != 0) AppendSample(out, name, frame.labels().device(), absl::StrCat(hertz));
}

void WriteComplete(absl::string_view name, const DeviceFrame& frame, TextBuffer& out) {
  // Only callers with the device's row can compare it with the VMs'.
  for (const Row& row : frame.rows(Level::kDevice).rows) {
    const uint16_t flags = frame.device().snapshot->data.blocks[row.index].flags;
    AppendSample(out, name, *row.labels, (flags & mailbox::kFlagConfidentialExcluded) == 0 ? "1" : "0");
  }
}

void WriteDeviceInfo(absl::string_view name, const DeviceFrame& frame, TextBuffer& out) {
  if (frame.is_fresh()) AppendSample(out, name, frame.labels().device_info(), "1");
}

void WriteDeviceUp(absl::string_view name, const DeviceFrame& frame, TextBuffer& out) {
  AppendSample(out, name, frame.labels().device(), frame.is_fresh() ? "1" : "0");
}

void WriteEventInfo(absl::string_view name, const DeviceFrame& frame, TextBuffer& out) {
  if (!frame.is_fresh()) return;
  const Topology& topology = *frame.device().view->topology();
  const auto& events = topology.catalog().events;
  for (size_t e = 0; e < events.size(); ++e) {
    if (!frame.ShowsEvent(e)) continue;
    std::string labels = frame.labels().device();
    AppendLabel(labels, "event", events[e].name);
    AppendLabel(labels, "unit", events[e].unit);
    AppendLabel(labels, "scope", events[e].scope == mailbox::EventScope::kDevice ? "device" : "context");
    if (topology.coverage().IsGated(e)) {
      AppendLabel(labels, "gate_group", topology.catalog().gate_groups[events[e].details.gate_group].name);
    }
    AppendSample(out, name, labels, "1");
  }
}

bool SeesSlice(const View& view, const mailbox::Catalog& catalog, uint8_t slice) {
  return view.sees_device_row() || std::ranges::any_of(catalog.vms, [&](const mailbox::VmInfo& vm) {
           return vm.slice == slice && view.SeesVm(vm.id);
         });
}

// The places of the slices, in the catalogue's order, that the caller sees.
std::vector<size_t> VisiblePlaces(const View& view) {
  const mailbox::Catalog& catalog = view.topology()->catalog();
  std::vector<size_t> places;
  for (size_t place = 0; place < catalog.slices.size(); ++place) {
    if (SeesSlice(view, catalog, catalog.slices[place].id)) places.push_back(place);
  }
  return places;
}

class Writer {
 public:
  Writer(absl::string_view name, const DeviceFrame& frame, TextBuffer& out)
      : name_(name), frame_(frame), catalog_(frame.device().view->topology()->catalog()), out_(out) {}

  void Write(size_t event, const std::vector<size_t>& places) {
    const Capacities& capacities = frame_.device().view->topology()->capacities();
    if (catalog_.events[event].scope == mailbox::EventScope::kDevice) {
      return WriteSample(frame_.labels().device(), event, capacities.OfDevice(event));
    }
    for (const size_t place : places) {
      std::string labels = frame_.labels().device();
      AppendLabel(labels, "slice", absl::StrCat(catalog_.slices[place].id));
      WriteSample(std::move(labels), event, capacities.OfSlice(event, place));
    }
  }

 private:
  void WriteSample(std::string labels, size_t event, double capacity) {
    if (capacity == 0) return;  // unknown, or not counted there
    AppendLabel(labels, "event", catalog_.events[event].name);
    AppendSample(out_, name_, labels, NumberText(capacity));
  }

  const absl::string_view name_;
  const DeviceFrame& frame_;
  const mailbox::Catalog& catalog_;
  TextBuffer& out_;
};

// Only operators see clocks: a clock follows the load of all VMs on its slice.
bool ShowsClocks(const DeviceFrame& frame) { return frame.is_fresh() && frame.device().view->sees_device_row(); }

// A sample for each clock that has a value; of a counter, since when it counts.
template <typename Value>
void WriteEach(absl::string_view name, const DeviceFrame& frame, TextBuffer& out, const Value& value,
               bool is_counter = false) {
  if (!ShowsClocks(frame)) return;
  const DeviceSnapshot& snapshot = *frame.device().snapshot;
  const auto& domains = snapshot.topology->catalog().clock_domains;
  for (size_t d = 0; d < snapshot.clocks.size(); ++d) {
    if (snapshot.clocks[d].is_withheld) continue;
    const std::optional<std::string> text = value(snapshot.clocks[d]);
    if (!text) continue;
    std::string labels = frame.labels().device();
    AppendLabel(labels, "domain", ClockName(domains[d]));
    AppendSample(out, name, labels, *text);
    if (is_counter) AppendCreated(out, frame.format(), name, labels, snapshot.clocks[d].created);
  }
}

void WriteEachCount(absl::string_view name, const DeviceFrame& frame, TextBuffer& out, uint64_t ClockState::*count) {
  const auto text = [count](const ClockState& clock) { return std::optional(absl::StrCat(clock.*count)); };
  WriteEach(name, frame, out, text, /*is_counter=*/true);
}

// The gated events that the frame shows, by group.
std::vector<std::vector<size_t>> ShownEvents(const DeviceFrame& frame) {
  const Topology& topology = *frame.device().view->topology();
  const mailbox::Catalog& catalog = topology.catalog();
  std::vector<std::vector<size_t>> groups(catalog.gate_groups.size());
  for (size_t event = 0; event < catalog.events.size(); ++event) {
    if (!topology.coverage().IsGated(event) || !frame.ShowsEvent(event)) continue;
    groups[catalog.events[event].details.gate_group].push_back(event);
  }
  return groups;
}

bool IsWanted(EstimateSeries series, EstimateNumber number) {
  if (number == EstimateNumber::kCoverage) return series != EstimateSeries::kNone;
  return series == EstimateSeries::kAll;
}

bool IsCounter(EstimateNumber number) { return number == EstimateNumber::kLower || number == EstimateNumber::kUpper; }

// Empty: unknown.
std::string IfKnown(uint64_t number) { return number == mailbox::kUnknownNumber ? "" : absl::StrCat(number); }

std::string TextOf(EstimateNumber number, const DeviceSnapshot& snapshot, size_t row, size_t event) {
  const auto estimate = snapshot.EstimateOf(row, event);
  if (!estimate) return "";
  switch (number) {
    case EstimateNumber::kCoverage: {
      const double coverage = snapshot.CoverageOf(row, event);
      return std::isnan(coverage) ? "" : NumberText(coverage);
    }
    case EstimateNumber::kLower:
      return absl::StrCat(estimate->lower);
    case EstimateNumber::kUpper:
      return IfKnown(estimate->upper);
    case EstimateNumber::kStandardError:
      return IfKnown(estimate->deviation);
  }
  return "";
}

// That the frame shows.
std::vector<size_t> RotatedEvents(const DeviceFrame& frame) {
  const Topology& topology = *frame.device().view->topology();
  std::vector<size_t> events;
  for (size_t event = 0; event < topology.catalog().events.size(); ++event) {
    if (topology.rotation().IsRotated(event) && frame.ShowsEvent(event)) events.push_back(event);
  }
  return events;
}

// The most that events can count, for shares over ranges that a caller chooses (docs/utilisation.md): a gauge in counts
// per cycle of the reference clock, of the events that the caller may read: on every slice if it sees the device's row,
// else on the slices of the VMs that it sees. An event of the device has no slice.
void WriteEventCapacity(absl::string_view name, const DeviceFrame& frame, TextBuffer& out) {
  if (!frame.is_fresh()) return;
  const View& view = *frame.device().view;
  const std::vector<size_t> places = VisiblePlaces(view);
  Writer writer(name, frame, out);
  for (size_t event = 0; event < view.AllEvents().size(); ++event) {
    if (frame.ShowsEvent(event)) writer.Write(event, places);
  }
}

// The families of a device's clock domains, for callers that see the device's own row. Each function appends the
// samples of one device; none for clocks of which nothing is known, or that are withheld.
void WriteClockFrequency(absl::string_view name, const DeviceFrame& frame, TextBuffer& out) {
  WriteEach(name, frame, out, [](const ClockState& clock) -> std::optional<std::string> {
    if (!clock.frequency) return std::nullopt;
    return NumberText((clock.frequency->lower + clock.frequency->upper) / 2);
  });
}

void WriteClockErrorBound(absl::string_view name, const DeviceFrame& frame, TextBuffer& out) {
  WriteEach(name, frame, out, [](const ClockState& clock) -> std::optional<std::string> {
    if (!clock.error_bound_s) return std::nullopt;
    return NumberText(*clock.error_bound_s);
  });
}

void WriteClockSegments(absl::string_view name, const DeviceFrame& frame, TextBuffer& out) {
  WriteEachCount(name, frame, out, &ClockState::segments);
}

void WriteClockRefutedSegments(absl::string_view name, const DeviceFrame& frame, TextBuffer& out) {
  WriteEachCount(name, frame, out, &ClockState::refuted_segments);
}

void WriteClockUnusedReadings(absl::string_view name, const DeviceFrame& frame, TextBuffer& out) {
  WriteEachCount(name, frame, out, &ClockState::unused_readings);
}

void WriteHostClockErrorBound(absl::string_view name, const DeviceFrame& frame, TextBuffer& out) {
  if (!ShowsClocks(frame)) return;
  const absl::Duration error = frame.device().snapshot->host_time_error;
  AppendSample(out, name, frame.labels().device(), NumberText(absl::ToDoubleSeconds(error)));
}

void WriteReferenceWithinLimits(absl::string_view name, const DeviceFrame& frame, TextBuffer& out) {
  // A board alone has no such clock.
  if (!ShowsClocks(frame) || frame.device().snapshot->topology->catalog().reference_clock_hz == 0) return;
  AppendSample(out, name, frame.labels().device(), frame.device().snapshot->reference_is_unsound ? "0" : "1");
}

void WriteLineErrorBound(absl::string_view name, const DeviceFrame& frame, TextBuffer& out) {
  if (!ShowsClocks(frame) || !frame.device().snapshot->line_offset) return;
  const LineOffset& offset = *frame.device().snapshot->line_offset;
  std::string labels = frame.labels().device();
  AppendLabel(labels, "driver", offset.driver);
  AppendSample(out, name, labels, NumberText(static_cast<double>(offset.error_ns) * 1e-9));
}

// Appends for what share of the last interval each gate group was counted (docs/design/virtual-counters.md,
// "Coverage"), in each row of the level, if the row shows one of the group's events. Absent where it is unknown:
// without an interval, and if no VM was resident in it.
void WriteGateCoverage(absl::string_view name, const DeviceFrame& frame, Level level, TextBuffer& out) {
  if (frame.rows(level).rows.empty()) return;
  const DeviceSnapshot& snapshot = *frame.device().snapshot;
  const Coverage& coverage = snapshot.topology->coverage();
  if (!coverage.has_gates()) return;
  const auto groups = ShownEvents(frame);
  for (const Row& row : frame.rows(level).rows) {
    for (size_t group = 0; group < groups.size(); ++group) {
      const auto shown = std::ranges::find_if(groups[group], [&](size_t event) { return (*row.events)[event]; });
      if (shown == groups[group].end()) continue;
      const double share = coverage.OfRate(*shown, snapshot.Rates(row.index));
      if (std::isnan(share)) continue;
      std::string labels = *row.labels;
      AppendLabel(labels, "gate_group", snapshot.topology->catalog().gate_groups[group].name);
      AppendSample(out, name, labels, NumberText(share));
    }
  }
}

// Appends the number of each rotated event that a row of the level shows as an estimate, unless DeviceInfo::estimates
// leaves it out. An unknown number is absent.
void WriteEstimates(absl::string_view name, const DeviceFrame& frame, Level level, EstimateNumber number,
                    TextBuffer& out) {
  if (frame.rows(level).rows.empty() || !IsWanted(frame.device().info->estimates, number)) return;
  const DeviceSnapshot& snapshot = *frame.device().snapshot;
  if (snapshot.estimated.empty()) return;
  const std::vector<size_t> events = RotatedEvents(frame);
  for (const Row& row : frame.rows(level).rows) {
    for (const size_t event : events) {
      if (!(*row.events)[event] || !snapshot.IsShown(row.index, event)) continue;
      const std::string text = TextOf(number, snapshot, row.index, event);
      if (text.empty()) continue;
      std::string labels = *row.labels;
      AppendLabel(labels, "event", snapshot.topology->catalog().events[event].name);
      AppendSample(out, name, labels, text);
      if (!IsCounter(number) || row.created.empty()) continue;
      AppendSample(out, CreatedName(name), labels, row.created);
    }
  }
}

template <Level kLevel>
void WriteFlags(absl::string_view name, const DeviceFrame& frame, TextBuffer& out) {
  for (const Row& row : frame.rows(kLevel).rows) {
    const uint16_t flags = frame.device().snapshot->FlagsOf(row.index, *row.events);
    for (const std::string& flag : mailbox::FlagNames(flags)) {
      std::string labels = *row.labels;
      AppendLabel(labels, "flag", flag);
      AppendSample(out, name, labels, "1");
    }
  }
}

template <Level kLevel>
void WriteCoverage(absl::string_view name, const DeviceFrame& frame, TextBuffer& out) {
  WriteGateCoverage(name, frame, kLevel, out);
}

template <Level kLevel, EstimateNumber kNumber>
void WriteEstimate(absl::string_view name, const DeviceFrame& frame, TextBuffer& out) {
  WriteEstimates(name, frame, kLevel, kNumber, out);
}

void WriteReferenceSeconds(absl::string_view name, const DeviceFrame& frame, TextBuffer& out) {
  if (!frame.is_fresh()) return;
  const DeviceSnapshot& snapshot = *frame.device().snapshot;
  const uint64_t time_ns = snapshot.data.reference_time_ns;
  AppendSample(out, name, frame.labels().device(), SecondsText(time_ns));
  AppendCreated(out, frame.format(), name, frame.labels().device(), snapshot.booted);
}

// Also of a stale device: its age is what an alert asks for.
void WriteSampleTimestamp(absl::string_view name, const DeviceFrame& frame, TextBuffer& out) {
  const auto& snapshot = frame.device().snapshot;
  if (snapshot != nullptr) AppendSample(out, name, frame.labels().device(), TimeText(snapshot->host_time));
}

void WriteVmInfo(absl::string_view name, const DeviceFrame& frame, TextBuffer& out) {
  if (!frame.is_fresh()) return;
  for (const std::string& labels : frame.labels().vm_infos()) AppendSample(out, name, labels, "1");
}

constexpr DeviceFamily Of(const FamilyText& text, decltype(DeviceFamily::write) write) {
  return {text.name, text.type, text.help, write};
}

constexpr DeviceFamily kFamilies[] = {
    {"sideband_clock_domain_error_bound_seconds", MetricType::kGauge,
     "Half of the time in which the newest edge of a clock that was read was made, for sure.", WriteClockErrorBound},
    {"sideband_clock_domain_frequency_hertz", MetricType::kGauge,
     "Frequency of a clock, by the device's reference clock; not while it is unknown.", WriteClockFrequency},
    {"sideband_clock_domain_refuted_segments_total", MetricType::kCounter,
     "Segments of a clock that ended though no change was announced, since the device's boot.",
     WriteClockRefutedSegments},
    {"sideband_clock_domain_segments_total", MetricType::kCounter,
     "Segments in which a clock neither stepped nor stopped, since the device's boot.", WriteClockSegments},
    {"sideband_clock_domain_unused_readings_total", MetricType::kCounter,
     "Readings of a clock that contradict what is known of it, since the device's boot.", WriteClockUnusedReadings},
    Of(kContextFamilies.event_coverage, WriteEstimate<Level::kContext, EstimateNumber::kCoverage>),
    Of(kContextFamilies.event_lower, WriteEstimate<Level::kContext, EstimateNumber::kLower>),
    Of(kContextFamilies.event_standard_error, WriteEstimate<Level::kContext, EstimateNumber::kStandardError>),
    Of(kContextFamilies.event_upper, WriteEstimate<Level::kContext, EstimateNumber::kUpper>),
    Of(kContextFamilies.flags, WriteFlags<Level::kContext>),
    {"sideband_context_gate_coverage_ratio", MetricType::kGauge,
     "Share of the context's resident cycles in which a gate group was counted, over the last interval.",
     WriteCoverage<Level::kContext>},
    {"sideband_device_clock_hertz", MetricType::kGauge, "Frequency of the device's reference clock.", WriteClock},
    {"sideband_device_complete", MetricType::kGauge,
     "1 if the device's totals are those of the whole device, 0 if they leave out confidential VMs.", WriteComplete},
    {"sideband_device_event_coverage_ratio", MetricType::kGauge, kTurnsCoverageHelp,
     WriteEstimate<Level::kDevice, EstimateNumber::kCoverage>},
    {"sideband_device_event_lower_total", MetricType::kCounter, kTurnsLowerHelp,
     WriteEstimate<Level::kDevice, EstimateNumber::kLower>},
    {"sideband_device_event_standard_error", MetricType::kGauge, kTurnsErrorHelp,
     WriteEstimate<Level::kDevice, EstimateNumber::kStandardError>},
    {"sideband_device_event_upper_total", MetricType::kCounter, kTurnsUpperHelp,
     WriteEstimate<Level::kDevice, EstimateNumber::kUpper>},
    {"sideband_device_flags", MetricType::kGauge, "1 for each reason why counts of a device may be inexact.",
     WriteFlags<Level::kDevice>},
    {"sideband_device_gate_coverage_ratio", MetricType::kGauge,
     "Share of the resident cycles of all VMs in which a gate group was counted, over the last interval.",
     WriteCoverage<Level::kDevice>},
    {"sideband_device_info", MetricType::kGauge, "1, with the identity of the device.", WriteDeviceInfo},
    Of(kReferenceSecondsFamily, WriteReferenceSeconds),
    {"sideband_device_up", MetricType::kGauge,
     "Whether the newest snapshot of the device is younger than three intervals.", WriteDeviceUp},
    {"sideband_event_capacity", MetricType::kGauge,
     "What the event counts at most in a cycle of the reference clock, on a slice.", WriteEventCapacity},
    {"sideband_event_info", MetricType::kGauge, "1, with the unit and the scope of an event that the device counts.",
     WriteEventInfo},
    {"sideband_host_clock_error_bound_seconds", MetricType::kGauge,
     "How far the time of the newest snapshot may be off, by the host's clock.", WriteHostClockErrorBound},
    {"sideband_host_event_coverage_ratio", MetricType::kGauge, kTurnsCoverageHelp,
     WriteEstimate<Level::kHost, EstimateNumber::kCoverage>},
    {"sideband_host_event_lower_total", MetricType::kCounter, kTurnsLowerHelp,
     WriteEstimate<Level::kHost, EstimateNumber::kLower>},
    {"sideband_host_event_standard_error", MetricType::kGauge, kTurnsErrorHelp,
     WriteEstimate<Level::kHost, EstimateNumber::kStandardError>},
    {"sideband_host_event_upper_total", MetricType::kCounter, kTurnsUpperHelp,
     WriteEstimate<Level::kHost, EstimateNumber::kUpper>},
    {"sideband_host_flags", MetricType::kGauge,
     "1 for each reason why counts of the hypervisor on a slice may be inexact.", WriteFlags<Level::kHost>},
    {"sideband_host_gate_coverage_ratio", MetricType::kGauge,
     "Share of the cycles of a slice without a resident in which a gate group was counted, over the last interval.",
     WriteCoverage<Level::kHost>},
    {"sideband_reference_clock_within_limits", MetricType::kGauge,
     "1 if the device's reference clock is within what is configured of it, 0 if it contradicts that.",
     WriteReferenceWithinLimits},
    Of(kSampleTimestampFamily, WriteSampleTimestamp),
    {"sideband_trigger_line_error_bound_seconds", MetricType::kGauge,
     "How far the difference of the device's reference clock from that of its trigger line's driver may be off.",
     WriteLineErrorBound},
    Of(kVmFamilies.event_coverage, WriteEstimate<Level::kVm, EstimateNumber::kCoverage>),
    Of(kVmFamilies.event_lower, WriteEstimate<Level::kVm, EstimateNumber::kLower>),
    Of(kVmFamilies.event_standard_error, WriteEstimate<Level::kVm, EstimateNumber::kStandardError>),
    Of(kVmFamilies.event_upper, WriteEstimate<Level::kVm, EstimateNumber::kUpper>),
    Of(kVmFamilies.flags, WriteFlags<Level::kVm>),
    {"sideband_vm_gate_coverage_ratio", MetricType::kGauge,
     "Share of the VM's resident cycles in which a gate group was counted, over the last interval.",
     WriteCoverage<Level::kVm>},
    {"sideband_vm_info", MetricType::kGauge,
     "1, with the identity of the VM. A confidential VM has no other series here.", WriteVmInfo},
};

}  // namespace

std::span<const DeviceFamily> DeviceFamilies() { return kFamilies; }

}  // namespace sideband::daemon
