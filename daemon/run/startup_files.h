// SPDX-License-Identifier: Apache-2.0
//
// Reads every file that a start needs. Used at start, by `--check`, and by SIGHUP.
//   ErrorList errors;
//   const StartupFiles files = ReadStartupFiles("/etc/sideband/sidebandd.yaml", errors);
//   if (!errors.empty()) return ReportAndExitCode("sidebandd", errors);
#ifndef SIDEBAND_DAEMON_RUN_STARTUP_FILES_H_
#define SIDEBAND_DAEMON_RUN_STARTUP_FILES_H_

#include <memory>
#include <string>

#include "daemon/authz/policy.h"
#include "daemon/config/config.h"
#include "daemon/identity/key_set.h"
#include "proto/base/errors.h"

namespace sideband::daemon {

struct StartupFiles {
  Config config;
  std::shared_ptr<const Policy> policy;
  std::shared_ptr<const KeySet> keys;  // nullptr if tokens are not configured
};

// Reads the configuration and all files that it names: the policy and the token keys, and, only to check that they are
// usable, the TLS files and sealing keys. Each error is added to `errors` as "FILE:LINE: what", or "FILE: what" without
// a line. The result is valid only if no error was added. Writes nothing and accesses no device.
StartupFiles ReadStartupFiles(const std::string& config_file, ErrorList& errors);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_RUN_STARTUP_FILES_H_
