// SPDX-License-Identifier: Apache-2.0
//
// A drawn case for the tests of the laws: what a chip is made of, what its wires carry, and what happens on it, as
// plain numbers. Whoever counts the truth and whoever builds the chip both start from here, and share nothing else.
//   const LawsCase test = Normalised(drawn);
//   WireBit(test, test.device(), /*domain=*/0, /*wire=*/3, /*cycle=*/17);
#ifndef SIDEBAND_SECURE_MCU_CHIP_LAWS_CASE_H_
#define SIDEBAND_SECURE_MCU_CHIP_LAWS_CASE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <vector>

namespace sideband::mcu {

// One counter of a unit: the wire it counts, or `digits` wires from there on as a number that is counted prescaled.
struct CaseInput {
  uint32_t wire = 0;
  uint32_t event = 0;
  uint32_t shift = 0;
  uint32_t digits = 0;
  bool masked = false;
};

struct CaseUnit {
  uint32_t domain = 0;
  uint32_t counter_bits = 9;
  uint32_t period = 511;
  uint32_t lanes = 1;
  std::vector<CaseInput> inputs;
};

// A collection unit of a slice, or of the device where `channel` is the number of slices.
struct CaseCollector {
  uint32_t channel = 0;
  uint32_t threshold = 0;
  std::vector<CaseUnit> units;
};

// The edges of a clock domain other than the reference's: `edges` in `cycles` reference cycles, evenly or as the seed
// has it, and none from `stop` on for `stopped` cycles.
struct CaseClock {
  enum Kind : uint32_t { kEven, kRandom, kBursts };
  uint32_t kind = kEven;
  uint32_t edges = 1;
  uint32_t cycles = 1;
  uint32_t stop = 0;
  uint32_t stopped = 0;
};

// What happens `gap` cycles after what happened before; the chip is advanced there in steps of `stride` cycles (0: in
// one).
struct CaseAct {
  enum Kind : uint32_t { kSwitch, kLatch, kWrittenTrigger, kExternalTrigger, kWithinCycle, kEnd };
  uint32_t gap = 0;
  uint32_t stride = 0;
  uint32_t kind = kSwitch;
  uint32_t slice = 0;
  uint32_t tenant = 0;  // kTenants or more: nobody
};

// Tenants are VM 1, its contexts 0 and 1, VM 2, and so on. Memory block 0 is the hypervisor's, block 1 + t is that of
// tenant t.
inline constexpr uint32_t kVms = 3;
inline constexpr uint32_t kPlacesOfVm = 3;  // without a context, and two contexts
inline constexpr uint32_t kTenants = kVms * kPlacesOfVm;
inline constexpr uint32_t kDomains = 3;
inline constexpr uint32_t kWires = 64;
inline constexpr uint64_t kCaseCyclesMax = 1500;

constexpr uint32_t VmOf(uint32_t tenant) { return tenant / kPlacesOfVm; }
constexpr bool IsVm(uint32_t tenant) { return tenant % kPlacesOfVm == 0; }
constexpr size_t BlockOf(uint32_t tenant) { return 1 + tenant; }

struct LawsCase {
  uint32_t seed = 0;
  uint32_t slices = 1;
  uint32_t events = 1;
  std::vector<CaseCollector> collectors;
  std::vector<CaseClock> clocks;  // of domains 1 and up
  uint32_t trigger_period = 0;
  uint32_t commit_period = 0;
  uint32_t hypervisor_commit_period = 0;
  uint32_t out_of_band_commit_period = 0;
  uint32_t buffer_depth = 1;
  uint32_t record_cycles = 1;
  uint32_t route_cycles = 1;
  uint32_t grant_cycles = 1;
  uint32_t switch_step_cycles = 0;
  uint32_t window = 0;  // the wires hold so many cycles and what a chip may look back; 0: all
  std::vector<CaseAct> acts;
  uint32_t rest = 0;  // cycles after the last act

  uint32_t device() const { return slices; }
  uint64_t cycles() const;
};

// The case with every number within its range and every unit able to finish its frame in a period.
LawsCase Normalised(LawsCase test);

bool WireBit(const LawsCase& test, uint32_t channel, uint32_t domain, uint32_t wire, uint64_t cycle);
// How many cycles of a domain belong to one cycle of the reference clock, and how many of them the wires hold before
// its edge has come.
uint32_t EdgesIn(const LawsCase& test, uint32_t domain, uint64_t cycle);
uint32_t EdgesHeldIn(const LawsCase& test, uint32_t domain, uint64_t cycle);

std::ostream& operator<<(std::ostream& out, const LawsCase& test);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_LAWS_CASE_H_
