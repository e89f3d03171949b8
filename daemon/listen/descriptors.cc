// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/descriptors.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <string>

#include "proto/base/steady_time.h"

namespace sideband::daemon {
namespace {

constexpr size_t kConnectionsMax = 512, kHandshakesMax = 128, kPerIdentityMax = 64;
// The daemon's own: standard streams, listeners, event queues of Asio and gRPC, the audit log, a file being read, and a
// reserve.
constexpr size_t kOwnFiles = 28;
// A bus and its capture file.
constexpr size_t kFilesPerDevice = 2;
constexpr size_t kFilesPerGrpcConnection = 3;
// The descriptors of all connections at the limits above.
constexpr size_t kFilesOfAll =
    kConnectionsMax + kHandshakesMax + kFilesPerGrpcConnection * kConnectionsMax + kHandshakesMax;
constexpr absl::Duration kLogInterval = absl::Seconds(10);

// `of` scaled down by the ratio of the available to the needed descriptors.
size_t Share(size_t of, size_t files, size_t at_least) {
  return std::max(at_least, files >= kFilesOfAll ? of : of * files / kFilesOfAll);
}

}  // namespace

ConnectionBudget BudgetConnections(size_t files, size_t devices) {
  const size_t taken = kOwnFiles + kFilesPerDevice * devices;
  const size_t left = files > taken ? files - taken : 0;
  ConnectionBudget budget{.http = Share(kConnectionsMax, left, 4),
                          .http_handshakes = Share(kHandshakesMax, left, 2),
                          .grpc = Share(kConnectionsMax, left, 4),
                          .grpc_handshakes = Share(kHandshakesMax, left, 2)};
  // At most half of the connections, so that one identity cannot take them all.
  budget.per_identity = std::clamp<size_t>(budget.http / 2, 2, kPerIdentityMax);
  return budget;
}

size_t FileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return limit.rlim_cur;
}

void DeferAccept(int listening_socket) {
  const int seconds = 1;
  setsockopt(listening_socket, IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, sizeof(seconds));
}

bool HasUnreadBytes(int socket) {
  char byte = 0;
  return recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

void DescriptorAlarm::OnExhausted(absl::string_view listener, ListenerMetrics& metrics) {
  metrics.DescriptorsExhausted(listener);
  const absl::Duration now = SteadyNow();
  if (now - logged_ < kLogInterval) return;
  logged_ = now;
  spdlog::error("{}: no file descriptor is left for a new connection", std::string(listener));
}

}  // namespace sideband::daemon
