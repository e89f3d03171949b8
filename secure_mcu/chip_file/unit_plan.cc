// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip_file/unit_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "proto/base/errors.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "proto/mailbox/rotation_file.h"
#include "secure_mcu/chip/rotation_plan.h"
#include "secure_mcu/chip/rotation_rules.h"
#include "secure_mcu/chip/selections.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/chip_file/event_table.h"

namespace sideband::mcu {
namespace {

// Plans the turns of a chip file with units.
class TurnPlanner {
 public:
  TurnPlanner(const ChipFile& file, const EventTable& events, const std::vector<CcuSpec>& ccus)
      : file_(file),
        numbers_(events.names(), file.path),
        name_([&events](size_t event) { return absl::StrCat("'", events.events()[event].name, "'"); }),
        config_(file.pipeline) {
    config_.events = static_cast<uint32_t>(events.events().size());
    config_.ccus = ccus;
    config_.relations.clear();
    config_.rotation.reset();
  }

  absl::StatusOr<EventTurns> Run() {
    SIDEBAND_RETURN_IF_ERROR(AddRelations());
    if (file_.rotation) SIDEBAND_RETURN_IF_ERROR(AddRotation());
    return EventTurns{std::move(config_.relations), std::move(config_.rotation)};
  }

 private:
  absl::Status AddRelations() {
    const RelationRules rules(config_);
    for (const NamedRelation& named : file_.relations) {
      SIDEBAND_ASSIGN_OR_RETURN(mailbox::Relation relation, RelationOf(named, numbers_));
      SIDEBAND_RETURN_IF_ERROR(AtLine(rules.Check(relation, name_), file_.path, named.line));
      config_.relations.push_back(std::move(relation));
    }
    return absl::OkStatus();
  }

  absl::Status AddRotation() {
    const RotationFile& rotation = *file_.rotation;
    if (CounterNeeds(config_).kinds().empty()) {
      return LineError(file_.path, file_.rotation_line, "a rotation needs a unit with more events than counters");
    }
    const EventNumbers numbers(numbers_.names(), rotation.path);
    RotationSpec& spec = config_.rotation.emplace();
    SIDEBAND_ASSIGN_OR_RETURN(spec.settings, SettingsOf(rotation, numbers, config_.clock_hz));
    SIDEBAND_RETURN_IF_ERROR(AddFixed(spec));
    if (rotation.instructions) {
      SIDEBAND_ASSIGN_OR_RETURN(spec.instructions, numbers.Of(*rotation.instructions));
    }
    spec.dead_cycles = rotation.dead_cycles;
    if (rotation.slots_min) spec.slots_min = CyclesOf(*rotation.slots_min, config_.clock_hz);
    spec.seed = rotation.seed;
    SIDEBAND_RETURN_IF_ERROR(AtLine(CheckSettings(spec.settings, config_), rotation.path, rotation.line));
    SIDEBAND_RETURN_IF_ERROR(AtLine(CheckRotation(config_, name_), file_.path, file_.rotation_line));
    const bool fill = spec.settings.profile == mailbox::RotationProfile::kFast;
    return AtLine(PlanCounters(config_, {.fill = fill}, name_).status(), file_.path, file_.rotation_line);
  }

  // Unit by unit, so that an error is at the line of the unit whose events are too many.
  absl::Status AddFixed(RotationSpec& spec) const {
    std::vector<NamedEvent> fixed;
    for (const auto* units : {&file_.units, &file_.shared_units, &file_.device_units}) {
      for (const UnitFileSpec& unit : *units) {
        if (unit.fixed.empty()) continue;
        fixed.insert(fixed.end(), unit.fixed.begin(), unit.fixed.end());
        SIDEBAND_ASSIGN_OR_RETURN(spec.fixed, numbers_.SetOf(fixed));
        SIDEBAND_RETURN_IF_ERROR(AtLine(CheckFixed(config_, name_), file_.path, unit.fixed[0].line));
      }
    }
    return absl::OkStatus();
  }

  const ChipFile& file_;
  const EventNumbers numbers_;
  const EventNamer name_;
  PipelineConfig config_;
};

}  // namespace

absl::StatusOr<EventTurns> PlanTurns(const ChipFile& file, const EventTable& events, const std::vector<CcuSpec>& ccus) {
  if (file.relations.empty() && !file.rotation) return EventTurns();
  return TurnPlanner(file, events, ccus).Run();
}

namespace {

constexpr size_t kWordEvents = 64;

// Plans the selections of a chip file with units.
class SelectionPlanner {
 public:
  SelectionPlanner(const ChipFile& file, const EventTable& events, const std::vector<CcuSpec>& ccus)
      : file_(file), events_(events), selectable_(ConfigOf(file, events, ccus)) {}

  absl::Status CheckUnits() const {
    if (selectable_.empty()) {
      return Error(file_.selections[0].line, "selections need a unit with more events than counters");
    }
    for (const GateGroupFileSpec& group : file_.gate_groups) SIDEBAND_RETURN_IF_ERROR(CheckGroup(group));
    for (const auto* units : {&file_.units, &file_.shared_units}) {
      for (const UnitFileSpec& unit : *units) {
        for (const UnitEventSpec& event : unit.events) SIDEBAND_RETURN_IF_ERROR(CheckEvent(event));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<mailbox::EventSet> SetOf(const SelectionFileSpec& selection) const {
    mailbox::EventSet set((events_.events().size() + kWordEvents - 1) / kWordEvents);
    for (const std::string& name : selection.events) {
      const uint16_t event = *events_.Find(name);
      set[event / kWordEvents] |= uint64_t{1} << event % kWordEvents;
    }
    const auto quoted = [this](size_t event) { return absl::StrCat("'", events_.events()[event].name, "'"); };
    const absl::Status status = selectable_.Check(set, quoted);
    if (status.ok()) return set;
    return Error(selection.line, absl::StrCat("selection '", selection.name, "': ", status.message()));
  }

 private:
  static PipelineConfig ConfigOf(const ChipFile& file, const EventTable& events, const std::vector<CcuSpec>& ccus) {
    PipelineConfig config = file.pipeline;
    config.events = static_cast<uint32_t>(events.events().size());
    config.ccus = ccus;
    return config;
  }

  absl::Status Error(size_t line, const std::string& what) const { return LineError(file_.path, line, what); }
  bool IsSelectable(const std::string& event) const { return selectable_.Has(*events_.Find(event)); }

  absl::Status CheckGroup(const GateGroupFileSpec& group) const {
    const auto is_selectable = [this](const std::string& event) { return IsSelectable(event); };
    const auto is_always = [this](const std::string& event) {
      return !IsSelectable(event) && !events_.events()[*events_.Find(event)].masked;
    };
    const auto selectable = std::ranges::find_if(group.events, is_selectable);
    const auto always = std::ranges::find_if(group.events, is_always);
    if (selectable == group.events.end() || always == group.events.end()) return absl::OkStatus();
    return Error(group.line, absl::StrCat("group '", group.name, "' has event '", *selectable,
                                          "', which is selectable, and event '", *always,
                                          "', which is always counted: its running cycles can tell one only"));
  }

  absl::Status CheckEvent(const UnitEventSpec& event) const {
    const auto has_it = [&](const GateGroupFileSpec& group) {
      return std::ranges::find(group.events, event.name) != group.events.end();
    };
    if (!IsSelectable(event.name) || std::ranges::any_of(file_.gate_groups, has_it)) return absl::OkStatus();
    return Error(event.line, absl::StrCat("event '", event.name,
                                          "' is selectable and has no gate group, whose running cycles would tell a "
                                          "count of 0 from none"));
  }

  const ChipFile& file_;
  const EventTable& events_;
  const SelectableEvents selectable_;
};

}  // namespace

absl::StatusOr<std::vector<mailbox::EventSet>> PlanSelections(const ChipFile& file, const EventTable& events,
                                                              const std::vector<CcuSpec>& ccus) {
  std::vector<mailbox::EventSet> sets;
  if (file.selections.empty()) return sets;
  const SelectionPlanner planner(file, events, ccus);
  SIDEBAND_RETURN_IF_ERROR(planner.CheckUnits());
  for (const SelectionFileSpec& selection : file.selections) {
    SIDEBAND_ASSIGN_OR_RETURN(mailbox::EventSet set, planner.SetOf(selection));
    sets.push_back(std::move(set));
  }
  return sets;
}

namespace {

// Records carry the number of the collection unit in 16 bits.
constexpr size_t kCcusMax = 65'535;
// Begins the names of collection units with the counters of shared units. No name in a chip file has a slash.
constexpr absl::string_view kSharedPrefix = "shared/";

std::vector<CounterInput> Inputs(const UnitEventSpec& event, uint16_t counter, sim::WireId wire) {
  std::vector<CounterInput> inputs = NumberInputs(wire, event.bits, counter, event.prescaled);
  for (CounterInput& input : inputs) input.masked = event.masked;
  return inputs;
}

// The collection units of one channel, in the order of their first use.
class ChannelPlanner {
 public:
  ChannelPlanner(const ChipFile& file, const std::string& name, uint8_t channel)
      : file_(file), prefix_(name + "."), channel_(channel) {}

  absl::Status Add(const UnitFileSpec& unit, EventTable& events) {
    SIDEBAND_ASSIGN_OR_RETURN(const std::vector<uint16_t> counters, Counters(unit, events));
    for (uint32_t instance = 0; instance < unit.count; ++instance) {
      UlcSpec ulc = unit.ulc;
      ulc.name = absl::StrCat(unit.name, ".", instance);  // the dot separates "l2.0" from a unit "l20"
      AddInputs(unit, counters, ulc);
      // The instances of a unit are equal: one check, and one error at most.
      if (instance == 0) SIDEBAND_RETURN_IF_ERROR(CheckUlc(unit, ulc));
      SIDEBAND_ASSIGN_OR_RETURN(CcuSpec * ccu, CcuFor(unit));
      ccu->ulcs.push_back(std::move(ulc));
    }
    return absl::OkStatus();
  }

  // Units that are added from now on have collection units of their own.
  void Separate(const std::string& prefix) {
    prefix_ = prefix;
    index_.clear();
    packed_ = 0;
  }

  // Called after the last Add.
  void MoveTo(UnitPlan& plan) {
    for (CcuSpec& ccu : ccus_) plan.ccus.push_back(std::move(ccu));
    plan.wires.push_back(std::move(wires_));
  }
  size_t size() const { return ccus_.size(); }

 private:
  absl::Status Error(size_t line, const std::string& what) const { return LineError(file_.path, line, what); }

  absl::StatusOr<std::vector<uint16_t>> Counters(const UnitFileSpec& unit, EventTable& events) const {
    const auto scope = channel_ == kDeviceChannel ? mailbox::EventScope::kDevice : mailbox::EventScope::kContext;
    std::vector<uint16_t> counters;
    for (const UnitEventSpec& event : unit.events) {
      const auto counter = events.Add(event.name, scope, event.prescaled, event.masked);
      if (!counter.ok()) return AtLine(counter.status(), file_.path, event.line);
      counters.push_back(*counter);
    }
    return counters;
  }

  void AddInputs(const UnitFileSpec& unit, const std::vector<uint16_t>& counters, UlcSpec& ulc) {
    std::map<std::string, sim::WireId> first_wires;
    for (size_t i = 0; i < counters.size(); ++i) {
      const UnitEventSpec& event = unit.events[i];
      if (event.of.empty()) {
        first_wires[event.name] = static_cast<sim::WireId>(wires_.size());
        wires_.insert(wires_.end(), event.bits, counters[i]);
      }
      const sim::WireId first = first_wires.at(event.of.empty() ? event.name : event.of);
      for (CounterInput input : Inputs(event, counters[i], first)) {
        input.group = GroupOf(event.name);
        ulc.inputs.push_back(input);
      }
    }
  }

  std::optional<uint8_t> GroupOf(const std::string& event) const {
    if (channel_ == kDeviceChannel) return std::nullopt;
    for (size_t group = 0; group < file_.gate_groups.size(); ++group) {
      const std::vector<std::string>& events = file_.gate_groups[group].events;
      if (std::ranges::find(events, event) != events.end()) return static_cast<uint8_t>(group);
    }
    return std::nullopt;
  }

  absl::Status CheckUlc(const UnitFileSpec& unit, const UlcSpec& ulc) const {
    const absl::Status fits = IsSwitchable() ? absl::OkStatus() : CheckFits(ulc);
    if (!fits.ok()) return Error(unit.line, absl::StrCat("unit '", unit.name, "': ", fits.message(), WaysOut(ulc)));
    const absl::Status status = UnitLevelCounter::Validate(CounterConfig(ulc));
    return status.ok() ? status : Error(unit.line, absl::StrCat("unit '", unit.name, "': ", status.message()));
  }

  bool IsSwitchable() const {
    return file_.rotation.has_value() || (channel_ != kDeviceChannel && !file_.selections.empty());
  }

  // Tells the user what to do if the unit has more events than counters.
  std::string WaysOut(const UlcSpec& ulc) const {
    if (!ulc.is_switched()) return "";
    return absl::StrCat("; with 'rotation' its events take turns",
                        channel_ == kDeviceChannel ? "" : ", with 'selections' each VM has some of them");
  }

  // The result is valid until the next call.
  absl::StatusOr<CcuSpec*> CcuFor(const UnitFileSpec& unit) {
    const auto found = index_.find({unit.ccu, unit.ulc.domain});
    if (found == index_.end()) return AppendFor(unit);
    CcuSpec& ccu = ccus_[found->second];
    if (ccu.ulcs.size() < kCcuUlcsMax) return &ccu;
    // Only unnamed collection units may be split.
    if (unit.ccu.empty()) return Append("", unit.ulc.domain);
    return Error(unit.line, absl::StrCat("collection unit '", unit.ccu, "' has more than ", kCcuUlcsMax,
                                         " unit-level counters with those of unit '", unit.name, "'"));
  }

  // The units of a collection unit are in one clock domain.
  absl::StatusOr<CcuSpec*> AppendFor(const UnitFileSpec& unit) {
    const auto named = index_.lower_bound({unit.ccu, 0});
    if (unit.ccu.empty() || named == index_.end() || named->first.first != unit.ccu) {
      return Append(unit.ccu, unit.ulc.domain);
    }
    return Error(unit.line, absl::StrCat("collection unit '", unit.ccu, "' is in another clock domain than unit '",
                                         unit.name, "'"));
  }

  CcuSpec* Append(const std::string& name, uint32_t domain) {
    index_[{name, domain}] = ccus_.size();
    CcuSpec ccu{.channel = channel_, .threshold = file_.threshold};
    ccu.name = prefix_ + (name.empty() ? absl::StrCat("ccu", packed_++) : name);
    for (const CcuFileSpec& own : file_.ccus) {
      if (own.name == name) ccu.threshold = own.threshold;
    }
    ccus_.push_back(std::move(ccu));
    return &ccus_.back();
  }

  const ChipFile& file_;
  std::string prefix_;
  const uint8_t channel_;
  std::vector<CcuSpec> ccus_;
  std::map<std::pair<std::string, uint32_t>, size_t> index_;  // per name and domain, the newest entry of ccus_
  size_t packed_ = 0;
  std::vector<uint16_t> wires_;
};

bool IsOn(const UnitFileSpec& unit, uint8_t slice) {
  return unit.slices.empty() || std::find(unit.slices.begin(), unit.slices.end(), slice) != unit.slices.end();
}

absl::Status AddUnits(const ChipFile& file, const std::vector<UnitFileSpec>& units, uint8_t slice,
                      ChannelPlanner& planner, UnitPlan& plan) {
  for (const UnitFileSpec& unit : units) {
    if (!IsOn(unit, slice)) continue;
    SIDEBAND_RETURN_IF_ERROR(planner.Add(unit, plan.events));
    if (plan.ccus.size() + planner.size() > kCcusMax) {
      return LineError(file.path, unit.line, absl::StrCat("more than ", kCcusMax, " collection units"));
    }
  }
  return absl::OkStatus();
}

// A slice without units is rejected: it would have nothing to emulate.
absl::Status PlanSlice(const ChipFile& file, uint8_t slice, UnitPlan& plan) {
  const std::string name = absl::StrCat("slice", int{slice});
  ChannelPlanner planner(file, name, slice);
  SIDEBAND_RETURN_IF_ERROR(AddUnits(file, file.units, slice, planner, plan));
  if (planner.size() == 0) {
    return LineError(file.path, file.units[0].line, absl::StrCat("no unit is on slice ", int{slice}));
  }
  planner.Separate(absl::StrCat(name, ".", kSharedPrefix));
  SIDEBAND_RETURN_IF_ERROR(AddUnits(file, file.shared_units, slice, planner, plan));
  planner.MoveTo(plan);
  return absl::OkStatus();
}

void DescribeShared(const ChipFile& file, EventTable& events) {
  for (const UnitFileSpec& unit : file.shared_units) {
    for (const UnitEventSpec& event : unit.events) events.DescribeAsShared(*events.Find(event.name));
  }
}

absl::Status PlanDevice(const ChipFile& file, UnitPlan& plan) {
  ChannelPlanner planner(file, "device", kDeviceChannel);
  for (const UnitFileSpec& unit : file.device_units) {
    SIDEBAND_RETURN_IF_ERROR(planner.Add(unit, plan.events));
    if (plan.ccus.size() + planner.size() > kCcusMax) {
      return LineError(file.path, unit.line, absl::StrCat("more than ", kCcusMax, " collection units"));
    }
  }
  planner.MoveTo(plan);
  return absl::OkStatus();
}

absl::Status CheckCcuNames(const ChipFile& file) {
  std::vector<std::string> names;
  for (const auto* units : {&file.units, &file.shared_units, &file.device_units}) {
    for (const UnitFileSpec& unit : *units) names.push_back(unit.ccu);
  }
  names.erase(std::remove(names.begin(), names.end(), ""), names.end());
  for (const CcuFileSpec& ccu : file.ccus) {
    if (std::find(names.begin(), names.end(), ccu.name) != names.end()) continue;
    return LineError(file.path, ccu.line,
                     absl::StrCat("no unit is on collection unit '", ccu.name, "'", DidYouMean(ccu.name, names)));
  }
  return absl::OkStatus();
}

// The line with the threshold of the collection unit, whose name is CHANNEL.NAME. A channel's name has no dot.
size_t ThresholdLine(const ChipFile& file, const std::string& ccu_name) {
  absl::string_view name = absl::string_view(ccu_name).substr(ccu_name.find('.') + 1);
  absl::ConsumePrefix(&name, kSharedPrefix);
  for (const CcuFileSpec& ccu : file.ccus) {
    if (ccu.name == name) return ccu.line;
  }
  return file.pipeline_line > 0 ? file.pipeline_line : file.units[0].line;
}

// The fastest that the clock of a collection unit ever is.
uint64_t FastestHz(const ChipFile& file, const CcuSpec& ccu) {
  const uint32_t domain = ccu.ulcs[0].domain;
  if (domain == 0) return file.pipeline.clock_hz;
  const sim::DomainClockSpec& clock = file.pipeline.domains[domain - 1].clock;
  uint64_t hz = clock.hz;
  for (const sim::ClockStep& step : clock.steps) hz = std::max(hz, step.hz);
  return hz;
}

absl::Status CheckThresholds(const ChipFile& file, const UnitPlan& plan) {
  for (const CcuSpec& ccu : plan.ccus) {
    const absl::Status status = CheckThresholdPace(ccu, FastestHz(file, ccu));
    if (!status.ok()) return AtLine(status, file.path, ThresholdLine(file, ccu.name));
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> UnitPlan::WireEvents(size_t channel) const {
  std::vector<std::string> names;
  for (const uint16_t event : wires[channel]) names.push_back(events.events()[event].name);
  return names;
}

absl::StatusOr<UnitPlan> PlanUnits(const ChipFile& file) {
  UnitPlan plan;
  SIDEBAND_RETURN_IF_ERROR(CheckCcuNames(file));
  if (file.units.empty()) return plan;
  for (uint32_t slice = 0; slice < file.pipeline.slices; ++slice) {
    SIDEBAND_RETURN_IF_ERROR(PlanSlice(file, static_cast<uint8_t>(slice), plan));
  }
  DescribeShared(file, plan.events);
  SIDEBAND_RETURN_IF_ERROR(PlanDevice(file, plan));
  if (HasResidentCycles(file)) {
    // Last, so that the chip file's events keep their places.
    const absl::Status added = AddResidentCycles(file.pipeline.slices, plan.events, plan.ccus);
    SIDEBAND_RETURN_IF_ERROR(AtLine(added, file.path, file.units[0].line));
    const absl::Status running = AddRunningCycles(file.gate_groups, file.pipeline.slices, plan.events, plan.ccus);
    SIDEBAND_RETURN_IF_ERROR(AtLine(running, file.path, file.units[0].line));
  }
  SIDEBAND_RETURN_IF_ERROR(CheckThresholds(file, plan));
  SIDEBAND_ASSIGN_OR_RETURN(plan.selections, PlanSelections(file, plan.events, plan.ccus));
  SIDEBAND_ASSIGN_OR_RETURN(plan.turns, PlanTurns(file, plan.events, plan.ccus));
  return plan;
}

}  // namespace sideband::mcu
