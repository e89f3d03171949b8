// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip_file/event_table.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/catalog.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "sim/wires/clocked_source.h"

namespace sideband::mcu {
namespace {

struct DescriptionRow {
  absl::string_view event;
  absl::string_view description;
};
constexpr DescriptionRow kDescriptions[] = {
    {"atomic_cycles", "Cycles in which an atomic operation was performed."},
    {"atomic_issued_cycles", "Cycles in which a scheduler issued an atomic operation."},
    {"barrier_stall_cycles", "Cycles in which all warps of a multiprocessor waited at a barrier."},
    {"barrier_wait_cycles", "Cycles in which a warp waited at a barrier."},
    {"branch_cycles", "Cycles in which a branch was executed."},
    {"branch_divergent_cycles", "Cycles in which a branch was executed that splits a warp."},
    {"branch_issued_cycles", "Cycles in which a scheduler issued a branch."},
    {"clock_gated_cycles", "Cycles in which the clock of a multiprocessor was stopped."},
    {"constant_cache_miss_cycles", "Cycles in which an access to the constant cache missed."},
    {"constant_hit_cycles", "Cycles in which an access to the constant cache hit."},
    {"constant_miss_cycles", "Cycles in which an access to the constant cache missed."},
    {"copy_engine_active_cycles", "Cycles in which a copy engine moved data."},
    {"decode_active_cycles", "Cycles in which an instruction was decoded."},
    {"dispatch_stall_cycles", "Cycles in which the dispatcher held an instruction back."},
    {"dmma_active_cycles", "Cycles in which a tensor core computed in double precision."},
    {"dram_read_cycles", "Cycles in which a DRAM interface transferred read data."},
    {"dram_refresh_cycles", "Cycles in which a DRAM interface refreshed memory."},
    {"dram_write_cycles", "Cycles in which a DRAM interface transferred write data."},
    {"fp16_active_cycles", "Cycles in which a half-precision pipe was active."},
    {"fp32_active_cycles", "Cycles in which a single-precision pipe was active."},
    {"fp64_active_cycles", "Cycles in which a double-precision pipe was active."},
    {"global_load_cycles", "Cycles in which a load from global memory was executed."},
    {"global_store_cycles", "Cycles in which a store to global memory was executed."},
    {"gr_engine_active_cycles", "Cycles in which the graphics or compute engine had work."},
    {"hmma_active_cycles", "Cycles in which a tensor core computed in half precision."},
    {"icache_hit_cycles", "Cycles in which an access to the instruction cache hit."},
    {"icache_miss_cycles", "Cycles in which an access to the instruction cache missed."},
    {"imma_active_cycles", "Cycles in which a tensor core computed with integers."},
    {"instruction_cache_miss_cycles", "Cycles in which an access to the instruction cache missed."},
    {"instruction_fetch_cycles", "Cycles in which an instruction was fetched."},
    {"instructions_issued_cycles", "Cycles in which a scheduler issued an instruction."},
    {"instructions_retired_cycles", "Cycles in which an instruction completed."},
    {"int_active_cycles", "Cycles in which an integer pipe was active."},
    {"l1_busy_cycles", "Cycles in which the L1 cache was busy."},
    {"l1_hit_cycles", "Cycles in which an access to the L1 cache hit."},
    {"l1_miss_cycles", "Cycles in which an access to the L1 cache missed."},
    {"l1_writeback_cycles", "Cycles in which the L1 cache wrote a line back."},
    {"l2_hit_cycles", "Cycles in which an access to the L2 cache hit."},
    {"l2_miss_cycles", "Cycles in which an access to the L2 cache missed."},
    {"l2_writeback_cycles", "Cycles in which the L2 cache wrote a line back."},
    {"local_load_cycles", "Cycles in which a load from local memory was executed."},
    {"local_store_cycles", "Cycles in which a store to local memory was executed."},
    {"long_scoreboard_cycles",
     "Cycles in which all warps of a multiprocessor waited for the result of a memory access."},
    {"lsu_active_cycles", "Cycles in which a load and store unit was active."},
    {"math_throttle_cycles", "Cycles in which a warp waited for a busy arithmetic pipe."},
    {"memory_stall_cycles", "Cycles in which all warps of a multiprocessor waited for memory."},
    {"memory_throttle_cycles", "Cycles in which a warp waited for the full queue of memory accesses."},
    {"noc_rx_cycles", "Cycles in which the interconnect delivered data to a multiprocessor."},
    {"noc_stall_cycles", "Cycles in which the interconnect could not accept data."},
    {"noc_tx_cycles", "Cycles in which a multiprocessor sent data into the interconnect."},
    {"nvdec_active_cycles", "Cycles in which a video decoder was active."},
    {"nvjpg_active_cycles", "Cycles in which a JPEG decoder was active."},
    {"nvlink_data_rx_cycles", "Cycles in which a link received user data."},
    {"nvlink_data_tx_cycles", "Cycles in which a link sent user data."},
    {"nvlink_rx_cycles", "Cycles in which a link received data, protocol overhead included."},
    {"nvlink_tx_cycles", "Cycles in which a link sent data, protocol overhead included."},
    {"nvofa_active_cycles", "Cycles in which an optical flow accelerator was active."},
    {"page_walk_cycles", "Cycles in which a page table was searched for an address."},
    {"pcie_rx_cycles", "Cycles in which the PCIe interface received data."},
    {"pcie_tx_cycles", "Cycles in which the PCIe interface sent data."},
    {"power_throttle_cycles", "Cycles in which a multiprocessor was slowed down to limit its power."},
    {"register_bank_conflict_cycles", "Cycles in which operands waited for the same register bank."},
    {"register_conflict_cycles", "Cycles in which operands waited for the same register bank."},
    {"resident_cycles", "Cycles of the reference clock in which a context was resident on a slice."},
    {"sfu_active_cycles", "Cycles in which a special function unit was active."},
    {"shared_bank_conflict_cycles", "Cycles in which accesses waited for the same bank of shared memory."},
    {"shared_conflict_cycles", "Cycles in which accesses waited for the same bank of shared memory."},
    {"shared_load_cycles", "Cycles in which a load from shared memory was executed."},
    {"shared_store_cycles", "Cycles in which a store to shared memory was executed."},
    {"short_scoreboard_cycles",
     "Cycles in which all warps of a multiprocessor waited for shared memory or a special function."},
    {"sm_active_cycles", "Cycles in which a multiprocessor had at least one resident warp."},
    {"sm_occupancy_cycles", "Resident warps of a multiprocessor, added up over the cycles."},
    {"surface_store_cycles", "Cycles in which a store to a surface was executed."},
    {"tensor_active_cycles", "Cycles in which a tensor core was active."},
    {"texture_active_cycles", "Cycles in which a texture unit was active."},
    {"texture_load_cycles", "Cycles in which a load through a texture unit was executed."},
    {"tlb_hit_cycles", "Cycles in which an address translation hit the TLB."},
    {"tlb_miss_cycles", "Cycles in which an address translation missed the TLB."},
    {"warps_eligible_cycles", "Cycles in which a scheduler had a warp that could issue."},
};

constexpr absl::string_view kShared = " Of a unit that slices share, for the slice of each request.";

bool IsMetricName(const std::string& name) {
  if (name.empty() || absl::ascii_isdigit(static_cast<unsigned char>(name[0]))) return false;
  for (const unsigned char c : name) {
    if (!absl::ascii_islower(c) && !absl::ascii_isdigit(c) && c != '_') return false;
  }
  return true;
}

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

std::string EventDescription(const std::string& event) {
  for (const DescriptionRow& row : kDescriptions) {
    if (row.event == event) return std::string(row.description);
  }
  absl::string_view stem = event;
  const bool is_cycles = absl::ConsumeSuffix(&stem, "_cycles");
  const std::string words = absl::StrReplaceAll(stem, {{"_", " "}});
  return is_cycles ? absl::StrCat("Cycles of ", words, ".") : absl::StrCat("Number of ", words, ".");
}

absl::StatusOr<uint16_t> EventTable::Add(const std::string& name, mailbox::EventScope scope, bool prescaled,
                                         bool masked) {
  if (!IsMetricName(name)) {
    return absl::InvalidArgumentError(
        absl::StrCat("event '", name, "' must be made of a-z, 0-9 and '_', and not start with a digit"));
  }
  const absl::string_view unit = absl::EndsWith(name, "_cycles") ? "cycles" : "events";
  const mailbox::EventInfo event{.name = name,
                                 .unit = prescaled ? absl::StrCat(kPrescale, " ", unit) : std::string(unit),
                                 .scope = scope,
                                 .description = EventDescription(name),
                                 .masked = masked};
  if (const auto known = Find(name)) return Same(*known, event);
  if (events_.size() == mailbox::kEventsMax) {
    return absl::InvalidArgumentError(absl::StrCat("more than ", mailbox::kEventsMax, " events"));
  }
  const auto index = static_cast<uint16_t>(events_.size());
  index_.emplace(name, index);
  events_.push_back(event);
  return index;
}

absl::StatusOr<uint16_t> EventTable::Same(uint16_t counter, const mailbox::EventInfo& event) {
  mailbox::EventInfo& known = events_[counter];
  if (known.scope != event.scope) {
    return absl::InvalidArgumentError(
        absl::StrCat("event '", event.name, "' is both of slices and of the whole device"));
  }
  if (known.unit != event.unit) {
    return absl::InvalidArgumentError(absl::StrCat("event '", event.name, "' is counted both in full and prescaled"));
  }
  // The catalogue marks an event as masked only where every unit masks it.
  known.masked = known.masked && event.masked;
  return counter;
}

void EventTable::DescribeAsShared(uint16_t counter) {
  std::string& description = events_[counter].description;
  // A string of the catalogue has a length of one byte.
  const bool fits = description.size() + kShared.size() <= 255;
  if (fits && !absl::EndsWith(description, kShared)) absl::StrAppend(&description, kShared);
}

std::optional<uint16_t> EventTable::Find(const std::string& name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> EventTable::names() const {
  std::vector<std::string> names;
  for (const mailbox::EventInfo& event : events_) names.push_back(event.name);
  return names;
}

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
