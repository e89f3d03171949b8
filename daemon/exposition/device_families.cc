// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/device_families.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "daemon/exposition/capacity_family.h"
#include "daemon/exposition/clock_families.h"
#include "daemon/exposition/coverage_family.h"
#include "daemon/exposition/estimate_family.h"
#include "proto/exposition/row_families.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {
namespace {

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
  if (frame.format() != MetricsFormat::kOpenMetrics || snapshot.booted == absl::InfinitePast()) return;
  AppendSample(out, absl::StrCat(absl::StripSuffix(name, "_total"), "_created"), frame.labels().device(),
               TimeText(snapshot.booted));
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
