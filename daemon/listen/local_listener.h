// SPDX-License-Identifier: Apache-2.0
//
// Takes connections of local operators on a Unix socket, and hands each over to the protocol that speaks on it.
//   SIDEBAND_ASSIGN_OR_RETURN(auto local, LocalListener::Listen({.listener = "http", .path = path}, metrics));
//   local->Start([&](int fd, const SocketPeer& peer) { … });
//
// Whoever is no local operator is closed at once: no byte of theirs is read.
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
#include "daemon/metrics/self_metrics.h"

namespace sideband::daemon {

// Start and Stop are called from one thread.
class LocalListener {
 public:
  struct Options {
    std::string listener;  // its name in metrics, the log and errors
    std::string path;
    LocalOperators operators;
  };
  // Called on the listener's thread with a non-blocking connection, which is the callee's from then on, and who it is.
  using OnConnection = std::function<void(int fd, const SocketPeer& peer)>;

  // The file is 0660 where operators are configured, and of the first group among them; else 0600. UNAVAILABLE
  // "LISTENER: cannot listen on PATH: why". Connections wait until Start().
  static absl::StatusOr<std::unique_ptr<LocalListener>> Listen(Options options, SelfMetrics& metrics);
  // Stops.
  ~LocalListener();

  void Start(OnConnection on_connection);
  // Takes no more connections, removes the file, and waits for what is under way.
  void Stop();

 private:
  LocalListener(Options options, SelfMetrics& metrics, std::unique_ptr<UnixSocketFile> socket, int stop_event);

  void Run();
  // False once Stop() was called. Waits for a connection, or for `timeout_ms` where that is not negative.
  bool Wait(bool for_connection, int timeout_ms) const;
  // Who may enter.
  std::optional<SocketPeer> Admit(int fd);

  const Options options_;
  SelfMetrics& metrics_;
  std::unique_ptr<UnixSocketFile> socket_;
  const int stop_event_;
  OnConnection on_connection_;
  std::thread thread_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_LOCAL_LISTENER_H_
