// SPDX-License-Identifier: Apache-2.0
#include "client/bus/trace_text.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"

namespace sideband::client {
namespace {

using nlohmann::ordered_json;

constexpr int kSecondsWidth = 12;
constexpr int kHostTimeWidth = 27;
// The width of the columns before the wires.
size_t Indent(HostTimeZero zero) {
  return std::string("     1  ").size() + (zero.has_value() ? kHostTimeWidth : kSecondsWidth) +
         std::string("      740  ").size();
}

std::string HostTime(uint64_t zero_us, uint64_t time_us) {
  // Only a crafted file has a sum beyond the range of absl::FromUnixMicros().
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  if (zero_us > kMax || time_us > kMax - zero_us) return "?";
  return absl::FormatTime("%E4Y-%m-%dT%H:%M:%E6SZ", absl::FromUnixMicros(static_cast<int64_t>(zero_us + time_us)),
                          absl::UTCTimeZone());
}

std::string Time(HostTimeZero zero, uint64_t time_us) {
  if (zero.has_value()) return absl::StrFormat("%*s", kHostTimeWidth, HostTime(*zero, time_us));
  return absl::StrFormat("%*s", kSecondsWidth, absl::StrFormat("%d.%06d", time_us / 1'000'000, time_us % 1'000'000));
}

// Prints a tenth only if it is not 0.
std::string Microseconds(double us) {
  const std::string text = absl::StrFormat("%.1f", us);
  return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

// Wraps `text` between words into lines of the remaining width. Continuation lines are indented by two more columns.
void AppendWrapped(std::string& out, const std::string& text, size_t indent) {
  const size_t width = kTraceColumns - indent;
  std::string line;
  for (absl::string_view word : absl::StrSplit(text, ' ')) {
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      absl::StrAppend(&out, std::string(indent, ' '), line, "\n");
      line = "  ";
    }
    absl::StrAppend(&line, line.empty() ? "" : " ", word);
  }
  absl::StrAppend(&out, std::string(indent, ' '), line, "\n");
}

std::string HexOf(ByteSpan bytes) {
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

ordered_json MessageJson(const WireMessage& message) {
  ordered_json json;
  json["address"] = message.address;
  json["read"] = message.read;
  json["bytes"] = HexOf(message.bytes);
  if (message.pec.has_value()) json["pec"] = message.pec->ok() ? "ok" : "wrong";
  return json;
}

const char* OutcomeName(const std::optional<smbus::TransferResult>& result) {
  if (!result.has_value()) return "no_result";
  constexpr const char* kNames[] = {"ok", "address_nack", "data_nack", "arbitration_lost", "timeout", "bad_count"};
  const auto outcome = static_cast<size_t>(result->outcome);
  return outcome < std::size(kNames) ? kNames[outcome] : "unknown";
}

}  // namespace

std::string TraceTitle(HostTimeZero zero) {
  return absl::StrFormat("%6s  %*s  %7s  %s\n", "#", zero.has_value() ? kHostTimeWidth : kSecondsWidth,
                         zero.has_value() ? "TIME" : "TIME/s", "BUS/us", "TRANSACTION");
}

std::string TraceText(uint64_t number, const TraceEntry& entry, HostTimeZero zero) {
  std::string text =
      absl::StrFormat("%6d  %s  %7s  %s\n", number, Time(zero, entry.time_us), Microseconds(entry.bus_us), entry.wire);
  for (const std::string& line : entry.meaning) AppendWrapped(text, line, Indent(zero));
  return text;
}

std::string LossText(uint64_t transactions, HostTimeZero zero) {
  std::string text;
  AppendWrapped(
      text, absl::StrCat("!! ", transactions, " transactions are missing here: they came faster than they were read"),
      Indent(zero));
  return text;
}

std::string TraceJson(uint64_t number, const smbus::BusRecord& record, const TraceEntry& entry, HostTimeZero zero) {
  ordered_json json;
  json["number"] = absl::StrCat(number);
  json["time_us"] = absl::StrCat(entry.time_us);
  if (zero.has_value()) json["host_time"] = HostTime(*zero, entry.time_us);
  json["bus_us"] = entry.bus_us;
  json["stretch_us"] = record.result.has_value() ? record.result->stretch_us : 0;
  json["outcome"] = OutcomeName(record.result);
  json["messages"] = ordered_json::array();
  for (const WireMessage& message : entry.messages) json["messages"].push_back(MessageJson(message));
  json["meaning"] = entry.meaning;
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string LossJson(uint64_t transactions) {
  ordered_json json;
  json["lost"] = absl::StrCat(transactions);
  return json.dump() + "\n";
}

}  // namespace sideband::client
