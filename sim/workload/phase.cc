// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/phase.h"

#include <algorithm>
#include <array>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/text.h"

namespace sideband::sim {
namespace {

constexpr size_t kPhaseKinds = 8;
constexpr uint64_t kPerMille = 1000;

const std::array<std::string, kPhaseKinds>& PhaseNames() {
  // In the order of PhaseKind.
  static const auto& names = *new std::array<std::string, kPhaseKinds>{"gemm", "attention", "copy",   "all_reduce",
                                                                       "idle", "load",      "assign", "update"};
  return names;
}

// Per mille of cycles, in the order of PhaseKind without idle. Chosen for their shape, not measured: a GEMM uses the
// tensor cores, attention waits more for memory, a copy hardly uses the SMs, an all-reduce is limited by the links. Of
// k-means, load reads points through PCIe, assign computes distances, and update adds points up in memory.
struct EventRates {
  absl::string_view event;
  std::array<uint16_t, kPhaseKinds - 1> per_mille;
};
constexpr std::array<EventRates, 16> kRates = {{
    //                            gemm  attention  copy  all_reduce  load  assign  update
    {"sm_active_cycles", {{880, 820, 60, 240, 90, 910, 520}}},
    {"warps_eligible_cycles", {{610, 470, 25, 110, 40, 640, 210}}},
    {"tensor_active_cycles", {{720, 390, 0, 15, 0, 0, 0}}},
    {"fp32_active_cycles", {{90, 260, 5, 130, 10, 680, 190}}},
    {"int_active_cycles", {{160, 210, 30, 80, 60, 150, 280}}},
    {"l2_hit_cycles", {{410, 300, 40, 120, 50, 450, 210}}},
    {"l2_miss_cycles", {{70, 190, 310, 150, 240, 90, 270}}},
    {"dram_read_cycles", {{180, 430, 620, 260, 150, 240, 390}}},
    {"dram_write_cycles", {{60, 120, 590, 240, 560, 30, 310}}},
    {"copy_engine_active_cycles", {{10, 15, 900, 70, 820, 5, 10}}},
    {"nvlink_tx_cycles", {{5, 20, 140, 780, 5, 5, 20}}},
    {"nvlink_rx_cycles", {{5, 20, 130, 770, 5, 5, 20}}},
    {"pcie_tx_cycles", {{8, 10, 350, 30, 30, 5, 10}}},
    {"pcie_rx_cycles", {{12, 15, 420, 35, 760, 5, 10}}},
    {"memory_stall_cycles", {{140, 380, 75, 330, 120, 110, 470}}},
    {"instructions_issued_cycles", {{690, 540, 45, 190, 70, 720, 260}}},
}};

uint64_t Fnv1a(absl::string_view text, uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// FNV-1a's high bits depend little on the last letters; multiplications and shifts (as in SplitMix64) spread them.
uint64_t UnknownRate(PhaseKind kind, absl::string_view event) {
  uint64_t hash = Fnv1a(event, Fnv1a(PhaseKindName(kind), 0xcbf29ce484222325) * 0x100000001b3);
  hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ hash >> 27) * 0x94d049bb133111eb;
  return kRateOne / 64 + (hash >> 33);
}

}  // namespace

absl::StatusOr<PhaseKind> ParsePhaseKind(absl::string_view name) {
  const auto& names = PhaseNames();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<PhaseKind>(found - names.begin());
  return absl::InvalidArgumentError(absl::StrCat("unknown phase '", name, "'", DidYouMean(name, names)));
}

absl::string_view PhaseKindName(PhaseKind kind) { return PhaseNames()[static_cast<size_t>(kind)]; }

std::span<const std::string> StandardEvents() {
  static const auto& names = *[] {
    auto* list = new std::vector<std::string>;
    for (const EventRates& row : kRates) list->emplace_back(row.event);
    return list;
  }();
  return names;
}

uint64_t BaseRate(PhaseKind kind, absl::string_view event) {
  if (kind == PhaseKind::kIdle) return 0;
  const auto is_event = [event](const EventRates& row) { return row.event == event; };
  const auto found = std::find_if(kRates.begin(), kRates.end(), is_event);
  if (found == kRates.end()) return UnknownRate(kind, event);
  const auto column = static_cast<size_t>(kind) - (kind > PhaseKind::kIdle ? 1 : 0);
  return found->per_mille[column] * kRateOne / kPerMille;
}

}  // namespace sideband::sim
