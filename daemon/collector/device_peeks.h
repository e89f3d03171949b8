// SPDX-License-Identifier: Apache-2.0
//
// The peeks of one device: servers ask, the device's collector answers between two collections.
//   DevicePeeks peeks(device, session, {store, metrics, clock, wake});
//   const absl::StatusOr<uint64_t> number = peeks.Ask(query, done);
//   peeks.AnswerNext(is_readable, due);   // on the collector's thread
#ifndef SIDEBAND_DAEMON_COLLECTOR_DEVICE_PEEKS_H_
#define SIDEBAND_DAEMON_COLLECTOR_DEVICE_PEEKS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/collector/peek_queue.h"
#include "daemon/mailbox/block_peeker.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/metrics/collection_metrics.h"
#include "daemon/snapshot/live_block.h"
#include "daemon/snapshot/live_reader.h"
#include "daemon/snapshot/store.h"

namespace sideband::daemon {

// Ask, Withdraw and Close are thread-safe; AnswerNext is for the thread that uses the session.
class DevicePeeks {
 public:
  struct Parts {
    const Store& store;
    CollectionMetrics& metrics;
    const Clock& clock;
    std::function<void()> wake;  // called after each accepted peek; must not block
  };

  // The device must be in the store. `session` and the parts must outlive this object.
  DevicePeeks(size_t device, MailboxSession& session, Parts parts);

  // As LiveReader::Peek; returns the number for Withdraw.
  absl::StatusOr<uint64_t> Ask(PeekQuery query, LiveReader::Done done);
  // As LiveReader::Cancel.
  bool Withdraw(uint64_t number);
  // Answers all that wait with UNAVAILABLE, and all that ask from now on.
  void Close() { queue_.Close(); }

  // Answers the peeks that have waited too long: to be called while the bus is used for something else.
  void GiveUpOverdue() { queue_.GiveUpOverdue(); }
  // Answers the first peek in the queue; returns false if none waits. `is_readable`: the last collection has
  // succeeded, so that the session knows the device; otherwise the answer is UNAVAILABLE. That, and UNIMPLEMENTED, use
  // no bus time, and are charged none. From the steady time `due` on a snapshot is due: a peek that is not read by then
  // waits again, after the question that is under way.
  bool AnswerNext(bool is_readable, absl::Duration due);

 private:
  absl::Status CheckReadable(bool is_readable) const;
  absl::StatusOr<uint64_t> Enqueue(PeekQuery query, LiveReader::Done done);
  // Reads the block and reports how long that took.
  void Answer(PeekQueue::Peek peek, absl::Duration due);

  const size_t device_;
  const Parts parts_;
  const std::string name_;
  BlockPeeker peeker_;
  PeekQueue queue_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_DEVICE_PEEKS_H_
