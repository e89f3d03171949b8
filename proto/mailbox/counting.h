// SPDX-License-Identifier: Apache-2.0
//
// The configuration of a device's counting, in the 64-bit words of opcode CONFIG and of its stream (README.md,
// "CONFIG").
//   CountingConfig desired = actual;
//   desired.vms[1].allowed = 0b011;
//   for (const ConfigWrite& write : Difference(actual, desired)) Send(write);    // one word, at VM 1's control block
//   SIDEBAND_RETURN_IF_ERROR(WriteWord(write.address, write.word, config));      // at the other end
//   const Bytes stream = EncodeConfigStream(boot_id, config);
#ifndef SIDEBAND_PROTO_MAILBOX_COUNTING_H_
#define SIDEBAND_PROTO_MAILBOX_COUNTING_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/event_set.h"
#include "proto/mailbox/gate_controls.h"

namespace sideband::mailbox {

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

// What is to be written of a word that a guest may change at any time: its writer knew it as `from` and made `to` of
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

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_COUNTING_H_
