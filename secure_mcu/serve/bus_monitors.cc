// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/bus_monitors.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace sideband::mcu {

BusMonitors::~BusMonitors() {
  for (const Monitor& monitor : monitors_) close(monitor.fd);
}

void BusMonitors::Add(int fd, Bytes before, uint64_t now_us) {
  Monitor& monitor = monitors_.emplace_back(Monitor{.fd = fd, .queue = std::move(before)});
  const Bytes start = smbus::EncodeMonitorStart(now_us);
  monitor.queue.insert(monitor.queue.end(), start.begin(), start.end());
}

void BusMonitors::Queue(Monitor& monitor, ByteSpan record) {
  QueueLoss(monitor);
  // The order of the records is kept: nothing is queued before the pending loss record.
  if (monitor.lost != 0 || monitor.queue.size() + record.size() > kQueueBytesMax) {
    ++monitor.lost;
    return;
  }
  monitor.queue.insert(monitor.queue.end(), record.begin(), record.end());
}

void BusMonitors::QueueLoss(Monitor& monitor) {
  // A full queue must first drain to a half, so that a slow monitor gets few long gaps instead of many short ones.
  if (monitor.lost == 0 || monitor.queue.size() > kQueueBytesMax / 2) return;
  const Bytes loss = smbus::EncodeMonitorEvent(smbus::BusLoss{std::exchange(monitor.lost, 0)});
  monitor.queue.insert(monitor.queue.end(), loss.begin(), loss.end());
}

void BusMonitors::Publish(const smbus::BusRecord& record) {
  if (monitors_.empty()) return;
  const Bytes frame = smbus::EncodeMonitorEvent(record);
  for (Monitor& monitor : monitors_) Queue(monitor, frame);
}

bool BusMonitors::Send(Monitor& monitor) {
  size_t sent = 0;
  bool alive = true;
  while (sent < monitor.queue.size()) {
    const ssize_t size = send(monitor.fd, monitor.queue.data() + sent, monitor.queue.size() - sent, MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) {
      alive = errno == EAGAIN || errno == EWOULDBLOCK;
      break;
    }
    sent += static_cast<size_t>(size);
  }
  monitor.queue.erase(monitor.queue.begin(), monitor.queue.begin() + static_cast<ptrdiff_t>(sent));
  QueueLoss(monitor);
  return alive;
}

void BusMonitors::AppendPolls(std::vector<pollfd>& polls) const {
  for (const Monitor& monitor : monitors_) {
    polls.push_back(
        {.fd = monitor.fd, .events = static_cast<short>(monitor.queue.empty() ? POLLIN : POLLIN | POLLOUT)});
  }
}

void BusMonitors::Serve(std::span<const pollfd> polls) {
  std::vector<Monitor> kept;
  for (size_t i = 0; i < monitors_.size(); ++i) {
    // A monitor has nothing to send, so any input ends its connection.
    const bool spoke = i < polls.size() && (polls[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0;
    if (!spoke && Send(monitors_[i])) {
      kept.push_back(std::move(monitors_[i]));
    } else {
      close(monitors_[i].fd);
    }
  }
  monitors_ = std::move(kept);
}

}  // namespace sideband::mcu
