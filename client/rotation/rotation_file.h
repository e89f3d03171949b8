// SPDX-License-Identifier: Apache-2.0
//
// The file of `sideband rotation set` (README.md).
//   SIDEBAND_ASSIGN_OR_RETURN(const YamlNode root, YamlNode::Load("rotation.yaml"));
//   SIDEBAND_ASSIGN_OR_RETURN(request, ReadRotation(root));
#ifndef SIDEBAND_CLIENT_ROTATION_ROTATION_FILE_H_
#define SIDEBAND_CLIENT_ROTATION_ROTATION_FILE_H_

#include "absl/status/statusor.h"
#include "proto/base/yaml.h"
#include "sideband/v1/counting.pb.h"

namespace sideband::client {

// A request without device, VM and contexts. INVALID_ARGUMENT "FILE:LINE: …".
absl::StatusOr<v1::SetRotationRequest> ReadRotation(const YamlNode& root);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_ROTATION_ROTATION_FILE_H_
