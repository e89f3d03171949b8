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
#include "proto/base/file.h"

namespace sideband::daemon {
namespace {

// After an accept that failed: mostly because file descriptors have run out, which takes time to pass.
constexpr int kAcceptRetryMs = 100;

UnixSocketFile::Options FileOptions(const LocalOperators& operators) {
  UnixSocketFile::Options options;
  if (operators.users.empty() && operators.groups.empty()) return options;
  options.mode = 0660;
  if (!operators.groups.empty()) options.group = operators.groups[0];
  return options;
}

}  // namespace

LocalListener::LocalListener(Options options, SelfMetrics& metrics, std::unique_ptr<UnixSocketFile> socket,
                             int stop_event)
    : options_(std::move(options)), metrics_(metrics), socket_(std::move(socket)), stop_event_(stop_event) {}

absl::StatusOr<std::unique_ptr<LocalListener>> LocalListener::Listen(Options options, SelfMetrics& metrics) {
  auto socket = UnixSocketFile::Listen(options.path, FileOptions(options.operators));
  if (!socket.ok()) {
    return absl::UnavailableError(
        absl::StrCat(options.listener, ": cannot listen on ", std::string(socket.status().message())));
  }
  const int stop_event = eventfd(0, EFD_CLOEXEC);
  if (stop_event < 0) return ErrnoStatus(errno, "eventfd");
  return std::unique_ptr<LocalListener>(new LocalListener(std::move(options), metrics, *std::move(socket), stop_event));
}

LocalListener::~LocalListener() {
  Stop();
  close(stop_event_);
}

void LocalListener::Start(OnConnection on_connection) {
  on_connection_ = std::move(on_connection);
  thread_ = std::thread([this] { Run(); });
}

void LocalListener::Stop() {
  eventfd_write(stop_event_, 1);
  if (thread_.joinable()) thread_.join();
  socket_.reset();
}

bool LocalListener::Wait(bool for_connection, int timeout_ms) const {
  pollfd events[2] = {{.fd = stop_event_, .events = POLLIN, .revents = 0},
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
  while (Wait(/*for_connection=*/true, /*timeout_ms=*/-1)) {
    const int fd = accept4(socket_->fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
      if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR) Wait(/*for_connection=*/false, kAcceptRetryMs);
    } else if (const auto peer = Admit(fd)) {
      on_connection_(fd, *peer);
    } else {
      close(fd);
    }
  }
}

}  // namespace sideband::daemon
