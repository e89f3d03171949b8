// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/base/status_macros.h"
#include "proto/rotation_file/rotation_file.h"
#include "proto/rotation_file/rotation_terms.h"

namespace sideband {
namespace {

absl::Status UseRotationFile(const std::vector<std::string>& names, uint64_t clock_hz) {
  //@ proto/rotation_file/rotation_file.h
  return absl::OkStatus();
}

void UseRotationTerms(double threshold, uint64_t clock_hz) {
  //@ proto/rotation_file/rotation_terms.h
}

}  // namespace
}  // namespace sideband
