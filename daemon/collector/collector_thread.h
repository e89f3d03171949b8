// SPDX-License-Identifier: Apache-2.0
//
// The thread that reads one device at its interval for as long as the daemon runs. A device that is away is tried again
// at every interval; what changes between good and bad is logged once.
//   CollectorThread thread(device, "unix:/run/sideband/gpu0.sock", store, sealers, metrics, clock, on_first_snapshot);
//   thread.Stop();
#ifndef SIDEBAND_DAEMON_COLLECTOR_COLLECTOR_THREAD_H_
#define SIDEBAND_DAEMON_COLLECTOR_COLLECTOR_THREAD_H_

#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "daemon/base/clock.h"
#include "daemon/collector/device_collector.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/mailbox/register_port.h"
#include "daemon/transport/transport.h"

namespace sideband::daemon {

// Start and Stop from one thread; what it is given must outlive it.
class CollectorThread {
 public:
  CollectorThread(size_t device, std::unique_ptr<Transport> transport, uint8_t address, Store& store,
                  SealerSet& sealers, SelfMetrics& metrics, const Clock& clock);
  // Stops.
  ~CollectorThread();

  void Start();
  // Returns when the running collection, if any, has ended; no new one starts.
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Run();
  void Report(const absl::Status& status);
  // Until `duration` has passed or Stop() is called; whether to go on.
  bool WaitFor(absl::Duration duration) ABSL_LOCKS_EXCLUDED(mu_);

  const DeviceInfo& info_;
  const std::unique_ptr<Transport> transport_;
  RegisterPort port_;
  MailboxSession session_;
  DeviceCollector collector_;
  const Clock& clock_;
  std::string last_error_;  // empty after a good snapshot; used by the thread alone
  bool reported_ = false;   // likewise

  absl::Mutex mu_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_COLLECTOR_THREAD_H_
