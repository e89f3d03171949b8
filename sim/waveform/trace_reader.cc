// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/trace_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::sim {
namespace {

absl::flat_hash_set<std::string> WantedSignals(const SignalMap& map) {
  absl::flat_hash_set<std::string> wanted = {map.clock()};
  for (const EventSpec& event : map.events()) {
    wanted.insert(event.signal);
    if (!event.clock.empty()) wanted.insert(event.clock);
  }
  return wanted;
}

constexpr size_t kNoDomain = std::numeric_limits<size_t>::max();

std::vector<size_t> DomainsOfSlots(const std::vector<uint32_t>& clocks, size_t slots) {
  std::vector<size_t> domains(slots, kNoDomain);
  for (size_t domain = 0; domain < clocks.size(); ++domain) domains[clocks[domain]] = domain;
  return domains;
}

}  // namespace

uint64_t TraceReader::ChunkCycles(uint32_t wires) {
  constexpr uint64_t kStep = 4096;
  constexpr uint64_t kChunkBits = uint64_t{1} << 22;
  return std::clamp(kChunkBits / std::max<uint64_t>(wires, 1) / kStep * kStep, kStep, 16 * kStep);
}

absl::StatusOr<std::unique_ptr<TraceReader>> TraceReader::Open(const std::string& path, const SignalMap& map) {
  SIDEBAND_ASSIGN_OR_RETURN(std::unique_ptr<VcdLexer> lexer, VcdLexer::Open(path));
  SIDEBAND_ASSIGN_OR_RETURN(VcdHeader header, ReadVcdHeader(*lexer, WantedSignals(map)));
  SIDEBAND_ASSIGN_OR_RETURN(EventBinding binding, BindEvents(map, header));
  return std::unique_ptr<TraceReader>(new TraceReader(std::move(lexer), std::move(header), std::move(binding)));
}

TraceReader::TraceReader(std::unique_ptr<VcdLexer> lexer, VcdHeader header, EventBinding binding)
    : lexer_(std::move(lexer)),
      codes_(std::move(header.codes)),
      event_wires_(std::move(binding.wires)),
      domains_(DomainsOfSlots(binding.clocks, header.slot_widths.size())),
      probes_(header.slot_widths),
      writer_(binding.pulses, ChunkCycles(event_wires_.total_wire_count())),
      clock_high_(binding.clocks.size()) {
  for (const Probe& probe : binding.probes) probes_.Add(probe);
  probes_.Start(writer_);
}

absl::StatusOr<const TraceChunk*> TraceReader::Next() {
  if (!writer_.empty()) writer_.Begin();
  if (status_.ok()) status_ = FillChunk();
  if (!status_.ok()) return status_;
  if (writer_.empty()) return nullptr;
  return &writer_.Finish();
}

absl::Status TraceReader::FillChunk() {
  // With one clock it stops at the very edge: what else happens at its time is not seen by its cycle.
  while (!writer_.full()) {
    if (!lexer_->Next()) {
      writer_.TimePasses();
      return lexer_->status();
    }
    SIDEBAND_RETURN_IF_ERROR(Item(lexer_->token()));
  }
  return absl::OkStatus();
}

absl::Status TraceReader::Item(absl::string_view token) {
  switch (token[0]) {
    case '#':
      return Time(token.substr(1));
    case 'b':
    case 'B':
      return Vector(token);
    case 'r':
    case 'R':
    case 's':
    case 'S':
      return RealOrString();
    case '$':
      return Keyword(token);
    default:
      return Scalar(token);
  }
}

absl::Status TraceReader::Time(absl::string_view digits) {
  uint64_t time = 0;
  if (digits.empty() || !absl::ascii_isdigit(static_cast<unsigned char>(digits[0])) ||
      !absl::SimpleAtoi(digits, &time)) {
    return lexer_->Error(absl::StrCat("expected a time after '#', not ", Excerpt(digits)));
  }
  if (time_ && time < *time_) {
    return lexer_->Error(absl::StrCat("time goes backwards, from ", *time_, " to ", time));
  }
  if (time_ && time == *time_) return absl::OkStatus();
  // Whatever edges the time before had have been counted: its changes are seen from the next one on.
  probes_.Commit(writer_);
  writer_.TimePasses();
  time_ = time;
  return absl::OkStatus();
}

absl::Status TraceReader::Scalar(absl::string_view token) {
  if (token.size() < 2 || !value_.Parse(token.substr(0, 1))) {
    return lexer_->Error(absl::StrCat("malformed change ", Excerpt(token)));
  }
  return Change(token.substr(1));
}

absl::Status TraceReader::Vector(absl::string_view token) {
  // The value is kept as a number, for the token is gone when its identifier code is read.
  if (!value_.Parse(token.substr(1))) return lexer_->Error(absl::StrCat("malformed vector ", Excerpt(token)));
  SIDEBAND_RETURN_IF_ERROR(NextIsCode());
  return Change(lexer_->token());
}

absl::Status TraceReader::RealOrString() {
  SIDEBAND_RETURN_IF_ERROR(NextIsCode());
  const uint32_t slot = codes_.Find(lexer_->token());
  if (slot == VcdHeader::kIgnored) return absl::OkStatus();
  const absl::string_view problem =
      slot == CodeTable::kNone ? "unknown identifier code " : "a real or string value for ";
  return lexer_->Error(absl::StrCat(problem, Excerpt(lexer_->token())));
}

absl::Status TraceReader::Keyword(absl::string_view token) {
  // What these contain are changes like others.
  for (const absl::string_view block : {"$dumpvars", "$dumpall", "$dumpon", "$dumpoff", "$end"}) {
    if (token == block) return absl::OkStatus();
  }
  if (token != "$comment") return lexer_->Error(absl::StrCat("unexpected ", Excerpt(token)));
  while (lexer_->Next()) {
    if (lexer_->token() == "$end") return absl::OkStatus();
  }
  SIDEBAND_RETURN_IF_ERROR(lexer_->status());
  return lexer_->Error("the file ends within a $comment");
}

absl::Status TraceReader::NextIsCode() {
  if (lexer_->Next()) return absl::OkStatus();
  SIDEBAND_RETURN_IF_ERROR(lexer_->status());
  return lexer_->Error("the file ends in the middle of a change");
}

absl::Status TraceReader::Change(absl::string_view code) {
  const uint32_t slot = codes_.Find(code);
  if (slot == VcdHeader::kIgnored) return absl::OkStatus();
  if (slot == CodeTable::kNone) return lexer_->Error(absl::StrCat("unknown identifier code ", Excerpt(code)));
  if (value_.digits() > probes_.width(slot)) {
    return lexer_->Error(absl::StrCat("a value of ", value_.digits(), " digits for ", Excerpt(code), ", which has ",
                                      probes_.width(slot), " bits"));
  }
  probes_.Set(slot, value_);
  if (domains_[slot] == kNoDomain) return absl::OkStatus();
  return ClockChanges(domains_[slot], (value_.words()[0] & 1) != 0);
}

absl::Status TraceReader::ClockChanges(size_t domain, bool high) {
  const bool rises = high && clock_high_[domain] == false;
  clock_high_[domain] = high;
  if (!rises || writer_.Tick(domain)) return absl::OkStatus();
  return lexer_->Error(absl::StrCat("more than ", TraceWriter::kEdgesPerTimeMax, " rising edges of ",
                                    Excerpt(lexer_->token()),
                                    " at one time; with several clocks their order would matter"));
}

}  // namespace sideband::sim
