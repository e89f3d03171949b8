// SPDX-License-Identifier: Apache-2.0
//
// The listeners' budget of file descriptors, and the handling of their exhaustion.
//   const ConnectionBudget budget = BudgetConnections(FileLimit(), config.devices.size());
//   http.connections_max = budget.http;
#ifndef SIDEBAND_DAEMON_LISTEN_DESCRIPTORS_H_
#define SIDEBAND_DAEMON_LISTEN_DESCRIPTORS_H_

#include <cstddef>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/metrics/serving_metrics.h"

namespace sideband::daemon {

// The maximum numbers of connections of each server, after their handshake and in it.
struct ConnectionBudget {
  size_t http = 0;
  size_t http_handshakes = 0;
  size_t grpc = 0;  // three descriptors each; one in the handshake
  size_t grpc_handshakes = 0;
  size_t per_identity = 0;  // in each server
};

// At most 512 connections, of these 64 per identity, and 128 handshakes, in each server. Less where the process limit
// `files` does not suffice for them, the devices and the daemon's own descriptors. At least 4, 2 and 2: a limit that is
// far too low shows at accept.
ConnectionBudget BudgetConnections(size_t files, size_t devices);

// The process's limit of descriptors (RLIMIT_NOFILE).
size_t FileLimit();

// Makes the kernel withhold a connection until its peer has sent a byte, for at most a second: silent peers do not take
// the places of others. No effect where the system does not support it (TCP_DEFER_ACCEPT).
void DeferAccept(int listening_socket);

// Whether the socket has received bytes that are not yet read.
bool HasUnreadBytes(int socket);

// Reports the exhaustion of descriptors: counted each time, logged once in ten seconds. Not thread-safe.
class DescriptorAlarm {
 public:
  void OnExhausted(absl::string_view listener, ListenerMetrics& metrics);

 private:
  absl::Duration logged_ = -absl::InfiniteDuration();
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_DESCRIPTORS_H_
