// SPDX-License-Identifier: Apache-2.0
//
// A stream over several connections: what Stream does, without gRPC and without clocks of its own.
//   Subscription subscription(options, std::move(environment));
//   absl::StatusOr<StreamItem> item = subscription.Next();
//   for (; item.ok(); item = subscription.Next()) Use(*item);
#ifndef SIDEBAND_CLIENT_CPP_SUBSCRIPTION_H_
#define SIDEBAND_CLIENT_CPP_SUBSCRIPTION_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cpp/backoff.h"
#include "client/cpp/bounds.h"
#include "client/cpp/plausibility.h"
#include "client/cpp/response_source.h"
#include "client/cpp/resumption.h"
#include "sideband/stream.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::library {

// Not thread-safe.
class Subscription {
 public:
  // What the functions use must outlive the subscription.
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

  // As Stream::Next().
  absl::StatusOr<StreamItem> Next();
  // As Stream::resume_token().
  const std::string& resume_token() const { return token_; }

  // The least patience for the first message of a connection, which includes making it.
  static constexpr absl::Duration kFirstMessagePatience = absl::Seconds(20);

 private:
  struct Queued {
    StreamItem item;
    // Of the response, with its last item: until then the one before holds.
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
  // Of this connection; absent before the first message, and 0 if the daemon numbers none.
  std::optional<uint64_t> sequence_;
};

}  // namespace sideband::library

#endif  // SIDEBAND_CLIENT_CPP_SUBSCRIPTION_H_
