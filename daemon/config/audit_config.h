// SPDX-License-Identifier: Apache-2.0
//
// The section `audit` of the configuration: where it is kept who saw what.
//   SIDEBAND_ASSIGN_OR_RETURN(config.audit, ReadAuditConfig(map, folder));
#ifndef SIDEBAND_DAEMON_CONFIG_AUDIT_CONFIG_H_
#define SIDEBAND_DAEMON_CONFIG_AUDIT_CONFIG_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "proto/base/yaml.h"

namespace sideband::daemon {

struct AuditConfig {
  std::string file;  // empty: no audit log
  uint64_t max_bytes = 16 << 20;
  size_t files = 8;  // older ones that are kept
};

// `root` is the whole configuration; relative paths are relative to `folder`.
absl::StatusOr<AuditConfig> ReadAuditConfig(const YamlMap& root, const std::string& folder);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_AUDIT_CONFIG_H_
