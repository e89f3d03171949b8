// SPDX-License-Identifier: Apache-2.0
//
// The thread that reads one device at its interval for as long as the daemon runs. A device that is away is tried again
// at every interval; what changes between good and bad is logged once.
//   CollectorThread thread(device, "unix:/run/sideband/gpu0.sock", store, sealers, metrics, clock, on_first_snapshot);
//   thread.RequestStop();
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

// Start and Stop are called from one thread; what it is given must outlive it.
class CollectorThread {
 public:
  CollectorThread(size_t device, std::unique_ptr<Transport> transport, uint8_t address, Store& store,
                  SealerSet& sealers, SelfMetrics& metrics, const Clock& clock);
  // Stops.
  ~CollectorThread();

  void Start();
  // Does not wait: the running collection, if any, ends after the bus transaction that is under way, and no new one
  // starts. Of many devices that hang, all are asked before one is waited for.
  void RequestStop() ABSL_LOCKS_EXCLUDED(mu_);
  // Requests it, and waits for the end.
  void Stop();

 private:
  // The device's bus until a stop is requested: a device that hangs must not hold up the end with its retries.
  class Bus final : public Transport {
   public:
    Bus(Transport& transport, const CollectorThread& owner) : transport_(transport), owner_(owner) {}
    absl::StatusOr<smbus::TransferResult> Execute(const smbus::Transfer& transfer) override;
    size_t block_bytes_max() const override { return transport_.block_bytes_max(); }

    // From now on a collection may take kCollectionMax.
    void StartCollection() { deadline_ = owner_.clock_.Steady() + kCollectionMax; }

   private:
    Transport& transport_;
    const CollectorThread& owner_;
    absl::Duration deadline_ = absl::InfiniteDuration();
  };

  // Whatever length a device claims for its stream. A bus of 100 kHz carries 6 MB meanwhile.
  static constexpr absl::Duration kCollectionMax = absl::Minutes(10);

  void Run();
  bool IsStopping() const ABSL_LOCKS_EXCLUDED(mu_);
  void Report(const absl::Status& status);
  void ReportRestart();
  // Until `duration` has passed or Stop() is called; whether to go on.
  bool WaitFor(absl::Duration duration) ABSL_LOCKS_EXCLUDED(mu_);

  const size_t device_;
  const Store& store_;
  const DeviceInfo& info_;
  const std::unique_ptr<Transport> transport_;
  Bus bus_;
  RegisterPort port_;
  MailboxSession session_;
  DeviceCollector collector_;
  const Clock& clock_;
  std::string last_error_;  // empty after a good snapshot; used by the thread alone
  bool reported_ = false;   // likewise
  uint64_t boot_id_ = 0;    // of the newest snapshot; likewise

  mutable absl::Mutex mu_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_COLLECTOR_THREAD_H_
