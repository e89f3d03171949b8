// SPDX-License-Identifier: Apache-2.0
//
// Created times of counters, stored across restarts of the daemon: one small file per device in the state folder.
//   const CreationFile file("/var/lib/sideband");
//   auto known = file.Load(uuid);                             // NOT_FOUND: no file yet
//   SIDEBAND_RETURN_IF_ERROR(file.Save(uuid, times.known()));
//
// The file "created-UUID" has these lines of text; times are nanoseconds since 1970:
// - "sideband created 1"
// - "boot 1f00a2b3c4d5e6f7"
// - "last 1700000000123456789"
// - "booted 1690000000000000000"; absent in files of version 0.2.0 and earlier
// - "block 1 65535 3 1700000000000000000": VM, context, generation, created; one line for each block
#ifndef SIDEBAND_DAEMON_COLLECTOR_CREATION_FILE_H_
#define SIDEBAND_DAEMON_COLLECTOR_CREATION_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "daemon/collector/creation_times.h"
#include "proto/base/uuid.h"

namespace sideband::daemon {

// Thread-safe as long as each device is used by one thread at a time.
class CreationFile {
 public:
  explicit CreationFile(std::string folder) : folder_(std::move(folder)) {}

  // INVALID_ARGUMENT "FILE:LINE: why" if the content was not written by Save(); otherwise the errors of ReadFile.
  absl::StatusOr<Creations> Load(const Uuid& device) const;
  // Replaces the file atomically. It is not synced: after a crash of the machine the previous content may remain.
  absl::Status Save(const Uuid& device, const Creations& known) const;

 private:
  std::string PathOf(const Uuid& device) const;

  const std::string folder_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_CREATION_FILE_H_
