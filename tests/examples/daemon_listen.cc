// SPDX-License-Identifier: Apache-2.0
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "daemon/base/retry_after.h"
#include "daemon/config/config.h"
#include "daemon/config/tls_files.h"
#include "daemon/gate/frame_guard.h"
#include "daemon/http/http_server.h"
#include "daemon/listen/acceptor.h"
#include "daemon/listen/connection_table.h"
#include "daemon/listen/descriptors.h"
#include "daemon/listen/holder_throttle.h"
#include "daemon/listen/listener_tls.h"
#include "daemon/listen/tls_context.h"
#include "daemon/listen/tls_peer.h"
#include "daemon/listen/token_bucket.h"
#include "daemon/listen/work_queue.h"
#include "daemon/metrics/serving_metrics.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

void ServeClient(int fd);
void ServeOperator(int fd, const SocketPeer& peer);
void CloseAnIdleOne();

absl::Status UseAcceptor(boost::asio::io_context& io, ListenerMetrics& metrics, const ListenerConfig& listener,
                         const LocalOperators& operators) {
  //@ daemon/listen/acceptor.h
  return absl::OkStatus();
}

void Close();
void Close(ConnectionTable::Id id);
void Refuse(absl::string_view reason);
void Serve(int fd);
void Serve(int fd, uint32_t user);

void UseConnectionTable(ConnectionTable& table, ConnectionTable::Id id) {
  //@ daemon/listen/connection_table.h
}

void UseDescriptors(const Config& config, HttpServer::Options& http) {
  //@ daemon/listen/descriptors.h
}

void UseHolderThrottle(HolderThrottle& throttle, const ConnectionTable::Holder& holder, FrameGuard& guard) {
  //@ daemon/listen/holder_throttle.h
}

absl::Status UseListenerTls(const Config& config, ListenerMetrics& metrics) {
  //@ daemon/listen/listener_tls.h
  return absl::OkStatus();
}

absl::Status UseTlsContext(const TlsFiles& files, const TlsServerConfig& config) {
  //@ daemon/listen/tls_context.h
  return absl::OkStatus();
}

void UseTlsPeer(const SSL* ssl, const ListenerTls& listener_tls, ConnectionLimits limits) {
  //@ daemon/listen/tls_peer.h
}

void UseTokenBucket(const Clock& clock) {
  //@ daemon/listen/token_bucket.h
}

void Answer();
void Reject(absl::Duration retry_after);

void UseWorkQueue(const Clock& clock) {
  //@ daemon/listen/work_queue.h
}

}  // namespace
}  // namespace sideband::daemon
