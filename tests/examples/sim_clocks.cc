// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>

#include "sim/clocks/domain_clock.h"
#include "sim/clocks/local_clocks.h"

namespace sideband::sim {
namespace {

void UseDomainClock() {
  //@ sim/clocks/domain_clock.h
}

void UseLocalClocks() {
  //@ sim/clocks/local_clocks.h
}

}  // namespace
}  // namespace sideband::sim
