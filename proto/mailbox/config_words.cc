// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/config_words.h"

#include <algorithm>

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

}  // namespace sideband::mailbox
