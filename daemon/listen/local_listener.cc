// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/local_listener.h"

#include <fcntl.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/listen/descriptors.h"
#include "proto/base/file.h"

namespace sideband::daemon {
namespace {

// False where the path is empty or too long.
bool AddressOf(const std::string& path, sockaddr_un& address) {
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) return false;
  std::copy(path.begin(), path.end(), address.sun_path);
  return true;
}

Descriptor NewSocket() { return Descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

// NGROUPS_MAX on Linux.
constexpr size_t kGroupsMax = 65536;

bool Holds(const std::vector<uint32_t>& numbers, uint32_t number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

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

absl::Status UnixSocketFile::Error(int error) const {
  return absl::UnavailableError(ErrnoStatus(error, path_).message());
}

int UnixSocketFile::Bind() {
  sockaddr_un address{};
  if (!AddressOf(path_, address)) return ENAMETOOLONG;
  return bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ? 0 : errno;
}

bool UnixSocketFile::IsStale() const {
  struct stat file;
  // A link is not followed: only a socket at the configured path itself may be removed.
  if (lstat(path_.c_str(), &file) != 0 || !S_ISSOCK(file.st_mode)) return false;
  sockaddr_un address{};
  if (!AddressOf(path_, address)) return false;
  const Descriptor probe = NewSocket();
  const int result = connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  // No other error proves that no process listens: a daemon whose queue is full answers EAGAIN.
  const bool refused = result != 0 && errno == ECONNREFUSED;
  return refused;
}

absl::Status UnixSocketFile::Open(const Options& options) {
  if (!fd_.is_open()) return Error(errno);
  // Linux gives the name the mode that its socket has, so that it is never open to more.
  if (fchmod(fd_.get(), options.mode) != 0) return Error(errno);
  int error = Bind();
  if (error == EADDRINUSE && IsStale() && unlink(path_.c_str()) == 0) error = Bind();
  if (error != 0) return Error(error);
  struct stat file;
  if (lstat(path_.c_str(), &file) != 0) return Error(errno);
  // From here on the destructor removes the file where a later step fails.
  device_ = file.st_dev;
  inode_ = file.st_ino;
  if (options.group && chown(path_.c_str(), -1, *options.group) != 0) {
    return absl::UnavailableError(
        absl::StrCat(path_, ": cannot be given to group ", *options.group, ": ", std::strerror(errno)));
  }
  if (chmod(path_.c_str(), options.mode) != 0) return Error(errno);  // what the umask has taken
  // Last: no process can connect before the file has its group and mode.
  if (listen(fd_.get(), SOMAXCONN) != 0) return Error(errno);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<UnixSocketFile>> UnixSocketFile::Listen(const std::string& path,
                                                                       const Options& options) {
  std::unique_ptr<UnixSocketFile> socket(new UnixSocketFile(NewSocket(), path));
  const absl::Status opened = socket->Open(options);
  if (!opened.ok()) return opened;
  return socket;
}

UnixSocketFile::~UnixSocketFile() {
  struct stat file;
  // Another daemon may have replaced the file.
  const bool is_ours =
      inode_ != 0 && lstat(path_.c_str(), &file) == 0 && file.st_dev == device_ && file.st_ino == inode_;
  if (is_ours) unlink(path_.c_str());
}

absl::StatusOr<SocketPeer> PeerOfSocket(int fd) {
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return ErrnoStatus(errno, "SO_PEERCRED");
  // Room for the most groups that a process can have: the kernel answers ERANGE to less, and a group would be missed.
  std::vector<uint32_t> groups(1 + kGroupsMax);
  groups[0] = credentials.gid;
  size = kGroupsMax * sizeof(uint32_t);
  // Kernels without SO_PEERGROUPS report the primary group only.
  if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups.data() + 1, &size) != 0) size = 0;
  groups.resize(1 + size / sizeof(uint32_t));
  return SocketPeer{.process = credentials.pid, .user = credentials.uid, .groups = std::move(groups)};
}

bool MayOperate(const SocketPeer& peer, const LocalOperators& operators, uint32_t own_user) {
  if (peer.user == 0 || peer.user == own_user || Holds(operators.users, peer.user)) return true;
  return std::any_of(peer.groups.begin(), peer.groups.end(),
                     [&](uint32_t group) { return Holds(operators.groups, group); });
}

bool DescriptorReserve::Release() {
  bool had_any = false;
  for (Descriptor& kept : kept_) {
    had_any = had_any || kept.is_open();
    const Descriptor released = std::move(kept);
  }
  return had_any;
}

void DescriptorReserve::Refill() {
  for (Descriptor& kept : kept_) {
    if (!kept.is_open()) kept = Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
}

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
