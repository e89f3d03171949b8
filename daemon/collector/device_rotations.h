// SPDX-License-Identifier: Apache-2.0
//
// The turns that callers ask of one device: they wait here until the device's collector is between two collections.
//   DeviceRotations rotations(device, session, {store, clock, wake});
//   const absl::Status asked = rotations.Ask(order, done);
//   rotations.RunNext(is_readable);   // on the collector's thread
#ifndef SIDEBAND_DAEMON_COLLECTOR_DEVICE_ROTATIONS_H_
#define SIDEBAND_DAEMON_COLLECTOR_DEVICE_ROTATIONS_H_

#include <cstddef>
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
#include "daemon/counting/rotation_sink.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/mailbox/rotation_writer.h"
#include "daemon/snapshot/store.h"

namespace sideband::daemon {

// Ask and Close are thread-safe; RunNext is for the thread that uses the session.
class DeviceRotations {
 public:
  static constexpr size_t kWaitingMax = 16;
  static constexpr size_t kWaitingOfAskerMax = 4;
  // The share of the bus's time that orders may use, in equal parts for those who ask. An order is charged as expected
  // when it is accepted, and as it was when it has run.
  static constexpr double kBusShare = 0.05;
  static constexpr absl::Duration kExpected = absl::Milliseconds(20);  // some 800 bytes at 400 kHz

  struct Parts {
    const Store& store;
    const Clock& clock;
    std::function<void()> wake;  // called after each accepted order; must not block
  };

  // `session` and the parts must outlive it.
  DeviceRotations(size_t device, MailboxSession& session, Parts parts)
      : device_(device), parts_(std::move(parts)), writer_(session) {}

  // As RotationSink::Ask; UNAVAILABLE after Close. The time of a retry is in whole seconds, so that it tells an asker
  // little about others.
  absl::Status Ask(RotationOrder order, RotationSink::Done done) ABSL_LOCKS_EXCLUDED(mu_);
  // Answers all that wait with UNAVAILABLE, and all that ask from now on.
  void Close() ABSL_LOCKS_EXCLUDED(mu_);
  // Runs the first order that waits; returns false if none does. If the last collection has failed, `is_readable` is
  // false, and the answer is UNAVAILABLE.
  bool RunNext(bool is_readable) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Waiting {
    RotationOrder order;
    RotationSink::Done done;
    FairShare::Charge charge;
  };
  absl::Status Enqueue(RotationOrder order, RotationSink::Done done) ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status CheckRoom(size_t asker) const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  std::optional<Waiting> Take() ABSL_LOCKS_EXCLUDED(mu_);
  void Settle(const FairShare::Charge& charge, absl::Duration actual) ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status Run(const RotationOrder& order);

  const size_t device_;
  const Parts parts_;
  RotationWriter writer_;
  absl::Mutex mu_;
  FairShare share_ ABSL_GUARDED_BY(mu_);
  bool is_closed_ ABSL_GUARDED_BY(mu_) = false;
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_DEVICE_ROTATIONS_H_
