// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/hpc_page.h"

#include <algorithm>
#include <span>

namespace sideband::mcu {
namespace {

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

std::optional<HpcPlace> HpcPlaceOf(const hpc::PageAccess& access) {
  return PlaceOf<HpcPlace, HpcRegister>(access, kHpcOffsets);
}

std::optional<GatePlace> GatePlaceOf(const hpc::PageAccess& access) {
  return PlaceOf<GatePlace, GateRegister>(access, kGateOffsets);
}

}  // namespace sideband::mcu
