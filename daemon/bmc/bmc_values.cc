// SPDX-License-Identifier: Apache-2.0
#include "daemon/bmc/bmc_values.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

using nlohmann::json;

// The names and indexes that lead to a value.
using Path = std::vector<std::string>;
using TakeLeaf = std::function<void(const Path& path, std::string text)>;

// Hands each value to a function; keeps none.
class Leaves final : public json::json_sax_t {
 public:
  explicit Leaves(TakeLeaf take) : take_(std::move(take)) {}

  const std::string& error() const { return error_; }

  bool null() override { return Take(""); }
  bool boolean(bool value) override { return Take(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return Take(absl::StrCat(value)); }
  bool number_unsigned(number_unsigned_t value) override { return Take(absl::StrCat(value)); }
  bool number_float(number_float_t, const string_t& spelling) override { return Take(spelling); }
  bool string(string_t& value) override { return Take(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return Descend(/*is_array=*/false); }
  bool start_array(size_t) override { return Descend(/*is_array=*/true); }
  bool end_object() override { return Ascend(); }
  bool end_array() override { return Ascend(); }
  bool key(string_t& name) override {
    if (name.size() > kNameMax) return Refuse(absl::StrCat("has a name of more than ", kNameMax, " bytes"));
    path_.back() = std::move(name);
    return true;
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) override {
    if (error_.empty()) error_ = absl::StrCat("is no JSON at byte ", position);
    return false;
  }

 private:
  bool Refuse(std::string error) {
    error_ = std::move(error);
    return false;
  }

  bool Descend(bool is_array) {
    Count();
    if (is_array_.size() >= kDepthMax) return Refuse(absl::StrCat("is nested deeper than ", kDepthMax));
    is_array_.push_back(is_array);
    next_.push_back(0);
    path_.emplace_back();
    return true;
  }

  bool Ascend() {
    is_array_.pop_back();
    next_.pop_back();
    path_.pop_back();
    return true;
  }

  // An element of an array has its index as its name.
  void Count() {
    if (!is_array_.empty() && is_array_.back()) path_.back() = absl::StrCat(next_.back()++);
  }

  bool Take(std::string text) {
    if (++leaves_ > kLeavesMax) return Refuse(absl::StrCat("has more than ", kLeavesMax, " values"));
    Count();
    take_(path_, std::move(text));
    return true;
  }

  const TakeLeaf take_;
  Path path_;
  std::vector<bool> is_array_;
  std::vector<size_t> next_;  // of each level, the next element's index
  size_t leaves_ = 0;
  std::string error_;
};

absl::Status ForEachLeaf(absl::string_view body, TakeLeaf take) {
  Leaves leaves(std::move(take));
  if (json::sax_parse(body.begin(), body.end(), &leaves)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the answer ", leaves.error()));
}

// The members of a collection of log entries.
class LogReader {
 public:
  void Take(const Path& path, std::string text) {
    if (path.empty()) return;
    is_log_ |= absl::StartsWith(path[0], "Members");
    if (path.size() == 1 && path[0] == "Members@odata.nextLink") log_.next_page = text;
    if (path.size() < 3 || path[0] != "Members") return;
    if (path[1] != member_) {
      Finish();
      member_ = path[1];
    }
    if (path[2] == "Id") id_ = text.substr(0, kNameMax);
    if (path[2] == "Created") created_ = text.substr(0, kNameMax);
    if (path[2] == "Message") SetText(message_, text);
    if (path[2] == "MessageArgs") SetText(argument_, text);
  }

  absl::StatusOr<BmcLog> Finished() {
    Finish();
    if (!is_log_) return absl::InvalidArgumentError("the answer is no log");
    if (log_.entries.empty() && !member_.empty()) {
      return absl::InvalidArgumentError("the answer has entries without an Id");
    }
    return std::move(log_);
  }

 private:
  static constexpr size_t kTextMax = 512;

  // The first text with an Xid.
  static void SetText(std::string& to, absl::string_view text) {
    text = text.substr(0, kTextMax);
    if (to.empty() && ParseXid(text)) to = std::string(text);
  }

  void Finish() {
    if (!id_.empty()) {
      const auto time = ParseBmcTime(created_);
      std::string& text = argument_.empty() ? message_ : argument_;
      const size_t key = time ? absl::HashOf(id_, *time, text) : absl::HashOf(id_, created_, text);
      log_.entries.push_back({.id = std::move(id_), .key = key, .text = std::move(text)});
    }
    for (std::string* const member : {&id_, &created_, &message_, &argument_}) member->clear();
  }

  BmcLog log_;
  bool is_log_ = false;
  std::string member_;
  std::string id_, created_, message_, argument_;  // of the member
};

// The elements of MetricValues, whose members come one after the other.
class ReportReader {
 public:
  void Take(const Path& path, std::string text) {
    if (path.size() == 1 && path[0] == "Timestamp") report_.time = ParseBmcTime(text);
    if (path.size() != 3 || path[0] != "MetricValues") return;
    if (path[1] != element_) {
      Finish();
      element_ = path[1];
    }
    for (const auto& [name, member] :
         {std::pair("MetricProperty", &property_), std::pair("MetricValue", &text_), std::pair("Timestamp", &time_)}) {
      if (path[2] == name) return Set(*member, std::move(text));
    }
  }

  BmcValues Finished() {
    Finish();
    return std::move(report_);
  }

 private:
  void Set(std::optional<std::string>& member, std::string text) {
    is_ambiguous_ |= member.has_value();
    member = std::move(text);
  }

  void Finish() {
    report_.is_cut |= property_ && report_.values.size() == kReportValuesMax;
    if (property_ && text_ && !is_ambiguous_ && !report_.is_cut) {
      const auto time = time_ ? ParseBmcTime(*time_) : std::nullopt;
      report_.values.push_back({.property = std::move(*property_), .text = std::move(*text_), .time = time});
    }
    property_ = text_ = time_ = std::nullopt;
    is_ambiguous_ = false;
  }

  BmcValues report_;
  std::string element_;
  std::optional<std::string> property_, text_, time_;
  bool is_ambiguous_ = false;
};

}  // namespace

absl::StatusOr<BmcValues> ParseReport(absl::string_view body) {
  ReportReader reader;
  SIDEBAND_RETURN_IF_ERROR(
      ForEachLeaf(body, [&](const Path& path, std::string text) { reader.Take(path, std::move(text)); }));
  return reader.Finished();
}

absl::StatusOr<BmcLog> ParseLog(absl::string_view body) {
  LogReader reader;
  SIDEBAND_RETURN_IF_ERROR(
      ForEachLeaf(body, [&](const Path& path, std::string text) { reader.Take(path, std::move(text)); }));
  return reader.Finished();
}

std::optional<mailbox::DriverEvent> ParseXid(absl::string_view text) {
  constexpr char kWord[] = "XID ";
  constexpr size_t kLength = sizeof kWord - 1;
  const std::string upper = absl::AsciiStrToUpper(text);
  for (size_t at = upper.find(kWord); at != std::string::npos; at = upper.find(kWord, at + kLength)) {
    if (at > 0 && absl::ascii_isalnum(upper[at - 1])) continue;
    const absl::string_view rest = text.substr(at + kLength);
    const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    uint32_t xid = 0;
    if (!absl::SimpleAtoi(rest.substr(0, digits), &xid) || xid > std::numeric_limits<uint16_t>::max()) continue;
    constexpr size_t kTextMax = mailbox::DriverEvent::kTextBytesMax - 1;
    const absl::string_view message = absl::StripAsciiWhitespace(rest.substr(digits));
    mailbox::DriverEvent event{.xid = static_cast<uint16_t>(xid),
                               .text_truncated = message.size() > kTextMax,
                               .text = std::string(message.substr(0, kTextMax))};
    std::ranges::replace_if(
        event.text, [](char c) { return !absl::ascii_isprint(c); }, '?');
    return event;
  }
  return std::nullopt;
}

absl::StatusOr<BmcValues> ParseResource(absl::string_view uri, absl::string_view body) {
  BmcValues resource;
  SIDEBAND_RETURN_IF_ERROR(ForEachLeaf(body, [&](const Path& path, std::string text) {
    size_t bytes = 0;
    for (const std::string& name : path) bytes += 1 + name.size();
    if (bytes > kPointerMax) return;
    if (path.size() == 1 && path[0] == "ReadingTime") {
      resource.time = ParseBmcTime(text);
      // Some sensors have the year 1970, which is no time.
      if (resource.time < absl::FromCivil(absl::CivilYear(1971), absl::UTCTimeZone())) resource.time.reset();
    }
    resource.values.push_back(
        {.property = absl::StrCat(uri, "#/", absl::StrJoin(path, "/")), .text = std::move(text), .time = {}});
  }));
  return resource;
}

std::optional<std::string> FindText(const BmcValues& resource, absl::string_view pointer) {
  for (const BmcValue& value : resource.values) {
    const size_t fragment = value.property.find('#');
    if (fragment != std::string::npos && absl::string_view(value.property).substr(fragment + 1) == pointer) {
      return value.text;
    }
  }
  return std::nullopt;
}

std::string PathOr(const std::optional<std::string>& link, absl::string_view fallback) {
  constexpr size_t kPathMax = 1024;
  const bool is_path = link && absl::StartsWith(*link, "/") && !absl::StartsWith(*link, "//") &&
                       link->size() <= kPathMax &&
                       std::ranges::all_of(*link, [](char c) { return absl::ascii_isgraph(c); });
  return is_path ? *link : std::string(fallback);
}

std::vector<std::string> MembersOf(const BmcValues& collection) {
  std::vector<std::string> members;
  for (const BmcValue& value : collection.values) {
    if (!absl::StrContains(value.property, "#/Members/") || !absl::EndsWith(value.property, "/@odata.id")) continue;
    if (std::ranges::find(members, value.text) == members.end()) members.push_back(value.text);
    if (members.size() == kMembersMax) break;
  }
  return members;
}

std::optional<absl::Time> ParseBmcTime(const std::string& text) {
  for (const char* const format : {absl::RFC3339_full, "%Y-%m-%d%ET%H:%M:%E*S%z"}) {
    absl::Time time;
    std::string error;
    if (absl::ParseTime(format, text, &time, &error)) return time;
  }
  return std::nullopt;
}

}  // namespace sideband::daemon
