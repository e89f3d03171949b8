// SPDX-License-Identifier: Apache-2.0
//
// The registers of an HPC client as a page (registers.md, "Registers").
//   if (const auto place = HpcPlaceOf(access)) value = client.Read(place->which, cycle, place->half);
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_HPC_PAGE_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_HPC_PAGE_H_

#include <optional>

#include "proto/registers/page_access.h"
#include "secure_mcu/pipeline/hpc_client.h"

namespace sideband::mcu {

struct HpcPlace {
  HpcRegister which;
  HpcHalf half;
};

// `access` must be in the page (hpc::IsInPage). nullopt where there is no register: reads 0, and writes have no effect.
std::optional<HpcPlace> HpcPlaceOf(const hpc::PageAccess& access);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_HPC_PAGE_H_
