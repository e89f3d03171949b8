// SPDX-License-Identifier: Apache-2.0
//
// The levels at which events are counted: the device, its VMs, their contexts, and the hypervisor on each slice without
// a resident. A VM's counts include its contexts', the device's its VMs' and the hypervisor's, so a sum over two levels
// may count twice (docs/design/telemetry.md, "Levels").
//   if (LevelOf(block) == Level::kVm) Use(block.vm);
#ifndef SIDEBAND_DAEMON_SNAPSHOT_LEVEL_H_
#define SIDEBAND_DAEMON_SNAPSHOT_LEVEL_H_

#include <cstddef>
#include <cstdint>

#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

enum class Level : uint8_t { kDevice = 0, kVm = 1, kContext = 2, kHost = 3 };

struct LevelRow {
  Level level;
  const char* name;  // in the names of metrics and in queries
};

inline constexpr LevelRow kLevels[] = {
    {Level::kDevice, "device"}, {Level::kVm, "vm"}, {Level::kContext, "context"}, {Level::kHost, "host"}};

constexpr size_t IndexOf(Level level) { return static_cast<size_t>(level); }
constexpr const char* NameOf(Level level) { return kLevels[IndexOf(level)].name; }

constexpr Level LevelOf(const mailbox::BlockHeader& block) {
  if (block.vm == mailbox::kHypervisorVm) return IsHostBlock(block) ? Level::kHost : Level::kDevice;
  return block.context == mailbox::kNoContext ? Level::kVm : Level::kContext;
}

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SNAPSHOT_LEVEL_H_
