// SPDX-License-Identifier: Apache-2.0
//
// Accepts connections of local operators on a Unix socket, and passes each to the server's protocol.
//   SIDEBAND_ASSIGN_OR_RETURN(auto local, LocalListener::Listen({.listener = "http", .path = path}, metrics));
//   local->Start([&](int fd, const SocketPeer& peer) { Serve(fd, peer.user); });
//
// Peers that are not local operators are closed at once, before a byte is read.
#ifndef SIDEBAND_DAEMON_LISTEN_LOCAL_LISTENER_H_
#define SIDEBAND_DAEMON_LISTEN_LOCAL_LISTENER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "daemon/config/local_operators.h"
#include "daemon/listen/socket_peer.h"
#include "daemon/listen/unix_socket_file.h"
#include "daemon/metrics/listener_metrics.h"
#include "proto/base/descriptor.h"

namespace sideband::daemon {

// Start and Stop must be called from one thread.
class LocalListener {
 public:
  struct Options {
    std::string listener;  // the name in metrics, the log and errors
    std::string path;
    LocalOperators operators;
  };
  // Called on the listener's thread with a non-blocking socket, which the callee owns, and its peer.
  using OnConnection = std::function<void(int fd, const SocketPeer& peer)>;

  // The file is 0660 where operators are configured, and of the first group among them; else 0600. UNAVAILABLE
  // "LISTENER: cannot listen on PATH: why". Connections wait until Start().
  static absl::StatusOr<std::unique_ptr<LocalListener>> Listen(Options options, ListenerMetrics& metrics);
  // Stops.
  ~LocalListener();

  void Start(OnConnection on_connection);
  // Stops accepting, waits for a callback under way, and removes the file. Idempotent.
  void Stop();

 private:
  LocalListener(Options options, ListenerMetrics& metrics, std::unique_ptr<UnixSocketFile> socket,
                Descriptor stop_event);

  void Run();
  // Waits for a connection (or, without `for_connection`, only for Stop()), for at most `timeout_ms` milliseconds where
  // that is not negative. False once Stop() was called.
  bool Wait(bool for_connection, int timeout_ms) const;
  // The peer of the connection where it is a local operator; else nullopt, and the rejection is counted.
  std::optional<SocketPeer> Admit(int fd);

  const Options options_;
  ListenerMetrics& metrics_;
  std::unique_ptr<UnixSocketFile> socket_;
  const Descriptor stop_event_;
  OnConnection on_connection_;
  std::thread thread_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_LOCAL_LISTENER_H_
