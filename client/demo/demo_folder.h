// SPDX-License-Identifier: Apache-2.0
//
// The temporary folder of a demonstration, and the chip files of its further devices.
//   SIDEBAND_ASSIGN_OR_RETURN(const std::string folder, MakeDemoFolder());
//   const absl::Status status = Show(folder);
//   if (status.ok()) { RemoveDemoFolder(folder); } else { KeepOnlyLogs(folder); }
#ifndef SIDEBAND_CLIENT_DEMO_DEMO_FOLDER_H_
#define SIDEBAND_CLIENT_DEMO_DEMO_FOLDER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/demo/demo_steps.h"

namespace sideband::client {

// A device of a demonstration that is an SMBPBI-only board: it has no counters of VMs, and its sensors are for
// operators. From the text of deploy/examples/chip-board.yaml: the UUID and serial number are no other device's.
std::string BoardChipFile(const std::string& example);

// What an operator sees of the board `device` beside the other devices, and that `tenant` sees nothing of it.
std::vector<DemoStep> BoardSteps(const std::string& device, const std::string& tenant, const DemoPorts& ports);

// The first of two devices that do the same work: one whose events take turns on few counters, and its twin with a
// counter for each event, which knows the truth. From the text of deploy/examples/chip-rotating.yaml: one more event
// that is derived, VMs named vm4 and vm5, and contexts that end after a second, so that both devices' counts are of the
// same cycles from then on.
std::string RotatingChipFile(const std::string& example);

// The same without a rotation.
std::string ExactTwinFile(const std::string& example);

// What takes turns on `device`, and its counts of vm4 beside those of `twin`.
std::vector<DemoStep> RotationSteps(const std::string& device, const std::string& twin);

// Creates a folder below TMPDIR (/tmp if unset) with access for this user only. INVALID_ARGUMENT if TMPDIR is not a
// folder.
absl::StatusOr<std::string> MakeDemoFolder();

// Removes the folder with its content. Files that cannot be removed remain.
void RemoveDemoFolder(const std::string& folder);

// Removes everything except NAME.log: keys, certificates, sockets.
void KeepOnlyLogs(const std::string& folder);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_DEMO_DEMO_FOLDER_H_
