// SPDX-License-Identifier: Apache-2.0
//
// The things that a daemon serves: devices, the events that they count, and the scopes that have counters.
//   for (const sideband::Device& device : *devices) {
//     if (device.state != sideband::DeviceState::kFresh) std::cerr << device.name << " does not respond\n";
//   }
// All types are plain values; kUnknown stands for what a newer daemon says.
#ifndef SIDEBAND_DEVICE_H_
#define SIDEBAND_DEVICE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sideband/time.h"

namespace sideband {

enum class DeviceState {
  kUnknown,
  // The newest snapshot is younger than three intervals.
  kFresh,
  // The newest snapshot is older: the device does not respond, or not in time.
  kStale,
  // No snapshot has been read yet.
  kAway,
};

struct Device {
  // The name in the daemon's configuration and in the label `device`.
  std::string name;
  // Canonical text form.
  std::string uuid;
  // Another one means that everything on the device restarted. 0 of a device that is a board alone.
  uint64_t boot_id = 0;
  DeviceState state = DeviceState::kUnknown;
  // How often the daemon reads the device.
  Duration interval{};
  // 0 of a device that is a board alone.
  uint64_t reference_clock_hz = 0;
  // It has counters of VMs and contexts. Both are false while nothing is known of the device.
  bool has_counters = false;
  // Its board's sensors are read, and the caller may see the whole board.
  bool has_board = false;

  bool operator==(const Device&) const = default;
};

enum class EventScope {
  kUnknown,
  // Attributed to VM and context.
  kContext,
  // Counted for the device as a whole.
  kDevice,
};

enum class EventCounting {
  kUnknown,
  // In every cycle, or whenever its gate is open.
  kFixed,
  // In turns with other events: Counter::estimate tells of what was missed.
  kRotated,
  // Computed from other events of one turn, and estimated like them.
  kDerived,
};

struct Event {
  std::string name;
  // The meaning of a count of 1: "cycles", "bytes", …
  std::string unit;
  EventScope scope = EventScope::kUnknown;
  std::string description;
  // The device does not count the event.
  bool masked = false;
  // The gate group that decides when the event is counted. Absent: in every cycle.
  std::optional<std::string> gate_group;
  EventCounting counting = EventCounting::kUnknown;

  bool operator==(const Event&) const = default;
};

struct DeviceEvents {
  std::string device;
  std::vector<Event> events;

  bool operator==(const DeviceEvents&) const = default;
};

// Identifies one row of counters. The device's own has neither VM nor context, and nor has a slice's host; a VM's has
// no context.
struct Scope {
  std::string device;
  // The slice of the host, or to which the VM or context is bound.
  std::optional<uint32_t> slice;
  std::string vm;
  std::string vm_uuid;
  std::string context;
  // Another one, or another boot of the device, means that the counters restarted from zero.
  uint32_t generation = 0;
  // Only sealed records exist for it, which this library does not open.
  bool confidential = false;
  // The hypervisor's own work on the slice.
  bool host = false;

  bool operator==(const Scope&) const = default;
};

// Limits an answer to some rows and events; an empty member sets no limit. Names match exactly; `vm` is a name or a
// UUID.
struct Filter {
  std::string device;
  std::string vm;
  std::string context;
  std::vector<std::string> events;

  bool operator==(const Filter&) const = default;
};

}  // namespace sideband

#endif  // SIDEBAND_DEVICE_H_
