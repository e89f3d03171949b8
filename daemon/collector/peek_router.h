// SPDX-License-Identifier: Apache-2.0
//
// Leads peeks to the collectors of their devices, which come and go with reloads.
//   PeekRouter router;
//   router.Add(device, peeks);
//   const absl::StatusOr<LiveReader::Ticket> ticket = router.Peek(device, query, done);
//   router.Remove(device);
#ifndef SIDEBAND_DAEMON_COLLECTOR_PEEK_ROUTER_H_
#define SIDEBAND_DAEMON_COLLECTOR_PEEK_ROUTER_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "daemon/collector/device_directory.h"
#include "daemon/collector/device_peeks.h"
#include "daemon/snapshot/live_block.h"
#include "daemon/snapshot/live_reader.h"

namespace sideband::daemon {

// Thread-safe.
class PeekRouter final : public LiveReader {
 public:
  // `peeks` is used until Remove returns, and must be closed before.
  void Add(size_t device, DevicePeeks& peeks) { devices_.Add(device, peeks); }
  void Remove(size_t device) { devices_.Remove(device); }

  absl::StatusOr<Ticket> Peek(size_t device, PeekQuery query, Done done) override;
  bool Cancel(const Ticket& ticket) override;

 private:
  DeviceDirectory<DevicePeeks> devices_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_PEEK_ROUTER_H_
