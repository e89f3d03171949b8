// SPDX-License-Identifier: Apache-2.0
#include "proto/base/unix_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady_time.h"

namespace sideband {
namespace {

// Bytes of one call: most answers have less than the first; a peer that sends single bytes costs at most the second.
constexpr size_t kStepBytesMin = 512, kStepBytesMax = 16384;

bool IsTransient(int error) { return error == EINTR || error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace

int ConnectToUnixSocket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return -ENAMETOOLONG;
  std::memcpy(address.sun_path, path.data(), path.size());
  Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.is_open()) return -errno;
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return fd.Release();
  return -errno;
}

absl::Status UnixSocketError(absl::string_view kind, const std::string& path, int error) {
  const std::string socket = absl::StrCat(kind, " ", path, ": ");
  if (error == ENAMETOOLONG) return absl::InvalidArgumentError(socket + "the path is too long for a socket");
  // connect() fails with EAGAIN if the listener's backlog is full.
  if (error == EAGAIN) return absl::DeadlineExceededError(socket + "no answer");
  return absl::UnavailableError(socket + std::strerror(error));
}

UnixExchange::UnixExchange(int socket, absl::string_view kind, const std::string& path, absl::Duration timeout)
    : socket_(socket), kind_(kind), path_(path), deadline_(SteadyNow() + timeout) {}

absl::Status UnixExchange::Await(short events) {
  pollfd ready = {.fd = socket_, .events = events, .revents = 0};
  while (true) {
    const int64_t left_ms = absl::ToInt64Milliseconds(deadline_ - SteadyNow());
    if (left_ms <= 0) return UnixSocketError(kind_, path_, EAGAIN);
    const int count = poll(&ready, 1, static_cast<int>(left_ms));
    if (count > 0) return absl::OkStatus();
    if (count < 0 && errno != EINTR) return UnixSocketError(kind_, path_, errno);
  }
}

absl::Status UnixExchange::Send(ByteSpan bytes) {
  while (!bytes.empty()) {
    // The socket's buffer is empty before an exchange, so that there is nothing to wait for.
    // Without SIGPIPE: in the preload library of sim/bus the process is a foreign program, which does not expect the
    // signal.
    const ssize_t size = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size < 0 && IsTransient(errno)) {
      SIDEBAND_RETURN_IF_ERROR(Await(POLLOUT));
      continue;
    }
    if (size < 0) return UnixSocketError(kind_, path_, errno);
    bytes = bytes.subspan(static_cast<size_t>(size));
  }
  return absl::OkStatus();
}

absl::Status UnixExchange::ReceiveSome(size_t size, Bytes& bytes) {
  SIDEBAND_RETURN_IF_ERROR(Await(POLLIN));
  const size_t before = bytes.size();
  bytes.resize(before + std::clamp(size - before, kStepBytesMin, kStepBytesMax));
  // Does not block even if poll() reported readiness wrongly: the deadline would be missed.
  const ssize_t step = recv(socket_, bytes.data() + before, bytes.size() - before, MSG_DONTWAIT);
  const int error = errno;
  bytes.resize(before + static_cast<size_t>(std::max<ssize_t>(step, 0)));
  if (step < 0 && !IsTransient(error)) return UnixSocketError(kind_, path_, error);
  if (step == 0) return absl::UnavailableError(absl::StrCat(kind_, " ", path_, ": the far end closed the connection"));
  return absl::OkStatus();
}

absl::StatusOr<Bytes> UnixExchange::Receive(size_t size) {
  Bytes bytes = std::exchange(ahead_, {});
  while (bytes.size() < size) SIDEBAND_RETURN_IF_ERROR(ReceiveSome(size, bytes));
  ahead_.assign(bytes.begin() + static_cast<std::ptrdiff_t>(size), bytes.end());
  bytes.resize(size);
  return bytes;
}

}  // namespace sideband
