// SPDX-License-Identifier: Apache-2.0
#include "absl/status/status.h"
#include "client/cli/console.h"
#include "client/rotation/rotation_command.h"
#include "client/rotation/rotation_request.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

absl::Status UseRotationRequest(v1::SetRotationRequest& request) {
  //@ client/rotation/rotation_request.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::client
