// SPDX-License-Identifier: Apache-2.0
//
// The RTL of the register read path, verilated: cosimulation_top.sv.
//   RtlReadPath rtl(/*lookup_cycles=*/1);
//   const Observation seen = rtl.Step(stimulus);
#ifndef SIDEBAND_TESTS_LAB_RTL_RTL_READ_PATH_H_
#define SIDEBAND_TESTS_LAB_RTL_RTL_READ_PATH_H_

#include <cstdint>
#include <memory>

#include "tests/lab/rtl/Vcosimulation_top.h"
#include "tests/lab/rtl/cosimulation.h"

namespace sideband::rtl {

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

}  // namespace sideband::rtl

#endif  // SIDEBAND_TESTS_LAB_RTL_RTL_READ_PATH_H_
