// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/mark_config.h"

namespace sideband::daemon {
namespace {

constexpr uint64_t kPerSecondMax = 1000;
constexpr uint64_t kKeptMin = 16;  // more than can be pending
constexpr uint64_t kKeptMax = 65536;

}  // namespace

MarkConfig ReadMarkConfig(const YamlMap& root, const ConfigContext& context) {
  MarkConfig config;
  const auto map = context.Section(root, "marks", {"per_vm_per_second", "kept"});
  if (!map) return config;
  context.errors.Take(map->UintOr("per_vm_per_second", config.per_vm_per_second, 1, kPerSecondMax),
                      config.per_vm_per_second);
  context.errors.Take(map->UintOr("kept", config.kept, kKeptMin, kKeptMax), config.kept);
  return config;
}

}  // namespace sideband::daemon
