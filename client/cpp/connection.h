// SPDX-License-Identifier: Apache-2.0
//
// The daemon's services over a connection that follows the files of its credentials.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto connection, Connection::Open(config, absl::Seconds(10)));
//   const std::shared_ptr<client::TelemetryClient> telemetry = connection->Telemetry();
#ifndef SIDEBAND_CLIENT_CPP_CONNECTION_H_
#define SIDEBAND_CLIENT_CPP_CONNECTION_H_

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/lib/cancellation.h"
#include "client/lib/config.h"
#include "client/lib/credential_stamps.h"
#include "client/lib/telemetry_client.h"

namespace sideband::library {

// Thread-safe. Must outlive the clients that it returns.
class Connection {
 public:
  // Reads and checks the files, without connecting. `deadline` is that of a call.
  static absl::StatusOr<std::unique_ptr<Connection>> Open(client::ClientConfig config, absl::Duration deadline);

  // By the files as they are now; by those before while these cannot be used.
  std::shared_ptr<client::TelemetryClient> Telemetry() ABSL_LOCKS_EXCLUDED(mu_);

  // After a call that was UNAVAILABLE: the next one connects anew at once, and not when gRPC thinks it right.
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

}  // namespace sideband::library

#endif  // SIDEBAND_CLIENT_CPP_CONNECTION_H_
