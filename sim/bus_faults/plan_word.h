// SPDX-License-Identifier: Apache-2.0
//
// A word of a plan that must be one of a list.
//   const std::string words[] = {"sram", "dram"};
//   SIDEBAND_ASSIGN_OR_RETURN(const size_t index, FindWord(node, "memory", words));
#ifndef SIDEBAND_SIM_BUS_FAULTS_PLAN_WORD_H_
#define SIDEBAND_SIM_BUS_FAULTS_PLAN_WORD_H_

#include <cstddef>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/base/yaml.h"

namespace sideband::sim {

// The index of the node's text in `words`. The error for another text, "unknown WHAT 'TEXT'", lists the words if they
// are few, and otherwise suggests the nearest.
absl::StatusOr<size_t> FindWord(const YamlNode& node, absl::string_view what, std::span<const std::string> words);

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_BUS_FAULTS_PLAN_WORD_H_
