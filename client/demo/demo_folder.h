// SPDX-License-Identifier: Apache-2.0
//
// The temporary folder of a demonstration.
//   SIDEBAND_ASSIGN_OR_RETURN(const std::string folder, MakeDemoFolder());
//   const absl::Status status = Show(folder);
//   if (status.ok()) { RemoveDemoFolder(folder); } else { KeepOnlyLogs(folder); }
#ifndef SIDEBAND_CLIENT_DEMO_DEMO_FOLDER_H_
#define SIDEBAND_CLIENT_DEMO_DEMO_FOLDER_H_

#include <string>

#include "absl/status/statusor.h"

namespace sideband::client {

// Creates a folder below TMPDIR (/tmp if unset) with access for this user only. INVALID_ARGUMENT if TMPDIR is not a
// folder.
absl::StatusOr<std::string> MakeDemoFolder();

// Removes the folder with its content. Files that cannot be removed remain.
void RemoveDemoFolder(const std::string& folder);

// Removes everything except NAME.log: keys, certificates, sockets.
void KeepOnlyLogs(const std::string& folder);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_DEMO_DEMO_FOLDER_H_
