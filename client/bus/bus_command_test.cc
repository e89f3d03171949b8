// SPDX-License-Identifier: Apache-2.0
#include "client/bus/bus_command.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>

#include "proto/base/wait_until.h"

namespace sideband::client {
namespace {

const smbus::MonitorEvent kRecord = smbus::BusRecord{5, {{smbus::Message::Read(0x4F, 1)}}, smbus::TransferResult{}};

// A server that accepts one connection and passes it to its script.
class Server {
 public:
  explicit Server(std::function<void(int)> script) {
    std::filesystem::current_path(testing::TempDir());  // sun_path holds only short paths
    unlink(path.c_str());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    listener_ = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(listener_, 4), 0);
    thread_ = std::thread([this, script = std::move(script)] {
      const int fd = accept(listener_, nullptr, nullptr);
      uint8_t request[64];
      EXPECT_EQ(recv(fd, request, sizeof(request), 0), ssize_t(smbus::EncodeMonitorRequest().size()));
      script(fd);
      close(fd);
    });
  }
  ~Server() {
    const TimeLimit limit("the end of the server's script");
    thread_.join();
    close(listener_);
  }

  const std::string path = "monitored.sock";

 private:
  int listener_;
  std::thread thread_;
};

void Send(int fd, const Bytes& bytes) {
  EXPECT_EQ(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), ssize_t(bytes.size()));
}

// Blocks until the peer closes the connection.
void AwaitEnd(int fd) {
  uint8_t byte;
  EXPECT_EQ(recv(fd, &byte, 1, 0), 0);
}

class BusMonitorTest : public testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<BusMonitor>> Connect(const std::string& path) {
    return BusMonitor::Connect(path, cancellation_, [] { return absl::FromUnixMicros(1'700'000'000'000'000); });
  }

  const TimeLimit limit_{"what the server sends"};
  Cancellation cancellation_;
};

TEST_F(BusMonitorTest, SeesWhatTheServerSends) {
  Server server([](int fd) {
    Send(fd, smbus::EncodeMonitorStart(1'000'000));
    Send(fd, smbus::EncodeMonitorEvent(kRecord));
    Send(fd, smbus::EncodeMonitorEvent(smbus::BusLoss{3}));
  });
  const auto monitor = *Connect(server.path);
  EXPECT_EQ(monitor->host_time_us(), 1'699'999'999'000'000u) << "the server started a second ago";
  EXPECT_EQ(**monitor->Next(), kRecord);
  EXPECT_EQ(**monitor->Next(), smbus::MonitorEvent(smbus::BusLoss{3}));
  EXPECT_EQ(monitor->Next().status(), absl::UnavailableError("bus monitored.sock: the server closed the connection"));
}

TEST_F(BusMonitorTest, ACancellationIsTheEnd) {
  Server server([](int fd) {
    Send(fd, smbus::EncodeMonitorStart(0));
    AwaitEnd(fd);
  });
  auto monitor = *Connect(server.path);
  std::thread canceller([this] { cancellation_.Cancel(); });
  EXPECT_EQ(*monitor->Next(), std::nullopt);
  canceller.join();
  EXPECT_EQ(*monitor->Next(), std::nullopt) << "for good";
  monitor.reset();
}

TEST_F(BusMonitorTest, AServerThatKnowsNoMonitorsIsSaidToBeOne) {
  Server server([](int) {});
  EXPECT_EQ(Connect(server.path).status(), absl::UnavailableError("bus monitored.sock: its server cannot be watched"));
}

TEST_F(BusMonitorTest, NobodyThere) {
  EXPECT_EQ(Connect("/nonexistent/bus.sock").status(),
            absl::UnavailableError("bus /nonexistent/bus.sock: No such file or directory"));
  EXPECT_EQ(Connect(std::string(200, 'x')).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(BusMonitorTest, RubbishIsRefused) {
  for (const Bytes& rubbish : {Bytes{0xFF, 0xFF, 0xFF, 0xFF}, Bytes{2, 0, 0, 0, 9, 9}}) {
    Server at_start([&](int fd) { Send(fd, rubbish); });
    EXPECT_FALSE(Connect(at_start.path).ok());
  }
  for (const Bytes& rubbish : {Bytes{0xFF, 0xFF, 0xFF, 0xFF}, Bytes{2, 0, 0, 0, 9, 9}}) {
    Server later([&](int fd) {
      Send(fd, smbus::EncodeMonitorStart(~uint64_t{0}));
      Send(fd, rubbish);
    });
    const auto monitor = *Connect(later.path);
    EXPECT_EQ(monitor->host_time_us(), 0u) << "no such time";
    EXPECT_EQ(monitor->Next().status().code(), absl::StatusCode::kUnavailable);
  }
}

TEST(BusSpeedTest, Parses) {
  EXPECT_EQ(*ParseBusSpeed("100k"), 100'000u);
  EXPECT_EQ(*ParseBusSpeed("1M"), 1'000'000u);
  EXPECT_EQ(*ParseBusSpeed("400000"), 400'000u);
  EXPECT_EQ(*ParseBusSpeed("1k"), kBusHzMin);
  EXPECT_EQ(*ParseBusSpeed("10M"), kBusHzMax);
}

TEST(BusSpeedTest, RefusesTheRest) {
  for (const char* text :
       {"", "k", "100K", "999", "11M", "10000001", "-100k", "1kM", "0x10k", "18446744073709551615M"}) {
    EXPECT_FALSE(ParseBusSpeed(text).ok()) << text;
  }
  EXPECT_EQ(ParseBusSpeed("fast").status().message(), "'fast' is not a bus speed from 1k to 10M, such as 100k");
}

}  // namespace

}  // namespace sideband::client
