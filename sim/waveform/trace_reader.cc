// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/trace_reader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "sim/waveform/vcd_header.h"

namespace sideband::sim {
namespace {

absl::flat_hash_set<std::string> WantedSignals(const SignalMap& map) {
  absl::flat_hash_set<std::string> wanted;
  // The map may name a signal with its range; only the names of escaped signals end in a range.
  const auto want = [&wanted](const std::string& name) {
    wanted.insert(name);
    wanted.insert(ParseShownName(name).name);
  };
  want(map.clock());
  for (const EventSpec& event : map.events()) {
    want(event.signal);
    if (!event.clock.empty()) want(event.clock);
    if (event.requester) want(event.requester->slice);
    if (event.requester && !event.requester->context.empty()) want(event.requester->context);
  }
  return wanted;
}

}  // namespace

uint64_t TraceReader::ChunkCycles(uint32_t wires) {
  constexpr uint64_t kStep = 4096;
  constexpr uint64_t kChunkBits = uint64_t{1} << 22;
  return std::clamp(kChunkBits / std::max<uint64_t>(wires, 1) / kStep * kStep, kStep, 16 * kStep);
}

absl::StatusOr<std::unique_ptr<TraceReader>> TraceReader::Open(const std::string& path, const SignalMap& map,
                                                               const TagFilters& filters) {
  SIDEBAND_ASSIGN_OR_RETURN(std::unique_ptr<VcdLexer> lexer, VcdLexer::Open(path));
  SIDEBAND_ASSIGN_OR_RETURN(VcdHeader header, ReadVcdHeader(*lexer, WantedSignals(map)));
  SIDEBAND_ASSIGN_OR_RETURN(EventBinding binding, BindEvents(map, header, filters.slices()));
  return std::unique_ptr<TraceReader>(
      new TraceReader(std::move(lexer), std::move(header), std::move(binding), filters));
}

TraceReader::TraceReader(std::unique_ptr<VcdLexer> lexer, VcdHeader header, EventBinding binding,
                         const TagFilters& filters)
    : lexer_(std::move(lexer)),
      codes_(std::move(header.codes)),
      event_wires_(std::move(binding.wires)),
      warnings_(std::move(binding.warnings)),
      state_(header.slot_widths, binding, filters, ChunkCycles(event_wires_.total_wire_count())),
      body_(*lexer_, codes_, state_) {}

absl::StatusOr<const TraceChunk*> TraceReader::Next() {
  TraceWriter& writer = state_.writer();
  if (!writer.empty()) writer.Begin();
  if (status_.ok()) status_ = body_.Read();
  if (!status_.ok()) return status_;
  if (!writer.empty()) return &writer.Finish();
  if (!std::exchange(at_end_, true)) WarnOfEnd();
  return nullptr;
}

void TraceReader::WarnOfEnd() {
  if (!lexer_->ends_within_line()) return;
  warnings_.push_back(
      absl::StrCat(path(), ":", lexer_->line(), ": the last line has no line end: the trace may be cut off"));
}

}  // namespace sideband::sim
