// SPDX-License-Identifier: Apache-2.0
#include "client/cli/formats.h"

#include <google/protobuf/util/json_util.h>

#include <charconv>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/cli/render.h"
#include "proto/base/text.h"

namespace sideband::client {
namespace {

bool IsFormula(const std::string& text) {
  double number = 0;
  return !text.empty() && absl::StrContains("=+-@", text[0]) && !absl::SimpleAtod(text, &number);
}

// The numbers of a program are its own; texts are a daemon's, whom a spreadsheet and a terminal need not trust.
std::string Field(const std::string& untrusted) {
  std::string text = Visible(untrusted);
  if (IsFormula(text)) text.insert(0, "'");
  if (text.find_first_of(",\"") == std::string::npos) return text;
  // RFC 4180: quotes in a quoted field are doubled.
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

std::string Seconds(const google::protobuf::Duration& duration) {
  return CsvNumber(absl::ToDoubleSeconds(ToDuration(duration)));
}

// Clears the values that a device without counters does not have.
std::string IfCounted(const v1::Device& device, std::string text) { return HasCounters(device) ? std::move(text) : ""; }

const char* YesNo(bool value) { return value ? "yes" : "no"; }

std::string Utilisation(const v1::ScopeCounters& row, const std::string& event) {
  const v1::Ratio* const utilisation = FindUtilisation(row, event);
  return utilisation == nullptr ? "" : CsvNumber(utilisation->value());
}

// Coverage, lower and upper bound, error. The bounds of an exact count are the count; unknown values are empty.
std::vector<std::string> BoundFields(const v1::ScopeCounters& row, const v1::Counter& counter) {
  std::string coverage = counter.has_coverage() ? CsvNumber(counter.coverage()) : "";
  if (!counter.has_estimate()) {
    if (IsEstimated(row, counter)) return {std::move(coverage), "", "", ""};
    return {std::move(coverage), absl::StrCat(counter.count()), absl::StrCat(counter.count()), "0"};
  }
  const v1::Estimate& estimate = counter.estimate();
  return {std::move(coverage), absl::StrCat(estimate.lower()),
          estimate.has_upper() ? absl::StrCat(estimate.upper()) : "",
          estimate.has_standard_error() ? absl::StrCat(estimate.standard_error()) : ""};
}

std::string CounterLine(const v1::Snapshot& snapshot, const v1::ScopeCounters& row, const v1::Counter& counter,
                        Bounds bounds) {
  const v1::Scope& scope = row.scope();
  std::vector<std::string> fields = {snapshot.device(),
                                     BootIdText(snapshot.boot_id()),
                                     absl::StrCat(snapshot.snapshot_id()),
                                     absl::StrCat(snapshot.trigger_id()),
                                     absl::StrCat(snapshot.reference_time_ns()),
                                     snapshot.has_host_time() ? TimeText(ToTime(snapshot.host_time())) : "",
                                     snapshot.has_host_time_error() ? Seconds(snapshot.host_time_error()) : "",
                                     snapshot.has_device_state() ? StateText(snapshot.device_state()) : "",
                                     SliceText(scope),
                                     VmText(scope),
                                     scope.vm_uuid(),
                                     scope.context(),
                                     absl::StrCat(scope.generation()),
                                     StateText(row.state()),
                                     counter.event(),
                                     absl::StrCat(counter.count()),
                                     counter.has_rate_per_second() ? CsvNumber(counter.rate_per_second()) : "",
                                     snapshot.has_elapsed() ? Seconds(snapshot.elapsed()) : "",
                                     Utilisation(row, counter.event()),
                                     absl::StrJoin(row.flags(), " ")};
  if (bounds == Bounds::kShown) {
    for (std::string& field : BoundFields(row, counter)) fields.push_back(std::move(field));
  }
  return CsvLine(fields);
}

// Cannot occur within a JSON string, where quotation marks are escaped.
constexpr char kBootIdKey[] = "\"boot_id\":";

// "boot_id": "45063" becomes "boot_id": "000000000000b007".
std::string WithBootIds(absl::string_view json) {
  std::string text;
  for (size_t key; (key = json.find(kBootIdKey)) != absl::string_view::npos;) {
    const size_t from = json.find('"', key + sizeof(kBootIdKey) - 1) + 1;
    const size_t to = json.find('"', from);
    uint64_t boot_id = 0;
    const bool is_number = absl::SimpleAtoi(json.substr(from, to - from), &boot_id);
    absl::StrAppend(&text, json.substr(0, from), is_number ? BootIdText(boot_id) : "");
    json.remove_prefix(is_number ? to : from);
  }
  return absl::StrCat(text, json);
}

std::string Convert(const google::protobuf::Message& message, bool whitespace) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = whitespace;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string text;
  // The conversion fails for unknown types, but all types are linked in; and for a time out of range, where the text
  // ends.
  (void)google::protobuf::util::MessageToJsonString(message, &text, options);
  return WithBootIds(text);
}

}  // namespace

std::string CsvLine(const std::vector<std::string>& fields) {
  const auto append = [](std::string* out, const std::string& field) { out->append(Field(field)); };
  return absl::StrJoin(fields, ",", append) + "\r\n";
}

std::string CsvNumber(double number) {
  char text[32];  // the longest double has 24 characters
  return std::string(text, std::to_chars(std::begin(text), std::end(text), number).ptr);
}

std::string DevicesCsvTitles() {
  return CsvLine({"device", "state", "interval_seconds", "reference_clock_hz", "boot_id", "uuid", "kinds"});
}

std::string DevicesCsv(const v1::ListDevicesResponse& response) {
  std::string text;
  for (const v1::Device& device : response.devices()) {
    text += CsvLine({device.name(), StateText(device.state()), Seconds(device.interval()),
                     IfCounted(device, absl::StrCat(device.reference_clock_hz())),
                     IfCounted(device, BootIdText(device.boot_id())), device.uuid(), KindsText(device)});
  }
  return text;
}

std::string EventsCsv(const v1::ListEventsResponse& response) {
  std::string text = CsvLine({"device", "event", "unit", "scope", "masked", "description"});
  for (const auto& device : response.devices()) {
    for (const v1::Event& event : device.events()) {
      text += CsvLine({device.device(), event.name(), event.unit(), ScopeText(event.scope()), YesNo(event.masked()),
                       event.description()});
    }
  }
  return text;
}

std::string ScopesCsv(const v1::ListScopesResponse& response) {
  std::string text = CsvLine({"device", "slice", "vm", "vm_uuid", "context", "generation", "confidential"});
  for (const v1::Scope& scope : response.scopes()) {
    text += CsvLine({scope.device(), SliceText(scope), VmText(scope), scope.vm_uuid(), scope.context(),
                     absl::StrCat(scope.generation()), YesNo(scope.confidential())});
  }
  return text;
}

std::string PeekCsv(const v1::PeekResponse& response) {
  std::string text = CsvLine({"device", "boot_id", "reference_time_ns", "host_time", "host_time_error_seconds", "slice",
                              "vm", "vm_uuid", "context", "generation", "event", "count", "flags"});
  const v1::Scope& scope = response.counters().scope();
  for (const v1::Counter& counter : response.counters().counters()) {
    text += CsvLine({scope.device(), BootIdText(response.boot_id()), absl::StrCat(response.reference_time_ns()),
                     TimeText(ToTime(response.host_time())), Seconds(response.host_time_error()), SliceText(scope),
                     VmText(scope), scope.vm_uuid(), scope.context(), absl::StrCat(scope.generation()), counter.event(),
                     absl::StrCat(counter.count()), absl::StrJoin(response.counters().flags(), " ")});
  }
  return text;
}

std::string SnapshotCsvTitles(Bounds bounds) {
  std::vector<std::string> titles = {"device",
                                     "boot_id",
                                     "snapshot_id",
                                     "trigger_id",
                                     "reference_time_ns",
                                     "host_time",
                                     "host_time_error_seconds",
                                     "device_state",
                                     "slice",
                                     "vm",
                                     "vm_uuid",
                                     "context",
                                     "generation",
                                     "state",
                                     "event",
                                     "count",
                                     "rate_per_second",
                                     "elapsed_seconds",
                                     "utilisation",
                                     "flags"};
  if (bounds == Bounds::kShown) titles.insert(titles.end(), {"coverage", "lower", "upper", "standard_error"});
  return CsvLine(titles);
}

std::string SnapshotCsv(const v1::Snapshot& snapshot, Bounds bounds) {
  std::string text;
  for (const v1::ScopeCounters& row : snapshot.scopes()) {
    for (const v1::Counter& counter : row.counters()) text += CounterLine(snapshot, row, counter, bounds);
  }
  return text;
}

std::string ToJson(const google::protobuf::Message& message) {
  std::string text = Convert(message, true);
  if (text.empty() || text.back() != '\n') text += '\n';
  return text;
}

std::string ToJsonLine(const google::protobuf::Message& message) { return Convert(message, false); }

}  // namespace sideband::client
