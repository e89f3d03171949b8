// SPDX-License-Identifier: Apache-2.0
//
// The section `audit` of the configuration: the file and limits of the audit log.
//   config.audit = ReadAuditConfig(root, context);
#ifndef SIDEBAND_DAEMON_CONFIG_AUDIT_CONFIG_H_
#define SIDEBAND_DAEMON_CONFIG_AUDIT_CONFIG_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "daemon/config/config_context.h"

namespace sideband::daemon {

struct AuditConfig {
  std::string file;  // empty: no audit log
  uint64_t max_bytes = 16 << 20;
  size_t files = 8;  // number of older files kept

  bool operator==(const AuditConfig&) const = default;
};

// `root` is the whole configuration. The file may be missing; its folder must exist.
AuditConfig ReadAuditConfig(const YamlMap& root, const ConfigContext& context);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_AUDIT_CONFIG_H_
