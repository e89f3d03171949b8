// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/counting.h"

#include <optional>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/config_words.h"

namespace sideband::mailbox {
namespace {

// Words with several fields (README.md, "CONFIG").
constexpr uint16_t kVmFlags = 4, kContextFlags = 1;
constexpr uint64_t kSelectionField = 0xF00, kContextValueField = 0b11;

bool IsVmFlags(const ConfigAddress& address) { return address.kind == ConfigKind::kVm && address.index == kVmFlags; }

bool IsContextFlags(const ConfigAddress& address) {
  return address.kind == ConfigKind::kContext && address.index == kContextFlags;
}

// Whether the word is one of the two of a VM's or context's gate value.
bool IsOfValue(const ConfigAddress& address) {
  return (address.kind == ConfigKind::kVm && address.index < kVmFlags) || address.kind == ConfigKind::kContext;
}

ConfigAddress OtherHalf(ConfigAddress address) {
  address.index ^= 1;
  return address;
}

constexpr uint32_t kKindShift = 24, kSliceShift = 16, kContextShift = 16;

absl::Status NoSuch(absl::string_view what) { return absl::InvalidArgumentError(absl::StrCat("no such ", what)); }

// --- Reading --------------------------------------------------------------------------------------------------------

using AllWords = std::map<ConfigAddress, uint64_t>;

void AddWords(ConfigAddress first, const std::vector<uint64_t>& words, AllWords& all) {
  for (const uint64_t word : words) {
    all.emplace(first, word);
    ++first.index;
  }
}

void AddSlice(const CountingConfig& config, uint8_t slice, AllWords& all) {
  ConfigAddress address{.kind = ConfigKind::kGroup, .slice = slice};
  for (const GateGroup& group : config.groups[slice]) {
    AddWords(address, WordsOf(group), all);
    ++address.index;
  }
  AddWords({.kind = ConfigKind::kHost, .slice = slice}, WordsOf(config.hosts[slice]), all);
}

// --- Writing --------------------------------------------------------------------------------------------------------

using Block = std::variant<GateGroup*, VmControl*, ContextControl*, HostControl*, EventSet*>;

absl::StatusOr<Block> FindOfSlice(const ConfigAddress& address, CountingConfig& config) {
  if (address.slice >= config.groups.size()) return NoSuch("slice");
  if (address.kind == ConfigKind::kHost) return &config.hosts[address.slice];
  auto& groups = config.groups[address.slice];
  if (address.index >= groups.size()) return NoSuch("gate group");
  return &groups[address.index];
}

absl::StatusOr<Block> FindBlock(const ConfigAddress& address, CountingConfig& config) {
  switch (address.kind) {
    case ConfigKind::kGroup:
    case ConfigKind::kHost:
      return FindOfSlice(address, config);
    case ConfigKind::kVm: {
      const auto vm = config.vms.find(address.vm);
      return vm == config.vms.end() ? absl::StatusOr<Block>(NoSuch("VM")) : &vm->second;
    }
    case ConfigKind::kContext: {
      const auto context = config.contexts.find({address.vm, address.context});
      return context == config.contexts.end() ? absl::StatusOr<Block>(NoSuch("context")) : &context->second;
    }
    case ConfigKind::kSelection: {
      const size_t selection = address.index / kSelectionStride;
      if (selection >= config.selections.size()) return NoSuch("selection");
      return &config.selections[selection];
    }
  }
  return NoSuch("kind");
}

template <typename Control>
absl::Status WriteTo(Control& control, size_t index, uint64_t word) {
  std::vector<uint64_t> words = WordsOf(control);
  if (index >= words.size()) return NoSuch("word");
  words[index] = word;
  const std::optional<Control> written = FromWords<Control>(words);
  if (!written) return absl::InvalidArgumentError("a reserved bit is set");
  control = *written;
  return absl::OkStatus();
}

absl::Status WriteTo(EventSet& events, size_t index, uint64_t word) {
  if (index >= events.size()) return NoSuch("word");
  events[index] = word;
  return absl::OkStatus();
}

size_t IndexWithin(const ConfigAddress& address) {
  if (address.kind == ConfigKind::kGroup) return 0;
  return address.kind == ConfigKind::kSelection ? address.index % kSelectionStride : address.index;
}

absl::Status WriteOne(const ConfigAddress& address, uint64_t word, CountingConfig& config) {
  SIDEBAND_ASSIGN_OR_RETURN(const Block block, FindBlock(address, config));
  return std::visit([&](auto* control) { return WriteTo(*control, IndexWithin(address), word); }, block);
}

}  // namespace

ConfigAddress UnpackAddress(uint32_t data, uint32_t extended_data) {
  return {.kind = static_cast<ConfigKind>(data >> kKindShift),
          .slice = static_cast<uint8_t>(data >> kSliceShift),
          .index = static_cast<uint16_t>(data),
          .vm = static_cast<uint16_t>(extended_data),
          .context = static_cast<uint16_t>(extended_data >> kContextShift)};
}

uint32_t PackAddress(const ConfigAddress& address) {
  return static_cast<uint32_t>(address.kind) << kKindShift | uint32_t{address.slice} << kSliceShift | address.index;
}

uint32_t PackScope(const ConfigAddress& address) { return uint32_t{address.context} << kContextShift | address.vm; }

std::map<ConfigAddress, uint64_t> WordsOf(const CountingConfig& config) {
  AllWords all;
  for (size_t slice = 0; slice < config.groups.size(); ++slice) AddSlice(config, static_cast<uint8_t>(slice), all);
  for (const auto& [vm, control] : config.vms) AddWords({.kind = ConfigKind::kVm, .vm = vm}, WordsOf(control), all);
  for (const auto& [key, control] : config.contexts) {
    AddWords({.kind = ConfigKind::kContext, .vm = key.first, .context = key.second}, WordsOf(control), all);
  }
  for (size_t i = 0; i < config.selections.size(); ++i) {
    const auto first = static_cast<uint16_t>(i * kSelectionStride);
    AddWords({.kind = ConfigKind::kSelection, .index = first}, config.selections[i], all);
  }
  return all;
}

absl::Status WriteWord(const ConfigAddress& address, uint64_t word, CountingConfig& config) {
  const bool is_of_slice = address.kind == ConfigKind::kGroup || address.kind == ConfigKind::kHost;
  if (!is_of_slice || address.slice != kAnySlice) return WriteOne(address, word, config);
  // Slices are alike, so that what the first one takes no other refuses.
  ConfigAddress one = address;
  for (one.slice = 0; one.slice == 0 || one.slice < config.groups.size(); ++one.slice) {
    SIDEBAND_RETURN_IF_ERROR(WriteOne(one, word, config));
  }
  return absl::OkStatus();
}

std::vector<ConfigWrite> Difference(const CountingConfig& from, const CountingConfig& to) {
  const AllWords before = WordsOf(from), after = WordsOf(to);
  const auto differs = [&](const ConfigAddress& address) {
    const auto old = before.find(address);
    return old != before.end() && old->second != after.at(address);
  };
  std::vector<ConfigWrite> writes;
  for (const auto& [address, word] : after) {
    if (differs(address) || (IsOfValue(address) && differs(OtherHalf(address)))) writes.push_back({address, word});
  }
  return writes;
}

bool HasFields(const ConfigAddress& address) { return IsVmFlags(address) || IsContextFlags(address); }

uint64_t Rebase(const ConfigAddress& address, uint64_t from, uint64_t to, uint64_t now) {
  // The field of several bits; other bits of such a word are fields of their own.
  const uint64_t wide = IsVmFlags(address)        ? kSelectionField
                        : IsContextFlags(address) ? kContextValueField
                                                  : ~uint64_t{0};
  uint64_t fields = from ^ to;
  if ((fields & wide) != 0 || (fields == 0 && !IsVmFlags(address))) fields |= wide;
  return (now & ~fields) | (to & fields);
}

uint32_t ConfigCrc(const std::vector<ConfigWrite>& writes) {
  ByteWriter out;
  for (const ConfigWrite& write : writes) {
    out.U32(PackAddress(write.address));
    out.U32(PackScope(write.address));
    out.U64(write.word);
  }
  return Crc32c(out.written());
}

}  // namespace sideband::mailbox
