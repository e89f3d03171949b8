// SPDX-License-Identifier: Apache-2.0
//
// What a device counts and for whom: its events, slices, VMs and contexts. It changes rarely, so a daemon fetches it
// when its hash changes. The order of `events` is the order of the counters in every memory block.
#ifndef SIDEBAND_PROTO_MAILBOX_CATALOG_H_
#define SIDEBAND_PROTO_MAILBOX_CATALOG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/base/uuid.h"

namespace sideband::mailbox {

// The hypervisor's id; its block is the whole device.
inline constexpr uint16_t kHypervisorVm = 0;
// Stands in for a context id where a block or scope is the VM's own.
inline constexpr uint16_t kNoContext = 0xFFFF;
// Stands in for a slice where a VM or context is not bound to one.
inline constexpr uint8_t kAnySlice = 0xFF;

inline constexpr size_t kEventsMax = 4096;
inline constexpr size_t kSlicesMax = 64;
inline constexpr size_t kVmsMax = 1024;
inline constexpr size_t kContextsMax = 16384;

enum class EventScope : uint8_t { kContext = 0, kDevice = 1 };

struct EventInfo {
  std::string name;  // [a-z_][a-z0-9_]*, unique in the catalogue
  std::string unit;  // what one count is: "cycles"
  EventScope scope = EventScope::kContext;
  std::string description;
  bool operator==(const EventInfo&) const = default;
};

struct SliceInfo {
  uint8_t id = 0;
  std::string name;
  bool operator==(const SliceInfo&) const = default;
};

struct VmInfo {
  uint16_t id = 0;  // not kHypervisorVm, which needs no entry
  Uuid uuid;
  std::string name;
  bool confidential = false;
  uint8_t slice = kAnySlice;
  uint32_t generation = 0;
  bool operator==(const VmInfo&) const = default;
};

struct ContextInfo {
  uint16_t vm = 0;
  uint16_t id = 0;  // unique within its VM
  std::string name;
  uint8_t slice = kAnySlice;
  uint32_t generation = 0;
  bool operator==(const ContextInfo&) const = default;
};

struct Catalog {
  Uuid device;
  uint64_t reference_clock_hz = 0;
  // Whether there has been a confidential VM since the device booted: its counts are in the device's block for good.
  bool has_had_confidential_vm = false;
  std::vector<EventInfo> events;
  std::vector<SliceInfo> slices;
  std::vector<VmInfo> vms;
  std::vector<ContextInfo> contexts;
  bool operator==(const Catalog&) const = default;
};

// The payload of a catalogue stream. Names beyond 255 bytes are cut.
Bytes EncodeCatalog(const Catalog& catalog);

// From a peer: refuses (INVALID_ARGUMENT) what is truncated, beyond the limits above, has bytes left over, an event
// name that is not a metric name, a name that is empty or not printable ASCII, a repeated event, VM or context, a VM 0,
// a context of an unknown VM, or an unknown property.
absl::StatusOr<Catalog> DecodeCatalog(ByteSpan payload);

// Changes whenever the catalogue does: the CRC-32C of its payload.
uint32_t CatalogHash(ByteSpan payload);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_CATALOG_H_
