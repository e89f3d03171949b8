// SPDX-License-Identifier: Apache-2.0
//
// A device's catalogue: its events, slices, VMs and contexts. It changes rarely, so the daemon reads it only if its
// hash has changed. The order of `events` is the order of the counters in every memory block.
#ifndef SIDEBAND_PROTO_MAILBOX_CATALOG_H_
#define SIDEBAND_PROTO_MAILBOX_CATALOG_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/base/bytes.h"
#include "proto/base/uuid.h"
#include "proto/mailbox/clocks.h"
#include "proto/mailbox/rotation.h"

namespace sideband::mailbox {

// The hypervisor's ID; its block is the whole device's.
inline constexpr uint16_t kHypervisorVm = 0;
// The context ID of a block or scope of a VM itself.
inline constexpr uint16_t kNoContext = 0xFFFF;
// The slice of a VM or context that is not bound to a slice.
inline constexpr uint8_t kAnySlice = 0xFF;

// The event that counts the cycles of the reference clock in which a context is resident on a slice.
inline constexpr char kResidentCyclesEvent[] = "resident_cycles";

inline constexpr size_t kEventsMax = 4096;
inline constexpr size_t kSlicesMax = 64;
inline constexpr size_t kVmsMax = 1024;
inline constexpr size_t kContextsMax = 16384;

enum class EventScope : uint8_t { kContext = 0, kDevice = 1 };

// The most that an event gains on a slice, in units of 2^-32; 0 if it cannot be counted there.
struct SliceRate {
  uint64_t capacity_q32 = 0;  // per cycle of the reference clock
  uint64_t gain_q32 = 0;      // per cycle of the event's own clock
  bool operator==(const SliceRate&) const = default;
};
// 2^20 per cycle.
inline constexpr uint64_t kRateQ32Max = uint64_t{1} << 52;

// In every cycle, in some cycles (the count is extrapolated), or computed from other events.
enum class Counting : uint8_t { kFixed = 0, kRotated = 1, kDerived = 2 };
inline constexpr uint8_t kNoGateGroup = 0xFF;

// Facts about an event that version 1 does not report.
struct EventDetails {
  // One for all slices, or one for each; of an event of the device, one for the device. None: unknown.
  std::vector<SliceRate> slices;
  // 0: the reference clock; n: Catalog::clock_domains[n - 1], and on another slice the domain of that name.
  uint8_t clock_domain = 0;
  Counting counting = Counting::kFixed;
  uint8_t gate_group = kNoGateGroup;
  // Counted only while the resident's selection has it. Then its group has running cycles, which tell a count of 0 from
  // none.
  bool selectable = false;
  bool operator==(const EventDetails&) const = default;
};

struct EventInfo {
  std::string name;  // [a-z_][a-z0-9_]*, unique in the catalogue
  std::string unit;  // the meaning of a count of 1: "cycles"
  EventScope scope = EventScope::kContext;
  std::string description;
  // The device does not count the event: its counters are always 0 and have no meaning.
  bool masked = false;
  EventDetails details;
  bool operator==(const EventInfo&) const = default;
};

struct SliceInfo {
  uint8_t id = 0;
  std::string name;
  bool operator==(const SliceInfo&) const = default;
};

struct VmInfo {
  uint16_t id = 0;  // not kHypervisorVm, which has no entry
  Uuid uuid;
  std::string name;
  bool confidential = false;
  uint8_t slice = kAnySlice;
  uint32_t generation = 0;
  // The device's block has none of the VM's counts; the same for a whole generation. Only of version 2.
  bool is_private = false;
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

// The block of the hypervisor's work on a slice while no VM is resident there. In snapshots it is a context of
// kHypervisorVm, whose ID is that of the slice.
struct HostBlockInfo {
  uint8_t slice = 0;
  uint32_t generation = 0;
  bool operator==(const HostBlockInfo&) const = default;
};

// Counters with one enable bit (counting.h). Its number is EventDetails::gate_group.
struct GateGroupInfo {
  std::string name;
  uint16_t running_event = 0;  // counts the cycles in which the group's gate was open
  bool operator==(const GateGroupInfo&) const = default;
};

// A choice of events, by its number. Which events it has can be changed (counting.h).
struct SelectionInfo {
  std::string name;
  bool operator==(const SelectionInfo&) const = default;
};

struct Catalog {
  Uuid device;
  uint64_t reference_clock_hz = 0;
  // Whether there has been a confidential VM since the device booted: its traffic remains in the counts of device-scope
  // events, and its other counts in the device's block, unless it was private.
  bool has_had_confidential_vm = false;
  // Whether each of them was private: the device's block has no count of theirs but in device-scope events. Only of
  // version 2, and only with the former.
  bool confidential_vms_were_private = false;
  std::vector<EventInfo> events;
  std::vector<SliceInfo> slices;
  std::vector<VmInfo> vms;
  std::vector<ContextInfo> contexts;
  std::vector<HostBlockInfo> host_blocks;  // only of version 2
  std::vector<GateGroupInfo> gate_groups;  // only of version 2
  std::vector<SelectionInfo> selections;   // only of version 2; none: no event is selectable
  std::vector<Relation> relations;         // only of version 2
  std::vector<RotationPlan> plans;         // in force, ascending by number; only of version 2; none: nothing rotates
  std::vector<ClockDomain> clock_domains;  // only of version 2; none: the device does not report its clocks
  bool operator==(const Catalog&) const = default;
};

// The payload of a catalogue stream of version 1, which has no event details, host blocks and gate groups, and nothing
// on private VMs. Names longer than 255 bytes are truncated.
Bytes EncodeCatalog(const Catalog& catalog);
// The same for version 2. An event's rates must be none (written as 0), one, or one for each slice.
Bytes EncodeCatalogSections(const Catalog& catalog);

// `payload` comes from an untrusted peer. INVALID_ARGUMENT for truncated input, left-over bytes, a list beyond the
// limits above, an event name that is not a metric name, a name that is empty or not printable ASCII, a repeated event,
// VM or context, a VM 0, a context of an unknown VM, and an unknown property.
absl::StatusOr<Catalog> DecodeCatalog(ByteSpan payload);
// The same for version 2. INVALID_ARGUMENT also for malformed sections (sections.h), details of more or fewer events,
// rates above kRateQ32Max, a host block of an unknown slice or a second one of a slice, more than kGateGroupsMax gate
// groups, a group without a name or with that of another, a running event that does not exist, an event of a group that
// does not exist, more than kSelectionsMax selections, a selection without a name or with that of another, a
// selectable event that does not exist, is masked or of the device, or has no gate group, and relations and plans as in
// rotation.h. DATA_LOSS as DecodeClockDomains.
absl::StatusOr<Catalog> DecodeCatalogSections(ByteSpan payload);

// The CRC-32C of the payload; it changes with the catalogue.
uint32_t CatalogHash(ByteSpan payload);

// "catalogue: WHAT".
absl::Status MalformedCatalog(absl::string_view what);

Uuid DecodeUuid(ByteReader& in);

// The lists of a catalogue, which both versions of the catalogue contain (stream_format.md, "Catalogue").
void Encode(const EventInfo& event, ByteWriter& out);
void Encode(const SliceInfo& slice, ByteWriter& out);
void Encode(const ContextInfo& context, ByteWriter& out);
void Encode(const HostBlockInfo& block, ByteWriter& out);
// A read past the end of `in` leaves it not ok. Returns false for a value that this version does not know.
bool Decode(ByteReader& in, EventInfo& event);
bool Decode(ByteReader& in, SliceInfo& slice);
bool Decode(ByteReader& in, ContextInfo& context);
bool Decode(ByteReader& in, HostBlockInfo& block);

template <typename T>
void EncodeList(const std::vector<T>& items, ByteWriter& out) {
  out.U16(static_cast<uint16_t>(items.size()));
  for (const T& item : items) Encode(item, out);
}

template <typename T, typename DecodeItem>
absl::Status DecodeListWith(ByteReader& in, size_t size_max, const DecodeItem& decode, std::vector<T>& items) {
  const size_t size = in.U16();
  if (size > size_max) return MalformedCatalog("a list is too long");
  // The size is untrusted: the loop also ends with the input.
  for (size_t i = 0; i < size && in.ok(); ++i) {
    if (!decode(in, items.emplace_back())) return MalformedCatalog("an entry has an unknown property");
  }
  return in.ok() ? absl::OkStatus() : MalformedCatalog("truncated");
}

template <typename T>
absl::Status DecodeList(ByteReader& in, size_t size_max, std::vector<T>& items) {
  return DecodeListWith(
      in, size_max, [](ByteReader& from, T& item) { return Decode(from, item); }, items);
}

// The list of VMs, whose bits differ by the version: those of `known` are written, and others refused.
inline constexpr uint8_t kConfidentialVm = 1 << 0;
inline constexpr uint8_t kPrivateVm = 1 << 1;
void EncodeVms(const std::vector<VmInfo>& vms, uint8_t known, ByteWriter& out);
absl::Status DecodeVms(ByteReader& in, uint8_t known, std::vector<VmInfo>& vms);

// Whether a text is one or more printable characters.
bool IsName(const std::string& name);
// Whether names are valid, and identities unique and complete.
absl::Status CheckCatalog(const Catalog& catalog);
// Whether gate groups have names of their own, and refer to events as these refer to them.
absl::Status CheckGateGroups(const Catalog& catalog);
// Whether selections have names of their own, and selectable events are those of slices whose groups tell their
// coverage.
absl::Status CheckSelections(const Catalog& catalog);

// The catalogue's section of clock domains (stream_format.md, "Clocks").
Bytes EncodeClockDomains(const std::vector<ClockDomain>& domains);
// DATA_LOSS: none or more than kClockDomainsMax, truncated, bytes after the end, an unknown flag.
absl::Status DecodeClockDomains(ByteSpan payload, std::vector<ClockDomain>& domains);

// DATA_LOSS: a domain without a name or with that of another of its slice, of an unknown slice, without a frequency or
// a shortest period, whose longest period is shorter or whose bar ends before it begins; an event of an unknown domain.
absl::Status CheckClockDomains(const Catalog& catalog);

// The things that a snapshot's rotation numbers are of: enough of the catalogue to predict them, so that their coding
// needs no catalogue. A snapshot carries it where it differs from its base's.
struct RotationLayout {
  struct Event {
    uint16_t event = 0;  // of the catalogue
    uint8_t gate_group = kNoGateGroup;
    bool operator==(const Event&) const = default;
  };
  struct Plan {
    uint16_t number = 0;
    std::vector<uint64_t> sets_of;  // of each of `events`: bit s tells whether set s includes it
    bool operator==(const Plan&) const = default;
  };
  std::vector<Event> events;  // those that have entries in BlockRotation::events, ascending
  std::vector<Plan> plans;    // ascending by number
  bool operator==(const RotationLayout&) const = default;
};

// The events that have entries in BlockRotation::events: those that the catalogue calls rotated or derived, ascending.
std::vector<uint16_t> RotatedEvents(const Catalog& catalog);

RotationLayout LayoutOf(const Catalog& catalog);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_CATALOG_H_
