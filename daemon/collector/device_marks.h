// SPDX-License-Identifier: Apache-2.0
//
// The bookmarks that callers ask of one device: they wait here until the device's collector is between two collections.
//   DeviceMarks marks(device, session, {store, metrics, clock, wake});
//   const absl::Status asked = marks.Ask({.scope = mark.scope, .bookmark = 17}, done);
//   marks.RunNext(is_readable);      // on the collector's thread
#ifndef SIDEBAND_DAEMON_COLLECTOR_DEVICE_MARKS_H_
#define SIDEBAND_DAEMON_COLLECTOR_DEVICE_MARKS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "daemon/base/clock.h"
#include "daemon/collector/bus_share.h"
#include "daemon/mailbox/clock_reader.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/marks/mark.h"
#include "daemon/metrics/collection_metrics.h"
#include "daemon/snapshot/store.h"

namespace sideband::daemon {

// Ask and Close are thread-safe; RunNext is for the thread that uses the session.
class DeviceMarks {
 public:
  // Of one VM: others' marks are not felt.
  static constexpr size_t kWaitingMax = 16;
  // Of the bus's time, for marks and what snapshots then have of them; each VM of the device has an equal part, whether
  // others mark or not.
  static constexpr double kBusShare = 0.2;

  struct Parts {
    const Store& store;
    CollectionMetrics& metrics;
    const Clock& clock;
    std::function<void()> wake;  // called after each accepted order; must not block
  };

  // `session` and the parts must outlive it.
  DeviceMarks(size_t device, MailboxSession& session, Parts parts)
      : device_(device), reader_(session), parts_(std::move(parts)) {}

  // As BookmarkSink::Ask; RESOURCE_EXHAUSTED also, with the time of a retry, if the VM's part of the bus is used up.
  // UNAVAILABLE after Close.
  absl::Status Ask(const BookmarkOrder& order, BookmarkSink::Done done) ABSL_LOCKS_EXCLUDED(mu_);
  // Answers all that wait with UNAVAILABLE, and all that ask from now on.
  void Close() ABSL_LOCKS_EXCLUDED(mu_);
  // Runs the first order that waits; returns false if none does. If the last collection has failed, `is_readable` is
  // false, and the answer is UNAVAILABLE.
  bool RunNext(bool is_readable) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Waiting {
    BookmarkOrder order;
    BookmarkSink::Done done;
  };
  std::optional<Waiting> Take() ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status Charge(uint16_t vm, const DeviceSnapshot& newest) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::StatusOr<uint64_t> Run(const BookmarkOrder& order);
  void Answer(const Waiting& waiting, const absl::StatusOr<uint64_t>& requested_ns) const;

  const size_t device_;
  ClockReader reader_;
  const Parts parts_;
  absl::Mutex mu_;
  bool is_closed_ ABSL_GUARDED_BY(mu_) = false;
  std::map<uint16_t, std::deque<Waiting>> waiting_ ABSL_GUARDED_BY(mu_);  // by VM; none is empty
  std::map<uint16_t, BusShare> shares_ ABSL_GUARDED_BY(mu_);              // by VM
  uint16_t last_ ABSL_GUARDED_BY(mu_) = 0;                                // the VM whose order ran last
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_DEVICE_MARKS_H_
