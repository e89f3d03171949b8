// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/counting.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/stream.h"

namespace sideband::mailbox {
namespace {

// Takes a word apart from its least significant bit on, or puts one together.
class Fields {
 public:
  explicit Fields(uint64_t word = 0) : rest_(word) {}

  Fields& Add(uint64_t value, uint32_t bits) {
    word_ |= value << used_;
    used_ += bits;
    return *this;
  }
  uint64_t Take(uint32_t bits) {
    const uint64_t value = rest_ & ((uint64_t{1} << bits) - 1);
    rest_ >>= bits;
    return value;
  }
  bool TakeBit() { return Take(1) != 0; }
  uint64_t word() const { return word_; }

 private:
  uint64_t rest_;
  uint64_t word_ = 0;
  uint32_t used_ = 0;
};

constexpr uint32_t kIdBits = 16, kSelectionBits = 4;

Fields FieldsOf(const GateValue& value) { return Fields().Add(value.master, 1).Add(value.vector_enable, 1); }

// The designated initialisers of this file are evaluated in their order, which is that of the bits.
GateValue TakeValue(uint64_t vector, Fields& fields) {
  return {.master = fields.TakeBit(), .vector_enable = fields.TakeBit(), .vector = vector};
}

uint64_t WordOf(const std::array<uint16_t, kGateIdsMax>& ids) {
  Fields fields;
  for (const uint16_t id : ids) fields.Add(id, kIdBits);
  return fields.word();
}

std::array<uint16_t, kGateIdsMax> IdsOf(uint64_t word) {
  Fields fields(word);
  std::array<uint16_t, kGateIdsMax> ids;
  for (uint16_t& id : ids) id = static_cast<uint16_t>(fields.Take(kIdBits));
  return ids;
}

GateGroup Parse(std::span<const uint64_t> words, const GateGroup*) {
  Fields fields(words[0]);
  return {.identifier = static_cast<uint16_t>(fields.Take(kIdBits)),
          .valid = fields.TakeBit(),
          .in_guest = fields.TakeBit(),
          .in_host = fields.TakeBit()};
}

VmControl Parse(std::span<const uint64_t> words, const VmControl*) {
  Fields guest(words[1]), host(words[3]), bits(words[4]);
  VmControl vm{.guest_value = TakeValue(words[0], guest),
               .host_value = TakeValue(words[2], host),
               .guest_load = bits.TakeBit(),
               .host_load = bits.TakeBit(),
               .guest_store = bits.TakeBit(),
               .host_store = bits.TakeBit(),
               .match = {.enable = bits.TakeBit(), .ids = IdsOf(words[5])},
               .allowed = words[6],
               .pinned = words[7]};
  vm.guest_access = bits.TakeBit();
  vm.useren = bits.TakeBit();
  vm.is_private = bits.TakeBit();
  vm.selection = static_cast<uint8_t>(bits.Take(kSelectionBits));
  return vm;
}

ContextControl Parse(std::span<const uint64_t> words, const ContextControl*) {
  Fields fields(words[1]);
  return {.value = TakeValue(words[0], fields), .load = fields.TakeBit(), .store = fields.TakeBit()};
}

HostControl Parse(std::span<const uint64_t> words, const HostControl*) {
  Fields fields(words[1]);
  return {.value = TakeValue(words[0], fields), .match = {.enable = fields.TakeBit(), .ids = IdsOf(words[2])}};
}

constexpr size_t kSelectionWordsMax = kEventsMax / 64;

absl::Status MalformedConfig(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("configuration: ", what));
}

void Write(const std::vector<uint64_t>& words, ByteWriter& out) {
  for (const uint64_t word : words) out.U64(word);
}

std::vector<uint64_t> ReadWords(ByteReader& in, size_t size) {
  std::vector<uint64_t> words(size);
  for (uint64_t& word : words) word = in.U64();
  return words;
}

template <typename Control>
absl::Status Read(ByteReader& in, Control& control) {
  const std::optional<Control> read = FromWords<Control>(ReadWords(in, kWords<Control>));
  if (!in.ok()) return MalformedConfig("truncated");
  if (!read) return MalformedConfig("a reserved bit is set");
  control = *read;
  return absl::OkStatus();
}

absl::Status ReadSlices(ByteReader& in, CountingConfig& config) {
  const size_t slices = in.U8(), groups = in.U8();
  if (slices > kSlicesMax) return MalformedConfig("too many slices");
  if (groups > kGateGroupsMax) return MalformedConfig("too many gate groups");
  config.groups.assign(slices, std::vector<GateGroup>(groups));
  config.hosts.resize(slices);
  for (size_t slice = 0; slice < slices; ++slice) {
    for (GateGroup& group : config.groups[slice]) SIDEBAND_RETURN_IF_ERROR(Read(in, group));
    SIDEBAND_RETURN_IF_ERROR(Read(in, config.hosts[slice]));
  }
  return absl::OkStatus();
}

absl::Status ReadVms(ByteReader& in, CountingConfig& config) {
  const size_t size = in.U16();
  if (size > kVmsMax) return MalformedConfig("too many VMs");
  for (size_t i = 0; i < size; ++i) {
    const auto [vm, is_new] = config.vms.try_emplace(in.U16());
    SIDEBAND_RETURN_IF_ERROR(Read(in, vm->second));
    if (!is_new) return MalformedConfig("a VM is there twice");
  }
  return absl::OkStatus();
}

absl::Status ReadContexts(ByteReader& in, CountingConfig& config) {
  const size_t size = in.U16();
  if (size > kContextsMax) return MalformedConfig("too many contexts");
  for (size_t i = 0; i < size; ++i) {
    const uint16_t vm = in.U16(), context = in.U16();
    const auto [entry, is_new] = config.contexts.try_emplace({vm, context});
    SIDEBAND_RETURN_IF_ERROR(Read(in, entry->second));
    if (!is_new) return MalformedConfig("a context is there twice");
  }
  return absl::OkStatus();
}

absl::Status ReadSelections(ByteReader& in, CountingConfig& config) {
  const size_t size = in.U8(), words = in.U8();
  if (size > kSelectionsMax) return MalformedConfig("too many selections");
  if (words > kSelectionWordsMax) return MalformedConfig("a selection of too many events");
  for (size_t i = 0; i < size; ++i) config.selections.push_back(ReadWords(in, words));
  return in.ok() ? absl::OkStatus() : MalformedConfig("truncated");
}

}  // namespace

std::vector<uint64_t> WordsOf(const GateGroup& group) {
  return {
      Fields().Add(group.identifier, kIdBits).Add(group.valid, 1).Add(group.in_guest, 1).Add(group.in_host, 1).word()};
}

std::vector<uint64_t> WordsOf(const VmControl& vm) {
  const Fields bits = Fields()
                          .Add(vm.guest_load, 1)
                          .Add(vm.host_load, 1)
                          .Add(vm.guest_store, 1)
                          .Add(vm.host_store, 1)
                          .Add(vm.match.enable, 1)
                          .Add(vm.guest_access, 1)
                          .Add(vm.useren, 1)
                          .Add(vm.is_private, 1)
                          .Add(vm.selection, kSelectionBits);
  return {vm.guest_value.vector,
          FieldsOf(vm.guest_value).word(),
          vm.host_value.vector,
          FieldsOf(vm.host_value).word(),
          bits.word(),
          WordOf(vm.match.ids),
          vm.allowed,
          vm.pinned};
}

std::vector<uint64_t> WordsOf(const ContextControl& context) {
  return {context.value.vector, FieldsOf(context.value).Add(context.load, 1).Add(context.store, 1).word()};
}

std::vector<uint64_t> WordsOf(const HostControl& host) {
  return {host.value.vector, FieldsOf(host.value).Add(host.match.enable, 1).word(), WordOf(host.match.ids)};
}

template <typename Block>
std::optional<Block> FromWords(std::span<const uint64_t> words) {
  const Block block = Parse(words, static_cast<const Block*>(nullptr));
  // A bit that is not a field's is lost on the way.
  return std::ranges::equal(WordsOf(block), words) ? std::optional(block) : std::nullopt;
}

template std::optional<GateGroup> FromWords(std::span<const uint64_t> words);
template std::optional<VmControl> FromWords(std::span<const uint64_t> words);
template std::optional<ContextControl> FromWords(std::span<const uint64_t> words);
template std::optional<HostControl> FromWords(std::span<const uint64_t> words);

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

namespace {

absl::Status Refuse(uint16_t vm, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("VM ", vm, ": ", why));
}

absl::Status CheckVm(uint16_t id, const VmControl& from, const VmControl& to, const CountingConfig& config,
                     bool is_confidential) {
  if (to.is_private != from.is_private) return Refuse(id, "whether it is private is settled when it starts");
  if (to.selection != 0 && to.selection >= config.selections.size()) {
    return Refuse(id, absl::StrCat("the device has no selection ", int{to.selection}));
  }
  VmControl same = to;
  same.allowed = from.allowed;
  if (is_confidential && same != from) {
    return Refuse(id, "it is confidential: only what it may open can be changed");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckChange(const CountingConfig& from, const CountingConfig& to, const std::set<uint16_t>& confidential) {
  for (const auto& [id, control] : to.vms) {
    const auto before = from.vms.find(id);
    if (before == from.vms.end()) return Refuse(id, "there is no such VM");
    SIDEBAND_RETURN_IF_ERROR(CheckVm(id, before->second, control, to, confidential.contains(id)));
  }
  return absl::OkStatus();
}

VmControl Shown(const VmControl& confidential) {
  return {.allowed = confidential.allowed, .is_private = confidential.is_private};
}

Bytes EncodeConfigStream(uint64_t boot_id, const CountingConfig& config) {
  ByteWriter out;
  out.U32(config.revision);
  out.U8(static_cast<uint8_t>(config.groups.size()));
  out.U8(static_cast<uint8_t>(config.groups.empty() ? 0 : config.groups[0].size()));
  for (size_t slice = 0; slice < config.groups.size(); ++slice) {
    for (const GateGroup& group : config.groups[slice]) Write(WordsOf(group), out);
    Write(WordsOf(config.hosts[slice]), out);
  }
  out.U16(static_cast<uint16_t>(config.vms.size()));
  for (const auto& [vm, control] : config.vms) {
    out.U16(vm);
    Write(WordsOf(control), out);
  }
  out.U16(static_cast<uint16_t>(config.contexts.size()));
  for (const auto& [key, control] : config.contexts) {
    out.U16(key.first);
    out.U16(key.second);
    Write(WordsOf(control), out);
  }
  out.U8(static_cast<uint8_t>(config.selections.size()));
  out.U8(static_cast<uint8_t>(config.selections.empty() ? 0 : config.selections[0].size()));
  for (const EventSet& events : config.selections) Write(events, out);
  return EncodeStream({.kind = StreamKind::kConfig, .boot_id = boot_id}, out.written());
}

absl::StatusOr<CountingConfig> DecodeConfigStream(ByteSpan bytes) {
  SIDEBAND_ASSIGN_OR_RETURN(const Stream stream, DecodeStream(bytes));
  if (stream.header.kind != StreamKind::kConfig || stream.header.framing != Framing::kPlain) {
    return MalformedConfig("wrong kind of stream");
  }
  ByteReader in(stream.payload);
  CountingConfig config{.revision = in.U32()};
  SIDEBAND_RETURN_IF_ERROR(ReadSlices(in, config));
  SIDEBAND_RETURN_IF_ERROR(ReadVms(in, config));
  SIDEBAND_RETURN_IF_ERROR(ReadContexts(in, config));
  SIDEBAND_RETURN_IF_ERROR(ReadSelections(in, config));
  if (in.remaining() != 0) return MalformedConfig("bytes after the end");
  return config;
}

}  // namespace sideband::mailbox
