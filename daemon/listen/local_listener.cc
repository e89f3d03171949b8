// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/local_listener.h"

#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/listen/descriptor_reserve.h"
#include "daemon/listen/descriptors.h"
#include "proto/base/file.h"

namespace sideband::daemon {
namespace {

// The delay after a failed accept. Descriptors are usually exhausted then, and take time to be released.
constexpr int kAcceptRetryMs = 100;

UnixSocketFile::Options FileOptions(const LocalOperators& operators) {
  UnixSocketFile::Options options;
  if (operators.users.empty() && operators.groups.empty()) return options;
  // A file has one group only: the first of the configured ones. Admit() checks all of them.
  options.mode = 0660;
  if (!operators.groups.empty()) options.group = operators.groups[0];
  return options;
}

// A connection, or minus the error.
int AcceptOrError(int listener) {
  const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  return fd < 0 ? -errno : fd;
}

}  // namespace

LocalListener::LocalListener(Options options, ListenerMetrics& metrics, std::unique_ptr<UnixSocketFile> socket,
                             Descriptor stop_event)
    : options_(std::move(options)), metrics_(metrics), socket_(std::move(socket)), stop_event_(std::move(stop_event)) {}

absl::StatusOr<std::unique_ptr<LocalListener>> LocalListener::Listen(Options options, ListenerMetrics& metrics) {
  auto socket = UnixSocketFile::Listen(options.path, FileOptions(options.operators));
  if (!socket.ok()) {
    return absl::UnavailableError(
        absl::StrCat(options.listener, ": cannot listen on ", std::string(socket.status().message())));
  }
  Descriptor stop_event(eventfd(0, EFD_CLOEXEC));
  if (!stop_event.is_open()) return ErrnoStatus(errno, "eventfd");
  return std::unique_ptr<LocalListener>(
      new LocalListener(std::move(options), metrics, *std::move(socket), std::move(stop_event)));
}

LocalListener::~LocalListener() { Stop(); }

void LocalListener::Start(OnConnection on_connection) {
  on_connection_ = std::move(on_connection);
  thread_ = std::thread([this] { Run(); });
}

void LocalListener::Stop() {
  eventfd_write(stop_event_.get(), 1);
  if (thread_.joinable()) thread_.join();
  // After the join, since Run() polls the socket.
  socket_.reset();
}

bool LocalListener::Wait(bool for_connection, int timeout_ms) const {
  pollfd events[2] = {{.fd = stop_event_.get(), .events = POLLIN, .revents = 0},
                      {.fd = socket_->fd(), .events = POLLIN, .revents = 0}};
  while (poll(events, for_connection ? 2 : 1, timeout_ms) < 0 && errno == EINTR) {
  }
  return events[0].revents == 0;
}

std::optional<SocketPeer> LocalListener::Admit(int fd) {
  auto peer = PeerOfSocket(fd);
  if (peer.ok() && MayOperate(*peer, options_.operators, geteuid())) return *std::move(peer);
  metrics_.ConnectionRefused(options_.listener, "not_a_local_operator");
  if (peer.ok()) {
    spdlog::debug("{}: process {} of user {} is no local operator", options_.listener, peer->process, peer->user);
  }
  return std::nullopt;
}

void LocalListener::Run() {
  // The reserve admits operators while descriptors are exhausted for all others.
  DescriptorReserve reserve;
  DescriptorAlarm alarm;
  while (Wait(/*for_connection=*/true, /*timeout_ms=*/-1)) {
    // Connections that have ended since may have left descriptors.
    reserve.Refill();
    int fd = AcceptOrError(socket_->fd());
    if (fd == -EMFILE) {
      alarm.OnExhausted(options_.listener, metrics_);
      if (reserve.Release()) fd = AcceptOrError(socket_->fd());
    }
    if (fd < 0) {
      // The other errors last: without a pause the loop would spin.
      if (fd != -EAGAIN && fd != -ECONNABORTED && fd != -EINTR) Wait(/*for_connection=*/false, kAcceptRetryMs);
    } else if (const auto peer = Admit(fd)) {
      on_connection_(fd, *peer);
    } else {
      // Rejected before a byte is read.
      close(fd);
    }
  }
}

}  // namespace sideband::daemon
