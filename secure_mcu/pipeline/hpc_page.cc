// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/pipeline/hpc_page.h"

namespace sideband::mcu {
namespace {

constexpr uint16_t kRegisterBytes = 8;

std::optional<HpcRegister> RegisterAt(uint32_t offset) {
  switch (offset) {
    case hpc::kHpccOffset:
      return HpcRegister::kHpcc;
    case hpc::kHpcmOffset:
      return HpcRegister::kHpcm;
    case hpc::kHpcrOffset:
      return HpcRegister::kHpcr;
  }
  return std::nullopt;
}

}  // namespace

std::optional<HpcPlace> HpcPlaceOf(const hpc::PageAccess& access) {
  const uint32_t within = access.offset % kRegisterBytes;
  const auto which = RegisterAt(access.offset - within);
  if (!which) return std::nullopt;
  if (access.size == kRegisterBytes) return HpcPlace{*which, HpcHalf::kWhole};
  return HpcPlace{*which, within == 0 ? HpcHalf::kLow : HpcHalf::kHigh};
}

}  // namespace sideband::mcu
