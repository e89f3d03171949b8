// SPDX-License-Identifier: Apache-2.0
//
// The turns that callers ask of one device: they wait here until the device's collector is between two collections.
//   DeviceRotations rotations(device, session, store, wake);
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
#include "daemon/counting/rotation_sink.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/mailbox/rotation_writer.h"
#include "daemon/snapshot/store.h"

namespace sideband::daemon {

// Ask and Close are thread-safe; RunNext is for the thread that uses the session.
class DeviceRotations {
 public:
  static constexpr size_t kWaitingMax = 16;

  // `session` and `store` must outlive it; `wake` is called after each accepted order and must not block.
  DeviceRotations(size_t device, MailboxSession& session, const Store& store, std::function<void()> wake)
      : device_(device), store_(store), writer_(session), wake_(std::move(wake)) {}

  // As RotationSink::Ask; UNAVAILABLE after Close.
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
  };
  std::optional<Waiting> Take() ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status Run(const RotationOrder& order);

  const size_t device_;
  const Store& store_;
  RotationWriter writer_;
  const std::function<void()> wake_;
  absl::Mutex mu_;
  bool is_closed_ ABSL_GUARDED_BY(mu_) = false;
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_DEVICE_ROTATIONS_H_
