// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "secure_mcu/device/replay.h"

namespace sideband::mcu {
namespace {

using mailbox::Counting;

std::optional<uint64_t> Known(uint64_t number) {
  return number == mailbox::kUnknownNumber ? std::nullopt : std::optional(number);
}

std::vector<std::string> NamesOf(const mailbox::EventSet& set, const CounterPlan& plan,
                                 const std::vector<std::string>& names) {
  std::vector<std::string> members;
  for (size_t event = 0; event < names.size(); ++event) {
    if (mailbox::Includes(set, event) && !mailbox::Includes(plan.fixed, event)) members.push_back(names[event]);
  }
  return members;
}

uint64_t RunningOf(const CounterPlan& plan, const std::vector<uint64_t>& running, size_t event) {
  uint64_t cycles = 0;
  for (size_t set = 0; set < plan.sets.size(); ++set) {
    if (mailbox::Includes(plan.sets[set], event)) cycles += running[set];
  }
  return cycles;
}

ReplayEstimate EstimateOf(const mailbox::EventEstimate& numbers, uint64_t counted, uint64_t running, uint64_t enabled) {
  ReplayEstimate estimate{.upper = Known(numbers.upper), .standard_error = {}, .lower = counted};
  if (running == 0) return estimate;
  estimate.estimate = numbers.estimate;
  estimate.standard_error = Known(numbers.deviation);
  estimate.coverage = static_cast<double>(running) / static_cast<double>(enabled);
  return estimate;
}

// How the numbers of a rotation are printed.

nlohmann::ordered_json PlanJson(const ReplayRotation& rotation);
// Unknown numbers are null.
nlohmann::ordered_json NumbersJson(const ReplayNumbers& numbers, const std::vector<std::string>& events);

// "~N" of an estimate, "N" of one whose sets were always in turn, "-" if there is none.
std::string ShownOf(const ReplayEstimate& estimate);
// A table with one row per multiplexed event, after an empty line.
std::string FormatNumbers(const std::string& title, const ReplayNumbers& numbers,
                          const std::vector<std::string>& events);

using Json = nlohmann::ordered_json;

constexpr double kNormal = 1.96;  // standard errors of a 95 % interval's half

template <typename Number>
Json OrNull(const std::optional<Number>& number) {
  return number ? Json(*number) : Json(nullptr);
}

Json EstimateJson(const ReplayEstimate& estimate) {
  return {{"counted", estimate.lower},
          {"estimate", OrNull(estimate.estimate)},
          {"lower", estimate.lower},
          {"upper", OrNull(estimate.upper)},
          {"standard_error", OrNull(estimate.standard_error)},
          {"coverage", estimate.coverage}};
}

// Half of the 95 % interval; no more than what the bounds leave.
std::string ErrorOf(const ReplayEstimate& estimate) {
  if (!estimate.estimate || !estimate.standard_error) return "-";
  uint64_t half = static_cast<uint64_t>(std::ceil(kNormal * static_cast<double>(*estimate.standard_error)));
  if (estimate.upper) {
    half = std::min(half, std::max(*estimate.upper - *estimate.estimate, *estimate.estimate - estimate.lower));
  }
  return absl::StrCat(half);
}

using Row = std::vector<std::string>;

Row RowOf(const ReplayEstimate& estimate, const std::string& name) {
  return {name,
          ShownOf(estimate),
          ErrorOf(estimate),
          absl::StrFormat("%.1f%%", 100 * estimate.coverage),
          absl::StrCat(estimate.lower),
          estimate.upper ? absl::StrCat(*estimate.upper) : "-"};
}

// The first column left-aligned, the others right-aligned.
std::string Align(const std::vector<Row>& rows) {
  std::vector<int> widths(rows[0].size());
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], static_cast<int>(row[i].size()));
  }
  std::string text;
  for (const Row& row : rows) {
    absl::StrAppendFormat(&text, "%-*s", widths[0], row[0]);
    for (size_t i = 1; i < row.size(); ++i) absl::StrAppendFormat(&text, "  %*s", widths[i], row[i]);
    text += '\n';
  }
  return text;
}

Json PlanJson(const ReplayRotation& rotation) {
  return {{"sets", rotation.sets}, {"fixed", rotation.fixed}, {"derived", rotation.derived}};
}

Json NumbersJson(const ReplayNumbers& numbers, const std::vector<std::string>& events) {
  Json estimates = Json::object();
  for (const ReplayEstimate& estimate : numbers.events) estimates[events[estimate.event]] = EstimateJson(estimate);
  return {{"enabled", numbers.enabled}, {"running", numbers.running}, {"events", std::move(estimates)}};
}

std::string ShownOf(const ReplayEstimate& estimate) {
  if (!estimate.estimate) return "-";
  return absl::StrCat(estimate.coverage < 1 ? "~" : "", *estimate.estimate);
}

std::string FormatNumbers(const std::string& title, const ReplayNumbers& numbers,
                          const std::vector<std::string>& events) {
  std::vector<Row> rows = {{"event", "count", "error", "coverage", "lower", "upper"}};
  for (const ReplayEstimate& estimate : numbers.events) rows.push_back(RowOf(estimate, events[estimate.event]));
  return absl::StrCat("\n", title, ": ", numbers.enabled, " cycles, of the sets ", absl::StrJoin(numbers.running, ", "),
                      "\n", Align(rows));
}

using Json = nlohmann::ordered_json;

Json BlockJson(const ReplayResult& result, const ReplayBlock& block) {
  Json counters = Json::object();
  for (size_t i = 0; i < result.events.size(); ++i) counters[result.events[i]] = block.counters[i];
  Json json = {{"vm", block.vm},
               {"context", block.context.empty() ? Json(nullptr) : Json(block.context)},
               {"counters", std::move(counters)},
               {"flags", block.flags}};
  if (block.rotation) json["rotation"] = NumbersJson(*block.rotation, result.events);
  return json;
}

Json PeekJson(const ReplayPeek& peek) {
  return {{"cycle", peek.peek.cycle},
          {"vm", peek.peek.vm},
          {"context", peek.peek.context.empty() ? Json(nullptr) : Json(peek.peek.context)},
          {"event", peek.peek.event},
          {"count", peek.count}};
}

// "vm1", "vm1/ctx0": of a block or of a reading.
template <typename Named>
std::string Title(const Named& named) {
  return named.context.empty() ? named.vm : absl::StrCat(named.vm, "/", named.context);
}

// Counts right-aligned under the titles, names left-aligned.
class Table {
 public:
  explicit Table(const ReplayResult& result) : result_(result), name_width_(5) {
    for (const std::string& event : result.events) name_width_ = std::max(name_width_, event.size());
    for (const ReplayBlock& block : result.blocks) {
      cells_.push_back(Cells(block));
      widths_.push_back(ColumnWidth(block, cells_.back()));
    }
  }

  std::string Format() const {
    std::string text = absl::StrFormat("%-*s", static_cast<int>(name_width_), "event");
    for (size_t b = 0; b < widths_.size(); ++b) AppendCell(b, Title(result_.blocks[b]), text);
    text += '\n';
    for (size_t event = 0; event < result_.events.size(); ++event) AppendRow(event, text);
    return text;
  }

 private:
  // The text that is shown of each event.
  static std::vector<std::string> Cells(const ReplayBlock& block) {
    std::vector<std::string> cells;
    for (const uint64_t counter : block.counters) cells.push_back(absl::StrCat(counter));
    if (!block.rotation) return cells;
    for (const ReplayEstimate& estimate : block.rotation->events) cells[estimate.event] = ShownOf(estimate);
    return cells;
  }
  static size_t ColumnWidth(const ReplayBlock& block, const std::vector<std::string>& cells) {
    size_t width = Title(block).size();
    for (const std::string& cell : cells) width = std::max(width, cell.size());
    return width;
  }
  void AppendCell(size_t block, const std::string& cell, std::string& text) const {
    absl::StrAppendFormat(&text, "  %*s", static_cast<int>(widths_[block]), cell);
  }
  void AppendRow(size_t event, std::string& text) const {
    absl::StrAppendFormat(&text, "%-*s", static_cast<int>(name_width_), result_.events[event]);
    for (size_t b = 0; b < widths_.size(); ++b) AppendCell(b, cells_[b][event], text);
    text += '\n';
  }

  const ReplayResult& result_;
  size_t name_width_;
  std::vector<std::vector<std::string>> cells_;  // per block and event
  std::vector<size_t> widths_;
};

}  // namespace

bool ReplayNumbers::is_estimated() const {
  return std::ranges::any_of(events, [](const ReplayEstimate& event) { return event.estimate && event.coverage < 1; });
}

ReplayRotation RotationOf(const Chip& chip, const std::vector<std::string>& names) {
  const CounterPlan& plan = chip.rotation().turns().plans()[0].counters;
  ReplayRotation rotation;
  for (const mailbox::EventSet& set : plan.sets) rotation.sets.push_back(NamesOf(set, plan, names));
  for (size_t event = 0; event < names.size(); ++event) {
    if (mailbox::Includes(plan.fixed, event)) rotation.fixed.push_back(names[event]);
    if (plan.IsDerived(event)) rotation.derived.push_back(names[event]);
  }
  return rotation;
}

ReplayNumbers NumbersOf(const Chip& chip, BlockId block) {
  const CounterPlan& plan = chip.rotation().turns().plans()[0].counters;
  const mailbox::BlockRotation row = chip.rotation().NumbersOf(block);
  ReplayNumbers numbers{.running = std::vector<uint64_t>(plan.sets.size()), .events = {}};
  // A replay has no gates and no device units that are multiplexed: one part, and its first line.
  if (!row.parts.empty()) {
    numbers.enabled = row.parts[0].enabled[0];
    numbers.running = row.parts[0].running;
  }
  const std::vector<uint16_t>& events = chip.rotation().turns().events();
  for (size_t i = 0; i < events.size(); ++i) {
    if (CountingOf(plan, events[i]) == Counting::kFixed) continue;
    const mailbox::EventEstimate none{.deviation = mailbox::kUnknownNumber};
    numbers.events.push_back(EstimateOf(i < row.events.size() ? row.events[i] : none,
                                        chip.memory().counters(block)[events[i]],
                                        RunningOf(plan, numbers.running, events[i]), numbers.enabled));
    numbers.events.back().event = events[i];
  }
  return numbers;
}

std::string FormatJson(const ReplayResult& result) {
  Json blocks = Json::array();
  for (const ReplayBlock& block : result.blocks) blocks.push_back(BlockJson(result, block));
  Json json = {{"cycles", result.cycles}, {"blocks", std::move(blocks)}};
  if (result.rotation) json["rotation"] = PlanJson(*result.rotation);
  for (const ReplayPeek& peek : result.peeks) json["peeks"].push_back(PeekJson(peek));
  // Event names may contain bytes that are not UTF-8.
  return json.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace) + "\n";
}

std::string FormatSwitch(const ReplaySwitch& event) {
  const auto name = [](const std::string& who) { return who.empty() ? Json(nullptr) : Json(who); };
  const SwitchStepEvent& step = event.step;
  return Json{{"switch", step.switch_number},
              {"slice", step.slice},
              {"step", static_cast<int>(step.step)},
              {"name", std::string(SwitchStepName(step.step))},
              {"cycle", step.cycle},
              {"pipeline_cycle", step.pipeline_cycle},
              {"from", name(event.from)},
              {"to", name(event.to)},
              {"records", step.records},
              {"acknowledgements", step.acknowledgements}}
             .dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace) +
         "\n";
}

std::string FormatTable(const ReplayResult& result, bool bounds) {
  std::string text = absl::StrCat(result.cycles, " cycles\n\n", Table(result).Format());
  for (const ReplayPeek& peek : result.peeks) {
    absl::StrAppend(&text, "at cycle ", peek.peek.cycle, ": ", Title(peek.peek), " ", peek.peek.event, " ", peek.count,
                    "\n");
  }
  for (const ReplayBlock& block : result.blocks) {
    if (!block.flags.empty())
      absl::StrAppend(&text, Title(block), " is flagged: ", absl::StrJoin(block.flags, ", "), "\n");
  }
  for (const ReplayBlock& block : result.blocks) {
    if (bounds && block.rotation) text += FormatNumbers(Title(block), *block.rotation, result.events);
  }
  return text;
}

}  // namespace sideband::mcu
