// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip_file/resident_cycles.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/catalog.h"
#include "sim/wires/clocked_source.h"

namespace sideband::mcu {
namespace {

// The default threshold, not the chip file's: a low one would be reached all the time by a clock alone.
CcuSpec ClockCcu(const std::string& name, uint32_t slice) {
  return {.name = absl::StrCat("slice", slice, ".", name), .channel = static_cast<uint8_t>(slice)};
}

absl::StatusOr<uint16_t> AddEvent(const std::string& name, EventTable& events) {
  if (events.Find(name)) {
    return absl::InvalidArgumentError(
        absl::StrCat("event '", name, "' is counted on every device with extension 2, and cannot be added"));
  }
  return events.Add(name, mailbox::EventScope::kContext, /*prescaled=*/false, /*masked=*/false);
}

}  // namespace

bool HasResidentCycles(const ChipFile& file) { return file.extension == mailbox::ExtensionVersion::kTwo; }

absl::Status AddResidentCycles(uint32_t slices, EventTable& events, std::vector<CcuSpec>& ccus) {
  SIDEBAND_ASSIGN_OR_RETURN(const uint16_t event, AddEvent(mailbox::kResidentCyclesEvent, events));
  for (uint32_t slice = 0; slice < slices; ++slice) {
    CcuSpec ccu = ClockCcu("resident", slice);
    CounterInput input{.wire = sim::ClockedSource::kClockWire};
    input.meaning.event = event;
    ccu.ulcs.push_back({.name = "clock", .inputs = {input}});
    ccus.push_back(std::move(ccu));
  }
  return absl::OkStatus();
}

std::string RunningCyclesEvent(const std::string& group) { return absl::StrCat("group_", group, "_running_cycles"); }

absl::Status AddRunningCycles(const std::vector<GateGroupFileSpec>& groups, uint32_t slices, EventTable& events,
                              std::vector<CcuSpec>& ccus) {
  std::vector<CounterInput> inputs;
  for (size_t group = 0; group < groups.size(); ++group) {
    SIDEBAND_ASSIGN_OR_RETURN(const uint16_t event, AddEvent(RunningCyclesEvent(groups[group].name), events));
    inputs.push_back({.wire = kGatedClockWire, .meaning = {event, 0}, .group = static_cast<uint8_t>(group)});
  }
  for (uint32_t slice = 0; slice < slices; ++slice) {
    // A unit for each: the clock is counted alone.
    for (size_t group = 0; group < groups.size(); ++group) {
      if (group % kCcuUlcsMax == 0) ccus.push_back(ClockCcu(absl::StrCat("running", group / kCcuUlcsMax), slice));
      ccus.back().ulcs.push_back({.name = groups[group].name, .inputs = {inputs[group]}});
    }
  }
  return absl::OkStatus();
}

}  // namespace sideband::mcu
