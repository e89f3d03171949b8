// SPDX-License-Identifier: Apache-2.0
//
// The triggers that operators ask of one device: they wait here until the device's collector is between two
// collections.
//   DeviceTriggers triggers(session, wake);
//   const absl::Status asked = triggers.Ask(mailbox::TriggerStep::kOnce, 0, done);
//   triggers.RunNext(is_readable);   // on the collector's thread
#ifndef SIDEBAND_DAEMON_COLLECTOR_DEVICE_TRIGGERS_H_
#define SIDEBAND_DAEMON_COLLECTOR_DEVICE_TRIGGERS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "daemon/mailbox/clock_reader.h"
#include "daemon/mailbox/mailbox_session.h"
#include "proto/mailbox/extension.h"

namespace sideband::daemon {

// Ask and Close are thread-safe; RunNext is for the thread that uses the session.
class DeviceTriggers {
 public:
  static constexpr size_t kWaitingMax = 16;
  // Called once, on the collector's thread, or within Close: the result as of MailboxSession::Trigger (SELECT: 0),
  // CANCELLED if the collector is stopped meanwhile, or UNAVAILABLE.
  using Done = std::function<void(const absl::StatusOr<uint32_t>& number)>;

  // `session` must outlive it; `wake` is called after each accepted request and must not block.
  DeviceTriggers(MailboxSession& session, std::function<void()> wake)
      : session_(session), clocks_(session), wake_(std::move(wake)) {}

  // Does not block. After an error `done` is not called: RESOURCE_EXHAUSTED if kWaitingMax wait, UNAVAILABLE after
  // Close.
  // `argument` is START's period, or SELECT's domains.
  absl::Status Ask(mailbox::TriggerStep step, uint64_t argument, Done done) ABSL_LOCKS_EXCLUDED(mu_);
  // Answers all that wait with UNAVAILABLE, and all that ask from now on.
  void Close() ABSL_LOCKS_EXCLUDED(mu_);
  // Runs the first request that waits; returns false if none does. If the last collection has failed, `is_readable` is
  // false, and the answer is UNAVAILABLE.
  bool RunNext(bool is_readable) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Request {
    mailbox::TriggerStep step;
    uint64_t argument = 0;
    Done done;
  };
  std::optional<Request> Take() ABSL_LOCKS_EXCLUDED(mu_);
  absl::StatusOr<uint32_t> Run(const Request& request);

  MailboxSession& session_;
  ClockReader clocks_;
  const std::function<void()> wake_;
  absl::Mutex mu_;
  bool is_closed_ ABSL_GUARDED_BY(mu_) = false;
  std::deque<Request> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_DEVICE_TRIGGERS_H_
