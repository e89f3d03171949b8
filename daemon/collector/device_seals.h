// SPDX-License-Identifier: Apache-2.0
//
// The exchanges of keys with a device that seals: they wait here until the device's collector is between two
// collections.
//   DeviceSeals seals(session, clock, wake);
//   const absl::Status asked = seals.Ask(vm, [](SealWriter* writer) { Answer(writer); });
//   seals.RunNext(is_readable);   // on the collector's thread
#ifndef SIDEBAND_DAEMON_COLLECTOR_DEVICE_SEALS_H_
#define SIDEBAND_DAEMON_COLLECTOR_DEVICE_SEALS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/collector/fair_share.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/mailbox/seal_writer.h"

namespace sideband::daemon {

// Ask and Close are thread-safe; RunNext is for the thread that uses the session.
class DeviceSeals {
 public:
  static constexpr size_t kWaitingMax = 16;
  static constexpr size_t kWaitingOfVmMax = 4;
  // The share of the bus's time that exchanges may use, in equal parts for the VMs, and what one is charged until it
  // has run.
  static constexpr double kBusShare = 0.1;
  static constexpr absl::Duration kExpected = absl::Milliseconds(10);

  // Called once, on the collector's thread, or within Close: with nullptr if the device cannot be reached.
  using Work = std::function<void(SealWriter* writer)>;

  // `session` and `clock` must outlive it; `wake` is called after each accepted work and must not block.
  DeviceSeals(MailboxSession& session, const Clock& clock, std::function<void()> wake)
      : writer_(session), clock_(clock), wake_(std::move(wake)) {}

  // Does not block. After an error the work is not called: RESOURCE_EXHAUSTED, with the time of a retry, if too much of
  // the VM or too much in all waits, or the bus time is used up; UNAVAILABLE after Close.
  absl::Status Ask(uint16_t vm, Work work) ABSL_LOCKS_EXCLUDED(mu_);
  // Ends all that waits, and all that is asked from now on.
  void Close() ABSL_LOCKS_EXCLUDED(mu_);
  // Runs the first work that waits; returns false if none does. If the last collection has failed, `is_readable` is
  // false.
  bool RunNext(bool is_readable) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Waiting {
    Work work;
    FairShare::Charge charge;
  };
  absl::Status Enqueue(uint16_t vm, Work work) ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status CheckRoom(uint16_t vm) const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  std::optional<Waiting> Take() ABSL_LOCKS_EXCLUDED(mu_);
  void Settle(const FairShare::Charge& charge, absl::Duration actual) ABSL_LOCKS_EXCLUDED(mu_);

  SealWriter writer_;
  const Clock& clock_;
  const std::function<void()> wake_;
  absl::Mutex mu_;
  FairShare share_ ABSL_GUARDED_BY(mu_);
  bool is_closed_ ABSL_GUARDED_BY(mu_) = false;
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_DEVICE_SEALS_H_
