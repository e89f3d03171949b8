// SPDX-License-Identifier: Apache-2.0
//
// One client of the gate: the handshake, then bytes both ways between client and gRPC, checked by the frame guard.
//   const auto connection = MakeGateConnection(id, io, {.fd = fd, .address = AddressName(address)}, context);
//   if (connection != nullptr) connection->Run();
#ifndef SIDEBAND_DAEMON_LISTEN_GATE_CONNECTION_H_
#define SIDEBAND_DAEMON_LISTEN_GATE_CONNECTION_H_

#include <openssl/types.h>

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "absl/strings/string_view.h"
#include "daemon/base/clock.h"
#include "daemon/identity/identity.h"
#include "daemon/listen/connection_table.h"
#include "daemon/listen/frame_guard.h"
#include "daemon/listen/gate.h"
#include "daemon/listen/listener_tls.h"
#include "daemon/listen/throttle.h"
#include "daemon/listen/tls_peer.h"

namespace sideband::daemon {

// A client's connection as a byte stream, over TLS or plain. Non-blocking: an operation that cannot proceed returns the
// readiness to wait for, and is then to be retried.
// Not thread-safe. The link does not own the socket, which must be non-blocking and outlive the link. The writing
// thread must block or ignore SIGPIPE.
class ByteLink {
 public:
  enum class Outcome {
    kDone,
    kWantsRead,
    kWantsWrite,
    kEnded,  // the peer closed, or an error occurred; only closing remains
  };
  struct Result {
    Outcome outcome = Outcome::kDone;
    size_t bytes = 0;  // for kDone: at least 1 after Read or Write; else 0
  };

  // The server side of TLS. nullptr if memory is exhausted.
  static std::unique_ptr<ByteLink> OverTls(int fd, SSL_CTX& context);
  static std::unique_ptr<ByteLink> Plain(int fd);
  virtual ~ByteLink() = default;

  // Done at once for a plain link.
  virtual Outcome Handshake() = 0;
  virtual Result Read(std::span<char> buffer) = 0;
  // Writes at least one byte of `bytes`, which must not be empty.
  virtual Result Write(absl::string_view bytes) = 0;
  // Ends the sending direction (TLS close_notify, FIN). Does not wait.
  virtual void Shutdown() = 0;
  // nullptr for a plain link.
  virtual const SSL* tls() const = 0;
};

// The owner of the connections. Called on the connection's executor; must be thread-safe.
class GateConnectionOwner {
 public:
  using Id = ConnectionTable::Id;

  virtual ~GateConnectionOwner() = default;
  // The peer has sent its first bytes.
  virtual void OnSpeaks(Id id) = 0;
  // The handshake failed or timed out.
  virtual void OnHandshakeFailed(Id id) = 0;
  // The handshake is complete. Returns whether the connection may stay.
  virtual bool MayStay(Id id, const ConnectionTable::Holder& holder) = 0;
  // Whether a stream is open.
  virtual void SetBusy(Id id, bool busy) = 0;
  // The connection's address has too many streams. Returns whether an older connection of that address makes room.
  virtual bool MakeRoom(Id id) = 0;
  // Connects to gRPC. Returns the gate's end, owned by the caller; nullopt if that failed.
  virtual std::optional<int> Attach(Id id, const Credentials& credentials) = 0;
  // The connection is being closed for `reason`, a breach's name.
  virtual void OnBreach(Id id, const Credentials& credentials, absl::string_view reason) = 0;
  // The connection is destroyed.
  virtual void OnEnd(Id id) = 0;
};

// The dependencies that all connections share; they must outlive the connections.
struct GateConnectionContext {
  const FrameGuard::Limits& frames;
  const GateTimeouts& timeouts;
  const ConnectionLimits& limits;
  HolderThrottle& throttle;
  GateConnectionOwner& owner;
  const Clock& clock;
  const ListenerTls* tls;  // nullptr without a network listener
};

// An accepted socket.
struct AcceptedClient {
  int fd = -1;
  std::string address;                     // AddressName(); empty on a Unix socket
  std::optional<uint32_t> local_operator;  // on a Unix socket: the uid of the peer
};

// Keeps itself alive while an operation is pending. Thread-safe.
class GateConnection {
 public:
  virtual ~GateConnection() = default;
  virtual void Run() = 0;
  // Once idle, ends with a GOAWAY frame that contains `words`, at the boundary of a frame; before gRPC is attached,
  // closes at once.
  virtual void Retire(absl::string_view words) = 0;
  // A call has shown the identity: it is throttled as such from now on, no longer as its address.
  virtual void CountAs(const std::string& identity) = 0;
  // Retires the connection where its certificate no longer holds or it has reached its maximum age: when its streams
  // have ended, or after GateTimeouts::streams. To be called every second.
  virtual void CheckStanding() = 0;
  // Closes the socket at once.
  virtual void Abort() = 0;
};

// `io` must be run by one thread. Takes ownership of `client.fd` in any case. nullptr if memory or descriptors are
// exhausted.
std::shared_ptr<GateConnection> MakeGateConnection(ConnectionTable::Id id, boost::asio::io_context& io,
                                                   AcceptedClient client, GateConnectionContext context);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_LISTEN_GATE_CONNECTION_H_
