// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/guest_gate.h"

#include <algorithm>
#include <span>

#include "secure_mcu/pipeline/hpc_client.h"

namespace sideband::mcu {
namespace {

constexpr uint32_t kIdBits = 16;

constexpr bool Has(uint64_t word, uint64_t field) { return (word & field) != 0; }

// gate_context_control has these two fields where gate_control has them.
static_assert(hpc::kGateContextControlMaster == hpc::kGateControlMaster);
static_assert(hpc::kGateContextControlVectorEnable == hpc::kGateControlVectorEnable);

uint64_t ControlWord(const GateValue& value) {
  return FieldIf(value.master, hpc::kGateControlMaster) | FieldIf(value.vector_enable, hpc::kGateControlVectorEnable);
}

void SetControl(uint64_t word, GateValue& value) {
  value.master = Has(word, hpc::kGateControlMaster);
  value.vector_enable = Has(word, hpc::kGateControlVectorEnable);
}

uint64_t ContextControlWord(const ContextControl& control) {
  return ControlWord(control.value) | FieldIf(control.load, hpc::kGateContextControlLoad) |
         FieldIf(control.store, hpc::kGateContextControlStore);
}

void SetContextControl(uint64_t word, ContextControl& control) {
  SetControl(word, control.value);
  control.load = Has(word, hpc::kGateContextControlLoad);
  control.store = Has(word, hpc::kGateContextControlStore);
}

using Ids = decltype(GateMatch::ids);

uint64_t IdsWord(const Ids& ids) {
  uint64_t word = 0;
  for (size_t i = 0; i < ids.size(); ++i) word |= uint64_t{ids[i]} << kIdBits * i;
  return word;
}

Ids IdsOf(uint64_t word) {
  Ids ids;
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<uint16_t>(word >> kIdBits * i);
  return ids;
}

bool Contains(const Ids& ids, uint16_t id) { return std::ranges::find(ids, id) != ids.end(); }

// A VM that names an identifier shares its groups' counters: only the operator gives it. Without one, groups close that
// the operator may have pinned.
bool MayReplace(const Ids& from, const Ids& to, const GuestControls& controls) {
  if (std::ranges::any_of(to, [&](uint16_t id) { return id != 0 && !Contains(from, id); })) return false;
  for (const CounterGate& gate : controls.gates) {
    for (size_t g = 0; g < gate.groups().size(); ++g) {
      const uint16_t id = gate.groups()[g].identifier;
      const bool is_pinned = (controls.vm.pinned >> g & 1) != 0 && id != 0;
      if (is_pinned && Contains(from, id) && !Contains(to, id)) return false;
    }
  }
  return true;
}

// A group of which a selection has no events is as good as closed.
bool MaySelect(uint64_t to, const GuestControls& controls) {
  const auto& selections = controls.selections;
  if (to >= selections.size()) return false;
  const uint8_t from = controls.vm.selection;
  return from >= selections.size() || (controls.vm.pinned & selections[from] & ~selections[to]) == 0;
}

constexpr uint16_t kRegisterBytes = 8;

template <typename Register>
struct Offset {
  uint32_t offset;
  Register which;
};

constexpr Offset<HpcRegister> kHpcOffsets[] = {{hpc::kHpccOffset, HpcRegister::kHpcc},
                                               {hpc::kHpcmOffset, HpcRegister::kHpcm},
                                               {hpc::kHpcrOffset, HpcRegister::kHpcr}};

constexpr Offset<GateRegister> kGateOffsets[] = {{hpc::kGateVectorOffset, GateRegister::kVector},
                                                 {hpc::kGateControlOffset, GateRegister::kControl},
                                                 {hpc::kGateSelectionOffset, GateRegister::kSelection},
                                                 {hpc::kGateIdsOffset, GateRegister::kIds},
                                                 {hpc::kGateContextOffset, GateRegister::kContext},
                                                 {hpc::kGateContextVectorOffset, GateRegister::kContextVector},
                                                 {hpc::kGateContextControlOffset, GateRegister::kContextControl}};

template <typename Place, typename Register>
std::optional<Place> PlaceOf(const hpc::PageAccess& access, std::span<const Offset<Register>> offsets) {
  const uint32_t within = access.offset % kRegisterBytes;
  const auto found = std::ranges::find(offsets, access.offset - within, &Offset<Register>::offset);
  if (found == offsets.end()) return std::nullopt;
  if (access.size == kRegisterBytes) return Place{found->which, HpcHalf::kWhole};
  return Place{found->which, within == 0 ? HpcHalf::kLow : HpcHalf::kHigh};
}

}  // namespace

uint64_t GuestGate::Read(GateRegister which, const GuestControls& controls) const {
  switch (which) {
    case GateRegister::kVector:
      return controls.value.vector;
    case GateRegister::kControl:
      return ControlWord(controls.value);
    case GateRegister::kSelection:
      return controls.selections.empty() ? 0 : controls.vm.selection;
    case GateRegister::kIds:
      return IdsWord(controls.vm.match.ids);
    case GateRegister::kContext:
      return context_;
    case GateRegister::kContextVector:
      return controls.context == nullptr ? 0 : controls.context->value.vector;
    case GateRegister::kContextControl:
      return controls.context == nullptr ? 0 : ContextControlWord(*controls.context);
  }
  return 0;
}

void GuestGate::Write(GateRegister which, uint64_t word, const GuestControls& controls) {
  switch (which) {
    case GateRegister::kVector:
      controls.value.vector = word;
      return;
    case GateRegister::kControl:
      return SetControl(word, controls.value);
    case GateRegister::kSelection:
      if (MaySelect(word, controls)) controls.vm.selection = static_cast<uint8_t>(word);
      return;
    case GateRegister::kIds:
      if (const Ids ids = IdsOf(word); MayReplace(controls.vm.match.ids, ids, controls)) controls.vm.match.ids = ids;
      return;
    case GateRegister::kContext:
      context_ = static_cast<uint16_t>(word);
      return;
    case GateRegister::kContextVector:
      if (controls.context != nullptr) controls.context->value.vector = word;
      return;
    case GateRegister::kContextControl:
      if (controls.context != nullptr) SetContextControl(word, *controls.context);
      return;
  }
}

std::optional<HpcPlace> HpcPlaceOf(const hpc::PageAccess& access) {
  return PlaceOf<HpcPlace, HpcRegister>(access, kHpcOffsets);
}

std::optional<GatePlace> GatePlaceOf(const hpc::PageAccess& access) {
  return PlaceOf<GatePlace, GateRegister>(access, kGateOffsets);
}

}  // namespace sideband::mcu
