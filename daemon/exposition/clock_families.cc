// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/clock_families.h"

#include <cstddef>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "daemon/snapshot/clock_state.h"
#include "proto/exposition/text.h"

namespace sideband::daemon {
namespace {

// Of operators: a clock follows the load of everybody on its slice.
bool ShowsClocks(const DeviceFrame& frame) { return frame.is_fresh() && frame.device().view->sees_device_row(); }

// A sample for each clock that has a value.
template <typename Value>
void WriteEach(absl::string_view name, const DeviceFrame& frame, TextBuffer& out, const Value& value) {
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
  }
}

std::string CountText(uint64_t count) { return absl::StrCat(count); }

}  // namespace

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
  WriteEach(name, frame, out, [](const ClockState& clock) { return std::optional(CountText(clock.segments)); });
}

void WriteClockRefutedSegments(absl::string_view name, const DeviceFrame& frame, TextBuffer& out) {
  WriteEach(name, frame, out, [](const ClockState& clock) { return std::optional(CountText(clock.refuted_segments)); });
}

void WriteClockUnusedReadings(absl::string_view name, const DeviceFrame& frame, TextBuffer& out) {
  WriteEach(name, frame, out, [](const ClockState& clock) { return std::optional(CountText(clock.unused_readings)); });
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

}  // namespace sideband::daemon
