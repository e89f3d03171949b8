// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/selections.h"

#include <algorithm>
#include <utility>

namespace sideband::mcu {
namespace {

// The inputs of a unit-level counter that have a counter, and their numbers within the unit.
struct Connected {
  std::vector<CounterInput> inputs;
  std::vector<uint16_t> ids;
};

Connected ConnectedOf(const UlcSpec& ulc, const mailbox::EventSet& set) {
  Connected connected;
  for (size_t i = 0; i < ulc.inputs.size(); ++i) {
    const CounterInput& input = ulc.inputs[i];
    if (ulc.is_switched() && (input.masked || !mailbox::Includes(set, input.meaning.event))) continue;
    connected.inputs.push_back(input);
    connected.ids.push_back(static_cast<uint16_t>(i));
  }
  return connected;
}

}  // namespace

Selections::Selections(const PipelineConfig& config)
    : ccus_(config.ccus), selectable_(config), meanings_(std::make_shared<EventMeanings>()) {
  for (const CcuSpec& ccu : ccus_) is_switched_.push_back(!SwitchedKinds(ccu).empty());
  rows_.push_back(RowFor({}));
  Set(config.selections);
}

void Selections::Connect(const CcuSpec& ccu, Row& row) const {
  CcuSpec connected{.ulcs = {}};
  Choice& choice = row.choices.emplace_back();
  for (const UlcSpec& ulc : ccu.ulcs) {
    Connected of = ConnectedOf(ulc, row.set);
    UnitLevelCounter::Sources& sources = choice.sources.emplace_back();
    if (ulc.is_switched()) {
      sources = mcu::SourcesOf(of.inputs);
      sources.ids = std::move(of.ids);
    }
    connected.ulcs.push_back({.inputs = std::move(of.inputs)});
  }
  CounterAllocation counters = AllocateCounters(connected);
  choice.mapping = std::move(counters.mapping);
  // Those without a source, which stay 0, have some meaning, too.
  counters.meanings.resize(CcuCounters(ccu));
  row.meanings.push_back(std::move(counters.meanings));
}

Selections::Row Selections::RowFor(const mailbox::EventSet& set) const {
  Row row{.set = set, .choices = {}, .meanings = {}, .open_groups = selectable_.OpenGroups(set)};
  for (const CcuSpec& ccu : ccus_) Connect(ccu, row);
  return row;
}

std::vector<uint64_t> Selections::OpenGroups() const {
  std::vector<uint64_t> groups;
  for (size_t i = 0; i < sets_.size(); ++i) groups.push_back(rows_[i].open_groups);
  return groups;
}

void Selections::Set(std::vector<mailbox::EventSet> sets) {
  std::vector<Row> rows;
  for (size_t i = 0; i < sets.size(); ++i) {
    const bool is_new = i >= sets_.size() || sets_[i] != sets[i];
    rows.push_back(is_new ? RowFor(sets[i]) : std::move(rows_[i]));
  }
  rows.push_back(std::move(rows_.back()));
  rows_ = std::move(rows);
  sets_ = std::move(sets);
  ShowMeanings();
}

// Which gates are open does not depend on whose turn it is.
void Selections::SetTurns(const std::vector<mailbox::EventSet>& turns) {
  turns_.clear();
  for (const mailbox::EventSet& set : turns) {
    turns_.push_back(RowFor(set));
    turns_.back().open_groups = ~uint64_t{0};
  }
  ShowMeanings();
}

const Selections::Row& Selections::RowOf(uint8_t select) const {
  if (select >= kTurnSelectFirst) return turns_[select - kTurnSelectFirst];
  return select < sets_.size() ? rows_[select] : rows_.back();
}

void Selections::ShowMeanings() {
  meanings_->clear();
  for (uint8_t select = 0; select < (empty() && turns_.empty() ? 1 : kTurnSelectFirst); ++select) {
    meanings_->push_back(RowOf(select).meanings);
  }
  for (const Row& turn : turns_) meanings_->push_back(turn.meanings);
}

}  // namespace sideband::mcu
