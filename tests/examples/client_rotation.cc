// SPDX-License-Identifier: Apache-2.0
#include "absl/status/status.h"
#include "client/cli/output.h"
#include "client/rotation/rotation_request.h"
#include "client/rotation/rotation_text.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

void UseRotationText(const v1::GetRotationResponse& response, const TableStyle& style, Output& out) {
  //@ client/rotation/rotation_text.h
}

absl::Status UseRotationRequest(v1::SetRotationRequest& request) {
  //@ client/rotation/rotation_request.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::client
