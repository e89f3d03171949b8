// SPDX-License-Identifier: Apache-2.0
#include "proto/base/version.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace sideband {
namespace {

constexpr absl::string_view kRevision =
#include "proto/base/revision.inc"
    ;

}  // namespace

std::string BuildRevision() { return std::string(kRevision); }

std::string BuildVersion() {
  if (kRevision.empty()) return kVersion;
  return absl::StrCat(kVersion, " (", kRevision, ")");
}

}  // namespace sideband
