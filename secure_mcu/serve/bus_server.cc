// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/bus_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/smbus/bus_frame.h"
#include "proto/smbus/monitor_frame.h"

namespace sideband::mcu {
namespace {

absl::StatusOr<sockaddr_un> SocketAddress(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError(
        absl::StrCat("bus path '", path, "' must have from 1 to ", sizeof(address.sun_path) - 1, " characters"));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

Descriptor OpenSocket() { return Descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

const sockaddr* Generic(const sockaddr_un& address) { return reinterpret_cast<const sockaddr*>(&address); }

// Whether a live server listens at `address`. Only a refused connection proves that no server listens.
bool IsServed(const sockaddr_un& address) {
  const Descriptor probe = OpenSocket();
  return connect(probe.get(), Generic(address), sizeof(address)) == 0 || errno != ECONNREFUSED;
}

bool IsSocket(const std::string& path) {
  struct stat file;
  return lstat(path.c_str(), &file) == 0 && S_ISSOCK(file.st_mode);
}

absl::Status Bind(int listener, const std::string& path, const sockaddr_un& address) {
  if (bind(listener, Generic(address), sizeof(address)) == 0) return absl::OkStatus();
  if (errno != EADDRINUSE) return ErrnoStatus(errno, path);
  if (!IsSocket(path)) return absl::AlreadyExistsError(absl::StrCat(path, ": exists and is not a socket"));
  if (IsServed(address)) return absl::AlreadyExistsError(absl::StrCat(path, ": another program serves this bus"));
  // The socket of a server that has died.
  unlink(path.c_str());
  if (bind(listener, Generic(address), sizeof(address)) == 0) return absl::OkStatus();
  return ErrnoStatus(errno, path);
}

bool WouldBlock() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

absl::StatusOr<std::unique_ptr<BusServer>> BusServer::Listen(const std::string& path, smbus::Bus& bus,
                                                             Elapsed elapsed) {
  SIDEBAND_ASSIGN_OR_RETURN(const sockaddr_un address, SocketAddress(path));
  Descriptor listener = OpenSocket();
  if (!listener.is_open()) return ErrnoStatus(errno, path);
  SIDEBAND_RETURN_IF_ERROR(Bind(listener.get(), path, address));
  std::unique_ptr<BusServer> server(new BusServer(path, std::move(listener), bus, std::move(elapsed)));
  if (listen(server->listener_.get(), kControllersMax) != 0) return ErrnoStatus(errno, path);
  return server;
}

BusServer::~BusServer() {
  for (const Controller& controller : controllers_) close(controller.fd);
  unlink(path_.c_str());
}

void BusServer::Accept() {
  while (HasRoom()) {
    const int fd = accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    controllers_.push_back({.fd = fd});
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

void BusServer::ServeFor(absl::Duration timeout) {
  // Who cannot be accepted waits in the listener's queue, and must not wake us.
  std::vector<pollfd> ready = {{.fd = listener_.get(), .events = static_cast<short>(HasRoom() ? POLLIN : 0)}};
  for (const Controller& controller : controllers_) {
    ready.push_back(
        {.fd = controller.fd, .events = static_cast<short>(controller.output.empty() ? POLLIN : POLLIN | POLLOUT)});
  }
  monitors_.AppendPolls(ready);
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
  monitors_.Serve(std::span<const pollfd>(ready).subspan(1 + polled));
  // Last, since `ready` does not know the connections that this adds.
  if ((ready[0].revents & POLLIN) != 0) Accept();
}

}  // namespace sideband::mcu
