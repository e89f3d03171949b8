// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"
#include "sim/waveform/csv_rows.h"
#include "sim/waveform/event_binding.h"
#include "sim/waveform/looped_trace.h"
#include "sim/waveform/schedule.h"
#include "sim/waveform/signal_map.h"
#include "sim/waveform/tag_filters.h"
#include "sim/waveform/trace_file.h"
#include "sim/waveform/trace_reader.h"
#include "sim/waveform/trace_state.h"
#include "sim/waveform/trace_writer.h"
#include "sim/waveform/vcd_body.h"
#include "sim/waveform/vcd_header.h"
#include "sim/waveform/vcd_lexer.h"
#include "sim/wires/clocked_source.h"
#include "sim/wires/domain_clock.h"
#include "sim/wires/packed_wires.h"
#include "sim/wires/wire_source.h"
#include "sim/workload/bitwise_source.h"
#include "sim/workload/pattern_table.h"
#include "sim/workload/synthetic_slice.h"
#include "sim/workload/workload.h"

namespace sideband::sim {
namespace {

absl::Status Use(uint64_t cycle, absl::string_view slice);

absl::Status UseCsvRows(absl::string_view text, const std::string& path) {
  //@ sim/waveform/csv_rows.h
  return absl::OkStatus();
}

absl::Status UseEventBinding(const SignalMap& map, const VcdHeader& header, size_t event,
                             std::span<const uint64_t> count_of, uint64_t total, std::span<const uint64_t> words,
                             TraceWriter& writer) {
  //@ sim/waveform/event_binding.h
  return absl::OkStatus();
}

absl::Status UseLoopedTrace(const std::string& path, const SignalMap& map, std::span<const WireId> wires,
                            std::span<uint64_t> sums) {
  //@ sim/waveform/looped_trace.h
  return absl::OkStatus();
}

absl::Status UseSchedule() {
  //@ sim/waveform/schedule.h
  return absl::OkStatus();
}

void Use(const EventSpec& event);

absl::Status UseSignalMap(const std::string& path) {
  //@ sim/waveform/signal_map.h
  return absl::OkStatus();
}

absl::Status UseTagFilters(const SignalMap& map, const std::vector<Residency>& schedule) {
  //@ sim/waveform/tag_filters.h
  return absl::OkStatus();
}

absl::Status UseTraceFile(std::span<char> buffer) {
  //@ sim/waveform/trace_file.h
  return absl::OkStatus();
}

absl::Status UseTraceReader(const SignalMap& map, std::span<const WireId> wires, std::span<uint64_t> sums) {
  //@ sim/waveform/trace_reader.h
  return absl::OkStatus();
}

absl::Status UseTraceState(TraceState& state, const VcdLexer& lexer, uint32_t slot) {
  //@ sim/waveform/trace_state.h
  return absl::OkStatus();
}

void Use(const TraceChunk& chunk);

void UseTraceWriter(const TraceChunk& chunk, std::span<const WireId> wires, std::span<uint64_t> sums) {
  //@ sim/waveform/trace_writer.h
}

absl::Status UseVcdBody(const std::unique_ptr<VcdLexer>& lexer, const CodeTable& codes, TraceState& state) {
  //@ sim/waveform/vcd_body.h
  return absl::OkStatus();
}

absl::Status UseVcdHeader(const std::unique_ptr<VcdLexer>& lexer) {
  //@ sim/waveform/vcd_header.h
  return absl::OkStatus();
}

void Use(absl::string_view token);

absl::Status UseVcdLexer(const char* text) {
  //@ sim/waveform/vcd_lexer.h
  return absl::OkStatus();
}

void UseClockedSource(const std::shared_ptr<WireSource>& slice, std::span<uint64_t> sums) {
  //@ sim/wires/clocked_source.h
}

void UsePackedWires(uint32_t wire_count, WireId wire, std::span<const WireId> wires, std::span<uint64_t> sums,
                    const std::vector<uint64_t>& words, size_t stride, std::span<const WireId> rows) {
  //@ sim/wires/packed_wires.h
}

void UseBitwiseSource(std::span<const WireId> ids, std::span<uint64_t> sums) {
  //@ sim/workload/bitwise_source.h
}

void UsePatternTable(std::span<const Pattern> patterns, std::span<const WireId> wires, std::span<uint64_t> sums) {
  //@ sim/workload/pattern_table.h
}

absl::Status UseSyntheticSlice(Workload workload, Workload unit_workload, std::span<const WireId> wires,
                               std::span<uint64_t> sums) {
  //@ sim/workload/synthetic_slice.h
  return absl::OkStatus();
}

absl::Status UseWorkload() {
  //@ sim/workload/workload.h
  return absl::OkStatus();
}

void UseDomainClock() {
  //@ sim/wires/domain_clock.h
}

}  // namespace
}  // namespace sideband::sim
