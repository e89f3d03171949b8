// SPDX-License-Identifier: Apache-2.0
//
// A connection to a BMC's Redfish service: HTTPS/1.1 to one origin, one request at a time, and the session with its
// secrets. It can read, log in and log out, and nothing else.
//   BmcConnection connection(io.get_executor(), {.host = "192.0.2.10", .ca_file = "ca.pem", .user = "sideband",
//                                                .password_file = "bmc.password"});
//   connection.Ask({.target = "/redfish/v1/"}, [&](BmcAnswer answer) { Use(answer); });
#ifndef SIDEBAND_DAEMON_BMC_BMC_CONNECTION_H_
#define SIDEBAND_DAEMON_BMC_BMC_CONNECTION_H_

#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace sideband::daemon {

struct BmcRequest {
  enum class Method : uint8_t {
    kGet,
    kLogIn,   // POST to `target`, the collection of sessions; the connection keeps the token
    kLogOut,  // DELETE of the session; without one, an answer 204 at once
  };
  Method method = Method::kGet;
  std::string target;  // the path, with or without the configuration's prefix
};

struct BmcAnswer {
  // The error of DNS, TCP, TLS, HTTP's framing, a bound, the time-out, or a file of the login: one line without
  // secrets. The rest is then empty. UNAVAILABLE: the network; DEADLINE_EXCEEDED: the time-out; FAILED_PRECONDITION:
  // the certificate, or a file; DATA_LOSS: an answer that is not HTTP, or too large, or redirects too often or to
  // another origin; INVALID_ARGUMENT: a target with spaces or control characters; CANCELLED: Close(); INTERNAL: a
  // request is under way.
  absl::Status status;
  int code = 0;      // HTTP's
  std::string body;  // of an answer to kGet, at most kBodyMax
  // How long a 429 or 503 asks to wait; at most an hour.
  std::optional<absl::Duration> retry_after;
  int requests = 1;  // that were sent: more with redirects, or on a second connection; 0: none
};

// A GET follows up to three redirects within the origin. It is sent once more where the BMC has closed the connection,
// which was kept from the request before, without a byte of an answer; a login and a logout are not.
//
// An answer 401 to a GET changes nothing: the caller sends kLogIn again, which forgets the old session first.
//
// All calls, and the destructor, come from `executor`, which runs one handler at a time: a strand, or an io_context
// with one thread. Its io_context outlives the connection. Names are resolved by the one thread that each io_context
// has for that; addresses need none.
class BmcConnection {
 public:
  static constexpr size_t kBodyMax = 4 << 20;

  struct Options {
    std::string host;  // a name or an address, without brackets
    uint16_t port = 443;
    std::string prefix;   // of all paths, such as "/hmc"
    std::string ca_file;  // PEM, read for each TLS connection; not used with `pin`
    // SHA-256 of the SubjectPublicKeyInfo (DER) of the server's own certificate, whose name, dates and issuer then do
    // not matter.
    std::optional<std::array<uint8_t, 32>> pin;
    // The password is read at each login. Instead of both, a token that was made elsewhere: kLogIn reads it, and
    // answers 200 without a request; kLogOut only forgets it. The files are regular ones that other users may not
    // access.
    std::string user, password_file, session_token_file;
    absl::Duration timeout = absl::Seconds(15);  // of a whole request: name, connection, redirects and body
  };

  BmcConnection(boost::asio::any_io_executor executor, Options options);
  // Ends a request under way, whose `done` is not called. A session is not logged out.
  ~BmcConnection();
  BmcConnection(const BmcConnection&) = delete;
  BmcConnection& operator=(const BmcConnection&) = delete;

  // One request at a time: the next one not before `done`, which is called once, later, by the executor. It may ask,
  // and destroy the connection.
  void Ask(BmcRequest request, std::function<void(BmcAnswer)> done);
  // Since the answer to a login, until the next one or a logout is sent.
  bool has_session() const;
  // Ends the request under way with CANCELLED. The session stays.
  void Abort();
  // Ends the request under way, and all later ones, with CANCELLED. Wipes the token without logging out.
  void Close();

 private:
  class Impl;
  const std::shared_ptr<Impl> impl_;  // shared with the operations under way
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BMC_BMC_CONNECTION_H_
