// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip_file/event_descriptions.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

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

}  // namespace sideband::mcu
