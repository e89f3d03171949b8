// SPDX-License-Identifier: Apache-2.0
//
// A file with the daemon's bound ports, for configurations with port 0.
//   SIDEBAND_RETURN_IF_ERROR(WritePortsFile("ports", grpc->port(), http->port()));   // "grpc: 40123\nhttp: 40124\n"
#ifndef SIDEBAND_DAEMON_RUN_PORTS_FILE_H_
#define SIDEBAND_DAEMON_RUN_PORTS_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace sideband::daemon {

// Replaces the file atomically; the file is world-readable. The temporary file in the same folder has an unpredictable
// name, and symbolic links are not followed. UNAVAILABLE "PATH: why". Does nothing if `path` is empty.
absl::Status WritePortsFile(const std::string& path, uint16_t grpc_port, uint16_t http_port);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_RUN_PORTS_FILE_H_
