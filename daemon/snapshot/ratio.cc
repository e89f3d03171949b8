// SPDX-License-Identifier: Apache-2.0
#include "daemon/snapshot/ratio.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace sideband::daemon {
namespace {

std::string Sum(const std::vector<std::string>& events) {
  return events.size() == 1 ? events[0] : absl::StrCat("(", absl::StrJoin(events, " + "), ")");
}

// The events' indices; nullopt where an event is not counted, or not counted per VM.
std::optional<std::vector<size_t>> Places(const std::vector<std::string>& names, const mailbox::Catalog& catalog) {
  std::vector<size_t> places;
  for (const std::string& name : names) {
    const auto found = std::find_if(catalog.events.begin(), catalog.events.end(),
                                    [&](const mailbox::EventInfo& event) { return event.name == name; });
    const bool is_counted = found != catalog.events.end() && !found->masked;
    if (!is_counted || found->scope != mailbox::EventScope::kContext) return std::nullopt;
    places.push_back(static_cast<size_t>(found - catalog.events.begin()));
  }
  return places;
}

// The gates that must have been open throughout, so that the events were counted in the same cycles; nullopt where the
// device does not tell whether they were. Running cycles fit the events of their group.
std::optional<std::vector<GateCycles>> Gates(const std::vector<size_t>& events, const mailbox::Catalog& catalog) {
  const auto group = [&](size_t event) { return catalog.events[event].details.gate_group; };
  const bool is_one = std::ranges::all_of(events, [&](size_t event) { return group(event) == group(events[0]); });
  std::vector<GateCycles> gates;
  if (is_one) return gates;
  const Coverage coverage(catalog);
  for (const size_t event : events) {
    if (!coverage.IsGated(event)) continue;
    const auto cycles = coverage.CyclesOf(event);
    if (!cycles) return std::nullopt;
    gates.push_back(*cycles);
  }
  return gates;
}

// Unknown rates are NaN, and so is their sum.
double Total(const std::vector<size_t>& places, std::span<const double> rates) {
  double total = 0;
  for (const size_t place : places) total += rates[place];
  return total;
}

}  // namespace

std::string RatioSpec::Formula() const { return absl::StrCat(Sum(numerator), " / ", Sum(denominator)); }

double Ratio::Numerator(std::span<const double> rates) const { return Total(numerator, rates); }
double Ratio::Denominator(std::span<const double> rates) const { return Total(denominator, rates); }

bool Ratio::IsIn(const std::vector<bool>& events) const {
  const auto is_in = [&](size_t place) { return events[place]; };
  return std::all_of(numerator.begin(), numerator.end(), is_in) &&
         std::all_of(denominator.begin(), denominator.end(), is_in);
}

std::vector<Ratio> ResolveRatios(const std::vector<RatioSpec>& specs, const mailbox::Catalog& catalog) {
  std::vector<Ratio> ratios;
  for (const RatioSpec& spec : specs) {
    auto numerator = Places(spec.numerator, catalog), denominator = Places(spec.denominator, catalog);
    if (!numerator || !denominator) continue;
    std::vector<size_t> events = *numerator;
    events.insert(events.end(), denominator->begin(), denominator->end());
    auto gates = Gates(events, catalog);
    if (gates) ratios.push_back({&spec, *std::move(numerator), *std::move(denominator), *std::move(gates)});
  }
  return ratios;
}

double RatioOf(const Ratio& ratio, std::span<const double> rates, bool* is_over_one) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  if (is_over_one != nullptr) *is_over_one = false;
  const bool is_of_one_time = std::ranges::all_of(
      ratio.gates, [&](const GateCycles& gate) { return rates[gate.running] == rates[gate.resident]; });
  if (!is_of_one_time) return kUnknown;
  const double part = ratio.Numerator(rates), whole = ratio.Denominator(rates);
  if (is_over_one != nullptr) *is_over_one = part > whole;
  // With an unknown rate (NaN) the comparisons are false.
  return whole > 0 && part <= whole ? part / whole : kUnknown;
}

bool MayExceedOne(const Ratio& ratio, std::span<const RateBounds> bounds) {
  if (bounds.empty()) return false;
  // An event's weight in numerator less denominator: an event in both cancels out.
  std::map<size_t, int> weights;
  for (const size_t event : ratio.numerator) ++weights[event];
  for (const size_t event : ratio.denominator) --weights[event];
  double excess = 0;
  bool is_estimated = false;
  for (const auto& [event, weight] : weights) {
    if (weight == 0) continue;
    excess += weight * (weight > 0 ? bounds[event].upper : bounds[event].lower);
    is_estimated = is_estimated || bounds[event].lower != bounds[event].upper;
  }
  // For exact rates RatioOf() tells.
  return is_estimated && excess > 0;
}

}  // namespace sideband::daemon
