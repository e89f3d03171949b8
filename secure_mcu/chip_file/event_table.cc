// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip_file/event_table.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "secure_mcu/chip/pipeline_config.h"

namespace sideband::mcu {
namespace {

struct DescriptionRow {
  absl::string_view event;
  absl::string_view description;
};
constexpr DescriptionRow kDescriptions[] = {
    {"copy_engine_active_cycles", "Cycles in which a copy engine moved data."},
    {"dmma_active_cycles", "Cycles in which a tensor core computed in double precision."},
    {"dram_read_cycles", "Cycles in which a DRAM interface transferred read data."},
    {"dram_write_cycles", "Cycles in which a DRAM interface transferred write data."},
    {"fp16_active_cycles", "Cycles in which a half-precision pipe was active."},
    {"fp32_active_cycles", "Cycles in which a single-precision pipe was active."},
    {"fp64_active_cycles", "Cycles in which a double-precision pipe was active."},
    {"gr_engine_active_cycles", "Cycles in which the graphics or compute engine had work."},
    {"hmma_active_cycles", "Cycles in which a tensor core computed in half precision."},
    {"imma_active_cycles", "Cycles in which a tensor core computed with integers."},
    {"instructions_issued_cycles", "Cycles in which a scheduler issued an instruction."},
    {"int_active_cycles", "Cycles in which an integer pipe was active."},
    {"l2_hit_cycles", "Cycles in which an access to the L2 cache hit."},
    {"l2_miss_cycles", "Cycles in which an access to the L2 cache missed."},
    {"memory_stall_cycles", "Cycles in which all warps of a multiprocessor waited for memory."},
    {"nvdec_active_cycles", "Cycles in which a video decoder was active."},
    {"nvjpg_active_cycles", "Cycles in which a JPEG decoder was active."},
    {"nvlink_data_rx_cycles", "Cycles in which a link received user data."},
    {"nvlink_data_tx_cycles", "Cycles in which a link sent user data."},
    {"nvlink_rx_cycles", "Cycles in which a link received data, protocol overhead included."},
    {"nvlink_tx_cycles", "Cycles in which a link sent data, protocol overhead included."},
    {"nvofa_active_cycles", "Cycles in which an optical flow accelerator was active."},
    {"pcie_rx_cycles", "Cycles in which the PCIe interface received data."},
    {"pcie_tx_cycles", "Cycles in which the PCIe interface sent data."},
    {"resident_cycles", "Cycles of the reference clock in which a context was resident on a slice."},
    {"sm_active_cycles", "Cycles in which a multiprocessor had at least one resident warp."},
    {"sm_occupancy_cycles", "Resident warps of a multiprocessor, added up over the cycles."},
    {"tensor_active_cycles", "Cycles in which a tensor core was active."},
    {"warps_eligible_cycles", "Cycles in which a scheduler had a warp that could issue."},
};

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

namespace {

constexpr absl::string_view kShared = " Of a unit that slices share, for the slice of each request.";

bool IsMetricName(const std::string& name) {
  if (name.empty() || absl::ascii_isdigit(static_cast<unsigned char>(name[0]))) return false;
  for (const unsigned char c : name) {
    if (!absl::ascii_islower(c) && !absl::ascii_isdigit(c) && c != '_') return false;
  }
  return true;
}

}  // namespace

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

}  // namespace sideband::mcu
