// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/queries.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <boost/url/parse.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
absl::StatusOr<QueryParameters> ParseQuery(absl::string_view target) {
  // Clients commonly send brackets unescaped, although a query must not contain them.
  const std::string encoded = absl::StrReplaceAll(target, {{"[", "%5B"}, {"]", "%5D"}});
  const auto url = boost::urls::parse_origin_form(encoded);
  if (url.has_error()) return absl::InvalidArgumentError("malformed query");
  QueryParameters parameters;
  for (const boost::urls::param parameter : url->params()) {
    if (parameter.key.empty() && !parameter.has_value) continue;  // "?" and "&" without a parameter
    parameters.emplace_back(parameter.key, parameter.value);
  }
  return parameters;
}

namespace {

// An element of Accept or Accept-Encoding: "text/plain;version=0.0.4;q=0.5".
struct Element {
  absl::string_view name;
  absl::string_view version;  // empty: none
  double weight = 1;
};

double Weight(absl::string_view text) {
  double weight = 0;
  // The range check also rejects NaN.
  return absl::SimpleAtod(text, &weight) && weight >= 0 && weight <= 1 ? weight : 0;
}

// Whether the parameter has that name, in any case (RFC 9110, section 5.6.6), and "=": then only its value remains.
bool ConsumeName(absl::string_view name, absl::string_view& parameter) {
  if (!absl::StartsWithIgnoreCase(parameter, name)) return false;
  absl::string_view rest = parameter.substr(name.size());
  if (!absl::ConsumePrefix(&rest, "=")) return false;
  // A value may be quoted.
  if (rest.size() >= 2 && rest.front() == '"' && rest.back() == '"') rest = rest.substr(1, rest.size() - 2);
  parameter = rest;
  return true;
}

Element ParseElement(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ';');
  Element element{.name = absl::StripAsciiWhitespace(parts[0])};
  for (size_t i = 1; i < parts.size(); ++i) {
    absl::string_view parameter = absl::StripAsciiWhitespace(parts[i]);
    if (ConsumeName("q", parameter)) {
      element.weight = Weight(parameter);
    } else if (ConsumeName("version", parameter)) {
      element.version = parameter;
    }
  }
  return element;
}

std::vector<Element> ParseField(absl::string_view field) {
  std::vector<Element> elements;
  for (const absl::string_view text : absl::StrSplit(field, ',')) elements.push_back(ParseElement(text));
  return elements;
}

bool IsOpenMetrics(const Element& element) {
  // The answer has version 1.0.0: a scraper that demands another gets the text format.
  return absl::EqualsIgnoreCase(element.name, "application/openmetrics-text") &&
         (element.version.empty() || element.version == "1.0.0");
}

bool IsText(const Element& element) { return absl::EqualsIgnoreCase(element.name, "text/plain"); }

// The largest weight of the elements that match `is_wanted`; 0 if none does.
template <typename Predicate>
double WeightOf(const std::vector<Element>& elements, Predicate is_wanted) {
  double weight = 0;
  for (const Element& element : elements) {
    if (is_wanted(element)) weight = std::max(weight, element.weight);
  }
  return weight;
}

}  // namespace

MetricsFormat FormatFor(absl::string_view accept) {
  const std::vector<Element> elements = ParseField(accept);
  const double open_metrics = WeightOf(elements, IsOpenMetrics);
  return open_metrics > 0 && open_metrics >= WeightOf(elements, IsText) ? MetricsFormat::kOpenMetrics
                                                                        : MetricsFormat::kText;
}

bool AcceptsGzip(absl::string_view accept_encoding) {
  const std::vector<Element> elements = ParseField(accept_encoding);
  const auto is_gzip = [](const Element& element) {
    return absl::EqualsIgnoreCase(element.name, "gzip") || absl::EqualsIgnoreCase(element.name, "x-gzip");
  };
  // An explicit element takes precedence over "*".
  const auto named = std::find_if(elements.begin(), elements.end(), is_gzip);
  if (named != elements.end()) return named->weight > 0;
  return WeightOf(elements, [](const Element& element) { return element.name == "*"; }) > 0;
}

namespace {

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, "; the query of /metrics takes event[]=NAME and scope=device, vm, context or host"));
}

absl::Status SelectScope(const std::string& word, ScrapeFilter& filter) {
  if (word == "device") {
    filter.devices = true;
  } else if (word == "vm") {
    filter.vms = true;
  } else if (word == "context") {
    filter.contexts = true;
  } else if (word == "host") {
    filter.hosts = true;
  } else {
    return Malformed("unknown scope");
  }
  return absl::OkStatus();
}

absl::Status SelectEvent(std::string name, ScrapeFilter& filter) {
  if (name.empty()) return Malformed("an event without a name");
  filter.events.insert(std::move(name));
  return filter.events.size() <= kScrapeEventsMax ? absl::OkStatus() : Malformed("too many events");
}

// SimpleAtoi would also accept signs and blanks.
bool ParseSequence(const std::string& text, uint64_t& sequence) {
  return text.find_first_not_of("0123456789") == std::string::npos && absl::SimpleAtoi(text, &sequence);
}

constexpr int64_t kSecondsMax = 86400;
constexpr int64_t kPointsMax = 300;
constexpr int kHistoryEventsMax = 2;  // a share's, and the resident cycles

absl::Status Malformed() {
  return absl::InvalidArgumentError(
      "the query of /page/history takes event=NAME, once or twice, and seconds=1 to 86400");
}

}  // namespace

absl::StatusOr<ScrapeFilter> ParseScrapeQuery(absl::string_view target) {
  const auto parameters = ParseQuery(target);
  if (!parameters.ok()) return Malformed(parameters.status().message());
  ScrapeFilter filter;
  bool names_scopes = false;
  for (const auto& [key, value] : *parameters) {
    absl::Status taken = Malformed("unknown parameter");
    if (key == "event[]" || key == "event") taken = SelectEvent(value, filter);
    if (key == "scope[]" || key == "scope") {
      // The first scope replaces the default, which is all of them.
      if (!names_scopes) filter.devices = filter.vms = filter.contexts = filter.hosts = false;
      names_scopes = true;
      taken = SelectScope(value, filter);
    }
    SIDEBAND_RETURN_IF_ERROR(taken);
  }
  return filter;
}

absl::StatusOr<uint64_t> ParseAuditQuery(absl::string_view target) {
  SIDEBAND_ASSIGN_OR_RETURN(const QueryParameters parameters, ParseQuery(target));
  uint64_t after = 0;
  if (parameters.empty()) return after;
  const bool is_right =
      parameters.size() == 1 && parameters[0].first == "after" && ParseSequence(parameters[0].second, after);
  if (!is_right) return absl::InvalidArgumentError("the query of /audit takes after=SEQUENCE");
  return after;
}

absl::StatusOr<sideband::v1::GetHistoryRequest> ParseHistoryQuery(absl::string_view target, absl::Time now) {
  SIDEBAND_ASSIGN_OR_RETURN(const QueryParameters parameters, ParseQuery(target));
  sideband::v1::GetHistoryRequest request;
  int64_t seconds = 0;
  for (const auto& [key, value] : parameters) {
    if (key == "event" && !value.empty() && request.filter().events_size() < kHistoryEventsMax) {
      request.mutable_filter()->add_events(value);
    } else if (key != "seconds" || seconds != 0 || !absl::SimpleAtoi(value, &seconds)) {
      return Malformed();
    }
  }
  if (request.filter().events().empty() || seconds < 1 || seconds > kSecondsMax) return Malformed();
  using google::protobuf::util::TimeUtil;
  *request.mutable_since() = TimeUtil::NanosecondsToTimestamp(absl::ToUnixNanos(now - absl::Seconds(seconds)));
  *request.mutable_step() =
      TimeUtil::NanosecondsToDuration(absl::ToInt64Nanoseconds(absl::Seconds(seconds) / kPointsMax));
  return request;
}

}  // namespace sideband::daemon
