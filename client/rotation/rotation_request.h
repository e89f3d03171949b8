// SPDX-License-Identifier: Apache-2.0
//
// What a file of `sideband rotation set` asks for (proto/rotation_file/README.md).
//   SIDEBAND_ASSIGN_OR_RETURN(const RotationFile file, LoadRotationFile("rotation.yaml", RotationUse::kRequest));
//   request = RequestOf(file);
#ifndef SIDEBAND_CLIENT_ROTATION_ROTATION_REQUEST_H_
#define SIDEBAND_CLIENT_ROTATION_ROTATION_REQUEST_H_

#include "proto/rotation_file/rotation_file.h"
#include "sideband/v1/counting.pb.h"

namespace sideband::client {

// A request without device, VM and contexts. It has every setting, also those that the file leaves to the default.
v1::SetRotationRequest RequestOf(const RotationFile& file);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_ROTATION_ROTATION_REQUEST_H_
