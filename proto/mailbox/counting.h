// SPDX-License-Identifier: Apache-2.0
//
// The configuration of a device's counting, in the 64-bit words of opcode CONFIG and of its stream (README.md,
// "CONFIG"), and the sets of a catalogue's events that it has.
//   CountingConfig desired = actual;
//   desired.vms[1].allowed = 0b011;
//   for (const ConfigWrite& write : Difference(actual, desired)) Send(write);    // one word, at VM 1's control block
//   SIDEBAND_RETURN_IF_ERROR(WriteWord(write.address, write.word, config));      // at the other end
//   const Bytes stream = EncodeConfigStream(boot_id, config);
//
//   EventSet set = EmptySet(catalog.events.size());
//   Insert(event, set);
//   if (Includes(set, event)) Count(event);
#ifndef SIDEBAND_PROTO_MAILBOX_COUNTING_H_
#define SIDEBAND_PROTO_MAILBOX_COUNTING_H_

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/bytes.h"

namespace sideband::mailbox {

// Some of a catalogue's events: bit b of word w is event 64·w + b.
using EventSet = std::vector<uint64_t>;

inline constexpr size_t kEventSetWord = 64;

inline EventSet EmptySet(size_t events) { return EventSet((events + kEventSetWord - 1) / kEventSetWord); }

// false beyond the set's words.
inline bool Includes(const EventSet& events, size_t event) {
  return event / kEventSetWord < events.size() && (events[event / kEventSetWord] >> event % kEventSetWord & 1) != 0;
}

// The set must have the event's word.
inline void Insert(size_t event, EventSet& events) {
  events[event / kEventSetWord] |= uint64_t{1} << event % kEventSetWord;
}

inline constexpr uint32_t kGateGroupsMax = 64;
inline constexpr uint32_t kGateIdsMax = 4;
inline constexpr uint32_t kGateValueBits = 66;
inline constexpr uint32_t kSelectionsMax = 16;

// The value of a gate (virtual-counters.md, "State"), which the device applies (secure_mcu/pipeline/counter_gate.h):
// an enable bit for each group, and two for all: the registers GCE and CCE, and their images in control blocks. Its
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

// The number of 64-bit words of a group or a control block (README.md, "CONFIG").
template <typename Block>
inline constexpr size_t kWords = 0;
template <>
inline constexpr size_t kWords<GateGroup> = 1;
template <>
inline constexpr size_t kWords<VmControl> = 8;
template <>
inline constexpr size_t kWords<ContextControl> = 2;
template <>
inline constexpr size_t kWords<HostControl> = 3;

std::vector<uint64_t> WordsOf(const GateGroup& group);
std::vector<uint64_t> WordsOf(const VmControl& vm);
std::vector<uint64_t> WordsOf(const ContextControl& context);
std::vector<uint64_t> WordsOf(const HostControl& host);

// `words` must have kWords<Block> elements. nullopt: a bit that has no meaning is set.
template <typename Block>
std::optional<Block> FromWords(std::span<const uint64_t> words);

// A context, or with kNoContext a VM itself.
using ContextKey = std::pair<uint16_t, uint16_t>;  // VM, context

struct CountingConfig {
  uint32_t revision = 0;                       // counts up with every commit, from 1
  std::vector<std::vector<GateGroup>> groups;  // of each slice, the same number
  std::vector<HostControl> hosts;              // of each slice
  std::map<uint16_t, VmControl> vms;
  std::map<ContextKey, ContextControl> contexts;
  std::vector<EventSet> selections;  // at most kSelectionsMax, of the same number of words
  bool operator==(const CountingConfig&) const = default;
};

enum class ConfigKind : uint8_t { kGroup = 0, kVm = 1, kContext = 2, kHost = 3, kSelection = 4 };

// A word of the configuration: of a group, its number; of a control block, the word within it; of a selection,
// kSelectionStride · selection + word.
struct ConfigAddress {
  ConfigKind kind = ConfigKind::kGroup;
  uint8_t slice = 0;  // of groups and hosts; kAnySlice: of all slices, only for writing
  uint16_t index = 0;
  uint16_t vm = 0;       // of VMs and contexts
  uint16_t context = 0;  // of contexts
  auto operator<=>(const ConfigAddress&) const = default;
};
inline constexpr uint16_t kSelectionStride = 4096;

// ADDRESS's data-in and extended data-in. The kind is not checked.
ConfigAddress UnpackAddress(uint32_t data, uint32_t extended_data);
uint32_t PackAddress(const ConfigAddress& address);
uint32_t PackScope(const ConfigAddress& address);

// Every word but the revision.
std::map<ConfigAddress, uint64_t> WordsOf(const CountingConfig& config);
// INVALID_ARGUMENT names what the configuration does not have, or the value that the word cannot have. A write that
// fails changes nothing.
absl::Status WriteWord(const ConfigAddress& address, uint64_t word, CountingConfig& config);

struct ConfigWrite {
  ConfigAddress address;
  uint64_t word = 0;
  bool operator==(const ConfigWrite&) const = default;
};
// The writes that make `from` the same as `to` but for the revision, ascending: one for each word that differs, and
// both words of a gate value. What only one of them has is left as it is.
std::vector<ConfigWrite> Difference(const CountingConfig& from, const CountingConfig& to);

// The value to be written to a word that a guest may change at any time: its writer knew it as `from` and made `to` of
// it, and it is `now`. Fields that the writer has not changed stay as they are now. A word of a gate value is written
// whole.
// Only HasFields words depend on `now`.
uint64_t Rebase(const ConfigAddress& address, uint64_t from, uint64_t to, uint64_t now);

// Whether the word is made of several fields, some of which a guest may change.
bool HasFields(const ConfigAddress& address);

// COMMIT's check of all writes since BEGIN.
uint32_t ConfigCrc(const std::vector<ConfigWrite>& writes);

// The stream of DUMP: everything.
Bytes EncodeConfigStream(uint64_t boot_id, const CountingConfig& config);
// `bytes` come from an untrusted peer. Errors are those of DecodeStream, and INVALID_ARGUMENT for another kind of
// stream, truncated input and left-over bytes, a size beyond the limits, a VM or context twice, and a word that has no
// meaning.
absl::StatusOr<CountingConfig> DecodeConfigStream(ByteSpan bytes);

// Rules for a change of a device's configuration by any writer (virtual-counters.md, "Who may change what").
// The device refuses it without a reason; a controller that asks here first can say why.
// INVALID_ARGUMENT names the VM and the field: anything of a confidential VM but what it may open, whether a VM is
// private, and a selection that the device does not have.
absl::Status CheckChange(const CountingConfig& from, const CountingConfig& to, const std::set<uint16_t>& confidential);

// A confidential VM's control block as others see it: what it may open, and whether it is private.
VmControl Shown(const VmControl& confidential);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_COUNTING_H_
