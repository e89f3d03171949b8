// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "secure_mcu/replay/replay.h"
#include "secure_mcu/replay/report_rotation.h"

namespace sideband::mcu {
namespace {

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
  // What is shown of each event.
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
