// SPDX-License-Identifier: Apache-2.0
//
// Warnings about counts that are 0 or unexpectedly low although the files are valid.
//   for (const std::string& warning : ReplayWarnings("C.csv", map, schedule, *trace)) Print(warning);
#ifndef SIDEBAND_SECURE_MCU_REPLAY_WARNINGS_H_
#define SIDEBAND_SECURE_MCU_REPLAY_WARNINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "secure_mcu/replay/event_plan.h"
#include "sim/waveform/schedule.h"
#include "sim/waveform/signal_map.h"
#include "sim/waveform/trace_reader.h"

namespace sideband::mcu {

// One line each: clocks without a rising edge, events that can only count 0, a trace that ends within a line, a
// schedule that begins after the trace's end, or else its residencies that go beyond the end, and residencies with a
// $dumpoff (at most 16 of these, then the number of the others). `trace` must have been read to its end;
// `schedule_path` is for messages.
std::vector<std::string> ReplayWarnings(const std::string& schedule_path, const sim::SignalMap& map,
                                        const std::vector<sim::Residency>& schedule, const sim::TraceReader& trace);

// Appends a line for each event with unattributed requests. `counters` are those of the device, by event.
void WarnOfUnattributed(const std::string& trace_path, const std::vector<PlannedEvent>& events,
                        const std::vector<uint64_t>& counters, std::vector<std::string>& warnings);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_REPLAY_WARNINGS_H_
