// SPDX-License-Identifier: Apache-2.0
//
// Files that a configuration names.
//   SIDEBAND_ASSIGN_OR_RETURN(config.policy_file, ReadableFile(map, "policy_file", folder));
#ifndef SIDEBAND_DAEMON_CONFIG_READABLE_FILE_H_
#define SIDEBAND_DAEMON_CONFIG_READABLE_FILE_H_

#include <filesystem>
#include <string>

#include "absl/status/statusor.h"
#include "proto/base/yaml.h"

namespace sideband::daemon {

// The path under `key`, from `folder` where it is relative, of a file that can be read now; it is not looked into,
// since it may be a key. Errors have the line that names it.
absl::StatusOr<std::string> ReadableFile(const YamlMap& map, const std::string& key,
                                         const std::filesystem::path& folder);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_READABLE_FILE_H_
