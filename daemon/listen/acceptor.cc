// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/acceptor.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/steady_time.h"

namespace sideband::daemon {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// The delay after a failed accept on TCP and on a Unix socket. Descriptors are usually exhausted then: a connection of
// TCP is being closed to free one, on a Unix socket none is.
constexpr std::chrono::milliseconds kAcceptRetry{20}, kLocalAcceptRetry{100};
// Bounds a burst of accepts, so that the thread's other work proceeds.
constexpr int kAcceptsAtOnce = 16;
// Between two lines of the log that say that no descriptor is left.
constexpr absl::Duration kLogInterval = absl::Seconds(10);

// An address of either family, as the system calls take it.
class SocketAddress {
 public:
  // False if `address` is not a literal of either family.
  bool Set(const ListenAddress& address) {
    if (inet_pton(AF_INET, address.host.c_str(), &v4_.sin_addr) == 1) {
      v4_.sin_family = AF_INET;
      v4_.sin_port = htons(address.port);
      return true;
    }
    if (inet_pton(AF_INET6, address.host.c_str(), &v6_.sin6_addr) != 1) return false;
    v6_.sin6_family = AF_INET6;
    v6_.sin6_port = htons(address.port);
    is_v6_ = true;
    return true;
  }
  bool Get(int socket) {
    sockaddr_storage found{};
    socklen_t size = sizeof(found);
    if (getsockname(socket, reinterpret_cast<sockaddr*>(&found), &size) != 0) return false;
    is_v6_ = found.ss_family == AF_INET6;
    std::memcpy(is_v6_ ? static_cast<void*>(&v6_) : &v4_, &found, is_v6_ ? sizeof(v6_) : sizeof(v4_));
    return true;
  }

  bool is_v6() const { return is_v6_; }
  uint16_t port() const { return ntohs(is_v6_ ? v6_.sin6_port : v4_.sin_port); }
  const sockaddr* data() const {
    return is_v6_ ? reinterpret_cast<const sockaddr*>(&v6_) : reinterpret_cast<const sockaddr*>(&v4_);
  }
  socklen_t size() const { return is_v6_ ? sizeof(v6_) : sizeof(v4_); }

 private:
  bool is_v6_ = false;
  sockaddr_in v4_{};
  sockaddr_in6 v6_{};
};

// Makes the kernel withhold a connection until its peer has sent a byte, for at most a second: silent peers do not take
// the places of others. No effect where the system does not support it (TCP_DEFER_ACCEPT).
void DeferAccept(int listening_socket) {
  const int seconds = 1;
  setsockopt(listening_socket, IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, sizeof(seconds));
}

// Not open if a step failed; errno says why.
Descriptor Listen(const SocketAddress& address) {
  Descriptor socket(::socket(address.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  // A restarted daemon must not wait for the old connections in TIME_WAIT.
  const bool is_bound = socket.is_open() && setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
                        bind(socket.get(), address.data(), address.size()) == 0;
  if (!is_bound) return Descriptor();
  DeferAccept(socket.get());
  return listen(socket.get(), SOMAXCONN) == 0 ? std::move(socket) : Descriptor();
}

// The service manager's sockets block, and would be passed on to children.
Descriptor Adopt(int inherited) {
  const int flags = fcntl(inherited, F_GETFL);
  if (flags < 0 || fcntl(inherited, F_SETFL, flags | O_NONBLOCK) != 0) return Descriptor();
  if (fcntl(inherited, F_SETFD, FD_CLOEXEC) != 0) return Descriptor();
  DeferAccept(inherited);
  return Descriptor(inherited);
}

// False where the path is empty or too long.
bool UnixAddress(const std::string& path, sockaddr_un& address) {
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

bool HasUnreadBytes(int socket) {
  char byte = 0;
  return recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

void DescriptorAlarm::OnExhausted(absl::string_view listener, ListenerMetrics& metrics) {
  metrics.DescriptorsExhausted(listener);
  const absl::Duration now = SteadyNow();
  if (now - logged_ < kLogInterval) return;
  logged_ = now;
  spdlog::error("{}: no file descriptor is left for a new connection", std::string(listener));
}

absl::StatusOr<NetworkListener> NetworkListener::Open(absl::string_view name, const ListenAddress& address,
                                                      int inherited) {
  const auto fail = [&](int error) {
    return absl::UnavailableError(
        absl::StrCat(name, ": cannot listen on ", address.ToString(), ": ", std::strerror(error),
                     error == EADDRINUSE ? ": another program has the port (ss -ltnp names it)" : ""));
  };
  SocketAddress at;
  if (inherited < 0 && !at.Set(address)) return fail(EINVAL);
  Descriptor socket = inherited >= 0 ? Adopt(inherited) : Listen(at);
  if (!socket.is_open() || !at.Get(socket.get())) return fail(errno);
  return NetworkListener{std::move(socket), at.is_v6(), at.port()};
}

absl::Status UnixSocketFile::Error(int error) const {
  return absl::UnavailableError(ErrnoStatus(error, path_).message());
}

int UnixSocketFile::Bind() {
  sockaddr_un address{};
  if (!UnixAddress(path_, address)) return ENAMETOOLONG;
  return bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ? 0 : errno;
}

bool UnixSocketFile::IsStale() const {
  struct stat file;
  // A link is not followed: only a socket at the configured path itself may be removed.
  if (lstat(path_.c_str(), &file) != 0 || !S_ISSOCK(file.st_mode)) return false;
  sockaddr_un address{};
  if (!UnixAddress(path_, address)) return false;
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
    spdlog::debug("{}: process {} of user {} is not a local operator", options_.listener, peer->process, peer->user);
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
      if (fd != -EAGAIN && fd != -ECONNABORTED && fd != -EINTR)
        Wait(/*for_connection=*/false, kLocalAcceptRetry.count());
    } else if (const auto peer = Admit(fd)) {
      on_connection_(fd, *peer);
    } else {
      // Rejected before a byte is read.
      close(fd);
    }
  }
}

Acceptor::Acceptor(asio::io_context& io, std::string name, ListenerMetrics& metrics)
    : name_(std::move(name)), metrics_(metrics), socket_(asio::make_strand(io)), retry_(socket_.get_executor()) {}

absl::Status Acceptor::Open(const ListenerConfig& listener, const LocalOperators& operators, int inherited) {
  if (listener.on_network) SIDEBAND_RETURN_IF_ERROR(OpenNetwork(listener, inherited));
  if (listener.unix_socket.empty()) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(local_, LocalListener::Listen({name_, listener.unix_socket, operators}, metrics_));
  return absl::OkStatus();
}

absl::Status Acceptor::OpenNetwork(const ListenerConfig& listener, int inherited) {
  SIDEBAND_ASSIGN_OR_RETURN(NetworkListener network, NetworkListener::Open(name_, listener.listen, inherited));
  port_ = network.port;
  protocol_ = network.is_v6 ? tcp::v6() : tcp::v4();
  error_code error;
  socket_.assign(protocol_, network.socket.get(), error);
  if (error) return absl::InternalError(error.message());
  network.socket.Release();
  socket_.non_blocking(true, error);
  return error ? absl::InternalError(error.message()) : absl::OkStatus();
}

void Acceptor::Start(Handlers handlers) {
  handlers_ = std::move(handlers);
  if (socket_.is_open()) asio::post(socket_.get_executor(), [this] { AwaitClients(); });
  if (local_ != nullptr) local_->Start(handlers_.local_operator);
}

void Acceptor::AwaitClients() {
  socket_.async_wait(tcp::acceptor::wait_read, [this](const error_code&) {
    if (socket_.is_open()) AcceptClients();
  });
}

void Acceptor::AcceptClients() {
  for (int i = 0; i < kAcceptsAtOnce; ++i) {
    const int fd = accept4(socket_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    // A client may have gone away between the readiness and the accept.
    if (fd < 0 && (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR)) break;
    if (fd < 0) return OnError(errno);
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));  // a failure costs latency only
    handlers_.client(fd);
  }
  AwaitClients();
}

void Acceptor::OnError(int error) {
  if (error == EMFILE || error == ENFILE) {
    descriptors_.OnExhausted(name_, metrics_);
    handlers_.exhausted();
  }
  retry_.expires_after(kAcceptRetry);
  retry_.async_wait([this](const error_code&) {
    if (socket_.is_open()) AwaitClients();
  });
}

void Acceptor::Stop() {
  // On the acceptor's strand, where an accept may be under way.
  asio::post(socket_.get_executor(), [this] {
    error_code ignored;
    socket_.close(ignored);
    retry_.cancel();
  });
  if (local_ != nullptr) local_->Stop();
}

}  // namespace sideband::daemon
