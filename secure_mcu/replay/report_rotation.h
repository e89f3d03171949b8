// SPDX-License-Identifier: Apache-2.0
//
// How the numbers of a rotation are printed.
//   json["rotation"] = NumbersJson(*block.rotation, result.events);
//   text += FormatNumbers("vm1/ctx0", *block.rotation, result.events);
#ifndef SIDEBAND_SECURE_MCU_REPLAY_REPORT_ROTATION_H_
#define SIDEBAND_SECURE_MCU_REPLAY_REPORT_ROTATION_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "secure_mcu/replay/rotation_result.h"

namespace sideband::mcu {

nlohmann::ordered_json PlanJson(const ReplayRotation& rotation);
// What is not known is null.
nlohmann::ordered_json NumbersJson(const ReplayNumbers& numbers, const std::vector<std::string>& events);

// "~N" of an estimate, "N" of one whose sets were always in turn, "-" if there is none.
std::string ShownOf(const ReplayEstimate& estimate);
// A table with one row per event that takes turns, after an empty line.
std::string FormatNumbers(const std::string& title, const ReplayNumbers& numbers,
                          const std::vector<std::string>& events);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_REPLAY_REPORT_ROTATION_H_
