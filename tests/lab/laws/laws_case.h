// SPDX-License-Identifier: Apache-2.0
//
// A drawn case for the tests of the laws, as plain numbers: the chip's configuration, the values of its wires, and the
// actions on it. The expected counts (laws_truth.h) and the chip (laws_run.h) both derive from a case and share
// nothing else.
//   const LawsCase test = Normalised(drawn);
//   WireBit(test, test.device(), /*domain=*/0, /*wire=*/3, /*cycle=*/17);
#ifndef SIDEBAND_TESTS_LAB_LAWS_LAWS_CASE_H_
#define SIDEBAND_TESTS_LAB_LAWS_LAWS_CASE_H_

#include <rapidcheck.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <vector>

namespace sideband::mcu {

// One counter of a unit. It counts `wire`, or with `digits` above 0 a prescaled number on `digits` wires from `wire`
// on.
struct CaseInput {
  uint32_t wire = 0;
  uint32_t event = 0;
  uint32_t shift = 0;
  uint32_t digits = 0;
  bool masked = false;
  uint32_t group = 0;  // 0: not gated; else gate group `group` - 1
};

struct CaseUnit {
  uint32_t domain = 0;
  uint32_t counter_bits = 9;
  uint32_t period = 511;
  uint32_t lanes = 1;
  std::vector<CaseInput> inputs;
  bool wants_selections = false;  // drawn: has fewer counters than inputs, if selections leave some of them unused
  uint32_t counters = 45;         // as many as any selection needs

  bool is_switched() const { return inputs.size() > counters; }
};

// A collection unit of a slice, or of the device if `channel` is the number of slices.
struct CaseCollector {
  uint32_t channel = 0;
  uint32_t threshold = 0;
  std::vector<CaseUnit> units;
};

// The edges of a clock domain other than the reference's: `edges` in `cycles` reference cycles, evenly or drawn from
// the seed, and none for `stopped` cycles from `stop` on.
struct CaseClock {
  enum Kind : uint32_t { kEven, kRandom, kBursts };
  uint32_t kind = kEven;
  uint32_t edges = 1;
  uint32_t cycles = 1;
  uint32_t stop = 0;
  uint32_t stopped = 0;
};

// Gate groups, control blocks and values (virtual-counters.md, "State"), of drawn numbers.
struct CaseGroup {
  uint32_t identifier = 0;
  bool valid = true, in_guest = true, in_host = false;
};

struct CaseValue {
  bool master = true, vector_enable = false;
  uint32_t vector = 0;
};

struct CaseMatch {
  bool enable = false;
  uint32_t id = 0;  // the only one
};

struct CaseVm {
  CaseValue guest, host;
  bool guest_load = false, host_load = false, guest_store = false, host_store = false;
  CaseMatch match;
  uint32_t allowed = ~0u, pinned = 0;
  bool is_private = false;  // also without groups
  uint32_t selection = 0;
};

struct CaseContext {
  CaseValue value;
  bool load = false, store = false;
};

struct CaseHost {
  CaseValue value;
  CaseMatch match;
};

// An action, `gap` cycles after the previous one. The chip is advanced there in steps of `stride` cycles (0: in one).
struct CaseAct {
  enum Kind : uint32_t {
    kSwitch,
    kLatch,
    kWrittenTrigger,
    kExternalTrigger,
    kTriggerGrid,  // of period `tenant`, 0: none
    kWithinCycle,
    kEnd,
    kSelect,  // latches and turns the list of selections by one
    kExit,
    kEntry,
    kWrite,  // the slice's global value
    kWriteContext,
    kBindVm,      // the slice's MMU, to the tenant's VM
    kSpoilEntry,  // of the tenant's page: invalid, or naming block `value.vector`; a spoilt one is mended
  };
  uint32_t gap = 0;
  uint32_t stride = 0;
  uint32_t kind = kSwitch;
  uint32_t slice = 0;
  uint32_t tenant = 0;  // kTenants or more: none
  CaseValue value;      // to be written
};

// Tenants are VM 1, its contexts 0 and 1, VM 2, and so on. Memory block 0 is the hypervisor's; block 1 + t is the block
// of tenant t; the host blocks of slices, if there are any, follow.
inline constexpr uint32_t kVms = 3;
inline constexpr uint32_t kPlacesOfVm = 3;  // without a context, and two contexts
inline constexpr uint32_t kTenants = kVms * kPlacesOfVm;
inline constexpr uint32_t kDomains = 3;
inline constexpr uint32_t kWires = 64;
inline constexpr uint32_t kGroups = 4;      // at most
inline constexpr uint32_t kSelections = 3;  // at most
inline constexpr uint64_t kCaseCyclesMax = 1500;

constexpr uint32_t VmOf(uint32_t tenant) { return tenant / kPlacesOfVm; }
constexpr bool IsVm(uint32_t tenant) { return tenant % kPlacesOfVm == 0; }
constexpr size_t BlockOf(uint32_t tenant) { return 1 + tenant; }
constexpr size_t HostBlockOf(uint32_t slice) { return BlockOf(kTenants) + slice; }

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
  uint32_t hop_cycles = 1;
  uint32_t lookup_cycles = 1;
  std::vector<CaseGroup> groups;
  uint32_t gate_cycles = 1;
  std::vector<CaseVm> vms;
  std::vector<CaseContext> contexts;  // per tenant
  std::vector<CaseHost> hosts;        // per slice
  bool host_blocks = false;           // what slices count without a resident is kept
  std::vector<uint32_t> selections;   // bit e: event e
  uint32_t window = 0;                // cycles that the wires hold besides the history that a chip may read; 0: all
  bool faults = false;                // else acts that spoil bindings are latches
  std::vector<CaseAct> acts;
  uint32_t rest = 0;  // cycles after the last act

  uint32_t device() const { return slices; }
  size_t blocks() const { return HostBlockOf(host_blocks ? slices : 0); }
  uint64_t cycles() const;
};

// The case with every number within its range, and with enough lanes for every unit to finish its frame in a period.
LawsCase Normalised(LawsCase test);

// The events that selections choose among, bit e: event e; and the events among them with an input of gate group
// `group`.
uint32_t EventsToSelect(const LawsCase& test);
uint32_t EventsToSelectIn(const LawsCase& test, uint32_t group);

// The events that slices count: bit e is event e. A block of a VM or of a context has no count of any other.
uint64_t SliceEvents(const LawsCase& test);

bool WireBit(const LawsCase& test, uint32_t channel, uint32_t domain, uint32_t wire, uint64_t cycle);
// Number of cycles of a domain that belong to reference cycle `cycle`, and number of them that the wires hold before
// the edge of that cycle.
uint32_t EdgesIn(const LawsCase& test, uint32_t domain, uint64_t cycle);
uint32_t EdgesHeldIn(const LawsCase& test, uint32_t domain, uint64_t cycle);

std::ostream& operator<<(std::ostream& out, const LawsCase& test);

// Generates cases that shrink to small ones.
rc::Gen<LawsCase> AnyCase();

}  // namespace sideband::mcu

#endif  // SIDEBAND_TESTS_LAB_LAWS_LAWS_CASE_H_
