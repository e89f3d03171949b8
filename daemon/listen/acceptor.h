// SPDX-License-Identifier: Apache-2.0
//
// The two ways into a server: a TCP socket with TLS, its own or one that the service manager has opened for it, and a
// Unix socket for local operators.
//   Acceptor acceptor(io, "http", metrics);  // io: of Asio
//   SIDEBAND_RETURN_IF_ERROR(acceptor.Open(listener, operators, /*inherited=*/-1, ApplicationProtocol::kAny));
//   acceptor.Start({.client = ServeClient, .local_operator = ServeOperator, .exhausted = CloseAnIdleOne});
//   acceptor.Stop();
#ifndef SIDEBAND_DAEMON_LISTEN_ACCEPTOR_H_
#define SIDEBAND_DAEMON_LISTEN_ACCEPTOR_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "daemon/config/listener_config.h"
#include "daemon/listen/descriptors.h"
#include "daemon/listen/listener_tls.h"
#include "daemon/listen/local_listener.h"
#include "daemon/metrics/listener_metrics.h"
#include "proto/base/descriptor.h"

namespace sideband::daemon {

struct NetworkListener {
  Descriptor socket;  // non-blocking, listening
  bool is_v6 = false;
  uint16_t port = 0;

  // Opens a socket on `address`, or takes `inherited`, a listening TCP socket, if that is not -1; `address` is then
  // only named in errors. `name` is that of the server in errors. UNAVAILABLE "NAME: cannot listen on ADDRESS: why".
  static absl::StatusOr<NetworkListener> Open(absl::string_view name, const ListenAddress& address, int inherited = -1);
};

// Open and Start are called once, before `io` runs; Stop and the accessors by any thread.
class Acceptor {
 public:
  // Who serves what has come in. Called until Stop: `client` and `exhausted` by one thread of `io` at a time,
  // `local_operator` on a thread of its own. The callee owns `fd`, which is non-blocking.
  struct Handlers {
    std::function<void(int fd)> client;  // over TCP, without delay for small packets
    LocalListener::OnConnection local_operator;
    std::function<void()> exhausted;  // no descriptor was left for a client: one is to be closed at once
  };

  // `name` is that of the server in metrics, the log and errors. `io` and `metrics` must outlive the acceptor.
  Acceptor(boost::asio::io_context& io, std::string name, ListenerMetrics& metrics);

  // INVALID_ARGUMENT where a TLS file is unreadable or invalid; UNAVAILABLE "NAME: cannot listen on ADDRESS: why".
  // Clients wait until Start.
  absl::Status Open(const ListenerConfig& listener, const LocalOperators& operators, int inherited,
                    ApplicationProtocol protocol);
  void Start(Handlers handlers);
  // Accepts no more. The handlers may still be called once, by a thread of `io`.
  void Stop();

  ListenerTls* tls() const { return tls_.get(); }  // nullptr without a TCP socket
  uint16_t port() const { return port_; }          // of TCP; 0 without
  boost::asio::ip::tcp protocol() const { return protocol_; }

 private:
  absl::Status OpenNetwork(const ListenerConfig& listener, int inherited, ApplicationProtocol protocol);
  void AwaitClients();
  void AcceptClients();
  void OnError(int error);

  const std::string name_;
  ListenerMetrics& metrics_;
  std::unique_ptr<ListenerTls> tls_;
  uint16_t port_ = 0;
  boost::asio::ip::tcp protocol_ = boost::asio::ip::tcp::v4();
  Handlers handlers_;
  // Used on its own strand only, and so are the two below.
  boost::asio::ip::tcp::acceptor socket_;
  boost::asio::steady_timer retry_;
  DescriptorAlarm descriptors_;
  std::unique_ptr<LocalListener> local_;  // nullptr without a Unix socket
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_ACCEPTOR_H_
