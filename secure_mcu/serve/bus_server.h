// SPDX-License-Identifier: Apache-2.0
//
// Serves a virtual bus on a Unix socket (proto/smbus/bus_frame.h): to several controllers, one transaction at a time,
// and read-only to monitors.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto server, BusServer::Listen("/run/sideband/gpu0.sock", bus, elapsed));
//   while (!stop) server->ServeFor(absl::Milliseconds(10));
#ifndef SIDEBAND_SECURE_MCU_SERVE_BUS_SERVER_H_
#define SIDEBAND_SECURE_MCU_SERVE_BUS_SERVER_H_

#include <poll.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/base/bytes.h"
#include "proto/smbus/bus_frame.h"
#include "proto/smbus/transfer.h"
#include "secure_mcu/serve/unix_listener.h"

namespace sideband::mcu {

// The monitors of a virtual bus (proto/smbus/bus_frame.h). Each monitor receives every transaction, through a
// bounded queue of its own. The bus never waits for a monitor. Not thread-safe.
class BusMonitors {
 public:
  // The limit of a monitor's queue. After a transaction that did not fit, transactions are dropped until half of the
  // queue has been sent.
  static constexpr size_t kQueueBytesMax = 1 << 20;

  BusMonitors() = default;
  ~BusMonitors();
  BusMonitors(const BusMonitors&) = delete;
  BusMonitors& operator=(const BusMonitors&) = delete;

  // Takes ownership of a non-blocking socket. Queues `before`, then the start of monitoring.
  void Add(int fd, Bytes before, uint64_t now_us);
  size_t size() const { return monitors_.size(); }

  void Publish(const smbus::BusRecord& record);

  // Appends one entry per monitor.
  void AppendPolls(std::vector<pollfd>& polls) const;
  // `polls` are the entries of AppendPolls after the wait; monitors added since have none. Sends queued records, and
  // closes the connections of monitors that have disconnected or sent anything.
  void Serve(std::span<const pollfd> polls);

 private:
  struct Monitor {
    int fd;
    Bytes queue;
    uint64_t lost = 0;  // transactions dropped since the last queued one
  };

  static void Queue(Monitor& monitor, ByteSpan record);
  static void QueueLoss(Monitor& monitor);
  // Returns false if the connection must be closed.
  static bool Send(Monitor& monitor);

  std::vector<Monitor> monitors_;
};

// Not thread-safe.
class BusServer {
 public:
  // The limit of all connections, monitors included.
  static constexpr size_t kControllersMax = 64;
  // The time since the server's start.
  using Elapsed = std::function<absl::Duration()>;

  // ALREADY_EXISTS if a server answers at `path` or `path` is no socket. The socket of a dead server is replaced. The
  // destructor removes the socket. Beside it the file is made that programs lock (smbus::LockPathOf), which stays.
  // `bus` must outlive the server.
  static absl::StatusOr<std::unique_ptr<BusServer>> Listen(const std::string& path, smbus::Bus& bus, Elapsed elapsed);
  ~BusServer();
  BusServer(const BusServer&) = delete;
  BusServer& operator=(const BusServer&) = delete;

  // Waits for transactions and serves them until `timeout` has passed or a signal has arrived. Disconnects a controller
  // that sends a malformed frame, does not read its results, or dies on a bus that simulates it. Also returns once
  // `wake`, a descriptor that others serve, is readable; -1: there is none.
  void ServeFor(absl::Duration timeout, int wake = -1);

 private:
  struct Controller {
    int fd;        // -1: taken over by the monitors
    Bytes input;   // an incomplete frame
    Bytes output;  // results that the socket has not accepted yet
  };

  BusServer(std::unique_ptr<UnixListener> listener, smbus::Bus& bus, Elapsed elapsed)
      : listener_(std::move(listener)), bus_(bus), elapsed_(std::move(elapsed)) {}

  bool HasRoom() const { return controllers_.size() + monitors_.size() < kControllersMax; }
  uint64_t NowUs() const { return static_cast<uint64_t>(absl::ToInt64Microseconds(elapsed_())); }
  void Accept();
  smbus::TransferResult ExecuteAndShow(const smbus::Transfer& transfer);
  // Hands the controller's connection over to the monitors.
  void MakeMonitor(Controller& controller);
  // Each returns false if the controller must be disconnected.
  bool Receive(Controller& controller);
  bool ServeFrames(Controller& controller);
  bool Send(Controller& controller);

  const std::unique_ptr<UnixListener> listener_;
  smbus::Bus& bus_;
  const Elapsed elapsed_;
  std::vector<Controller> controllers_;
  BusMonitors monitors_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_BUS_SERVER_H_
