// SPDX-License-Identifier: Apache-2.0
//
// Marks: instants of a VM's or a context's work that a caller has asked for, with what it had counted then. On the
// mailbox they are bookmarks (proto/mailbox/snapshot.h).
#ifndef SIDEBAND_DAEMON_MARKS_MARK_H_
#define SIDEBAND_DAEMON_MARKS_MARK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/snapshot/topology.h"
#include "proto/base/uuid.h"
#include "proto/mailbox/catalog.h"

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
  // Of a mark that was read:
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

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_MARKS_MARK_H_
