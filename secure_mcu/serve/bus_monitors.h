// SPDX-License-Identifier: Apache-2.0
//
// The monitors of a virtual bus (proto/smbus/monitor_frame.h). Each monitor receives every transaction, through a
// bounded queue of its own. The bus never waits for a monitor.
//   BusMonitors monitors;
//   monitors.Add(fd, {}, now_us);
//   monitors.Publish({now_us, transfer, result});
//   monitors.AppendPolls(polls);
//   poll(polls.data(), polls.size(), /*timeout=*/10);
//   monitors.Serve(polls);
#ifndef SIDEBAND_SECURE_MCU_SERVE_BUS_MONITORS_H_
#define SIDEBAND_SECURE_MCU_SERVE_BUS_MONITORS_H_

#include <poll.h>

#include <cstdint>
#include <span>
#include <vector>

#include "proto/base/bytes.h"
#include "proto/smbus/monitor_frame.h"

namespace sideband::mcu {

// Not thread-safe.
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

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_BUS_MONITORS_H_
