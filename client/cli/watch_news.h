// SPDX-License-Identifier: Apache-2.0
//
// What of a stream has not been printed yet. Heartbeats repeat the present state, and may be the first to have a part
// of it; a stream that is opened again begins with snapshots that the last one had.
//   WatchNews news(/*interval=*/absl::ZeroDuration());
//   if (response.has_update() && news.Take(response)) Print(response.update());
//   if (response.has_change() && news.Narrow(response)) Print(response.change());
#ifndef SIDEBAND_CLIENT_CLI_WATCH_NEWS_H_
#define SIDEBAND_CLIENT_CLI_WATCH_NEWS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

// Not thread-safe. Holds the newest snapshot's number of each device, and of each item of the state its last content.
class WatchNews {
 public:
  // `interval` is that of the request; 0: the devices' own.
  explicit WatchNews(absl::Duration interval) : interval_(interval) {}

  // Whether the update is to be printed; it then counts as printed. Not the device's last one again; and of a heartbeat
  // none between two samples, if the interval leaves those out.
  bool Take(const v1::SubscribeResponse& response);

  // Removes from a heartbeat's change what was printed last of each item. Returns false if nothing is left.
  bool Narrow(v1::SubscribeResponse& response);

  // The whole state follows as if nothing was printed.
  void ForgetState() { state_.clear(); }

 private:
  struct Sample {
    uint64_t boot_id = 0;
    uint32_t snapshot_id = 0;
    uint64_t reference_time_ns = 0;

    bool operator==(const Sample&) const = default;
  };
  // What identifies an item, and which of several in one message that are alike in this.
  using Key = std::pair<std::string, int>;

  bool IsDue(const v1::SubscribeResponse& response, const Sample& last, const Sample& now) const;
  bool TakeItem(const Key& key, const v1::StateItem& item);

  const absl::Duration interval_;
  std::map<std::string, Sample> samples_;  // by device
  std::map<Key, std::string> state_;       // serialized
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_WATCH_NEWS_H_
