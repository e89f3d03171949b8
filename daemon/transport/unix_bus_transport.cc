// SPDX-License-Identifier: Apache-2.0
#include "daemon/transport/unix_bus_transport.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/base/status_macros.h"
#include "proto/smbus/bus_frame.h"

namespace sideband::daemon {
namespace {

absl::Status SystemError(const std::string& path, int error) {
  const std::string what = absl::StrCat("bus ", path, ": ", std::strerror(error));
  return error == EAGAIN || error == EWOULDBLOCK
             ? absl::DeadlineExceededError(absl::StrCat("bus ", path, ": no answer"))
             : absl::UnavailableError(what);
}

}  // namespace

UnixBusTransport::~UnixBusTransport() { Disconnect(); }

absl::Status UnixBusTransport::Connect() {
  if (socket_ >= 0) return absl::OkStatus();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path_.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError(absl::StrCat("bus ", path_, ": the path is too long for a socket"));
  }
  std::memcpy(address.sun_path, path_.data(), path_.size());
  socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket_ < 0) return SystemError(path_, errno);
  if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return absl::OkStatus();
  const absl::Status status = SystemError(path_, errno);
  Disconnect();
  return status;
}

void UnixBusTransport::Disconnect() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
}

absl::Status UnixBusTransport::Await(short events, absl::Time deadline) {
  pollfd ready = {.fd = socket_, .events = events, .revents = 0};
  while (true) {
    const int64_t left_ms = absl::ToInt64Milliseconds(deadline - absl::Now());
    if (left_ms <= 0) return absl::DeadlineExceededError(absl::StrCat("bus ", path_, ": no answer"));
    const int count = poll(&ready, 1, static_cast<int>(left_ms));
    if (count > 0) return absl::OkStatus();
    if (count < 0 && errno != EINTR) return SystemError(path_, errno);
  }
}

absl::Status UnixBusTransport::Send(ByteSpan bytes, absl::Time deadline) {
  while (!bytes.empty()) {
    SIDEBAND_RETURN_IF_ERROR(Await(POLLOUT, deadline));
    const ssize_t size = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (size < 0) return SystemError(path_, errno);
    bytes = bytes.subspan(static_cast<size_t>(size));
  }
  return absl::OkStatus();
}

absl::StatusOr<Bytes> UnixBusTransport::Receive(size_t size, absl::Time deadline) {
  Bytes bytes(size);
  for (size_t received = 0; received < size;) {
    SIDEBAND_RETURN_IF_ERROR(Await(POLLIN, deadline));
    const ssize_t step = recv(socket_, bytes.data() + received, size - received, 0);
    if (step < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (step < 0) return SystemError(path_, errno);
    if (step == 0) return absl::UnavailableError(absl::StrCat("bus ", path_, ": the far end closed the connection"));
    received += static_cast<size_t>(step);
  }
  return bytes;
}

absl::StatusOr<smbus::TransferResult> UnixBusTransport::Exchange(const smbus::Transfer& transfer) {
  const absl::Time deadline = absl::Now() + options_.timeout;
  SIDEBAND_RETURN_IF_ERROR(Connect());
  SIDEBAND_RETURN_IF_ERROR(Send(smbus::EncodeTransfer(transfer), deadline));
  SIDEBAND_ASSIGN_OR_RETURN(const Bytes header, Receive(smbus::kFrameHeaderBytes, deadline));
  SIDEBAND_ASSIGN_OR_RETURN(const size_t body_size, smbus::FrameBodySize(header));
  SIDEBAND_ASSIGN_OR_RETURN(const Bytes body, Receive(body_size, deadline));
  return smbus::DecodeResult(body);
}

absl::StatusOr<smbus::TransferResult> UnixBusTransport::Execute(const smbus::Transfer& transfer) {
  auto result = Exchange(transfer);
  if (!result.ok()) Disconnect();  // whatever is still on its way belongs to nobody
  return result;
}

}  // namespace sideband::daemon
