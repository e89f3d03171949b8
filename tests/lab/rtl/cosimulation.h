// SPDX-License-Identifier: Apache-2.0
//
// One cycle of the register read path, as driven and observed from outside: the same for the RTL (rtl_read_path.h) and
// for the model (model_read_path.h).
#ifndef SIDEBAND_TESTS_LAB_RTL_COSIMULATION_H_
#define SIDEBAND_TESTS_LAB_RTL_COSIMULATION_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "secure_mcu/pipeline/hpc.h"
#include "secure_mcu/pipeline/hpc_client.h"

namespace sideband::rtl {

// As in cosimulation_top.sv.
inline constexpr size_t kClients = 4;
inline constexpr size_t kManagers = 4;
inline constexpr std::array<mcu::HpcManagerId, kManagers> kManagerIds = {{{.module = hpc::kModuleContext, .extend = 0},
                                                                          {.module = hpc::kModuleContext, .extend = 1},
                                                                          {.module = hpc::kModuleVm, .extend = 0},
                                                                          {.module = hpc::kModuleDevice, .extend = 0}}};
inline constexpr std::array<uint32_t, kManagers> kCounters = {64, 5, 64, 17};

constexpr uint64_t BitmapOf(uint32_t counters) { return ~uint64_t{0} >> (64 - counters); }

struct Access {
  bool write = false;
  mcu::HpcRegister which = mcu::HpcRegister::kHpcc;
  mcu::HpcHalf half = mcu::HpcHalf::kWhole;
  mcu::HpcPrivilege privilege = mcu::HpcPrivilege::kUser;
  uint64_t data = 0;
};

// What happens to the read path in one cycle.
struct Stimulus {
  std::array<std::optional<Access>, kClients> accesses;
  std::array<std::optional<bool>, kClients> switches;  // to a VM with this useren; after the access
  uint64_t events = 0;                                 // counter b of manager i counts bit (b + i) modulo 64
};

// What a client shows in one cycle.
struct ClientView {
  uint64_t hpcc = 0;  // the registers before the access
  uint64_t hpcm = 0;
  uint64_t hpcr_high = 0;
  uint64_t result = 0;  // of a read
  bool fault = false;   // of a write
  bool operator==(const ClientView&) const = default;
};

struct Observation {
  std::array<ClientView, kClients> clients;
  std::array<std::optional<size_t>, kManagers> granted;  // the client that each manager is granted to in this cycle
  bool operator==(const Observation&) const = default;
};

}  // namespace sideband::rtl

#endif  // SIDEBAND_TESTS_LAB_RTL_COSIMULATION_H_
