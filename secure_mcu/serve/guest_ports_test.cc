// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/guest_ports.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "proto/base/file.h"
#include "proto/registers/event_list.h"
#include "proto/registers/guest_port.h"
#include "secure_mcu/chip_file/chip_file.h"

namespace sideband::mcu {
namespace {

// vm1's job for 10 ms, then vm2's. Names that need care; an event of the device, and resident_cycles after it.
constexpr char kChip[] = R"(
device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 1000000}
units: [{name: sm, events: [sm_active_cycles]}]
device_units: [{name: pcie, events: [pcie_tx_cycles]}]
device_workload: {seed: 7, phases: [{kind: copy, time: 1ms}]}
vms:
  - name: vm1
    uuid: 11111111-0000-4000-8000-000000000001
    counting: {useren: true}
    contexts: [{name: job.1, seed: 1, phases: [{kind: gemm, time: 2ms}]}]
  - name: vm1.job
    uuid: 22222222-0000-4000-8000-000000000002
    contexts: [{name: "1", seed: 3, phases: [{kind: gemm, time: 2ms}]}]
quantum: 10ms
gap: 0s
)";

class GuestPortsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::current_path(testing::TempDir());  // the path of a socket must be short
    std::filesystem::remove_all("ports");
    std::ofstream("ports.yaml") << kChip;
    device_ = *LiveDevice::Create(*LoadChipFile("ports.yaml"), 42, [this] { return elapsed_; });
    registers_ = std::make_unique<GuestRegisters>(*device_);
    ports_ = *Listen();
    elapsed_ = absl::Milliseconds(1);
  }
  ~GuestPortsTest() override {
    for (const int fd : sockets_) close(fd);
  }

  absl::StatusOr<std::unique_ptr<GuestPorts>> Listen(const std::string& folder = "ports") {
    return GuestPorts::Listen(folder, device_->catalog(), *registers_, [this] { return elapsed_; });
  }
  int Connect(const std::string& name = kJob) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, ("ports/" + name).c_str(), sizeof(address.sun_path) - 1);
    sockets_.push_back(socket(AF_UNIX, SOCK_STREAM, 0));
    EXPECT_EQ(connect(sockets_.back(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0) << name;
    ServeAWhile();
    return sockets_.back();
  }
  void ServeAWhile() {
    for (int i = 0; i < 8; ++i) ports_->Serve();
  }
  void Send(int fd, ByteSpan bytes) {
    ASSERT_EQ(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), ssize_t(bytes.size()));
    ServeAWhile();
  }
  static Bytes FrameOf(const hpc::PageAccess& access) {
    ByteWriter out;
    hpc::AppendFrame(access, out);
    return std::move(out).Take();
  }
  // The bytes that the port has sent; nullopt after it has closed the connection.
  static std::optional<Bytes> Received(int fd) {
    Bytes bytes(1 << 20);
    const ssize_t size = recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (size == 0 || (size < 0 && errno == ECONNRESET)) return std::nullopt;
    bytes.resize(size < 0 ? 0 : static_cast<size_t>(size));
    return bytes;
  }
  // The answer to an access; no value while the guest does not run.
  std::optional<uint64_t> Ask(int fd, const hpc::PageAccess& access) {
    Send(fd, FrameOf(access));
    const auto answer = Received(fd);
    EXPECT_TRUE(answer && answer->size() == hpc::kAnswerBytes);
    return *hpc::DecodeAnswer(*answer);
  }

  static constexpr char kJob[] = "vm1.job%2E1.sock";

  absl::Duration elapsed_;
  std::unique_ptr<LiveDevice> device_;
  std::unique_ptr<GuestRegisters> registers_;
  std::unique_ptr<GuestPorts> ports_;
  std::vector<int> sockets_;
};

const hpc::PageAccess kReadHpcc = hpc::ReadOf(hpc::kHpccOffset, 8);

TEST_F(GuestPortsTest, FilesOfDifferentPagesDiffer) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("ports")) names.insert(entry.path().filename());
  EXPECT_EQ(names,
            (std::set<std::string>{"vm1.sock", kJob, "vm1%2Ejob.sock", "vm1%2Ejob.1.sock", GuestPorts::kEventsFile}));
  struct stat file;
  ASSERT_EQ(stat("ports/vm1.sock", &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
  ASSERT_EQ(stat("ports", &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0700u);
  EXPECT_EQ(GuestPortFileName("a/b", "c d"), "a%2Fb.c%20d.sock");
  ports_.reset();
  EXPECT_TRUE(std::filesystem::is_empty("ports"));
}

TEST_F(GuestPortsTest, TheListHasTheNumbersOfTheEventsThatVmsCount) {
  const auto events = hpc::ParseEventList(*ReadFile("ports/events.csv"), "events.csv");
  ASSERT_TRUE(events.ok()) << events.status();
  EXPECT_EQ(*events, (std::vector<hpc::ListedEvent>{{0, "sm_active_cycles"}, {2, "resident_cycles"}}));
}

TEST_F(GuestPortsTest, AFolderIsOfOneDevice) {
  EXPECT_EQ(Listen().status(), absl::AlreadyExistsError("ports/vm1.sock: another program serves this guest port"));
  EXPECT_TRUE(std::filesystem::exists("ports/events.csv"));
}

TEST_F(GuestPortsTest, OnlyTheLastFolderIsMade) {
  EXPECT_EQ(Listen("absent/ports").status(), absl::NotFoundError("absent/ports: No such file or directory"));
  EXPECT_EQ(Listen("ports.yaml").status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(GuestPortsTest, AnswersInOrder) {
  const int fd = Connect();
  Bytes frames = FrameOf(hpc::WriteOf(hpc::kHpcmOffset, 8, 5));
  for (const Bytes& next : {FrameOf(hpc::ReadOf(hpc::kHpcmOffset, 8)), FrameOf(hpc::ReadOf(hpc::kHpcmOffset + 4, 4))}) {
    frames.insert(frames.end(), next.begin(), next.end());
  }
  Send(fd, frames);
  ByteWriter expected;
  for (const uint64_t value : {0, 5, 0}) hpc::AppendAnswer(value, expected);
  EXPECT_EQ(Received(fd), Bytes(expected.written().begin(), expected.written().end()));
}

TEST_F(GuestPortsTest, AFrameMayComeInPieces) {
  const int fd = Connect();
  for (const uint8_t byte : FrameOf(kReadHpcc)) {
    EXPECT_EQ(Received(fd), Bytes());
    Send(fd, {&byte, 1});
  }
  EXPECT_EQ(Received(fd)->size(), hpc::kAnswerBytes);
}

TEST_F(GuestPortsTest, OnlyWhoRunsIsServed) {
  const int first = Connect(), second = Connect("vm1%2Ejob.1.sock");
  EXPECT_TRUE(Ask(first, kReadHpcc));
  EXPECT_FALSE(Ask(second, kReadHpcc));
  elapsed_ = absl::Milliseconds(11);
  EXPECT_FALSE(Ask(first, kReadHpcc));
  EXPECT_TRUE(Ask(second, kReadHpcc));
}

TEST_F(GuestPortsTest, AConnectionIsAThread) {
  const int first = Connect(), second = Connect();
  EXPECT_TRUE(Ask(first, hpc::WriteOf(hpc::kHpcmOffset, 8, 1)));
  EXPECT_FALSE(Ask(second, kReadHpcc));
  close(first);
  sockets_.erase(sockets_.begin());
  ServeAWhile();
  EXPECT_EQ(*Ask(second, kReadHpcc) & hpc::kHpccInterrupted, hpc::kHpccInterrupted);
  EXPECT_EQ(Ask(second, hpc::ReadOf(hpc::kHpcmOffset, 8)), 0u);
}

TEST_F(GuestPortsTest, AMalformedFrameCutsOffOnlyItsSender) {
  const int good = Connect(), bad = Connect();
  Send(bad, Bytes(hpc::kFrameBytes, 0xFF));
  EXPECT_EQ(Received(bad), std::nullopt);
  EXPECT_TRUE(Ask(good, kReadHpcc));
}

TEST_F(GuestPortsTest, HalfAFrameMustGoOn) {
  const int idle = Connect(), half = Connect(), slow = Connect();
  Send(half, Bytes{1, 8, 0});
  Send(slow, Bytes{1, 8, 0});
  elapsed_ += GuestPorts::kFrameTimeout;
  Send(slow, Bytes{0});
  EXPECT_EQ(Received(half), Bytes());
  elapsed_ += absl::Milliseconds(1);
  ServeAWhile();
  EXPECT_EQ(Received(half), std::nullopt);
  EXPECT_EQ(Received(slow), std::nullopt) << "it is the whole frame that has a time";
  EXPECT_EQ(Received(idle), Bytes());
}

TEST_F(GuestPortsTest, OneThatNeverReadsIsCutOff) {
  const int deaf = Connect(), good = Connect("vm1%2Ejob.1.sock");
  const int flags = MSG_NOSIGNAL | MSG_DONTWAIT;
  Bytes frames;
  for (int i = 0; i < 1000; ++i) {
    const Bytes frame = FrameOf(kReadHpcc);
    frames.insert(frames.end(), frame.begin(), frame.end());
  }
  bool is_cut_off = false;
  for (int i = 0; i < 10'000 && !is_cut_off; ++i) {
    is_cut_off = send(deaf, frames.data(), frames.size(), flags) < 0 && errno != EAGAIN;
    ports_->Serve();
  }
  EXPECT_TRUE(is_cut_off);
  elapsed_ = absl::Milliseconds(11);
  EXPECT_TRUE(Ask(good, kReadHpcc));
}

TEST_F(GuestPortsTest, ConnectionsOfAPortAreBounded) {
  for (size_t i = 0; i < GuestPorts::kConnectionsMax; ++i) EXPECT_EQ(Received(Connect()), Bytes());
  EXPECT_EQ(Received(Connect()), std::nullopt);
  EXPECT_EQ(Received(Connect("vm1.sock")), Bytes()) << "another port";
  close(sockets_[0]);
  sockets_.erase(sockets_.begin());
  ServeAWhile();
  EXPECT_EQ(Received(Connect()), Bytes());
}

TEST_F(GuestPortsTest, IsReadableWhenThereIsWork) {
  const int fd = Connect();
  const auto is_readable = [this] {
    pollfd ready{.fd = ports_->fd(), .events = POLLIN, .revents = 0};
    return poll(&ready, 1, 0) == 1;
  };
  EXPECT_FALSE(is_readable());
  const Bytes frame = FrameOf(kReadHpcc);
  ASSERT_EQ(send(fd, frame.data(), frame.size(), MSG_NOSIGNAL), ssize_t(frame.size()));
  EXPECT_TRUE(is_readable());
  ServeAWhile();
  EXPECT_FALSE(is_readable());
}

}  // namespace
}  // namespace sideband::mcu
