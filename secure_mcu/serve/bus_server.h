// SPDX-License-Identifier: Apache-2.0
//
// Serves a virtual bus on a Unix socket (proto/smbus/bus_frame.h), to several controllers, one transaction at a time,
// and shows the transactions to who only watches (monitor_frame.h).
//   SIDEBAND_ASSIGN_OR_RETURN(const auto server, BusServer::Listen("/run/sideband/gpu0.sock", bus, elapsed));
//   while (!stop) server->ServeFor(absl::Milliseconds(10));
#ifndef SIDEBAND_SECURE_MCU_SERVE_BUS_SERVER_H_
#define SIDEBAND_SECURE_MCU_SERVE_BUS_SERVER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/base/bytes.h"
#include "proto/smbus/bus.h"
#include "secure_mcu/serve/bus_monitors.h"

namespace sideband::mcu {

// Not thread-safe.
class BusServer {
 public:
  // Monitors included.
  static constexpr size_t kControllersMax = 64;
  // The time since the server's start.
  using Elapsed = std::function<absl::Duration()>;

  // ALREADY_EXISTS where somebody answers on `path`; a socket that a dead server left behind is replaced. The socket is
  // removed by the destructor. `bus` must outlive the server.
  static absl::StatusOr<std::unique_ptr<BusServer>> Listen(const std::string& path, smbus::Bus& bus, Elapsed elapsed);
  ~BusServer();
  BusServer(const BusServer&) = delete;
  BusServer& operator=(const BusServer&) = delete;

  // Waits for transactions and serves them until `timeout` has passed or a signal has come. A controller that sends
  // anything but a frame, does not read its results, or dies on a bus that simulates it, is cut off.
  void ServeFor(absl::Duration timeout);

 private:
  struct Controller {
    int fd;        // -1: handed on
    Bytes input;   // of a frame that is not complete yet
    Bytes output;  // of a result that the socket did not take yet
  };

  BusServer(std::string path, int listener, smbus::Bus& bus, Elapsed elapsed)
      : path_(std::move(path)), listener_(listener), bus_(bus), elapsed_(std::move(elapsed)) {}

  bool HasRoom() const { return controllers_.size() + monitors_.size() < kControllersMax; }
  uint64_t NowUs() const { return static_cast<uint64_t>(absl::ToInt64Microseconds(elapsed_())); }
  void Accept();
  smbus::TransferResult ExecuteAndShow(const smbus::Transfer& transfer);
  // Its connection becomes a monitor's.
  void MakeMonitor(Controller& controller);
  // Each returns false where the controller must be cut off.
  bool Receive(Controller& controller);
  bool ServeFrames(Controller& controller);
  bool Send(Controller& controller);

  const std::string path_;
  const int listener_;
  smbus::Bus& bus_;
  const Elapsed elapsed_;
  std::vector<Controller> controllers_;
  BusMonitors monitors_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_BUS_SERVER_H_
