// SPDX-License-Identifier: Apache-2.0
//
// Generates cases that shrink to small ones.
//   rc::check("the laws hold", [] { Play(*AnyCase()); });
#ifndef SIDEBAND_SECURE_MCU_LAWS_LAWS_GEN_H_
#define SIDEBAND_SECURE_MCU_LAWS_LAWS_GEN_H_

#include <rapidcheck.h>

#include "secure_mcu/laws/laws_case.h"

namespace sideband::mcu {

rc::Gen<LawsCase> AnyCase();

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_LAWS_LAWS_GEN_H_
