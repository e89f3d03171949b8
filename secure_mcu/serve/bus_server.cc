// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/bus_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <span>
#include <utility>

#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/smbus/bus_frame.h"

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

namespace {

// A lock needs a file that can be opened, not one that can be written. It stays: after its removal there would be two.
absl::Status MakeLockFile(const std::string& path) {
  constexpr mode_t kMode = 0666;  // as the umask has it, like the socket
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, kMode));
  return file.is_open() ? absl::OkStatus() : ErrnoStatus(errno, path);
}

}  // namespace

absl::StatusOr<std::unique_ptr<BusServer>> BusServer::Listen(const std::string& path, smbus::Bus& bus,
                                                             Elapsed elapsed) {
  SIDEBAND_ASSIGN_OR_RETURN(auto listener, UnixListener::Listen(path, "bus"));
  SIDEBAND_RETURN_IF_ERROR(MakeLockFile(smbus::LockPathOf(path)));
  return std::unique_ptr<BusServer>(new BusServer(std::move(listener), bus, std::move(elapsed)));
}

BusServer::~BusServer() {
  for (const Controller& controller : controllers_) close(controller.fd);
}

void BusServer::Accept() {
  while (HasRoom()) {
    Descriptor connection = listener_->Accept();
    if (!connection.is_open()) return;
    controllers_.push_back({.fd = connection.Release()});
  }
}

smbus::TransferResult BusServer::ExecuteAndShow(const smbus::Transfer& transfer) {
  const uint64_t start_us = NowUs();
  smbus::TransferResult result = bus_.Execute(transfer);
  if (monitors_.size() > 0) {
    monitors_.Publish({start_us, transfer, result.controller_died ? std::nullopt : std::optional(result)});
  }
  return result;
}

void BusServer::MakeMonitor(Controller& controller) {
  monitors_.Add(std::exchange(controller.fd, -1), std::move(controller.output), NowUs());
}

bool BusServer::Receive(Controller& controller) {
  uint8_t buffer[1 << 14];
  const ssize_t size = read(controller.fd, buffer, sizeof(buffer));
  if (size == 0) return false;
  if (size < 0) return WouldBlock();
  controller.input.insert(controller.input.end(), buffer, buffer + size);
  return ServeFrames(controller);
}

bool BusServer::ServeFrames(Controller& controller) {
  size_t served = 0;
  while (controller.input.size() - served >= smbus::kFrameHeaderBytes) {
    const ByteSpan rest = ByteSpan(controller.input).subspan(served);
    const auto body_size = smbus::FrameBodySize(rest.first(smbus::kFrameHeaderBytes));
    if (!body_size.ok()) return false;
    if (rest.size() < smbus::kFrameHeaderBytes + *body_size) break;
    const ByteSpan body = rest.subspan(smbus::kFrameHeaderBytes, *body_size);
    // A request to monitor must be the last frame of the connection.
    if (smbus::IsMonitorRequest(body)) {
      if (rest.size() == smbus::kFrameHeaderBytes + body.size()) MakeMonitor(controller);
      return false;
    }
    const auto transfer = smbus::DecodeTransfer(body);
    if (!transfer.ok()) return false;
    const smbus::TransferResult outcome = ExecuteAndShow(*transfer);
    if (outcome.controller_died) return false;
    const Bytes result = smbus::EncodeResult(outcome);
    controller.output.insert(controller.output.end(), result.begin(), result.end());
    // The controller does not read its results.
    if (controller.output.size() > smbus::kFrameBodyBytesMax) return false;
    served += smbus::kFrameHeaderBytes + *body_size;
  }
  controller.input.erase(controller.input.begin(), controller.input.begin() + static_cast<ptrdiff_t>(served));
  return Send(controller);
}

bool BusServer::Send(Controller& controller) {
  while (!controller.output.empty()) {
    const ssize_t size = send(controller.fd, controller.output.data(), controller.output.size(), MSG_NOSIGNAL);
    if (size < 0) return WouldBlock();
    controller.output.erase(controller.output.begin(), controller.output.begin() + size);
  }
  return true;
}

void BusServer::ServeFor(absl::Duration timeout, int wake) {
  // Who cannot be accepted waits in the listener's queue, and must not wake us.
  std::vector<pollfd> ready = {{.fd = listener_->fd(), .events = static_cast<short>(HasRoom() ? POLLIN : 0)}};
  for (const Controller& controller : controllers_) {
    ready.push_back(
        {.fd = controller.fd, .events = static_cast<short>(controller.output.empty() ? POLLIN : POLLIN | POLLOUT)});
  }
  monitors_.AppendPolls(ready);
  ready.push_back({.fd = wake, .events = POLLIN});  // poll() ignores an entry of -1
  if (poll(ready.data(), ready.size(), static_cast<int>(absl::ToInt64Milliseconds(timeout))) <= 0) return;
  const size_t polled = controllers_.size();
  std::vector<Controller> kept;
  for (size_t i = 0; i < polled; ++i) {
    Controller& controller = controllers_[i];
    const short events = ready[i + 1].revents;
    bool alive = (events & POLLOUT) == 0 || Send(controller);
    if (alive && (events & (POLLIN | POLLHUP | POLLERR)) != 0) alive = Receive(controller);
    if (alive) {
      kept.push_back(std::move(controller));
    } else if (controller.fd >= 0) {
      close(controller.fd);
    }
  }
  controllers_ = std::move(kept);
  ready.pop_back();
  monitors_.Serve(std::span<const pollfd>(ready).subspan(1 + polled));
  // Last, since `ready` does not know the connections that this adds.
  if ((ready[0].revents & POLLIN) != 0) Accept();
}

}  // namespace sideband::mcu
