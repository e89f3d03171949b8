// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "secure_mcu/chip/schedule_timeline.h"
#include "secure_mcu/chip_file/chip_spec.h"
#include "secure_mcu/chip_file/event_table.h"
#include "secure_mcu/device/tenant_slices.h"
#include "secure_mcu/device/wiring.h"
#include "secure_mcu/replay/event_plan.h"
#include "sim/waveform/looped_trace.h"
#include "sim/waveform/schedule.h"
#include "sim/waveform/signal_map.h"
#include "sim/waveform/tag_filters.h"
#include "sim/waveform/trace_reader.h"
#include "sim/wires/clocked_source.h"

namespace sideband::mcu {
namespace {

// The catalogue is made from the chip file, so every VM and context of the schedule must be in that file.
absl::Status CheckResidency(const ChipFile& file, const sim::Residency& residency) {
  const auto error = [&](absl::string_view what) {
    return LineError(file.waveform->schedule, residency.line, absl::StrCat(what, " not in ", file.path));
  };
  if (residency.slice >= file.pipeline.slices) return error(absl::StrCat("slice ", residency.slice, " is"));
  const auto vm = std::find_if(file.vms.begin(), file.vms.end(), [&](const auto& v) { return v.name == residency.vm; });
  if (vm == file.vms.end()) return error(absl::StrCat("VM '", residency.vm, "' is"));
  const bool known =
      residency.context.empty() || std::any_of(vm->contexts.begin(), vm->contexts.end(),
                                               [&](const auto& context) { return context.name == residency.context; });
  return known ? absl::OkStatus() : error(absl::StrCat("context '", residency.context, "' is"));
}

// The units of a signal map have the shape that the chip file defines.
absl::Status ApplyShape(const ChipFile& file, std::vector<CcuSpec>& ccus) {
  for (CcuSpec& ccu : ccus) {
    ccu.threshold = file.threshold;
    SIDEBAND_RETURN_IF_ERROR(AtLine(CheckThresholdPace(ccu, file.pipeline.clock_hz), file.path, file.pipeline_line));
    for (UlcSpec& ulc : ccu.ulcs) {
      ulc.counter_bits = file.ulc.counter_bits;
      ulc.period = file.ulc.period;
      ulc.lanes = file.ulc.lanes;
      const absl::Status status = UnitLevelCounter::Validate(CounterConfig(ulc));
      if (!status.ok()) {
        return LineError(file.path, file.pipeline_line, absl::StrCat("unit '", ulc.name, "': ", status.message()));
      }
    }
  }
  return absl::OkStatus();
}

// Late requests of these would be in the device's block, as unattributed ones.
std::set<std::string> PrivateVms(const ChipFile& file) {
  std::set<std::string> names;
  for (const VmFileSpec& vm : file.vms) {
    if (vm.counting.is_private) names.insert(vm.name);
  }
  return names;
}

}  // namespace

absl::StatusOr<Wiring> MakeWaveformWiring(const ChipFile& file) {
  SIDEBAND_ASSIGN_OR_RETURN(const sim::SignalMap map, sim::SignalMap::Load(file.waveform->signals));
  SIDEBAND_ASSIGN_OR_RETURN(auto schedule, sim::LoadSchedule(file.waveform->schedule));
  for (const sim::Residency& residency : schedule) SIDEBAND_RETURN_IF_ERROR(CheckResidency(file, residency));
  for (const sim::EventSpec& event : map.events()) {
    if (event.in_host) return map.Error(event.line, "a device has no exits of a waveform: remove `mode`");
  }
  SIDEBAND_ASSIGN_OR_RETURN(const auto filters, sim::TagFilters::Create(map, schedule, file.waveform->schedule,
                                                                        file.pipeline.slices, PrivateVms(file)));
  SIDEBAND_ASSIGN_OR_RETURN(const auto reader, sim::TraceReader::Open(file.waveform->trace, map, filters));
  SIDEBAND_ASSIGN_OR_RETURN(std::shared_ptr<sim::LoopedTrace> trace, sim::LoopedTrace::Load(*reader));
  SIDEBAND_ASSIGN_OR_RETURN(EventPlan plan, PlanEvents(map, trace->event_wires(), file.pipeline.slices, std::nullopt));

  Wiring wiring;
  for (const PlannedEvent& event : plan.events) {
    const auto added = wiring.events.Add(event.name, event.scope, event.prescaled, /*masked=*/false);
    if (!added.ok()) return AtLine(added.status(), file.waveform->signals, 0);
    if (event.is_shared) wiring.events.DescribeAsShared(*added);
  }
  wiring.ccus = std::move(plan.ccus);
  SIDEBAND_RETURN_IF_ERROR(ApplyShape(file, wiring.ccus));
  if (HasResidentCycles(file)) {
    const absl::Status added = AddResidentCycles(file.pipeline.slices, wiring.events, wiring.ccus);
    SIDEBAND_RETURN_IF_ERROR(AtLine(added, file.waveform->signals, 0));
  }
  wiring.slices.assign(file.pipeline.slices, std::make_shared<sim::ClockedSource>(trace));
  wiring.device = trace;
  wiring.tenant_slices = SlicesOfSchedule(file, schedule);
  wiring.make_timeline = [schedule = std::move(schedule), turn = trace->length()](std::vector<Tenant> tenants) {
    return std::make_unique<ScheduleTimeline>(schedule, std::move(tenants), turn);
  };
  return wiring;
}

}  // namespace sideband::mcu
