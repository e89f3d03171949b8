// SPDX-License-Identifier: Apache-2.0
//
// The gate between the network and gRPC: accepts connections, terminates TLS, bounds HTTP/2 (frame_guard.h), and passes
// the bytes to gRPC over a local socket pair, whose name identifies the caller of each call. See README.md.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto gate, Gate::Listen({.listener = config.grpc.listener}, clock, metrics));
//   gate->Start([&](int fd) { host.Serve(fd); }, on_breach);
//   const std::optional<Credentials> peer = gate->CredentialsOf(call.peer());
//   gate->StopAccepting();
//   gate->Stop();
#ifndef SIDEBAND_DAEMON_LISTEN_GATE_H_
#define SIDEBAND_DAEMON_LISTEN_GATE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/config/config.h"
#include "daemon/identity/identity.h"
#include "daemon/listen/frame_guard.h"
#include "daemon/listen/throttle.h"
#include "daemon/listen/tls_peer.h"
#include "daemon/metrics/area_metrics.h"

namespace sideband::daemon {

// A socket pair between the gate and gRPC, with a name that identifies the connection of each call.
//
// The gate's end is bound to an abstract Unix address, which gRPC's end reports as its peer (getpeername). The kernel
// carries the name, so no client can forge it. Unlike a descriptor number, a name is never reused.
// Thread-safe.
class PairNames {
 public:
  // Chooses 128 random bits, so that no other process on the host can have bound a name.
  PairNames();
  // "sideband-RANDOM-NUMBER"
  std::string Next();

 private:
  std::string prefix_;
  std::atomic<uint64_t> next_ = 1;
};

// Both descriptors are non-blocking and close-on-exec; the caller must close them.
struct NamedPair {
  int gate_end = -1;
  int server_end = -1;
};

// The error of the system call; RESOURCE_EXHAUSTED where no descriptor is left. The name must not be bound already.
absl::StatusOr<NamedPair> MakeNamedPair(const std::string& name);

// The value of grpc::ServerContext::peer() for a connection of that name.
std::string PeerOf(const std::string& name);

// The timeouts of a connection.
struct GateTimeouts {
  absl::Duration handshake = absl::Seconds(10);
  absl::Duration settings = absl::Seconds(10);  // from the handshake to the acknowledgement
  absl::Duration write = absl::Seconds(30);     // until the peer reads a part of an answer
  absl::Duration farewell = absl::Seconds(1);   // to write the last frame, then for the peer to close
  absl::Duration streams = absl::Seconds(5);    // until streams end on a connection that is due
};

// Thread-safe. The functions given to Start are called on the gate's threads until Stop returns.
class Gate {
 public:
  struct Options {
    ListenerConfig listener;
    LocalOperators local_operators;
    int inherited_socket = -1;  // listening TCP socket, owned by the gate from then on; -1: opens `listener.listen`
    int threads = 2;            // of connections; each has its own, so that a handshake delays a part of them
    // Beyond these limits connections are evicted: daemon/listen/connection_table.h.
    size_t connections_max = 512;
    size_t handshakes_max = 128;
    size_t connections_per_identity_max = 64;
    FrameGuard::Limits frames;
    HolderThrottle::Limits throttle;
    ConnectionLimits limits;
    GateTimeouts timeouts;
    absl::Duration stop_grace = absl::Seconds(1);  // for the last bytes of answers
  };
  // Passes a connection to gRPC, which owns `fd` from then on.
  using ServeFunction = std::function<void(int fd)>;
  // A connection was closed for exceeding a bound. Called at most once in ten seconds per holder.
  using BreachFunction = std::function<void(const Credentials& peer, absl::string_view reason)>;

  // INVALID_ARGUMENT where a TLS file is not what it should be; UNAVAILABLE "grpc: cannot listen on ADDRESS: why".
  // `clock` and `metrics` must outlive the gate. Connections wait until Start().
  static absl::StatusOr<std::unique_ptr<Gate>> Listen(Options options, const Clock& clock, ListenerMetrics& metrics);
  // Stops.
  ~Gate();

  void Start(ServeFunction serve, BreachFunction on_breach);
  // The TCP port; 0 where the gate listens on a Unix socket only.
  uint16_t port() const;
  // The credentials of an open connection, by gRPC's peer(); nullopt for an unknown peer.
  std::optional<Credentials> CredentialsOf(absl::string_view peer) const;
  // To be called when a token has authenticated a call: counts the connection for `identity` instead of its address.
  // False where that identity has its maximum of connections, all of them busy; the connection is then closed.
  bool CountAs(absl::string_view peer, const std::string& identity);

  // Reloads the certificate files if they have changed (daemon/listen/listener_tls.h), and closes connections whose
  // certificate no longer holds or that have reached their maximum age. To be called every second. ReloadCertificates
  // reads the files even where they look unchanged.
  void CheckCertificates();
  void ReloadCertificates();

  // Runs `task` on a thread of the gate, if one is free before Stop() returns.
  void Post(std::function<void()> task);
  // Accepts no more, and attaches no more connections to gRPC. Open connections continue.
  void StopAccepting();
  // Waits up to stop_grace for connections that gRPC has closed to send their last bytes, aborts the rest, and joins
  // the threads. Idempotent.
  void Stop();

 private:
  class Impl;
  explicit Gate(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_GATE_H_
