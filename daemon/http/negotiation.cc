// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/negotiation.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace sideband::daemon {
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

}  // namespace sideband::daemon
