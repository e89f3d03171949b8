// SPDX-License-Identifier: Apache-2.0
//
// The marks that the daemon keeps, of all devices. A mark begins when it is asked for, and is read from the snapshots
// that follow.
//   SIDEBAND_ASSIGN_OR_RETURN(const uint32_t bookmark, book.Begin(device, mark, clock.Steady()));
//   book.Requested(device, bookmark, requested_ns);                      // the device has taken it
//   book.Read(device, topology, raw, {host_time, host_time_error});      // of each snapshot
//   for (const Mark& mark : book.Of(device)) Show(mark);
#ifndef SIDEBAND_DAEMON_MARKS_MARK_BOOK_H_
#define SIDEBAND_DAEMON_MARKS_MARK_BOOK_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/marks/mark.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// Of one VM on one device.
struct MarkLimits {
  size_t per_second = 10;
  size_t kept = 1024;
};

// Thread-safe. Its memory is that of the marks that are kept: eight bytes for each event of each.
class MarkBook {
 public:
  // Marks of a scope that were not read yet: the device keeps so many (proto/mailbox/bookmarks.h).
  static constexpr size_t kPendingMax = 8;
  // A mark that a snapshot does not have so long after it was asked for was dropped by the device. A grid's period is
  // shorter.
  static constexpr absl::Duration kServedWithin = absl::Minutes(1);

  // Values of bookmarks begin with `first`: those of an earlier run should not come again.
  explicit MarkBook(uint32_t first, const MarkLimits& limits = {}) : limits_(limits), next_(first) {}

  // Of `mark` the scope, the VM, the topology and the label are taken. RESOURCE_EXHAUSTED with the time of a retry
  // (daemon/base/retry_after.h): kPendingMax marks of the scope are
  // pending, or the VM's marks of a second are used up. Returns the
  // value of the bookmark.
  absl::StatusOr<uint32_t> Begin(size_t device, Mark mark, absl::Duration now) ABSL_LOCKS_EXCLUDED(mu_);
  // The device has taken it. nullopt: it was lost meanwhile.
  std::optional<Mark> Requested(size_t device, uint32_t bookmark, uint64_t requested_ns) ABSL_LOCKS_EXCLUDED(mu_);
  // The device has not taken it.
  void Drop(size_t device, uint32_t bookmark) ABSL_LOCKS_EXCLUDED(mu_);

  // Reads the marks that a snapshot has; those of scopes that are gone are lost. `latched` is when it was latched.
  void Read(size_t device, const mailbox::Snapshot& raw, const Mark::Instant& latched) ABSL_LOCKS_EXCLUDED(mu_);
  void Forget(size_t device) ABSL_LOCKS_EXCLUDED(mu_);

  // Oldest first, without their counters.
  std::vector<Mark> Of(size_t device) const ABSL_LOCKS_EXCLUDED(mu_);
  std::optional<Mark> Find(size_t device, const Uuid& vm, uint64_t id) const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Entry {
    uint32_t bookmark = 0;
    bool is_requested = false;
    Mark mark;
  };
  struct OfVm {
    uint64_t marks = 0;
    std::deque<absl::Duration> begun;  // in the last second
  };
  struct Device {
    std::deque<Entry> entries;  // in the order in which they began
    std::map<Uuid, OfVm> vms;
  };
  absl::Status CheckRate(Device& device, const Mark& mark, absl::Duration now) const;
  void MakeRoom(Device& device, const Uuid& vm) const;
  static void Miss(const mailbox::Snapshot& raw, Entry& entry);
  static Entry* FindPending(Device& device, uint32_t bookmark);
  static void Take(const mailbox::Snapshot& raw, const mailbox::ServedBookmark& served, const Mark::Instant& latched,
                   Mark& mark);

  const MarkLimits limits_;
  mutable absl::Mutex mu_;
  uint32_t next_ ABSL_GUARDED_BY(mu_);
  std::map<size_t, Device> devices_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_MARKS_MARK_BOOK_H_
