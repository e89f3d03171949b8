// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/hpc_page.h"

#include <algorithm>
#include <array>

namespace sideband::mcu {
namespace {

constexpr uint16_t kRegisterBytes = 8;

template <typename Register>
struct Offset {
  uint32_t offset;
  Register which;
};

constexpr std::array kHpcOffsets = {Offset{hpc::kHpccOffset, HpcRegister::kHpcc},
                                    Offset{hpc::kHpcmOffset, HpcRegister::kHpcm},
                                    Offset{hpc::kHpcrOffset, HpcRegister::kHpcr}};

constexpr std::array kGateOffsets = {Offset{hpc::kGateVectorOffset, GateRegister::kVector},
                                     Offset{hpc::kGateControlOffset, GateRegister::kControl},
                                     Offset{hpc::kGateSelectionOffset, GateRegister::kSelection},
                                     Offset{hpc::kGateIdsOffset, GateRegister::kIds},
                                     Offset{hpc::kGateContextOffset, GateRegister::kContext},
                                     Offset{hpc::kGateContextVectorOffset, GateRegister::kContextVector},
                                     Offset{hpc::kGateContextControlOffset, GateRegister::kContextControl}};

template <typename Place, typename Offsets>
std::optional<Place> PlaceOf(const hpc::PageAccess& access, const Offsets& offsets) {
  const uint32_t within = access.offset % kRegisterBytes;
  const auto found = std::ranges::find(offsets, access.offset - within, &Offsets::value_type::offset);
  if (found == offsets.end()) return std::nullopt;
  if (access.size == kRegisterBytes) return Place{found->which, HpcHalf::kWhole};
  return Place{found->which, within == 0 ? HpcHalf::kLow : HpcHalf::kHigh};
}

}  // namespace

std::optional<HpcPlace> HpcPlaceOf(const hpc::PageAccess& access) { return PlaceOf<HpcPlace>(access, kHpcOffsets); }

std::optional<GatePlace> GatePlaceOf(const hpc::PageAccess& access) { return PlaceOf<GatePlace>(access, kGateOffsets); }

}  // namespace sideband::mcu
