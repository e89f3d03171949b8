// SPDX-License-Identifier: Apache-2.0
#include "client/bus/bus_monitor.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

// Returns a connected socket, or the negated errno.
int ConnectTo(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return -ENAMETOOLONG;
  std::memcpy(address.sun_path, path.data(), path.size());
  Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.is_open()) return -errno;
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return fd.Release();
  return -errno;
}

void Raise(int event) {
  const uint64_t one = 1;
  while (write(event, &one, sizeof(one)) < 0 && errno == EINTR) {
  }
}

}  // namespace

BusMonitor::BusMonitor(std::string path, Descriptor socket, Descriptor cancelled, Cancellation& cancellation)
    : path_(std::move(path)),
      socket_(std::move(socket)),
      cancelled_(std::move(cancelled)),
      hook_(cancellation, [this] { Raise(cancelled_.get()); }) {}

absl::Status BusMonitor::Error(absl::string_view what) const {
  return absl::UnavailableError(absl::StrCat("bus ", path_, ": ", what));
}

absl::StatusOr<std::unique_ptr<BusMonitor>> BusMonitor::Connect(const std::string& path, Cancellation& cancellation,
                                                                const Now& now) {
  const int socket = ConnectTo(path);
  if (socket < 0) return absl::UnavailableError(absl::StrCat("bus ", path, ": ", std::strerror(-socket)));
  Descriptor connected(socket), cancelled(eventfd(0, EFD_CLOEXEC));
  if (!cancelled.is_open()) return absl::UnavailableError(absl::StrCat("bus ", path, ": ", std::strerror(errno)));
  std::unique_ptr<BusMonitor> monitor(new BusMonitor(path, std::move(connected), std::move(cancelled), cancellation));
  SIDEBAND_RETURN_IF_ERROR(monitor->Start(now));
  return monitor;
}

absl::Status BusMonitor::Start(const Now& now) {
  const Bytes request = smbus::EncodeMonitorRequest();
  if (send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) {
    return Error(std::strerror(errno));
  }
  auto body = ReceiveFrame(kPatience);
  // A server without monitor support closes the connection on an unknown frame kind (proto/smbus).
  if (absl::IsUnavailable(body.status())) return Error("its server cannot be watched");
  if (absl::IsCancelled(body.status())) return absl::OkStatus();  // Next() returns the end
  SIDEBAND_RETURN_IF_ERROR(body.status());
  const auto server_us = smbus::DecodeMonitorStart(*body);
  if (!server_us.ok()) return Error(server_us.status().message());
  const auto now_us = static_cast<uint64_t>(absl::ToUnixMicros(now()));
  // A hostile server may report an uptime beyond the host's clock; the start time is then 0, unknown.
  host_time_us_ = now_us - std::min(*server_us, now_us);
  return absl::OkStatus();
}

absl::Status BusMonitor::Await(absl::Duration patience) {
  pollfd ready[] = {{.fd = cancelled_.get(), .events = POLLIN, .revents = 0},
                    {.fd = socket_.get(), .events = POLLIN, .revents = 0}};
  const int timeout_ms =
      patience == absl::InfiniteDuration() ? -1 : static_cast<int>(absl::ToInt64Milliseconds(patience));
  int count;
  do {
    count = poll(ready, std::size(ready), timeout_ms);
  } while (count < 0 && errno == EINTR);
  if (count < 0) return Error(std::strerror(errno));
  if (count == 0) return absl::DeadlineExceededError(absl::StrCat("bus ", path_, ": no answer"));
  return ready[0].revents != 0 ? absl::CancelledError("cancelled") : absl::OkStatus();
}

absl::StatusOr<Bytes> BusMonitor::Receive(size_t size, absl::Duration patience) {
  Bytes bytes(size);
  for (size_t received = 0; received < size;) {
    SIDEBAND_RETURN_IF_ERROR(Await(patience));
    const ssize_t step = recv(socket_.get(), bytes.data() + received, size - received, 0);
    if (step < 0 && errno == EINTR) continue;
    // A server that closes the connection without reading the request resets it.
    if (step < 0 && errno != ECONNRESET) return Error(std::strerror(errno));
    if (step <= 0) return Error("the server closed the connection");
    received += static_cast<size_t>(step);
  }
  return bytes;
}

absl::StatusOr<Bytes> BusMonitor::ReceiveFrame(absl::Duration patience) {
  SIDEBAND_ASSIGN_OR_RETURN(const Bytes header, Receive(smbus::kFrameHeaderBytes, patience));
  const auto size = smbus::FrameBodySize(header, smbus::kMonitorBodyBytesMax);
  if (!size.ok()) return Error(size.status().message());
  return Receive(*size, patience);
}

absl::StatusOr<std::optional<smbus::MonitorEvent>> BusMonitor::Next() {
  const auto body = ReceiveFrame(absl::InfiniteDuration());
  if (absl::IsCancelled(body.status())) return std::nullopt;
  SIDEBAND_RETURN_IF_ERROR(body.status());
  auto event = smbus::DecodeMonitorEvent(*body);
  if (!event.ok()) return Error(event.status().message());
  return *std::move(event);
}

}  // namespace sideband::client
