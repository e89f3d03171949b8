// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/gate.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/identity/identity.h"
#include "daemon/listen/fake_frames.h"
#include "daemon/listen/gate_connection.h"
#include "proto/base/file.h"

namespace sideband::daemon {
namespace {

TEST(NamedPairTest, TheServersEndSeesTheName) {
  PairNames names;
  const std::string name = names.Next();
  const auto pair = MakeNamedPair(name);
  ASSERT_TRUE(pair.ok()) << pair.status();
  sockaddr_un peer{};
  socklen_t size = sizeof(peer);
  ASSERT_EQ(getpeername(pair->server_end, reinterpret_cast<sockaddr*>(&peer), &size), 0);
  EXPECT_EQ(std::string(peer.sun_path, size - offsetof(sockaddr_un, sun_path)), '\0' + name);
  EXPECT_EQ(write(pair->gate_end, "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(read(pair->server_end, &byte, 1), 1);
  EXPECT_FALSE(MakeNamedPair(name).ok()) << "a name that is taken";
  close(pair->gate_end);
  close(pair->server_end);
}

TEST(NamedPairTest, NoNameComesTwice) {
  PairNames names, others;
  const std::string first = names.Next();
  EXPECT_NE(names.Next(), first);
  EXPECT_NE(others.Next(), first);
  EXPECT_EQ(first.size(), std::string("sideband-").size() + 32 + 2);
}

using sideband::Descriptor;

std::pair<Descriptor, Descriptor> NewPair() {
  int ends[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

void Write(const Descriptor& to, const std::string& bytes) {
  ASSERT_EQ(send(to.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
}

std::string ReadAll(const Descriptor& from) {
  std::string bytes(1 << 20, 0);
  const ssize_t read = recv(from.get(), bytes.data(), bytes.size(), 0);
  bytes.resize(read > 0 ? read : 0);
  return bytes;
}

// Records the calls, and connects the gate to a server that the test plays.
class FakeOwner final : public GateConnectionOwner {
 public:
  void OnSpeaks(Id) override {}
  void OnHandshakeFailed(Id) override { breaches.push_back("handshake"); }
  bool MayStay(Id, const ConnectionTable::Holder&) override { return true; }
  void SetBusy(Id, bool busy) override { is_busy = busy; }
  bool MakeRoom(Id) override { return has_room; }
  std::optional<int> Attach(Id, const Credentials&) override {
    auto [gate, server_end] = NewPair();
    server = std::move(server_end);
    return gate.Release();
  }
  void OnBreach(Id, const Credentials&, absl::string_view reason) override { breaches.emplace_back(reason); }
  void OnEnd(Id) override { has_ended = true; }

  Descriptor server;
  std::vector<std::string> breaches;
  bool is_busy = false;
  bool has_room = false;  // of an address
  bool has_ended = false;
};

// A local operator, who needs no TLS.
class GateConnectionTest : public testing::Test {
 protected:
  void Connect() {
    auto [gate, client] = NewPair();
    client_ = std::move(client);
    const auto connection = MakeGateConnection(ConnectionTable::Id{}, io_, {.fd = gate.Release(), .local_operator = 1},
                                               {frames_, timeouts_, limits_, throttle_, owner_, clock_, nullptr});
    connection_ = connection;
    connection->Run();
  }
  // Afterwards all that is ready is done, however late this thread runs.
  void RunFor(std::chrono::milliseconds duration) {
    io_.restart();
    io_.run_for(duration);
    io_.restart();
    while (io_.poll() > 0) continue;
  }
  // The next `size` bytes; fewer after a minute.
  std::string Await(const Descriptor& from, size_t size) {
    std::string bytes;
    for (int i = 0; i < 6000 && bytes.size() < size; ++i) {
      RunFor(std::chrono::milliseconds(10));
      bytes += ReadAll(from);
    }
    return bytes;
  }
  // Both sides' SETTINGS; the client's acknowledgement is still to come.
  void Greet() {
    const std::string hello = kPreface + Frame(0, kSettings);
    Write(client_, hello);
    EXPECT_EQ(Await(owner_.server, hello.size()), hello);
    Write(owner_.server, Frame(0, kSettings));
    EXPECT_EQ(Await(client_, Frame(0, kSettings).size()), Frame(0, kSettings));
  }
  // Calls of which the server gets no end.
  void Open(std::initializer_list<uint32_t> streams) {
    for (const uint32_t stream : streams) Write(client_, Frame(50, kHeaders, kEndHeaders, stream));
    RunFor(std::chrono::milliseconds(10));
  }
  // The server sends until the client's socket and the gate's are full.
  void FillWith(const std::string& frame) {
    while (send(owner_.server.get(), frame.data(), frame.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(frame.size())) {
      RunFor(std::chrono::milliseconds(1));
    }
  }
  // Until it ends, for a minute at most.
  void RunToTheEnd() {
    for (int i = 0; i < 6000 && !owner_.has_ended; ++i) RunFor(std::chrono::milliseconds(10));
  }

  SystemClock clock_;
  FrameGuard::Limits frames_;
  GateTimeouts timeouts_;
  ConnectionLimits limits_;
  HolderThrottle throttle_{{.streams_max = 2}, clock_};
  FakeOwner owner_;
  Descriptor client_;
  boost::asio::io_context io_;
  std::weak_ptr<GateConnection> connection_;
};

TEST_F(GateConnectionTest, PassesBytesBothWays) {
  Connect();
  Greet();
  EXPECT_FALSE(owner_.has_ended);
}

TEST_F(GateConnectionTest, EndsWithItsClient) {
  Connect();
  Greet();
  client_ = Descriptor();
  RunToTheEnd();
  EXPECT_TRUE(owner_.has_ended);
  EXPECT_TRUE(owner_.breaches.empty());
}

TEST_F(GateConnectionTest, SettingsMustBeAcknowledged) {
  timeouts_.settings = absl::Milliseconds(20);
  Connect();
  Write(client_, kPreface + Frame(0, kSettings));
  RunToTheEnd();
  EXPECT_EQ(owner_.breaches, std::vector<std::string>{"http2_settings_timeout"});
  EXPECT_TRUE(owner_.has_ended);
}

TEST_F(GateConnectionTest, TooManyStreamsEndIt) {
  owner_.has_room = true;
  Connect();
  Greet();
  Open({1, 3});
  EXPECT_TRUE(owner_.breaches.empty());
  Open({5});
  EXPECT_EQ(owner_.breaches, std::vector<std::string>{"http2_streams_of_identity"}) << "only an address has room made";
}

TEST_F(GateConnectionTest, AnIdentityCountsTheStreamsFromBeforeItWasShown) {
  Connect();
  Greet();
  Open({1, 3});
  const auto of_identity = throttle_.ShareOf("spiffe://example.org/scraper");
  EXPECT_TRUE(of_identity->CountOpen(1));
  connection_.lock()->CountAs("spiffe://example.org/scraper");
  RunFor(std::chrono::milliseconds(10));
  EXPECT_EQ(owner_.breaches, std::vector<std::string>{"http2_streams_of_identity"});
  of_identity->CountOpen(-1);
}

TEST_F(GateConnectionTest, WhoShowsAnIdentityIsNoLongerThrottledAsAnAddress) {
  Connect();
  Greet();
  Open({1});
  const auto others = throttle_.ShareOf(LocalIdentity(1));
  EXPECT_TRUE(others->CountOpen(1));
  EXPECT_FALSE(others->CountOpen(1)) << "two, and the connection's";
  connection_.lock()->CountAs("spiffe://example.org/scraper");
  Open({3});
  EXPECT_TRUE(owner_.breaches.empty());
  EXPECT_FALSE(throttle_.ShareOf("spiffe://example.org/scraper")->CountOpen(1)) << "which has both";
  EXPECT_TRUE(others->CountOpen(-1));
  EXPECT_TRUE(others->CountOpen(1)) << "of which the connection has none any more";
  others->CountOpen(-2);
}

TEST_F(GateConnectionTest, AnAnswerThatIsNotReadEndsIt) {
  timeouts_.write = absl::Milliseconds(100);
  Connect();
  Greet();
  Write(client_, Frame(0, kSettings, kAck));
  EXPECT_EQ(Await(owner_.server, Frame(0, kSettings).size()), Frame(0, kSettings, kAck));
  FillWith(Frame(16000, kUnknown));
  RunToTheEnd();
  EXPECT_TRUE(owner_.has_ended);
}

TEST_F(GateConnectionTest, SoDoesOneFromBeforeALateAcknowledgement) {
  timeouts_.write = absl::Milliseconds(100);
  Connect();
  Greet();
  FillWith(Frame(16000, kUnknown));
  RunFor(std::chrono::milliseconds(300));
  EXPECT_FALSE(owner_.has_ended) << "only the deadline of SETTINGS holds so far";
  Write(client_, Frame(0, kSettings, kAck));
  RunToTheEnd();
  EXPECT_TRUE(owner_.has_ended);
}

}  // namespace

}  // namespace sideband::daemon
