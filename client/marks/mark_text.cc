// SPDX-License-Identifier: Apache-2.0
#include "client/marks/mark_text.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "client/cli/message_text.h"
#include "client/cli/number_text.h"
#include "proto/base/visible.h"

namespace sideband::client {
namespace {

constexpr auto kRight = Table::Align::kRight;
constexpr uint64_t kBillion = 1'000'000'000;

// "12.345678901 s".
std::string SecondsText(uint64_t nanoseconds) {
  return absl::StrFormat("%d.%09d s", nanoseconds / kBillion, nanoseconds % kBillion);
}

std::string WhereText(const v1::Scope& scope) {
  return scope.context().empty() ? VmText(scope) : absl::StrCat(VmText(scope), "/", scope.context());
}

std::string StateText(v1::MarkInfo::State state) {
  return absl::AsciiStrToLower(absl::StripPrefix(v1::MarkInfo::State_Name(state), "STATE_"));
}

// "2026-11-21T12:34:07.958123Z ±4us": the bound is of the time as it is shown.
std::string HostText(const v1::MarkInfo& mark) {
  if (!mark.has_host_time()) return "";
  return absl::StrCat(absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", ToTime(mark.host_time()), absl::UTCTimeZone()), " ±",
                      absl::FormatDuration(absl::Ceil(ToDuration(mark.host_time_error()) + absl::Nanoseconds(999),
                                                      absl::Microseconds(1))));
}

std::string ClockNotes(const v1::Clock& clock) {
  std::vector<std::string> notes;
  if (clock.withheld()) notes.emplace_back("withheld");
  if (clock.stopped()) notes.emplace_back("stopped");
  if (clock.unsound()) notes.emplace_back("unsound");
  if (!clock.announces_changes()) notes.emplace_back("silent");
  return absl::StrJoin(notes, ",");
}

std::string FrequencyText(const v1::Clock& clock) {
  if (!clock.has_hertz_lower()) return "";
  const double middle = (clock.hertz_lower() + clock.hertz_upper()) / 2;
  return absl::StrFormat("%.6f MHz ±%.3f Hz", middle / 1e6, (clock.hertz_upper() - clock.hertz_lower()) / 2);
}

std::string BoundText(const v1::Clock& clock) {
  return clock.has_error_bound_seconds() ? absl::StrFormat("±%.3f ns", clock.error_bound_seconds() * 1e9) : "";
}

std::string OffsetText(const std::string& device, const v1::LineOffset& offset) {
  const bool is_behind = offset.offset_ns() < 0;
  const auto nanoseconds = static_cast<uint64_t>(offset.offset_ns());
  std::string text = absl::StrCat(
      device, ": on the trigger line, its reference clock is ", SecondsText(is_behind ? -nanoseconds : nanoseconds),
      is_behind ? " behind" : " ahead of", " that of ", offset.driver(), ", ±", offset.error_ns(), " ns");
  if (offset.has_ppm_lower()) {
    absl::StrAppendFormat(&text, "; it is off by %.3f to %.3f ppm from it", offset.ppm_lower(), offset.ppm_upper());
  }
  return absl::StrCat(text, "\n");
}

}  // namespace

std::string MarkLine(const v1::MarkInfo& mark) {
  return absl::StrCat("mark ", mark.mark_id(), " of ", WhereText(mark.scope()), ", asked for at ",
                      SecondsText(mark.requested_ns()), mark.label().empty() ? "" : ": ", Visible(mark.label()), "\n");
}

std::string MarksTable(const v1::ListMarksResponse& response, const TableStyle& style) {
  Table table({{"DEVICE"}, {"MARK", kRight}, {"VM"}, {"CONTEXT"}, {"STATE"}, {"AT", kRight}, {"HOST TIME"}, {"LABEL"}});
  for (const v1::MarkInfo& mark : response.marks()) {
    const v1::Scope& scope = mark.scope();
    const bool is_read = mark.has_reference_time_ns();
    table.Add({scope.device(), absl::StrCat(mark.mark_id()), VmText(scope), scope.context(), StateText(mark.state()),
               is_read ? SecondsText(mark.reference_time_ns()) : "", HostText(mark), Visible(mark.label())});
  }
  return table.Render(style);
}

std::string SpanTable(const v1::GetSpanResponse& response, const TableStyle& style) {
  std::string text =
      absl::StrCat(WhereText(response.from().scope()), "  from mark ", response.from().mark_id(), " (",
                   Visible(response.from().label()), ") at ", SecondsText(response.from().reference_time_ns()),
                   "\n  to mark ", response.to().mark_id(), " (", Visible(response.to().label()), ") at ",
                   SecondsText(response.to().reference_time_ns()), "\n  duration ", SecondsText(response.duration_ns()),
                   " ±", response.duration_error_ns(), " ns by the device's clock\n");
  if (!response.flags().empty()) absl::StrAppend(&text, "  flags ", absl::StrJoin(response.flags(), ","), "\n");
  Table table({{"EVENT"}, {"COUNT", kRight}, {"RATE", kRight}});
  for (const v1::Counter& counter : response.counters()) {
    table.Add({counter.event(), CountText(counter.count(), style),
               counter.has_rate_per_second() ? ScaledText(counter.rate_per_second(), "/s", style) : ""});
  }
  return absl::StrCat(text, table.Render(style));
}

std::string ClocksTable(const v1::ListClocksResponse& response, const TableStyle& style) {
  Table table({{"DEVICE"},
               {"DOMAIN"},
               {"SLICE", kRight},
               {"NOMINAL", kRight},
               {"FREQUENCY", kRight},
               {"BOUND", kRight},
               {"SEGMENTS", kRight},
               {"NOTES"}});
  for (const v1::DeviceClocks& device : response.devices()) {
    for (const v1::Clock& clock : device.clocks()) {
      table.Add({device.device(), clock.name(), clock.has_slice() ? absl::StrCat(clock.slice()) : "",
                 ScaledText(static_cast<double>(clock.nominal_hertz()), "Hz", style), FrequencyText(clock),
                 BoundText(clock), absl::StrCat(clock.segments()), ClockNotes(clock)});
    }
  }
  std::string text = table.Render(style);
  for (const v1::DeviceClocks& device : response.devices()) {
    absl::StrAppend(&text, device.device(), ": the host's time of a snapshot is known to ±",
                    absl::FormatDuration(ToDuration(device.host_time_error())));
    if (device.has_reference_ppm_lower()) {
      absl::StrAppendFormat(&text, "; the reference clock is off by %.3f to %.3f ppm from the host's",
                            device.reference_ppm_lower(), device.reference_ppm_upper());
    }
    if (device.reference_unsound())
      absl::StrAppend(&text, "; unsound: it contradicts the configuration (host_ppm_max)");
    absl::StrAppend(&text, "\n");
    if (device.has_line_offset()) text += OffsetText(device.device(), device.line_offset());
  }
  return text;
}

}  // namespace sideband::client
