// SPDX-License-Identifier: Apache-2.0
//
// What decides who is counted and what is counted: the values, groups and control blocks of a device's gates
// (virtual-counters.md, "State"). The device applies them (secure_mcu/pipeline/counter_gate.h); counting.h has them as
// words on the bus.
//   VmControl vm{.match = {.enable = true, .ids = {7}}, .allowed = 0b011};
//   vm.match.Includes(7);      // true
#ifndef SIDEBAND_PROTO_MAILBOX_GATE_CONTROLS_H_
#define SIDEBAND_PROTO_MAILBOX_GATE_CONTROLS_H_

#include <algorithm>
#include <array>
#include <cstdint>

namespace sideband::mailbox {

inline constexpr uint32_t kGateGroupsMax = 64;
inline constexpr uint32_t kGateIdsMax = 4;
inline constexpr uint32_t kGateValueBits = 66;
inline constexpr uint32_t kSelectionsMax = 16;

// An enable bit for each group, and two for all: the registers GCE and CCE, and their images in control blocks. Its
// initial value enables everything.
struct GateValue {
  bool master = true;
  bool vector_enable = false;
  uint64_t vector = 0;  // bit g: group g

  uint64_t Enabled() const { return !master ? 0 : vector_enable ? vector : ~uint64_t{0}; }
  bool operator==(const GateValue&) const = default;
};

// Counters with one enable bit.
struct GateGroup {
  uint16_t identifier = 0;  // 0: of every VM and of the host
  bool valid = true;
  bool in_guest = true;
  bool in_host = false;
  bool operator==(const GateGroup&) const = default;
};

struct GateMatch {
  bool enable = false;                      // off: every identifier matches
  std::array<uint16_t, kGateIdsMax> ids{};  // 0: none

  bool Includes(uint16_t identifier) const {
    return !enable || identifier == 0 || std::ranges::find(ids, identifier) != ids.end();
  }
  bool operator==(const GateMatch&) const = default;
};

// VCB. `guest_value` and `host_value` are written by exits and entries with the store indicators.
struct VmControl {
  GateValue guest_value, host_value;
  bool guest_load = false, host_load = false, guest_store = false, host_store = false;
  GateMatch match;
  uint64_t allowed = ~uint64_t{0};  // what the guest may open
  uint64_t pinned = 0;              // what it cannot close
  bool guest_access = false;        // whether the guest writes its registers itself; else the firmware does for it
  bool useren = false;              // whether programs of users may read by registers (registers.md)
  bool is_private = false;          // whether the device's block has none of its counts
  uint8_t selection = 0;            // of events, below kSelectionsMax
  bool operator==(const VmControl&) const = default;
};

// CCB: layer 2, of which the VM is the host.
struct ContextControl {
  GateValue value;
  bool load = false, store = false;
  bool operator==(const ContextControl&) const = default;
};

// HCB of a slice.
struct HostControl {
  GateValue value;
  GateMatch match;
  bool operator==(const HostControl&) const = default;
};

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_GATE_CONTROLS_H_
