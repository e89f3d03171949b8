// SPDX-License-Identifier: Apache-2.0
//
// Generates cases that shrink to small ones.
//   rc::check("the laws hold", [] { Play(*AnyCase()); });
#ifndef SIDEBAND_TESTS_LAB_LAWS_LAWS_GEN_H_
#define SIDEBAND_TESTS_LAB_LAWS_LAWS_GEN_H_

#include <rapidcheck.h>

#include "tests/lab/laws/laws_case.h"

namespace sideband::mcu {

rc::Gen<LawsCase> AnyCase();

}  // namespace sideband::mcu

#endif  // SIDEBAND_TESTS_LAB_LAWS_LAWS_GEN_H_
