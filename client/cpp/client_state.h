// SPDX-License-Identifier: Apache-2.0
//
// The state of a Client: a connection, and calls whose answers become values. The state of a Stream: a subscription
// over gRPC.
//   SIDEBAND_ASSIGN_OR_RETURN(auto connection, Connection::Open(config, absl::Seconds(10)));
//   ClientState state(std::move(connection));
//   const auto convert = [](const v1::MarkResponse& response, Bounds& bounds) {
//     return ValueOf(response.mark(), bounds);
//   };
//   const Result<Mark> mark = state.Call(&client::TelemetryClient::Mark, request, convert);
#ifndef SIDEBAND_CLIENT_CPP_CLIENT_STATE_H_
#define SIDEBAND_CLIENT_CPP_CLIENT_STATE_H_

#include <memory>
#include <random>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/cpp/snapshot_values.h"
#include "client/cpp/subscription.h"
#include "client/lib/cancellation.h"
#include "client/lib/channel.h"
#include "client/lib/telemetry_client.h"
#include "sideband/error.h"
#include "sideband/stream.h"

namespace sideband::library {

// The daemon's services over a connection that follows the files of its credentials.
// Thread-safe. Must outlive the clients that it returns.
class Connection {
 public:
  // Reads and checks the files, without connecting. `deadline` is that of a call.
  static absl::StatusOr<std::unique_ptr<Connection>> Open(client::ClientConfig config, absl::Duration deadline);

  // The client by the files as they are now; by those before while these cannot be used.
  std::shared_ptr<client::TelemetryClient> Telemetry() ABSL_LOCKS_EXCLUDED(mu_);

  // After a call that was UNAVAILABLE: the next one connects again at once, and not when gRPC thinks it right.
  void Forget(const std::shared_ptr<client::TelemetryClient>& failed) ABSL_LOCKS_EXCLUDED(mu_);

  const client::ClientConfig& config() const { return config_; }

 private:
  Connection(client::ClientConfig config, absl::Duration deadline);

  absl::Status Renew(const client::FileStamps& stamps) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const client::ClientConfig config_;
  const absl::Duration deadline_;
  client::Cancellation cancellation_;  // never cancelled
  absl::Mutex mu_;
  client::FileStamps stamps_ ABSL_GUARDED_BY(mu_);
  std::shared_ptr<client::TelemetryClient> telemetry_ ABSL_GUARDED_BY(mu_);
  bool is_forgotten_ ABSL_GUARDED_BY(mu_) = false;
};

// Thread-safe.
class ClientState {
 public:
  explicit ClientState(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}

  const client::ClientConfig& config() const { return connection_->config(); }

  // `convert` makes the value of a response; what is out of its bounds is the call's error.
  template <typename Request, typename Response, typename Convert>
  auto Call(absl::StatusOr<Response> (client::TelemetryClient::*method)(const Request&), const Request& request,
            Convert convert) -> Result<decltype(convert(std::declval<const Response&>(), std::declval<Bounds&>()))> {
    const std::shared_ptr<client::TelemetryClient> telemetry = connection_->Telemetry();
    const absl::StatusOr<Response> response = (*telemetry.*method)(request);
    if (absl::IsUnavailable(response.status())) connection_->Forget(telemetry);
    if (!response.ok()) return ErrorOf(response.status());
    Bounds bounds;
    auto value = convert(*response, bounds);
    if (bounds.status().ok()) return value;
    return ErrorOf(absl::DataLossError(absl::StrCat(config().address, ": ", bounds.status().message())));
  }

 private:
  const std::unique_ptr<Connection> connection_;
};

// The same as Stream.
class StreamState {
 public:
  StreamState(client::ClientConfig config, StreamOptions options);

  absl::StatusOr<StreamItem> Next() { return subscription_.Next(); }
  const std::string& resume_token() const { return subscription_.resume_token(); }
  void Cancel() { cancellation_.Cancel(); }

 private:
  absl::StatusOr<std::unique_ptr<ResponseSource>> Open(const v1::SubscribeRequest& request);
  Subscription::Environment MakeEnvironment(const StreamOptions& options);

  const client::ClientConfig config_;
  client::Cancellation cancellation_;
  client::FileStamps stamps_;  // of the present connection
  std::mt19937 random_;
  Subscription subscription_;
};

}  // namespace sideband::library

#endif  // SIDEBAND_CLIENT_CPP_CLIENT_STATE_H_
