// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/acceptor.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "daemon/base/socket_folder.h"
#include "daemon/metrics/self_metrics.h"
#include "proto/base/file.h"
#include "proto/base/wait_until.h"

namespace sideband::daemon {
namespace {

bool Accepts(const NetworkListener& listener) {
  const Descriptor client(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in to{.sin_family = AF_INET, .sin_port = htons(listener.port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  return connect(client.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0;
}

TEST(NetworkListenerTest, ListensOnAPortOfTheSystemsChoice) {
  const auto listener = NetworkListener::Open("http", {.host = "127.0.0.1", .port = 0});
  ASSERT_TRUE(listener.ok()) << listener.status();
  EXPECT_GT(listener->port, 0);
  EXPECT_FALSE(listener->is_v6);
  EXPECT_TRUE(Accepts(*listener));
  EXPECT_TRUE((fcntl(listener->socket.get(), F_GETFL) & O_NONBLOCK) != 0);
}

TEST(NetworkListenerTest, TakesAListeningSocket) {
  const Descriptor given(socket(AF_INET, SOCK_STREAM, 0));
  ASSERT_EQ(listen(given.get(), 1), 0);  // on a port of the system's choice
  const auto listener = NetworkListener::Open("http", {.host = "192.0.2.1", .port = 1}, dup(given.get()));
  ASSERT_TRUE(listener.ok()) << listener.status();
  EXPECT_TRUE(Accepts(*listener));
  EXPECT_EQ(fcntl(listener->socket.get(), F_GETFD), FD_CLOEXEC);
}

TEST(NetworkListenerTest, ATakenPortIsNamed) {
  const auto first = NetworkListener::Open("http", {.host = "127.0.0.1", .port = 0});
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = NetworkListener::Open("grpc", {.host = "127.0.0.1", .port = first->port});
  EXPECT_TRUE(absl::IsUnavailable(second.status()));
  EXPECT_THAT(
      std::string(second.status().message()),
      testing::MatchesRegex("grpc: cannot listen on 127.0.0.1:[0-9]+: Address already in use: another program has "
                            "the port .ss -ltnp names it."));
}

TEST(NetworkListenerTest, ADescriptorThatIsNotOpenIsAnError) {
  EXPECT_EQ(NetworkListener::Open("http", {.host = "127.0.0.1", .port = 80}, 1 << 20).status().message(),
            "http: cannot listen on 127.0.0.1:80: Bad file descriptor");
}

namespace fs = std::filesystem;

class UnixSocketFileTest : public testing::Test {
 protected:
  mode_t Mode() const {
    struct stat file {};
    lstat(path_.c_str(), &file);
    return file.st_mode & 07777;
  }

  // Leaves a socket file behind, as a killed daemon does.
  void LeaveBehind() const {
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{.sun_family = AF_UNIX};
    std::strcpy(address.sun_path, path_.c_str());
    ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    close(fd);
  }

  std::string Error() const { return std::string(UnixSocketFile::Listen(path_, {}).status().message()); }

  const SocketFolder folder_;
  const std::string path_ = folder_.path() + "/s";
};

TEST_F(UnixSocketFileTest, HasItsModeWhateverTheUmask) {
  const mode_t before = umask(0077);
  const auto socket = UnixSocketFile::Listen(path_, {.mode = 0660});
  umask(before);
  ASSERT_TRUE(socket.ok()) << socket.status();
  EXPECT_EQ(Mode(), 0660u);
  EXPECT_TRUE(UnixSocketFile::Listen(folder_.path() + "/t", {.group = getegid()}).ok());
}

TEST_F(UnixSocketFileTest, IsRemovedAtTheEnd) {
  UnixSocketFile::Listen(path_, {}).IgnoreError();
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(UnixSocketFileTest, AnothersNameIsNotRemoved) {
  auto first = UnixSocketFile::Listen(path_, {});
  fs::remove(path_);
  const auto second = UnixSocketFile::Listen(path_, {});
  ASSERT_TRUE(second.ok());
  first->reset();
  EXPECT_TRUE(fs::exists(path_));
}

TEST_F(UnixSocketFileTest, AStaleOneIsReplaced) {
  LeaveBehind();
  EXPECT_TRUE(UnixSocketFile::Listen(path_, {}).ok());
}

TEST_F(UnixSocketFileTest, OneInUseIsRefused) {
  const auto first = UnixSocketFile::Listen(path_, {});
  EXPECT_EQ(Error(), path_ + ": Address already in use");
  EXPECT_EQ(UnixSocketFile::Listen(path_, {}).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(UnixSocketFileTest, WhatIsNoSocketIsLeftAlone) {
  std::ofstream(path_) << "mine";
  EXPECT_EQ(Error(), path_ + ": Address already in use");
  EXPECT_TRUE(fs::exists(path_));
  fs::remove(path_);
  fs::create_symlink(folder_.path() + "/elsewhere", path_);
  EXPECT_EQ(Error(), path_ + ": Address already in use");
}

TEST_F(UnixSocketFileTest, ErrorsNameThePath) {
  EXPECT_EQ(UnixSocketFile::Listen(folder_.path() + "/no/s", {}).status().message(),
            folder_.path() + "/no/s: No such file or directory");
  EXPECT_EQ(UnixSocketFile::Listen("/" + std::string(108, 'x'), {}).status().code(), absl::StatusCode::kUnavailable);
}

TEST(SocketPeerTest, OnesOwnProcess) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const auto peer = PeerOfSocket(ends[0]);
  ASSERT_TRUE(peer.ok()) << peer.status();
  EXPECT_EQ(peer->process, getpid());
  EXPECT_EQ(peer->user, geteuid());
  ASSERT_FALSE(peer->groups.empty());
  EXPECT_EQ(peer->groups[0], getegid());
  close(ends[0]);
  close(ends[1]);
}

TEST(SocketPeerTest, WhatIsNoSocketHasNoPeer) { EXPECT_FALSE(PeerOfSocket(-1).ok()); }

TEST(SocketPeerTest, WhoMayOperate) {
  const LocalOperators operators{.users = {1000}, .groups = {50}};
  constexpr uint32_t kOwn = 77;
  struct Case {
    SocketPeer peer;
    bool may;
  };
  for (const Case& c : {
           Case{{.user = 0, .groups = {0}}, true},            // root
           Case{{.user = kOwn, .groups = {kOwn}}, true},      // the daemon's own user
           Case{{.user = 1000, .groups = {1000}}, true},      // a configured user
           Case{{.user = 1001, .groups = {1001, 50}}, true},  // a supplementary group that is configured
           Case{{.user = 1001, .groups = {50}}, true},        // a primary group that is configured
           Case{{.user = 1001, .groups = {1001}}, false},     // neither user nor group is configured
           Case{{.user = 50, .groups = {1000}}, false},       // numbers of users and groups are separate
           Case{{.user = 1001, .groups = {0}}, false},        // the group of root is not root
           Case{{.user = 4294967295u, .groups = {}}, false},  // the invalid uid (-1)
           Case{{.user = 65534, .groups = {65534}}, false},   // the overflow uid: a user of another user namespace
       }) {
    EXPECT_EQ(MayOperate(c.peer, operators, kOwn), c.may) << c.peer.user;
    if (c.peer.user != 0 && c.peer.user != kOwn) {
      EXPECT_FALSE(MayOperate(c.peer, {}, kOwn)) << c.peer.user;
    }
  }
}

using testing::HasSubstr;

// Connects to `path` and returns the number of bytes received until the end; -1 where the connection fails.
int ReadOne(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{.sun_family = AF_UNIX};
  std::strcpy(address.sun_path, path.c_str());
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) return -1;
  const timeval patience{.tv_sec = 60};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  char byte = 0;
  int bytes = 0;
  // At the end of the stream the listener's descriptor is closed.
  while (read(fd, &byte, 1) == 1) ++bytes;
  close(fd);
  return bytes;
}

class LocalListenerTest : public testing::Test {
 protected:
  LocalListenerTest() {
    chmod(folder_.path().c_str(), 0755);
    options_ = {.listener = "http", .path = folder_.path() + "/s"};
  }

  // Starts a listener that sends one byte to each admitted peer.
  void Start() {
    auto listener = LocalListener::Listen(options_, *metrics_);
    ASSERT_TRUE(listener.ok()) << listener.status();
    listener_ = *std::move(listener);
    listener_->Start([this](int fd, const SocketPeer& peer) {
      user_ = peer.user;
      // A peer that only probes whether the path is in use has disconnected by now.
      send(fd, "!", 1, MSG_NOSIGNAL);
      close(fd);
    });
  }

  const SocketFolder folder_;
  LocalListener::Options options_;
  const std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  std::unique_ptr<LocalListener> listener_;
  std::atomic<uint32_t> user_ = 99;
};

TEST_F(LocalListenerTest, TheDaemonsOwnUserEnters) {
  Start();
  EXPECT_EQ(ReadOne(options_.path), 1);
  EXPECT_EQ(user_, geteuid());
  EXPECT_EQ(ReadOne(options_.path), 1);
}

TEST_F(LocalListenerTest, StopRemovesTheFile) {
  Start();
  listener_->Stop();
  EXPECT_EQ(ReadOne(options_.path), -1);
  EXPECT_FALSE(std::filesystem::exists(options_.path));
  listener_->Stop();
}

TEST_F(LocalListenerTest, NeedNotBeStarted) { EXPECT_TRUE(LocalListener::Listen(options_, *metrics_).ok()); }

TEST_F(LocalListenerTest, TheFileIsOpenToThoseWhoAreNamed) {
  const auto mode = [&] {
    struct stat file {};
    stat(options_.path.c_str(), &file);
    return file.st_mode & 07777;
  };
  Start();
  EXPECT_EQ(mode(), 0600u);
  listener_->Stop();
  options_.operators.groups = {getegid()};
  Start();
  EXPECT_EQ(mode(), 0660u);
}

// Needs root to change the user.
TEST_F(LocalListenerTest, SomebodyElseIsClosedAtOnce) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  Start();
  ASSERT_EQ(chmod(options_.path.c_str(), 0666), 0);
  const auto as_user = [&](uid_t user) {
    const pid_t child = fork();
    if (child == 0) _exit(setresuid(user, user, user) != 0 ? 99 : ReadOne(options_.path));
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(as_user(54321), 0) << "not a byte";
  EXPECT_THAT(metrics_->Serialize(),
              HasSubstr("sideband_connections_refused_total{listener=\"http\",reason=\"not_a_local_operator\"} 1\n"));
  listener_->Stop();
  options_.operators.users = {54321};
  Start();
  ASSERT_EQ(chmod(options_.path.c_str(), 0666), 0);
  EXPECT_EQ(as_user(54321), 1);
  EXPECT_EQ(user_, 54321u);
}

// The process cannot open more descriptors: the listener uses its reserve.
TEST_F(LocalListenerTest, TheLastDescriptorsAreAnOperators) {
  Start();
  EXPECT_EQ(ReadOne(options_.path), 1) << "so that the reserve is there";
  rlimit usual{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &usual), 0);
  // Occupies all numbers below the limit.
  int top = 0;
  for (const auto& open : std::filesystem::directory_iterator("/proc/self/fd")) {
    top = std::max(top, std::stoi(open.path().filename()));
  }
  std::vector<Descriptor> fillers;
  do {
    fillers.emplace_back(dup(STDOUT_FILENO));
  } while (fillers.back().is_open() && fillers.back().get() < top);
  const rlimit tight{.rlim_cur = static_cast<rlim_t>(fillers.back().get()) + 1, .rlim_max = usual.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
  const pid_t child = fork();
  if (child == 0) _exit(setrlimit(RLIMIT_NOFILE, &usual) != 0 ? 99 : ReadOne(options_.path));
  int status = 0;
  waitpid(child, &status, 0);
  setrlimit(RLIMIT_NOFILE, &usual);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_THAT(metrics_->Serialize(), HasSubstr("sideband_descriptors_exhausted_total{listener=\"http\"} 1\n"));
}

TEST_F(LocalListenerTest, WhatCannotBeListenedOnIsSaidPlainly) {
  Start();
  EXPECT_EQ(LocalListener::Listen(options_, *metrics_).status().message(),
            "http: cannot listen on " + options_.path + ": Address already in use");
}

// Accepts by both ways, and closes each connection after one byte.
class AcceptorTest : public testing::Test {
 protected:
  AcceptorTest() { chmod(folder_.path().c_str(), 0755); }
  ~AcceptorTest() override {
    acceptor_.Stop();
    work_.reset();
    thread_.join();
  }

  void Start() {
    ASSERT_TRUE(acceptor_.Open(listener_, {}, /*inherited=*/-1).ok());
    acceptor_.Start({.client = [this](int fd) { Serve(fd, clients_); },
                     .local_operator = [this](int fd, const SocketPeer&) { Serve(fd, operators_); },
                     .exhausted = [] {}});
    thread_ = std::thread([this] { io_.run(); });
  }

  static void Serve(int fd, std::atomic<int>& count) {
    ++count;
    send(fd, "!", 1, MSG_NOSIGNAL);
    close(fd);
  }

  // Bytes that a client over TCP reads; -1: it is refused.
  int ReadByTcp() const {
    const Descriptor client(socket(AF_INET, SOCK_STREAM, 0));
    const sockaddr_in to{
        .sin_family = AF_INET, .sin_port = htons(acceptor_.port()), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    if (connect(client.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0) return -1;
    // The kernel withholds a client that is silent.
    send(client.get(), "?", 1, MSG_NOSIGNAL);
    char byte = 0;
    return static_cast<int>(read(client.get(), &byte, 1));
  }

  // Reads and the join wait for the acceptor's thread.
  const TimeLimit limit_{"a test of the acceptor to end"};
  const SocketFolder folder_;
  const ListenerConfig listener_{.listen = {.host = "127.0.0.1", .port = 0}, .unix_socket = folder_.path() + "/s"};
  const std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_ = boost::asio::make_work_guard(io_);
  Acceptor acceptor_{io_, "http", *metrics_};
  std::atomic<int> clients_ = 0, operators_ = 0;
  std::thread thread_;
};

TEST_F(AcceptorTest, AcceptsByBothWaysUntilItIsStopped) {
  Start();
  EXPECT_GT(acceptor_.port(), 0);
  EXPECT_EQ(ReadByTcp(), 1);
  EXPECT_EQ(ReadByTcp(), 1);
  EXPECT_EQ(ReadOne(listener_.unix_socket), 1);
  EXPECT_EQ(clients_, 2);
  EXPECT_EQ(operators_, 1);
  acceptor_.Stop();
  EXPECT_EQ(ReadOne(listener_.unix_socket), -1);
  absl::Notification closed;
  boost::asio::post(io_, [&] { closed.Notify(); });
  WaitUntil(closed, "the descriptor to be closed");
  EXPECT_EQ(ReadByTcp(), -1);
}

}  // namespace
}  // namespace sideband::daemon
