// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/bus_server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>

#include "proto/smbus/bus_frame.h"
#include "secure_mcu/firmware/mailbox_target.h"

namespace sideband::mcu {
namespace {

// A transaction of a kilobyte.
smbus::BusRecord ReadAt(uint64_t time_us) {
  return {time_us, {{smbus::Message::Read(0x4F, 1024)}}, smbus::TransferResult{.read = {Bytes(1024)}}};
}

class BusMonitorsTest : public testing::Test {
 protected:
  // The peer of a monitor's connection.
  int Connect() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    monitors_.Add(ends[0], {}, 0);
    far_ends_.push_back(ends[1]);
    return ends[1];
  }
  ~BusMonitorsTest() override {
    for (const int fd : far_ends_) close(fd);
  }

  void Serve() {
    std::vector<pollfd> polls;
    monitors_.AppendPolls(polls);
    poll(polls.data(), polls.size(), 0);
    monitors_.Serve(polls);
  }
  // Returns all frames without their headers; calls the server until none is left.
  std::deque<Bytes> Drain(int fd) {
    Bytes bytes;
    uint8_t buffer[1 << 14];
    for (Serve();; Serve()) {
      const ssize_t size = recv(fd, buffer, sizeof(buffer), 0);
      if (size <= 0) break;
      bytes.insert(bytes.end(), buffer, buffer + size);
    }
    std::deque<Bytes> bodies;
    ByteReader in(bytes);
    while (in.remaining() > 0) {
      const ByteSpan body = in.Raw(in.U32());
      bodies.emplace_back(body.begin(), body.end());
    }
    return bodies;
  }

  BusMonitors monitors_;
  std::vector<int> far_ends_;
};

TEST_F(BusMonitorsTest, EachIsSentEverything) {
  const int first = Connect(), second = Connect();
  monitors_.Publish(ReadAt(1));
  monitors_.Publish(ReadAt(2));
  for (const int fd : {first, second}) {
    const auto bodies = Drain(fd);
    ASSERT_EQ(bodies.size(), 3u);
    EXPECT_TRUE(smbus::DecodeMonitorStart(bodies[0]).ok());
    EXPECT_EQ(*smbus::DecodeMonitorEvent(bodies[2]), smbus::MonitorEvent(ReadAt(2)));
  }
}

TEST_F(BusMonitorsTest, WhoDoesNotReadLosesAndIsToldHowMuch) {
  const int slow = Connect(), quick = Connect();
  constexpr uint64_t kRecords = 4096;  // four times the capacity of the queue
  uint64_t seen_by_quick = 0;
  for (uint64_t i = 0; i < kRecords; ++i) {
    monitors_.Publish(ReadAt(i));
    if (i % 64 == 0) seen_by_quick += Drain(quick).size();
  }
  seen_by_quick += Drain(quick).size();
  EXPECT_EQ(seen_by_quick, 1 + kRecords) << "another one's slowness is not its own";

  const auto bodies = Drain(slow);
  uint64_t records = 0, lost = 0, losses = 0;
  for (size_t i = 1; i < bodies.size(); ++i) {
    const auto event = *smbus::DecodeMonitorEvent(bodies[i]);
    if (const auto* loss = std::get_if<smbus::BusLoss>(&event)) {
      lost += loss->transactions;
      ++losses;
    } else {
      EXPECT_EQ(std::get<smbus::BusRecord>(event).time_us, records + lost) << "in order";
      ++records;
    }
  }
  EXPECT_EQ(records + lost, kRecords);
  EXPECT_EQ(losses, 1u) << "one gap, not many";
  EXPECT_LT(records * 1024, 2 * BusMonitors::kQueueBytesMax);

  monitors_.Publish(ReadAt(kRecords));
  const auto after = Drain(slow);
  ASSERT_EQ(after.size(), 1u) << "it sees everything again";
  EXPECT_EQ(*smbus::DecodeMonitorEvent(after[0]), smbus::MonitorEvent(ReadAt(kRecords)));
}

TEST_F(BusMonitorsTest, WhoGoesAwayOrSpeaksIsDropped) {
  Connect();
  const int speaks = Connect();
  close(far_ends_[0]);
  far_ends_[0] = dup(speaks);
  EXPECT_EQ(write(speaks, "x", 1), 1);
  Serve();
  EXPECT_EQ(monitors_.size(), 0u);
}

// Answers every read with 0x5A.
class ConstantTarget final : public BusTarget {
 public:
  void Start(bool) override {}
  bool Write(uint8_t) override { return true; }
  uint8_t Read() override { return 0x5A; }
  void Stop() override {}
};

class BusServerTest : public testing::Test {
 protected:
  BusServerTest() { bus_.Connect(0x4F, target_); }

  int Connect() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path_.c_str(), sizeof(address.sun_path) - 1);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    return fd;
  }
  void Send(int fd, ByteSpan bytes) { ASSERT_EQ(write(fd, bytes.data(), bytes.size()), ssize_t(bytes.size())); }
  void ServeAWhile() {
    for (int i = 0; i < 4; ++i) server_->ServeFor(absl::Milliseconds(20));
  }
  // The bytes sent by the server; nullopt after it has closed the connection.
  static std::optional<Bytes> Received(int fd) {
    Bytes bytes(4096);
    const ssize_t size = recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
    // A reset: the server closed the connection with unread input.
    if (size == 0 || (size < 0 && errno == ECONNRESET)) return std::nullopt;
    bytes.resize(size < 0 ? 0 : static_cast<size_t>(size));
    return bytes;
  }

  // Relative, because the path of a socket must be short.
  const std::string path_ = (std::filesystem::current_path(testing::TempDir()), "bus.sock");
  ConstantTarget target_;
  VirtualBus bus_;
  absl::Duration now_;
  const BusServer::Elapsed elapsed_ = [this] { return now_; };
  std::unique_ptr<BusServer> server_ = *BusServer::Listen(path_, bus_, elapsed_);
};

const smbus::Transfer kRead = {{smbus::Message::Read(0x4F, 2)}};
const Bytes kResult = smbus::EncodeResult({.read = {{0x5A, 0x5A}}});

Bytes Twice(Bytes bytes) {
  const Bytes once = bytes;
  bytes.insert(bytes.end(), once.begin(), once.end());
  return bytes;
}

TEST_F(BusServerTest, ServesSeveralControllers) {
  const int first = Connect(), second = Connect();
  Send(first, smbus::EncodeTransfer(kRead));
  Send(second, smbus::EncodeTransfer(kRead));
  ServeAWhile();
  EXPECT_EQ(Received(first), kResult);
  EXPECT_EQ(Received(second), kResult);
  close(first);
  close(second);
}

TEST_F(BusServerTest, AFrameMayComeInPieces) {
  const int fd = Connect();
  for (const uint8_t byte : smbus::EncodeTransfer(kRead)) {
    Send(fd, {&byte, 1});
    server_->ServeFor(absl::Milliseconds(20));
  }
  ServeAWhile();
  EXPECT_EQ(Received(fd), kResult);
  close(fd);
}

TEST_F(BusServerTest, RubbishCutsOffOnlyItsSender) {
  const int good = Connect(), bad = Connect();
  Send(bad, Bytes{0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3});
  ServeAWhile();
  EXPECT_EQ(Received(bad), std::nullopt);
  Send(good, smbus::EncodeTransfer(kRead));
  ServeAWhile();
  EXPECT_EQ(Received(good), kResult);
  close(good);
  close(bad);
}

TEST_F(BusServerTest, AMonitorSeesTheTransactionsOfOthers) {
  const int controller = Connect(), monitor = Connect();
  Send(controller, smbus::EncodeTransfer(kRead));
  ServeAWhile();
  now_ = absl::Microseconds(7);
  Send(monitor, smbus::EncodeMonitorRequest());
  ServeAWhile();
  EXPECT_EQ(Received(monitor), smbus::EncodeMonitorStart(7)) << "and nothing of what was before";
  now_ = absl::Microseconds(9);
  Send(controller, smbus::EncodeTransfer(kRead));
  ServeAWhile();
  EXPECT_EQ(Received(monitor),
            smbus::EncodeMonitorEvent(smbus::BusRecord{9, kRead, smbus::TransferResult{.read = {{0x5A, 0x5A}}}}));
  EXPECT_EQ(Received(controller), Twice(kResult));
  close(monitor);
  Send(controller, smbus::EncodeTransfer(kRead));
  ServeAWhile();
  EXPECT_EQ(Received(controller), kResult) << "a monitor that goes away changes nothing";
  close(controller);
}

TEST_F(BusServerTest, AMonitorThatSpeaksIsCutOff) {
  const int late = Connect(), early = Connect();
  Send(late, smbus::EncodeMonitorRequest());
  Send(early, Twice(smbus::EncodeMonitorRequest()));
  ServeAWhile();
  EXPECT_EQ(Received(early), std::nullopt);
  EXPECT_EQ(Received(late), smbus::EncodeMonitorStart(0));
  Send(late, smbus::EncodeTransfer(kRead));
  ServeAWhile();
  EXPECT_EQ(Received(late), std::nullopt);
  close(late);
  close(early);
}

TEST_F(BusServerTest, AControllerMayBecomeAMonitor) {
  const int fd = Connect();
  Bytes both = smbus::EncodeTransfer(kRead);
  const Bytes request = smbus::EncodeMonitorRequest();
  both.insert(both.end(), request.begin(), request.end());
  Send(fd, both);
  ServeAWhile();
  Bytes expected = kResult;
  const Bytes start = smbus::EncodeMonitorStart(0);
  expected.insert(expected.end(), start.begin(), start.end());
  EXPECT_EQ(Received(fd), expected);
  close(fd);
}

// A bus that simulates the death of the controller in every transaction.
class DeadlyBus final : public smbus::Bus {
 public:
  smbus::TransferResult Execute(const smbus::Transfer&) override { return {.controller_died = true}; }
};

TEST_F(BusServerTest, AControllerThatDiesGetsNoResult) {
  DeadlyBus deadly;
  server_.reset();
  server_ = *BusServer::Listen(path_, deadly, elapsed_);
  const int fd = Connect(), monitor = Connect();
  Send(monitor, smbus::EncodeMonitorRequest());
  ServeAWhile();
  Received(monitor);
  Send(fd, smbus::EncodeTransfer(kRead));
  ServeAWhile();
  EXPECT_EQ(Received(fd), std::nullopt);
  EXPECT_EQ(Received(monitor), smbus::EncodeMonitorEvent(smbus::BusRecord{0, kRead, std::nullopt}));
  close(monitor);
  close(fd);
}

TEST_F(BusServerTest, ABusIsServedOnce) {
  EXPECT_EQ(BusServer::Listen(path_, bus_, elapsed_).status().code(), absl::StatusCode::kAlreadyExists);
  server_.reset();
  EXPECT_FALSE(std::filesystem::exists(path_)) << "removed at the end";
}

TEST_F(BusServerTest, ADeadSocketIsReplaced) {
  server_.reset();
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path_.c_str(), sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  close(fd);
  EXPECT_TRUE(BusServer::Listen(path_, bus_, elapsed_).ok());
}

TEST_F(BusServerTest, TheFileToLockIsThereForWhoMayNotMakeOne) {
  const int file = open("bus.sock.lock", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(file, 0);
  EXPECT_EQ(flock(file, LOCK_EX | LOCK_NB), 0);
  server_.reset();
  EXPECT_TRUE(BusServer::Listen(path_, bus_, elapsed_).ok()) << "a lock is none on the socket";
  close(file);
}

TEST_F(BusServerTest, AFileIsNotReplaced) {
  std::ofstream("precious") << "data";
  EXPECT_EQ(BusServer::Listen("precious", bus_, elapsed_).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(std::filesystem::exists("precious"));
}

TEST_F(BusServerTest, ImpossiblePathsAreRefused) {
  EXPECT_EQ(BusServer::Listen(std::string(200, 'x'), bus_, elapsed_).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(BusServer::Listen("/nonexistent/bus.sock", bus_, elapsed_).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace

}  // namespace sideband::mcu
