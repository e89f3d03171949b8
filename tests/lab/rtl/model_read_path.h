// SPDX-License-Identifier: Apache-2.0
//
// The model of the register read path, wired as cosimulation_top.sv wires the RTL.
//   ModelReadPath model(/*lookup_cycles=*/1);
//   const Observation seen = model.Step(stimulus);
#ifndef SIDEBAND_TESTS_LAB_RTL_MODEL_READ_PATH_H_
#define SIDEBAND_TESTS_LAB_RTL_MODEL_READ_PATH_H_

#include <cstdint>
#include <vector>

#include "secure_mcu/pipeline/hpc_client.h"
#include "secure_mcu/pipeline/hpc_interconnect.h"
#include "tests/lab/rtl/cosimulation.h"

namespace sideband::rtl {

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

#endif  // SIDEBAND_TESTS_LAB_RTL_MODEL_READ_PATH_H_
