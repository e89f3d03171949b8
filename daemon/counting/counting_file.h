// SPDX-License-Identifier: Apache-2.0
//
// The operator's file of who is counted, `counting_file` of the configuration; README.md has the format.
//   const DeviceSettings settings = ParseCountingFile(text, "counting.yaml", errors);
//   book.Replace(settings);
#ifndef SIDEBAND_DAEMON_COUNTING_COUNTING_FILE_H_
#define SIDEBAND_DAEMON_COUNTING_COUNTING_FILE_H_

#include <map>
#include <string>

#include "daemon/counting/settings.h"
#include "proto/base/errors.h"

namespace sideband::daemon {

// By the device's name in the configuration.
using DeviceSettings = std::map<std::string, CountingSettings>;

enum class CountingKeys {
  kOperators,  // those of the operator's file
  kCallers,    // also `contexts`, which only tenants set, and `selection_name`
};

// Each error is one line with FILE:LINE and is added to `errors`; the result is then not to be used. Names of devices,
// groups, VMs and contexts are not checked.
DeviceSettings ParseCountingFile(const std::string& text, const std::string& path, ErrorList& errors,
                                 CountingKeys keys = CountingKeys::kOperators);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COUNTING_COUNTING_FILE_H_
