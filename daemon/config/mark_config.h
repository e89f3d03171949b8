// SPDX-License-Identifier: Apache-2.0
//
// The section `marks` of the configuration: how many marks each VM may set, and how many are kept.
//   config.marks = ReadMarkConfig(root, context);
#ifndef SIDEBAND_DAEMON_CONFIG_MARK_CONFIG_H_
#define SIDEBAND_DAEMON_CONFIG_MARK_CONFIG_H_

#include <cstdint>

#include "daemon/config/config_context.h"

namespace sideband::daemon {

struct MarkConfig {
  uint32_t per_vm_per_second = 10;
  uint32_t kept = 1024;  // of each VM, the newest

  bool operator==(const MarkConfig&) const = default;
};

// `root` is the whole configuration. Without the section the defaults apply.
MarkConfig ReadMarkConfig(const YamlMap& root, const ConfigContext& context);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_MARK_CONFIG_H_
