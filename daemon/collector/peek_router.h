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

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "daemon/collector/device_peeks.h"
#include "daemon/snapshot/live_block.h"
#include "daemon/snapshot/live_reader.h"

namespace sideband::daemon {

// Thread-safe.
class PeekRouter final : public LiveReader {
 public:
  // `peeks` is used until Remove returns, and must be closed before.
  void Add(size_t device, DevicePeeks& peeks) ABSL_LOCKS_EXCLUDED(mu_);
  void Remove(size_t device) ABSL_LOCKS_EXCLUDED(mu_);

  absl::StatusOr<Ticket> Peek(size_t device, PeekQuery query, Done done) override ABSL_LOCKS_EXCLUDED(mu_);
  bool Cancel(const Ticket& ticket) override ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // Held shared while a peek is handed over, so that its collector stays.
  absl::Mutex mu_;
  absl::flat_hash_map<size_t, DevicePeeks*> devices_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_PEEK_ROUTER_H_
