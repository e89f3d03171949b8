// SPDX-License-Identifier: Apache-2.0
//
// The registers of a guest as a page: those of an HPC client, and those by which its supervisor chooses what is counted
// (registers.md, "Registers").
//   if (const auto place = HpcPlaceOf(access)) value = client.Read(place->which, cycle, place->half);
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_HPC_PAGE_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_HPC_PAGE_H_

#include <optional>

#include "proto/registers/guest_port.h"
#include "secure_mcu/pipeline/guest_gate.h"
#include "secure_mcu/pipeline/hpc_client.h"

namespace sideband::mcu {

struct HpcPlace {
  HpcRegister which;
  HpcHalf half;
};

struct GatePlace {
  GateRegister which;
  HpcHalf half;
};

// `access` must be in the page (hpc::IsInPage). Where neither has a register the page reads 0, and writes have no
// effect.
std::optional<HpcPlace> HpcPlaceOf(const hpc::PageAccess& access);
std::optional<GatePlace> GatePlaceOf(const hpc::PageAccess& access);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_HPC_PAGE_H_
