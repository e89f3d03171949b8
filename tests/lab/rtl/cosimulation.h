// SPDX-License-Identifier: Apache-2.0
//
// One cycle of the register read path, as driven and observed from outside, and the two that are compared: the RTL,
// verilated (cosimulation_top.sv), and the model, wired as cosimulation_top.sv wires the RTL.
//   RtlReadPath rtl(/*lookup_cycles=*/1);
//   ModelReadPath model(/*lookup_cycles=*/1);
//   const bool is_equal = rtl.Step(stimulus) == model.Step(stimulus);
#ifndef SIDEBAND_TESTS_LAB_RTL_COSIMULATION_H_
#define SIDEBAND_TESTS_LAB_RTL_COSIMULATION_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "secure_mcu/pipeline/hpc_client.h"
#include "secure_mcu/pipeline/hpc_interconnect.h"
#include "tests/lab/rtl/Vcosimulation_top.h"

namespace sideband::rtl {

// The constants are those of cosimulation_top.sv.
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

// The accesses, switches and events of one cycle.
struct Stimulus {
  std::array<std::optional<Access>, kClients> accesses;
  std::array<std::optional<bool>, kClients> switches;  // to a VM with this useren; after the access
  uint64_t events = 0;                                 // counter b of manager i counts bit (b + i) modulo 64
};

// The registers and results of a client in one cycle.
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

class RtlReadPath {
 public:
  // Is reset; the first Step is cycle 0.
  explicit RtlReadPath(uint32_t lookup_cycles);
  ~RtlReadPath() { top_->final(); }

  Observation Step(const Stimulus& stimulus);

 private:
  void Clock();
  void Drive(size_t client, const Access& access);
  // The results of a read by all clients, which does not happen: no clock edge follows it.
  std::array<uint64_t, kClients> Look(const Access& access);
  std::array<uint64_t, kClients> Results() const;

  const std::unique_ptr<VerilatedContext> context_ = std::make_unique<VerilatedContext>();
  const std::unique_ptr<Vcosimulation_top> top_ = std::make_unique<Vcosimulation_top>(context_.get());
};

class ModelReadPath {
 public:
  // A request that left its client in the last Step.
  struct Sent {
    size_t client;
    size_t manager;
  };

  explicit ModelReadPath(uint32_t lookup_cycles);

  // The first Step is cycle 0.
  Observation Step(const Stimulus& stimulus);

  const std::vector<Sent>& sent() const { return sent_; }

 private:
  ClientView Act(size_t client, const std::optional<Access>& access);
  void Send(size_t client);
  void Grant(Observation& seen);
  void Count(uint64_t events);

  const mcu::HpcTiming timing_;
  uint64_t cycle_ = 0;
  std::vector<mcu::HpcClient> clients_;
  mcu::HpcInterconnect interconnect_;
  std::array<std::array<uint64_t, 64>, kManagers> counts_{};
  std::vector<Sent> sent_;
};

}  // namespace sideband::rtl

#endif  // SIDEBAND_TESTS_LAB_RTL_COSIMULATION_H_
