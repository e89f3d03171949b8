// SPDX-License-Identifier: Apache-2.0
//
// An answer of a BMC, as a list of values: a metric report, or a resource whose members are values; or as the entries
// of a log. Answers are hostile: JSON is at most kDepthMax deep and has at most kLeavesMax values; an element that
// makes no sense is left out, and the others stay. INVALID_ARGUMENT for what is no JSON or exceeds a bound.
//   SIDEBAND_ASSIGN_OR_RETURN(const BmcValues report, ParseReport(body));
//   for (const BmcValue& value : report.values) Use(value.property, value.text, value.time);
//   ParseResource("/redfish/v1/Systems/1", R"({"Status": {"State": "Enabled"}})").value();
//       // a value with the property "/redfish/v1/Systems/1#/Status/State" and the text "Enabled"
//   SIDEBAND_ASSIGN_OR_RETURN(const BmcLog log, ParseLog(body));
//   for (const BmcLogEntry& entry : log.entries) Use(entry.id, entry.text, {});
#ifndef SIDEBAND_DAEMON_BMC_BMC_VALUES_H_
#define SIDEBAND_DAEMON_BMC_BMC_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "proto/mailbox/services.h"

namespace sideband::daemon {

inline constexpr size_t kDepthMax = 64;
inline constexpr size_t kLeavesMax = 100'000;
inline constexpr size_t kReportValuesMax = 20'000;
inline constexpr size_t kPointerMax = 512;   // bytes of a JSON pointer; values that are deeper are left out
inline constexpr size_t kNameMax = 256;      // of a member's name
inline constexpr size_t kMembersMax = 1024;  // of a collection; the others are left out

struct BmcValue {
  std::string property;  // a URI, mostly with a JSON pointer: "/redfish/v1/…/ProcessorMetrics#/OperatingSpeedMHz"
  std::string text;      // as the BMC spells it; of null, empty
  std::optional<absl::Time> time;  // by the BMC's clock
};

struct BmcValues {
  std::optional<absl::Time> time;  // the report's own, or the resource's ReadingTime, by the BMC's clock
  std::vector<BmcValue> values;
  bool is_cut = false;  // a report had more than kReportValuesMax values
};

// A MetricReport. An element without a property, or with a member twice, is left out.
absl::StatusOr<BmcValues> ParseReport(absl::string_view body);

// The values of any other resource, in their order; `uri` is its path.
absl::StatusOr<BmcValues> ParseResource(absl::string_view uri, absl::string_view body);

// The text of the first value at this JSON pointer ("/Status/State") of a parsed resource; nullopt if there is none.
std::optional<std::string> FindText(const BmcValues& resource, absl::string_view pointer);

// A link of an answer, if it is a path; else `fallback`.
std::string PathOr(const std::optional<std::string>& link, absl::string_view fallback);

// The links of a collection's members: paths, each once.
std::vector<std::string> MembersOf(const BmcValues& collection);

// An entry of a log of Xids.
struct BmcLogEntry {
  std::string id;
  uint64_t key;      // of id, time and text, in this process
  std::string text;  // that has an Xid; empty: it has none
};
struct BmcLog {
  std::vector<BmcLogEntry> entries;
  std::string next_page;  // a link; empty: this is the last page
};
// INVALID_ARGUMENT also for what is no log, or one whose members have no Id, as links have none.
absl::StatusOr<BmcLog> ParseLog(absl::string_view body);

// The driver's message in the text of an entry, "[…] XID 79 GPU has fallen off the bus": its Xid and its text, which is
// cut to what a message can have. nullopt if it has no Xid.
std::optional<mailbox::DriverEvent> ParseXid(absl::string_view text);

// A time as Redfish has it, also with an offset such as -0600; nullopt if it is none.
std::optional<absl::Time> ParseBmcTime(const std::string& text);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BMC_BMC_VALUES_H_
