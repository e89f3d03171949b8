// SPDX-License-Identifier: Apache-2.0
#include "daemon/transport/unix_bus_transport.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>

#include "proto/base/steady_time.h"
#include "proto/base/wait_until.h"
#include "proto/smbus/bus_frame.h"

namespace sideband::daemon {
namespace {

const smbus::Transfer kCarriedRead = {{smbus::Message::Read(0x4F, 2)}};
const smbus::TransferResult kCarriedResult = {.read = {{1, 2}}};

// A peer that accepts one connection per script, in order, and runs the script on it.
class FarEnd {
 public:
  explicit FarEnd(std::vector<std::function<void(int)>> scripts) {
    std::filesystem::current_path(testing::TempDir());  // the path of a Unix socket must be short
    unlink(path.c_str());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    listener_ = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(listener_, 4), 0);
    thread_ = std::thread([this, scripts = std::move(scripts)] {
      for (const auto& script : scripts) {
        const int fd = accept(listener_, nullptr, nullptr);
        script(fd);
        close(fd);
      }
    });
  }
  ~FarEnd() {
    const TimeLimit limit("the end of the far end's scripts");
    thread_.join();
    close(listener_);
  }

  const std::string path = "far_end.sock";

 private:
  int listener_;
  std::thread thread_;
};

void ReadRequest(int fd) {
  uint8_t buffer[256];
  EXPECT_GT(recv(fd, buffer, sizeof(buffer), 0), 0);
}

void Answer(int fd, const Bytes& bytes) {
  ReadRequest(fd);
  EXPECT_EQ(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), ssize_t(bytes.size()));
}

TEST(UnixBusTransportTest, CarriesATransaction) {
  FarEnd far_end({[](int fd) {
    Answer(fd, smbus::EncodeResult(kCarriedResult));
    Answer(fd, smbus::EncodeResult(kCarriedResult));
  }});
  UnixBusTransport transport(far_end.path, {});
  EXPECT_EQ(*transport.Execute(kCarriedRead), kCarriedResult);
  EXPECT_EQ(*transport.Execute(kCarriedRead), kCarriedResult) << "over one connection";
}

TEST(UnixBusTransportTest, ConnectsAnewAfterTheFarEndWentAway) {
  FarEnd far_end({[](int fd) { ReadRequest(fd); }, [](int fd) { Answer(fd, smbus::EncodeResult(kCarriedResult)); }});
  UnixBusTransport transport(far_end.path, {});
  EXPECT_EQ(transport.Execute(kCarriedRead).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(*transport.Execute(kCarriedRead), kCarriedResult);
}

TEST(UnixBusTransportTest, NobodyThereIsUnavailable) {
  UnixBusTransport transport("/nonexistent/bus.sock", {});
  const absl::Status status = transport.Execute(kCarriedRead).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(), "bus /nonexistent/bus.sock: No such file or directory");
}

TEST(UnixBusTransportTest, SilenceTimesOut) {
  FarEnd far_end({[](int fd) {
    ReadRequest(fd);
    uint8_t byte;
    recv(fd, &byte, 1, 0);  // until the transport closes the connection
  }});
  UnixBusTransport transport(far_end.path, {.timeout = absl::Milliseconds(50)});
  EXPECT_EQ(transport.Execute(kCarriedRead).status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(UnixBusTransportTest, DrippingBytesTimesOutAsSilenceDoes) {
  FarEnd far_end({[](int fd) {
    ReadRequest(fd);
    const Bytes header = {0xFF, 0x00, 0x00, 0x00};
    send(fd, header.data(), header.size(), MSG_NOSIGNAL);
    const uint8_t drip = 0;
    while (send(fd, &drip, 1, MSG_NOSIGNAL) == 1) SteadySleep(absl::Milliseconds(5));
  }});
  UnixBusTransport transport(far_end.path, {.timeout = absl::Milliseconds(50)});
  EXPECT_EQ(transport.Execute(kCarriedRead).status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(UnixBusTransportTest, RubbishIsAnErrorAndEndsTheConnection) {
  FarEnd far_end({[](int fd) {
                    Answer(fd, Bytes{0xFF, 0xFF, 0xFF, 0xFF});
                  },
                  [](int fd) {
                    Answer(fd, Bytes{2, 0, 0, 0, 9, 9});
                  },
                  [](int fd) { Answer(fd, smbus::EncodeResult(kCarriedResult)); }});
  UnixBusTransport transport(far_end.path, {});
  EXPECT_FALSE(transport.Execute(kCarriedRead).ok());
  EXPECT_FALSE(transport.Execute(kCarriedRead).ok());
  EXPECT_EQ(*transport.Execute(kCarriedRead), kCarriedResult);
}

}  // namespace
}  // namespace sideband::daemon
