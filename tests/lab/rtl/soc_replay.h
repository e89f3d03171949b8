// SPDX-License-Identifier: Apache-2.0
//
// A waveform of the RTL's system on chip through the program `sideband-mcu replay`. Slice c has core c's events, and
// the hypervisor's block those of the device.
//   SocReplay replay(folder);
//   bench.Trace(replay.trace());
//   Run(bench);
//   bench.EndTrace();
//   replay.AddResidency({.start = 0, .end = bench.cycle(), .vm = "vm1", .context = "ctx0", .slice = 0});
//   replay.AddPeek({.cycle = 512, .vm = "vm1", .context = "ctx0", .event = CoreEventName(kL1dRead)});
//   const nlohmann::json answer = replay.Execute();   // null if the program failed
#ifndef SIDEBAND_TESTS_LAB_RTL_SOC_REPLAY_H_
#define SIDEBAND_TESTS_LAB_RTL_SOC_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace sideband::rtl {

// "l1d_read", "slice0_l2_read": an event of a core by its number (soc_events.h).
std::string CoreEventName(size_t event);
// "device_cycles", "device_slice0_l2_read".
std::string DeviceEventName(size_t event);

class SocReplay {
 public:
  struct Residency {
    uint64_t start, end;
    std::string vm, context;
    size_t slice;
  };
  struct Peek {
    uint64_t cycle;
    std::string vm, context, event;
  };

  // The files are in `folder`.
  explicit SocReplay(std::string folder) : folder_(std::move(folder)) {}

  std::string trace() const { return folder_ + "/trace.vcd"; }
  // Of a slice in order.
  void AddResidency(Residency residency) { residencies_.push_back(std::move(residency)); }
  // In any order.
  void AddPeek(Peek peek) { peeks_.push_back(std::move(peek)); }

  // What the program prints; null, and a message on standard error, if it fails.
  nlohmann::json Execute() const;

 private:
  std::string Schedule() const;
  std::string Peeks() const;

  const std::string folder_;
  std::vector<Residency> residencies_;
  std::vector<Peek> peeks_;
};

}  // namespace sideband::rtl

#endif  // SIDEBAND_TESTS_LAB_RTL_SOC_REPLAY_H_
