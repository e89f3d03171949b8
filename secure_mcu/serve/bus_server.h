// SPDX-License-Identifier: Apache-2.0
//
// Serves a virtual bus on a Unix socket (proto/smbus/bus_frame.h), to several controllers, one transaction at a time.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto server, BusServer::Listen("/run/sideband/gpu0.sock", bus));
//   while (!stop) server->ServeFor(absl::Milliseconds(10));
#ifndef SIDEBAND_SECURE_MCU_SERVE_BUS_SERVER_H_
#define SIDEBAND_SECURE_MCU_SERVE_BUS_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/base/bytes.h"
#include "proto/smbus/bus.h"

namespace sideband::mcu {

// Not thread-safe.
class BusServer {
 public:
  static constexpr size_t kControllersMax = 64;

  // ALREADY_EXISTS where somebody answers on `path`; a socket that a dead server left behind is replaced. The socket is
  // removed by the destructor. `bus` must outlive the server.
  static absl::StatusOr<std::unique_ptr<BusServer>> Listen(const std::string& path, smbus::Bus& bus);
  ~BusServer();
  BusServer(const BusServer&) = delete;
  BusServer& operator=(const BusServer&) = delete;

  // Waits for transactions and serves them until `timeout` has passed or a signal has come. A controller that sends
  // anything but a frame, does not read its results, or dies on a bus that simulates it, is cut off.
  void ServeFor(absl::Duration timeout);

 private:
  struct Controller {
    int fd;
    Bytes input;   // of a frame that is not complete yet
    Bytes output;  // of a result that the socket did not take yet
  };

  BusServer(std::string path, int listener, smbus::Bus& bus) : path_(std::move(path)), listener_(listener), bus_(bus) {}

  void Accept();
  // Each returns false where the controller must be cut off.
  bool Receive(Controller& controller);
  bool ServeFrames(Controller& controller);
  bool Send(Controller& controller);

  const std::string path_;
  const int listener_;
  smbus::Bus& bus_;
  std::vector<Controller> controllers_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_BUS_SERVER_H_
