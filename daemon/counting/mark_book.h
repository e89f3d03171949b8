// SPDX-License-Identifier: Apache-2.0
//
// The marks that the daemon keeps, of all devices. A mark is an instant of a VM's or a context's work that a caller has
// asked for, with what it had counted then. On the mailbox it is a bookmark (proto/mailbox/snapshot.h). A mark begins
// when it is asked for, and is read from the snapshots that follow.
//   SIDEBAND_ASSIGN_OR_RETURN(const uint32_t bookmark, book.Begin(device, mark, clock.Steady()));
//   book.Requested(device, bookmark, requested_ns);                      // the device has taken it
//   book.Read(device, raw, {{host_time, host_time_error}, rate_max});    // of each snapshot
//   for (const Mark& mark : book.Of(device, vm)) Show(mark);
#ifndef SIDEBAND_DAEMON_COUNTING_MARK_BOOK_H_
#define SIDEBAND_DAEMON_COUNTING_MARK_BOOK_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/snapshot/topology.h"
#include "proto/base/uuid.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {

// Which counters a mark is of: those of one block, as long as they count on.
struct MarkScope {
  uint64_t boot_id = 0;
  uint16_t vm = 0;
  uint16_t context = mailbox::kNoContext;
  uint32_t generation = 0;
  bool operator==(const MarkScope&) const = default;
};

struct Mark {
  enum class State : uint8_t {
    kPending,
    kRead,
    kLost,  // the device has it no longer
  };
  // The instant, by the host's clock.
  struct Instant {
    absl::Time time;
    absl::Duration error;  // to either side
  };

  uint64_t id = 0;  // from 1 on, per device and VM: others' marks do not show in it
  MarkScope scope;
  Uuid vm;                                   // of scope.vm
  std::shared_ptr<const Topology> topology;  // that scope and counters are of
  std::string label;
  absl::Duration begun;  // when it was asked for, by the host's steady clock
  State state = State::kPending;
  uint64_t requested_ns = 0;  // of the reference clock, as what follows
  // Known once a mark was read:
  uint64_t served_ns = 0;
  std::vector<uint64_t> counters;
  uint16_t flags = 0;  // of the row that it was read with
  std::optional<Instant> instant;
};

struct BookmarkOrder {
  MarkScope scope;
  uint32_t bookmark = 0;
};

// Thread-safe.
class BookmarkSink {
 public:
  // Called once, on the thread of the device or on the one that stops it: when it was asked for, as reference time in
  // ns; or an error as of ClockReader::Bookmark, UNAVAILABLE if nothing was asked of the device, also because the scope
  // is gone.
  using Done = std::function<void(const absl::StatusOr<uint64_t>& requested_ns)>;

  virtual ~BookmarkSink() = default;
  // Does not wait for the device. After an error `done` is not called: RESOURCE_EXHAUSTED if too many wait, UNAVAILABLE
  // if the device is no longer read.
  virtual absl::Status Ask(size_t device, const BookmarkOrder& order, Done done) = 0;
};

// The limits of one VM on one device.
struct MarkLimits {
  size_t per_second = 10;
  size_t kept = 1024;  // that were read, or lost
};

// When a snapshot was latched, by the host's clock.
struct LatchTime {
  Mark::Instant instant;
  // By how much the device's reference clock and the host's clock diverge in a time, at most.
  double rate_max = 0;
};

// Thread-safe. Its memory is that of the marks: eight bytes for each event of each, and the catalogues that were in
// force; of each VM that was ever marked on a device, until the device is forgotten.
class MarkBook {
 public:
  // Marks of a scope that were not read yet: the device keeps so many (proto/mailbox/snapshot.h).
  static constexpr size_t kPendingMax = 8;
  // A mark that a snapshot does not have so long after it was asked for was dropped by the device. A grid whose period
  // is longer serves no marks.
  static constexpr absl::Duration kServedWithin = absl::Minutes(1);

  // Values of bookmarks begin with `first`: those of an earlier run should not come again.
  explicit MarkBook(uint32_t first, const MarkLimits& limits = {}) : limits_(limits), next_(first) {}

  // Begins a mark with the scope, the VM, the topology and the label of `mark`. RESOURCE_EXHAUSTED with the time of a
  // retry (daemon/base/retry_after.h): kPendingMax marks of the scope are pending, or the VM's marks of a second are
  // used up. Returns the value of the bookmark.
  absl::StatusOr<uint32_t> Begin(size_t device, Mark mark, absl::Duration now) ABSL_LOCKS_EXCLUDED(mu_);
  // The device has taken it. nullopt: it was lost meanwhile.
  std::optional<Mark> Requested(size_t device, uint32_t bookmark, uint64_t requested_ns) ABSL_LOCKS_EXCLUDED(mu_);
  // The device has not taken it.
  void Drop(size_t device, uint32_t bookmark) ABSL_LOCKS_EXCLUDED(mu_);

  // Reads the marks that a snapshot has; those of scopes that are gone are lost.
  void Read(size_t device, const mailbox::Snapshot& raw, const LatchTime& latched) ABSL_LOCKS_EXCLUDED(mu_);
  void Forget(size_t device) ABSL_LOCKS_EXCLUDED(mu_);

  // Grows with each change of a mark.
  uint64_t changes() const ABSL_LOCKS_EXCLUDED(mu_);
  // Oldest first, without their counters.
  std::vector<Mark> Of(size_t device, const Uuid& vm) const ABSL_LOCKS_EXCLUDED(mu_);
  std::optional<Mark> Find(size_t device, const Uuid& vm, uint64_t id) const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Pending {
    Mark mark;
    bool is_requested = false;
  };
  struct OfVm {
    uint64_t marks = 0;
    std::deque<absl::Duration> begun;  // in the last second
    std::deque<Mark> done;             // read or lost; ascending in their ids
  };
  struct Device {
    std::map<uint32_t, Pending> pending;  // by the bookmark's value
    std::map<Uuid, OfVm> vms;
  };
  absl::Status CheckRate(Device& device, const Mark& mark, absl::Duration now) const;
  void Finish(Device& device, Mark mark) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const MarkLimits limits_;
  mutable absl::Mutex mu_;
  uint32_t next_ ABSL_GUARDED_BY(mu_);
  uint64_t changes_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<size_t, Device> devices_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COUNTING_MARK_BOOK_H_
