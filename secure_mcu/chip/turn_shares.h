// SPDX-License-Identifier: Apache-2.0
//
// How many turns each set gets in a round, by how uncertain its events are (counter-rotation.md, "Adaptive turns").
//   const std::vector<double> needs = {4, 1, 1};
//   SharesOf(needs);   // 6, 2, 1: nine turns, in the ratio of the needs but for rounding
//
// The variance of a sum of relative errors, Σ need²/turns, is least where turns are proportional to needs (Neyman).
#ifndef SIDEBAND_SECURE_MCU_CHIP_TURN_SHARES_H_
#define SIDEBAND_SECURE_MCU_CHIP_TURN_SHARES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sideband::mcu {

// At most this many turns per set and round, on average.
inline constexpr size_t kTurnsPerSetMax = 3;
// Unequal turns must promise a variance below this part of that with equal ones: they give up the Latin square, and
// needs are estimates.
inline constexpr double kGainMin = 0.9;

// Turns of each set in a round: at least 1, together at most kTurnsPerSetMax times the sets, without a common divisor.
// All 1 if no set needs any, or if unequal ones promise too little. `needs` are finite, and not negative.
std::vector<uint32_t> SharesOf(std::span<const double> needs);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_TURN_SHARES_H_
