// SPDX-License-Identifier: Apache-2.0
//
// Who watches a virtual bus (proto/smbus/monitor_frame.h): each is sent every transaction, from a queue of its own that
// is bounded. Whatever a monitor does, the bus does not wait for it.
//   BusMonitors monitors;
//   monitors.Add(fd, {}, now_us);
//   monitors.Publish({now_us, transfer, result});
//   monitors.AppendPolls(polls);  …poll…  monitors.Serve(polls);
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
  // What waits for one monitor. Once a transaction did not fit, none is queued until half of it has been sent.
  static constexpr size_t kQueueBytesMax = 1 << 20;

  BusMonitors() = default;
  ~BusMonitors();
  BusMonitors(const BusMonitors&) = delete;
  BusMonitors& operator=(const BusMonitors&) = delete;

  // Takes a socket that does not block and closes it in the end. It is sent `before`, then the start of monitoring.
  void Add(int fd, Bytes before, uint64_t now_us);
  size_t size() const { return monitors_.size(); }

  void Publish(const smbus::BusRecord& record);

  // What to wait for: one entry per monitor.
  void AppendPolls(std::vector<pollfd>& polls) const;
  // After the wait, with those entries (monitors added since have none): sends what is queued, and closes the
  // connections of who has gone or says anything.
  void Serve(std::span<const pollfd> polls);

 private:
  struct Monitor {
    int fd;
    Bytes queue;
    uint64_t lost = 0;  // transactions since the last that was queued
  };

  static void Queue(Monitor& monitor, ByteSpan record);
  static void QueueLoss(Monitor& monitor);
  // Returns false where the connection is of no more use.
  static bool Send(Monitor& monitor);

  std::vector<Monitor> monitors_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_BUS_MONITORS_H_
