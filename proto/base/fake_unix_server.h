// SPDX-License-Identifier: Apache-2.0
//
// A server on a Unix stream socket, for tests of clients: it accepts one connection for each script, in order, runs the
// script on it, and closes it.
//   const FakeUnixServer server("bus.sock", {[](int fd) { SendGreeting(fd); }, [](int fd) { SendRubbish(fd); }});
//   const int socket = ConnectToUnixSocket(server.path);
#ifndef SIDEBAND_PROTO_BASE_FAKE_UNIX_SERVER_H_
#define SIDEBAND_PROTO_BASE_FAKE_UNIX_SERVER_H_

#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace sideband {

// The test fails if it cannot listen. Not thread-safe.
class FakeUnixServer {
 public:
  using Script = std::function<void(int fd)>;

  // Moves the process to the tests' temporary folder, in which the socket has the name `path`: that of a Unix socket
  // must be short. Scripts run in a thread of the server.
  FakeUnixServer(std::string path, std::vector<Script> scripts);
  // Waits for the last script to end: there must have been a connection for each.
  ~FakeUnixServer();
  FakeUnixServer(const FakeUnixServer&) = delete;
  FakeUnixServer& operator=(const FakeUnixServer&) = delete;

  const std::string path;

 private:
  int listener_;
  std::thread thread_;
};

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_FAKE_UNIX_SERVER_H_
