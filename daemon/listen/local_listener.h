// SPDX-License-Identifier: Apache-2.0
//
// Accepts connections of local operators on a Unix socket, and passes each to the server's protocol.
//   SIDEBAND_ASSIGN_OR_RETURN(auto local, LocalListener::Listen({.listener = "http", .path = path}, metrics));
//   local->Start([&](int fd, const SocketPeer& peer) { Serve(fd, peer.user); });
//
// Peers that are not local operators are closed at once, before a byte is read.
#ifndef SIDEBAND_DAEMON_LISTEN_LOCAL_LISTENER_H_
#define SIDEBAND_DAEMON_LISTEN_LOCAL_LISTENER_H_

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/config/listener_config.h"
#include "daemon/metrics/listener_metrics.h"
#include "proto/base/descriptor.h"

namespace sideband::daemon {

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
  // The number of descriptors of a gRPC connection (daemon/gate).
  std::array<Descriptor, 3> kept_;
};

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
