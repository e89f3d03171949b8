// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/demo/child_process.h"
#include "client/demo/demo_site.h"
#include "client/demo/number_checks.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

absl::Status UseChildProcess(const std::string& path, const std::string& log_path) {
  //@ client/demo/child_process.h
  return absl::OkStatus();
}

absl::Status Show(const std::string& folder);

absl::Status UseDemoSite() {
  //@ client/demo/demo_site.h
  return absl::OkStatus();
}

absl::StatusOr<std::string> Probe();

absl::Status UseNumberChecks() {
  //@ client/demo/number_checks.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::client
