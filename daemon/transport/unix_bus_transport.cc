// SPDX-License-Identifier: Apache-2.0
#include "daemon/transport/unix_bus_transport.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
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
  socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0) return SystemError(path_, errno);
  const timeval timeout = absl::ToTimeval(options_.timeout);
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
  setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
  if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return absl::OkStatus();
  const absl::Status status = SystemError(path_, errno);
  Disconnect();
  return status;
}

void UnixBusTransport::Disconnect() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
}

absl::Status UnixBusTransport::Send(ByteSpan bytes) {
  while (!bytes.empty()) {
    const ssize_t size = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return SystemError(path_, errno);
    bytes = bytes.subspan(static_cast<size_t>(size));
  }
  return absl::OkStatus();
}

absl::StatusOr<Bytes> UnixBusTransport::Receive(size_t size) {
  Bytes bytes(size);
  for (size_t received = 0; received < size;) {
    const ssize_t step = recv(socket_, bytes.data() + received, size - received, 0);
    if (step < 0 && errno == EINTR) continue;
    if (step < 0) return SystemError(path_, errno);
    if (step == 0) return absl::UnavailableError(absl::StrCat("bus ", path_, ": the far end closed the connection"));
    received += static_cast<size_t>(step);
  }
  return bytes;
}

absl::StatusOr<smbus::TransferResult> UnixBusTransport::Exchange(const smbus::Transfer& transfer) {
  SIDEBAND_RETURN_IF_ERROR(Connect());
  SIDEBAND_RETURN_IF_ERROR(Send(smbus::EncodeTransfer(transfer)));
  SIDEBAND_ASSIGN_OR_RETURN(const Bytes header, Receive(smbus::kFrameHeaderBytes));
  SIDEBAND_ASSIGN_OR_RETURN(const size_t body_size, smbus::FrameBodySize(header));
  SIDEBAND_ASSIGN_OR_RETURN(const Bytes body, Receive(body_size));
  return smbus::DecodeResult(body);
}

absl::StatusOr<smbus::TransferResult> UnixBusTransport::Execute(const smbus::Transfer& transfer) {
  auto result = Exchange(transfer);
  if (!result.ok()) Disconnect();  // whatever is still on its way belongs to nobody
  return result;
}

}  // namespace sideband::daemon
