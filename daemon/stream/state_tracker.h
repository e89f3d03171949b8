// SPDX-License-Identifier: Apache-2.0
//
// What a stream's reader knows of the state, and in what the present state differs. It holds the identity of each item
// and a number for its content.
//   for (;;) {
//     const sideband::v1::StateChange change = tracker.Next("gpu0", items);
//     if (change.items_size() == 0) break;
//     Send(change);
//   }
#ifndef SIDEBAND_DAEMON_STREAM_STATE_TRACKER_H_
#define SIDEBAND_DAEMON_STREAM_STATE_TRACKER_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// Not thread-safe.
class StateTracker {
 public:
  // Of one message; a device of thousands of contexts needs several.
  static constexpr int kItemsMax = 1000;

  // From now on Repeat() has every item once more.
  void BeginRound() { ++round_; }
  // The next differences between what was sent of the device and `present`, which are its items; none: there is none.
  // They are then sent.
  sideband::v1::StateChange Next(const std::string& device, const std::vector<sideband::v1::StateItem>& present);
  // Of what is as it was sent, the next that was not sent in this round; none: there is none.
  sideband::v1::StateChange Repeat(const std::string& device, const std::vector<sideband::v1::StateItem>& present);
  // Takes the items as those that the reader has.
  void Adopt(const std::string& device, const std::vector<sideband::v1::StateItem>& present);
  // Takes nothing as sent.
  void Clear();

  // Of what was sent of all devices; equal for equal content, in one run of the daemon.
  uint64_t digest() const { return digest_; }

 private:
  struct Sent {
    uint64_t content = 0;
    uint64_t round = 0;  // in which it was sent last; 0: it was not
    uint64_t visit = 0;  // at which it existed last
  };
  // The serialized identity, and which of several items of this identity.
  using Key = std::pair<std::string, int>;
  using Items = std::map<Key, Sent>;

  Sent& SentOf(Items& items, const sideband::v1::StateItem& item, Key& key);
  void Set(const Key& key, uint64_t content, Sent& sent);
  void AddGone(Items& items, sideband::v1::StateChange& change);

  std::map<std::string, Items> devices_;
  uint64_t round_ = 1;
  uint64_t visit_ = 0;
  uint64_t digest_ = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_STREAM_STATE_TRACKER_H_
