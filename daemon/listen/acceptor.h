// SPDX-License-Identifier: Apache-2.0
//
// The two ways into a server: a TCP socket, its own or one that the service manager has opened for it, and a Unix
// socket for local operators.
//   Acceptor acceptor(io, "http", metrics);  // io: of Asio
//   SIDEBAND_RETURN_IF_ERROR(acceptor.Open(listener, operators, /*inherited=*/-1));
//   acceptor.Start({.client = ServeClient, .local_operator = ServeOperator, .exhausted = CloseAnIdleOne});
//   acceptor.Stop();
#ifndef SIDEBAND_DAEMON_LISTEN_ACCEPTOR_H_
#define SIDEBAND_DAEMON_LISTEN_ACCEPTOR_H_

#include <sys/types.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/config/listener_config.h"
#include "daemon/metrics/area_metrics.h"
#include "proto/base/file.h"

namespace sideband::daemon {

// Whether the socket has received bytes that are not yet read.
bool HasUnreadBytes(int socket);

// Reports the exhaustion of descriptors: counted each time, logged once in ten seconds. Not thread-safe.
class DescriptorAlarm {
 public:
  void OnExhausted(absl::string_view listener, ListenerMetrics& metrics);

 private:
  absl::Duration logged_ = -absl::InfiniteDuration();
};

struct NetworkListener {
  Descriptor socket;  // non-blocking, listening
  bool is_v6 = false;
  uint16_t port = 0;

  // Opens a socket on `address`, or takes `inherited`, a listening TCP socket, if that is not -1; `address` is then
  // only named in errors. `name` is that of the server in errors. UNAVAILABLE "NAME: cannot listen on ADDRESS: why".
  static absl::StatusOr<NetworkListener> Open(absl::string_view name, const ListenAddress& address, int inherited = -1);
};

// A listening Unix socket and its file. A stale file of an ended daemon is replaced; a socket in use, or any other
// file, is not.
class UnixSocketFile {
 public:
  struct Options {
    mode_t mode = 0600;             // independent of the umask; never wider, not even briefly
    std::optional<uint32_t> group;  // of the file; absent: the group of the process
  };
  // Binds and listens. UNAVAILABLE "PATH: why".
  static absl::StatusOr<std::unique_ptr<UnixSocketFile>> Listen(const std::string& path, const Options& options);
  // Closes the socket, and removes the file unless it was replaced.
  ~UnixSocketFile();
  UnixSocketFile(const UnixSocketFile&) = delete;
  UnixSocketFile& operator=(const UnixSocketFile&) = delete;

  // Non-blocking.
  int fd() const { return fd_.get(); }

 private:
  UnixSocketFile(Descriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  // Binds the socket to the path. Returns 0 or the errno value.
  int Bind();
  // Whether the path is a socket on which no process listens.
  bool IsStale() const;
  absl::Status Open(const Options& options);
  absl::Status Error(int error) const;

  const Descriptor fd_;
  const std::string path_;
  // The created file; 0 before.
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
};

// The peer of a Unix socket as reported by the kernel (SO_PEERCRED, SO_PEERGROUPS), and whether it may operate the
// daemon.
struct SocketPeer {
  int64_t process = 0;  // for the log only: the process may have ended, its pid been reused
  uint32_t user = 0;
  std::vector<uint32_t> groups;  // the primary group first, then the supplementary ones
};

// The credentials at the time of connect(). The error is that of getsockopt.
absl::StatusOr<SocketPeer> PeerOfSocket(int fd);

// True for root, the daemon's own user (`own_user`), and the configured users and groups.
bool MayOperate(const SocketPeer& peer, const LocalOperators& operators, uint32_t own_user);

// Descriptors held in reserve for the moment when the process cannot open more.
//
// Not thread-safe. Initially full, as far as descriptors are available.
class DescriptorReserve {
 public:
  DescriptorReserve() { Refill(); }

  // Closes the reserve, so that as many descriptors can be opened. False where it was empty.
  bool Release();
  // Fills the reserve as far as descriptors are available.
  void Refill();

 private:
  // The number of descriptors of a gRPC connection (gate.h).
  std::array<Descriptor, 3> kept_;
};

// Accepts connections of local operators on a Unix socket. Peers that are none are closed at once, before a byte is
// read. Start and Stop must be called from one thread.
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

// Open and Start are called once, before `io` runs; then port() and protocol() by any thread, Stop by one at a time.
// Stop comes first, and `io` has ended, when it is destroyed.
class Acceptor {
 public:
  // Who serves what has come in. Called until Stop: `client` and `exhausted` by one thread of `io` at a time,
  // `local_operator` on a thread of its own. The callee owns `fd`, which is non-blocking.
  struct Handlers {
    // Over TCP, without delay for small packets: gRPC, which sees a Unix socket, could not set that itself.
    std::function<void(int fd)> client;
    LocalListener::OnConnection local_operator;
    std::function<void()> exhausted;  // no descriptor was left for a client: one is to be closed at once
  };

  // `name` is that of the server in metrics, the log and errors. `io` and `metrics` must outlive the acceptor.
  Acceptor(boost::asio::io_context& io, std::string name, ListenerMetrics& metrics);
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  // UNAVAILABLE "NAME: cannot listen on ADDRESS: why". `inherited` as for NetworkListener::Open. Clients wait until
  // Start.
  absl::Status Open(const ListenerConfig& listener, const LocalOperators& operators, int inherited);
  void Start(Handlers handlers);
  // Accepts no more. The handlers may still be called once, by a thread of `io`.
  void Stop();

  // The TCP socket's port, or 0 without one, and its version of IP.
  uint16_t port() const { return port_; }
  boost::asio::ip::tcp protocol() const { return protocol_; }

 private:
  absl::Status OpenNetwork(const ListenerConfig& listener, int inherited);
  void AwaitClients();
  void AcceptClients();
  void OnError(int error);

  const std::string name_;
  ListenerMetrics& metrics_;
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
