// SPDX-License-Identifier: Apache-2.0
//
// A stream over several connections: what Stream does, without gRPC and without clocks of its own.
//   Subscription subscription(options, std::move(environment));
//   absl::StatusOr<StreamItem> item = subscription.Next();
//   for (; item.ok(); item = subscription.Next()) Use(*item);
#ifndef SIDEBAND_CLIENT_CPP_SUBSCRIPTION_H_
#define SIDEBAND_CLIENT_CPP_SUBSCRIPTION_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cpp/snapshot_values.h"
#include "client/lib/telemetry_client.h"
#include "sideband/snapshot.h"
#include "sideband/stream.h"
#include "sideband/time.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::library {

// Delays before attempts to connect: they double up to a bound, and each is shortened at random, so that the clients of
// a daemon that restarts do not come back at once.
//
// Not thread-safe.
class Backoff {
 public:
  struct Options {
    // 0 < min ≤ max.
    absl::Duration min;
    absl::Duration max;
  };

  // `random` returns numbers from 0 to below 1.
  Backoff(Options options, std::function<double()> random)
      : options_(options), random_(std::move(random)), next_(options.min) {}

  // More than half of the present delay, and at most that.
  absl::Duration Next() {
    const absl::Duration delay = next_ * (1 - random_() / 2);
    next_ = std::min(2 * next_, options_.max);
    ++attempts_;
    return delay;
  }

  void Reset() {
    next_ = options_.min;
    attempts_ = 0;
  }

  // The number of delays since the last Reset().
  uint32_t attempts() const { return attempts_; }

 private:
  const Options options_;
  const std::function<double()> random_;
  absl::Duration next_;
  uint32_t attempts_ = 0;
};

// Holds each snapshot of a stream against the one before: what the API promises of counters, generations and times.
//
// Not thread-safe. Memory: the counts of the newest snapshot of each device, kDevicesMax at most.
class Plausibility {
 public:
  // DATA_LOSS that says what contradicts what: a count that falls within a boot and a generation, a generation or a
  // device's clock that goes back within a boot, too many devices. `is_whole`: all scopes of the device are there, so
  // what is absent has ended; otherwise only those that have changed.
  //
  // Not held to it: estimates, and the device's own row beside confidential VMs, which a daemon that restarts may sum
  // up again.
  absl::Status Check(const Snapshot& snapshot, bool is_whole);

 private:
  struct Life {
    uint32_t generation = 0;
    std::vector<std::pair<std::string, uint64_t>> counts;
  };
  using Lives = std::unordered_map<std::string, Life>;
  struct Device {
    uint64_t boot_id = 0;
    Duration reference_time{};
    Lives lives;  // by ScopeKey()
  };

  static absl::Status CheckRow(const ScopeCounters& row, const Lives& before);
  static Life LifeOf(const ScopeCounters& row);

  std::map<std::string, Device> devices_;
};

// One connection of a stream, as Subscription needs it: SubscribeCall of client/lib/telemetry_client.h, or a script in
// tests.
//
// Like SubscribeCall, whose comments hold.
class ResponseSource {
 public:
  using Outcome = client::SubscribeCall::Outcome;

  virtual ~ResponseSource() = default;
  virtual Outcome Read(absl::Duration patience, v1::SubscribeResponse& response) = 0;
  virtual absl::Status Finish() = 0;
};

// Remembers what a stream has had before a loss of the connection, and whether the next connection accounts for it. A
// daemon says so for each device (Resumed, Gap); if it does not, as an older one, a gap is reported in its place.
//
// Not thread-safe. Grows by the devices of the stream, which Plausibility bounds.
class Resumption {
 public:
  // `has_token`: the stream goes on where one of another process ended, of which nothing else is known.
  Resumption(StreamKind kind, bool has_token) : kind_(kind), all_are_open_(has_token) {}

  // The connection was lost: each device is open until something accounts for it.
  void Lost();

  // The daemon accounts for a device, or for all (empty name).
  void AccountedFor(const std::string& device);

  // Whether the snapshot is the last one before the loss, sent again as the present state. It accounts for the device.
  bool IsRepeat(const Snapshot& snapshot);

  // The gap before something of a device, which the daemon has not accounted for; it does now.
  std::optional<Gap> GapBefore(const std::string& device, std::optional<Time> time);
  // The gap before something of no device, or of several: a change, or the end of the present state.
  std::optional<Gap> GapBeforeAny();

  // The caller has had this.
  void Had(const Snapshot& snapshot);
  void Had(const std::string& device, std::optional<Time> time);
  void HadChange() { has_had_change_ = true; }

 private:
  struct Device {
    uint64_t boot_id = 0;
    // Absent: it had sensors alone.
    std::optional<uint32_t> snapshot_id;
    std::optional<Time> time;
    bool is_open = false;
  };

  const StreamKind kind_;
  bool all_are_open_;
  bool has_had_change_ = false;
  std::map<std::string, Device> devices_;
};

// Not thread-safe.
class Subscription {
 public:
  // The functions' objects must outlive the subscription.
  struct Environment {
    // The prefix of errors that are found here.
    std::string peer;
    // Connects. An error that is not remote (rpc_status.h) is of the configuration's files.
    std::function<absl::StatusOr<std::unique_ptr<ResponseSource>>(const v1::SubscribeRequest&)> open;
    std::function<void(absl::Duration)> wait;
    std::function<bool()> is_cancelled;
    // Whether the files of the credentials have changed since open().
    std::function<bool()> has_new_credentials;
    // From 0 to below 1.
    std::function<double()> random;
  };

  // The options are checked (CheckOptions).
  Subscription(StreamOptions options, Environment environment);

  // The same as Stream::Next().
  absl::StatusOr<StreamItem> Next();
  // The same as Stream::resume_token().
  const std::string& resume_token() const { return token_; }

  // The least patience for the first message of a connection, which includes making it.
  static constexpr absl::Duration kFirstMessagePatience = absl::Seconds(20);

 private:
  struct Queued {
    StreamItem item;
    // The response's token, with its last item: until then the one before holds.
    std::optional<std::string> token;
  };

  // Waits, connects and reads until there is an item, or the end.
  absl::Status Advance();
  absl::Status Open();
  absl::Status Read();
  absl::Duration Patience() const;
  // The connection has ended: goes on with an item, or ends the stream.
  absl::Status Lose(const absl::Status& ended);
  bool MayConnectAgain(const absl::Status& ended) const;

  absl::Status Take(const v1::SubscribeResponse& response);
  void NoteOpen(const v1::SubscribeResponse& response);
  absl::Status CheckSequence(uint64_t sequence);
  absl::Status TakeContent(const v1::SubscribeResponse& response, Bounds& bounds);
  absl::Status TakeUpdate(const v1::SubscribeResponse& response, Bounds& bounds);
  void TakeSensors(const v1::SubscribeResponse& response, Bounds& bounds);
  void TakeChange(const v1::SubscribeResponse& response, Bounds& bounds);
  void TakeSync(const v1::SubscribeResponse& response);
  void Push(StreamItem item) { queue_.push_back({std::move(item), std::nullopt}); }
  void PushGap(std::optional<Gap> gap);
  absl::Status Contradiction(const absl::Status& status) const;

  const StreamOptions options_;
  const Environment environment_;
  const absl::Duration heartbeat_;
  Backoff backoff_;
  Plausibility plausibility_;
  Resumption resumption_;
  std::unique_ptr<ResponseSource> source_;
  std::deque<Queued> queue_;
  std::string token_;
  absl::Status ended_;                   // why the stream is over
  std::optional<absl::Duration> delay_;  // before the next attempt to connect
  absl::Duration waited_;                // since the last end that was not of a daemon that starts
  bool was_open_ = false;                // of the stream: a message was received
  bool is_lost_ = false;                 // nothing was received since the loss of the connection
  bool is_resumed_ = false;              // this connection: its present state is not sent whole
  // The newest number of this connection; absent before the first message, and 0 if the daemon numbers none.
  std::optional<uint64_t> sequence_;
};

}  // namespace sideband::library

#endif  // SIDEBAND_CLIENT_CPP_SUBSCRIPTION_H_
