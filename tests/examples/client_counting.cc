// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <vector>

#include "absl/status/status.h"
#include "client/cli/console.h"
#include "client/counting/counting_command.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

absl::Status UseCountingChange(CLI::App& app, const v1::GetCountingResponse& actual) {
  //@ client/counting/counting_command.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::client
