// SPDX-License-Identifier: Apache-2.0
#include "daemon/transport/bus_transport.h"

#include <gtest/gtest.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <utility>
#include <vector>

#include "proto/base/fake_unix_server.h"
#include "proto/base/steady_time.h"
#include "proto/smbus/bus_frame.h"
#include "proto/smbus/transfer.h"

namespace sideband::daemon {
namespace {

using smbus::Message;
using smbus::Outcome;
using smbus::Transfer;

const smbus::Transfer kCarriedRead = {{smbus::Message::Read(0x4F, 2)}};
const smbus::TransferResult kCarriedResult = {.read = {{1, 2}}};

class FarEnd : public FakeUnixServer {
 public:
  explicit FarEnd(std::vector<Script> scripts) : FakeUnixServer("far_end.sock", std::move(scripts)) {}
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

constexpr unsigned long kSmbusOnly = I2C_FUNC_SMBUS_BLOCK_DATA | I2C_FUNC_SMBUS_PEC;

const Transfer kStatus = {{Message::Write(0x4F, {0x5C}), Message::Read(0x4F, 6)}};
const Transfer kGetTemp = {{Message::Write(0x4F, {0x5C, 0x04, 0x02, 0x00, 0x00, 0x80, 0x56})}};
const Bytes kDone = {0x04, 0x02, 0x00, 0x00, 0x1F, 0x6F};

// Members named *_result and the callbacks' results are the return values of the calls.
class FakeI2cDev final : public I2cDev {
 public:
  int Open(const std::string&) override {
    ++opened;
    return open_result;
  }
  void Close(int) override { ++closed; }
  int Ioctl(int fd, unsigned long request, unsigned long argument) override {
    EXPECT_EQ(fd, open_result);
    switch (request) {
      case I2C_FUNCS:
        *reinterpret_cast<unsigned long*>(argument) = functionality;
        return funcs_result;
      case I2C_TIMEOUT:
        timeout = argument;
        return 0;
      case I2C_RETRIES:
        retries = argument;
        return 0;
      case I2C_PEC:
        pec = argument;
        return 0;
      case I2C_SLAVE:
        addresses.push_back(argument);
        return slave_result;
      case I2C_RDWR:
        return read_write(*reinterpret_cast<i2c_rdwr_ioctl_data*>(argument));
      case I2C_SMBUS:
        return smbus(*reinterpret_cast<i2c_smbus_ioctl_data*>(argument));
    }
    return -ENOTTY;
  }

  unsigned long functionality = I2C_FUNC_I2C;
  int open_result = 7, funcs_result = 0, slave_result = 0;
  std::function<int(i2c_rdwr_ioctl_data&)> read_write;
  std::function<int(i2c_smbus_ioctl_data&)> smbus;
  int opened = 0, closed = 0;
  unsigned long timeout = 0, retries = 0, pec = 0;
  std::vector<unsigned long> addresses;
};

class I2cDevTransportTest : public testing::Test {
 protected:
  FakeI2cDev dev_;
  I2cDevTransport transport_{"/dev/i2c-3", dev_, {.timeout_10ms = 20, .retries = 2}};
};

TEST_F(I2cDevTransportTest, CarriesMessagesAsTheyAre) {
  dev_.read_write = [](i2c_rdwr_ioctl_data& request) {
    EXPECT_EQ(request.nmsgs, 2u);
    EXPECT_EQ(request.msgs[0].addr, 0x4F);
    EXPECT_EQ(request.msgs[0].flags, 0);
    EXPECT_EQ(request.msgs[0].len, 1);
    EXPECT_EQ(request.msgs[0].buf[0], 0x5C);
    EXPECT_EQ(request.msgs[1].flags, I2C_M_RD);
    EXPECT_EQ(request.msgs[1].len, 6);
    std::copy(kDone.begin(), kDone.end(), request.msgs[1].buf);
    return 2;
  };
  EXPECT_EQ(*transport_.Execute(kStatus), (smbus::TransferResult{.read = {kDone}}));
  EXPECT_EQ(transport_.block_bytes_max(), 255u);
  EXPECT_EQ(dev_.timeout, 20u);
  EXPECT_EQ(dev_.retries, 2u);
  EXPECT_TRUE(transport_.Execute(kStatus).ok());
  EXPECT_EQ(dev_.opened, 1);
}

TEST_F(I2cDevTransportTest, ABlockOfUnknownLengthIsClockedInFull) {
  dev_.read_write = [](i2c_rdwr_ioctl_data& request) {
    EXPECT_EQ(request.msgs[1].len, 1 + 255 + 1);
    std::fill_n(request.msgs[1].buf, request.msgs[1].len, 0xFF);
    std::copy(kDone.begin(), kDone.end(), request.msgs[1].buf);
    return 2;
  };
  const Transfer transfer = {{Message::Write(0x4F, {0x5C}), Message::ReadBlock(0x4F, 1)}};
  EXPECT_EQ(transport_.Execute(transfer)->read, std::vector<Bytes>{kDone});
  dev_.read_write = [](i2c_rdwr_ioctl_data&) { return 2; };  // a count of 0
  EXPECT_EQ(transport_.Execute(transfer)->outcome, Outcome::kBadCount);
}

TEST_F(I2cDevTransportTest, ErrorsOfTheWireAreOutcomes) {
  const struct {
    int error;
    Outcome outcome;
  } kCases[] = {
      {ENXIO, Outcome::kAddressNack},      {EREMOTEIO, Outcome::kAddressNack}, {EIO, Outcome::kDataNack},
      {EAGAIN, Outcome::kArbitrationLost}, {ETIMEDOUT, Outcome::kTimeout},     {EPROTO, Outcome::kBadCount},
  };
  for (const auto& test : kCases) {
    dev_.read_write = [&](i2c_rdwr_ioctl_data&) { return -test.error; };
    EXPECT_EQ(transport_.Execute(kStatus)->outcome, test.outcome) << test.error;
  }
  EXPECT_EQ(dev_.closed, 0);
}

TEST_F(I2cDevTransportTest, OtherErrorsAreSaid) {
  const struct {
    int error;
    absl::StatusCode code;
    const char* message;
  } kCases[] = {
      {EBADMSG, absl::StatusCode::kDataLoss, "bus /dev/i2c-3: wrong PEC"},
      {EOPNOTSUPP, absl::StatusCode::kUnimplemented, "bus /dev/i2c-3: Operation not supported by the adapter"},
      {EBUSY, absl::StatusCode::kUnavailable, "bus /dev/i2c-3: Device or resource busy"},
      {ENODEV, absl::StatusCode::kUnavailable, "bus /dev/i2c-3: No such device"},
  };
  for (const auto& test : kCases) {
    dev_.read_write = [&](i2c_rdwr_ioctl_data&) { return -test.error; };
    const absl::Status status = transport_.Execute(kStatus).status();
    EXPECT_EQ(status.code(), test.code);
    EXPECT_EQ(status.message(), test.message);
  }
}

TEST_F(I2cDevTransportTest, OpensAnewAfterTheDeviceHasGone) {
  dev_.read_write = [](i2c_rdwr_ioctl_data&) { return -ENODEV; };
  EXPECT_FALSE(transport_.Execute(kStatus).ok());
  EXPECT_EQ(dev_.closed, 1);
  dev_.read_write = [](i2c_rdwr_ioctl_data&) { return 2; };
  EXPECT_TRUE(transport_.Execute(kStatus).ok());
  EXPECT_EQ(dev_.opened, 2);
}

TEST_F(I2cDevTransportTest, ADeviceThatIsNotThere) {
  dev_.open_result = -ENOENT;
  EXPECT_EQ(transport_.Execute(kStatus).status().message(), "bus /dev/i2c-3: No such file or directory");
  dev_.open_result = -EACCES;
  EXPECT_EQ(transport_.Execute(kStatus).status(), absl::UnavailableError("bus /dev/i2c-3: Permission denied"));
}

TEST_F(I2cDevTransportTest, AFileThatIsNoBus) {
  dev_.funcs_result = -ENOTTY;
  EXPECT_EQ(transport_.Execute(kStatus).status().message(), "bus /dev/i2c-3: is not an I2C bus");
  EXPECT_EQ(dev_.closed, 1);
}

TEST_F(I2cDevTransportTest, AnAdapterThatCanDoNeither) {
  dev_.functionality = I2C_FUNC_SMBUS_BYTE_DATA;
  EXPECT_EQ(transport_.Execute(kStatus).status(),
            absl::UnimplementedError("bus /dev/i2c-3: the adapter has neither I2C messages nor SMBus blocks with PEC "
                                     "(functionality 0x180000)"));
}

TEST_F(I2cDevTransportTest, AnAdapterThatRefusesLongMessagesIsAskedForShortOnes) {
  dev_.read_write = [](i2c_rdwr_ioctl_data&) { return -EOPNOTSUPP; };
  EXPECT_FALSE(transport_.Execute(kStatus).ok());
  EXPECT_EQ(transport_.block_bytes_max(), 255u) << "it was not about the length";
  EXPECT_FALSE(transport_.Execute({{Message::Write(0x4F, {0xD0}), Message::Read(0x4F, 257)}}).ok());
  EXPECT_EQ(transport_.block_bytes_max(), 32u);
}

class SmbusOnlyTest : public I2cDevTransportTest {
 protected:
  SmbusOnlyTest() { dev_.functionality = kSmbusOnly; }
};

TEST_F(SmbusOnlyTest, WritesABlock) {
  dev_.smbus = [](i2c_smbus_ioctl_data& call) {
    EXPECT_EQ(call.read_write, I2C_SMBUS_WRITE);
    EXPECT_EQ(call.command, 0x5C);
    EXPECT_EQ(call.size, uint32_t{I2C_SMBUS_BLOCK_DATA});
    EXPECT_EQ(Bytes(call.data->block, call.data->block + 5), (Bytes{0x04, 0x02, 0x00, 0x00, 0x80}));
    return 0;
  };
  EXPECT_EQ(*transport_.Execute(kGetTemp), smbus::TransferResult());
  EXPECT_TRUE(transport_.Execute(kGetTemp).ok());
  EXPECT_EQ(dev_.pec, 1u);
  EXPECT_EQ(dev_.addresses, std::vector<unsigned long>{0x4F}) << "once";
  EXPECT_EQ(transport_.block_bytes_max(), 32u);
}

TEST_F(SmbusOnlyTest, ReadsABlockAndGivesItItsPec) {
  dev_.smbus = [](i2c_smbus_ioctl_data& call) {
    EXPECT_EQ(call.read_write, I2C_SMBUS_READ);
    std::copy(kDone.begin(), kDone.end() - 1, call.data->block);
    return 0;
  };
  EXPECT_EQ(transport_.Execute(kStatus)->read, std::vector<Bytes>{kDone});
}

TEST_F(SmbusOnlyTest, AnImpossibleCountFromTheKernelIsNotBelieved) {
  for (const uint8_t count : {0, 33, 255}) {
    dev_.smbus = [count](i2c_smbus_ioctl_data& call) {
      call.data->block[0] = count;
      return 0;
    };
    EXPECT_EQ(transport_.Execute(kStatus)->outcome, Outcome::kBadCount);
  }
}

TEST_F(SmbusOnlyTest, ErrorsAreThoseOfMessages) {
  dev_.smbus = [](i2c_smbus_ioctl_data&) { return -ENXIO; };
  EXPECT_EQ(transport_.Execute(kStatus)->outcome, Outcome::kAddressNack);
  EXPECT_EQ(transport_.Execute(kGetTemp)->outcome, Outcome::kAddressNack);
  dev_.smbus = [](i2c_smbus_ioctl_data&) { return -EBADMSG; };
  EXPECT_EQ(transport_.Execute(kStatus).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(SmbusOnlyTest, OtherTransactionsCannotBeDone) {
  const absl::Status status = transport_.Execute({{Message::Read(0x4F, 5)}}).status();
  EXPECT_EQ(status,
            absl::UnimplementedError("bus /dev/i2c-3: the adapter carries only SMBus blocks of up to 32 bytes"));
}

TEST_F(SmbusOnlyTest, AnAddressThatADriverHas) {
  dev_.slave_result = -EBUSY;
  EXPECT_EQ(transport_.Execute(kStatus).status(),
            absl::UnavailableError("bus /dev/i2c-3: address 0x4f belongs to a driver of the kernel"));
}

}  // namespace
}  // namespace sideband::daemon
