// SPDX-License-Identifier: Apache-2.0
//
// SubscribeRequest.suppress_redundant: which scopes of an update have changed since the last one. It holds a number for
// each scope in place of the last update.
//   RowDigests before = DigestsOf(first);
//   RowDigests now = DigestsOf(update);
//   RemoveUnchanged(before, now, update);   // what is left has changed
//   before = std::move(now);
#ifndef SIDEBAND_DAEMON_STREAM_REDUNDANCY_H_
#define SIDEBAND_DAEMON_STREAM_REDUNDANCY_H_

#include <cstdint>
#include <vector>

#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// Of an update's scopes, in their order: one of the scope itself and one of its counts, state and flags. Equal for
// equal content, in one run of the daemon; two that differ are equal by chance, once in 2^64.
struct RowDigest {
  uint64_t scope = 0;
  uint64_t content = 0;
  bool operator==(const RowDigest&) const = default;
};
using RowDigests = std::vector<RowDigest>;

RowDigests DigestsOf(const sideband::v1::Snapshot& update);

// Removes the scopes of `update`, whose digests are `now`, that `before` has with the same content.
void RemoveUnchanged(const RowDigests& before, const RowDigests& now, sideband::v1::Snapshot& update);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_STREAM_REDUNDANCY_H_
