// SPDX-License-Identifier: Apache-2.0
//
// A client's connection as a byte stream, over TLS or plain. Non-blocking: an operation that cannot proceed returns the
// readiness to wait for, and is then to be retried.
//   const auto link = ByteLink::OverTls(fd, *context);
//   const ByteLink::Result result = link->Read(buffer);
#ifndef SIDEBAND_DAEMON_GATE_BYTE_LINK_H_
#define SIDEBAND_DAEMON_GATE_BYTE_LINK_H_

#include <openssl/types.h>

#include <cstddef>
#include <memory>
#include <span>

#include "absl/strings/string_view.h"

namespace sideband::daemon {

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

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GATE_BYTE_LINK_H_
