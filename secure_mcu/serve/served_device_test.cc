// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/served_device.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/guest_view/reader.h"

namespace sideband::mcu {
namespace {

using smbus::Message;
using smbus::Outcome;

constexpr char kViewedChip[] = R"(
device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 1000000}
units: [{name: sm, events: [sm_active_cycles]}]
gate_groups: [{name: sm, events: [sm_active_cycles]}]
vms:
  - name: vm1
    uuid: 11111111-0000-4000-8000-000000000001
    contexts:
      - {name: job, lifetime: 100ms, seed: 1, phases: [{kind: gemm, time: 2ms}]}
      - {name: service, seed: 3, phases: [{kind: gemm, time: 2ms}]}
quantum: 1ms
gap: 0s
)";

class ViewedDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = testing::TempDir() + "viewed.yaml";
    std::ofstream(path) << kViewedChip;
    folder_ = testing::TempDir() + "views";
    std::filesystem::create_directories(folder_);
    device_ = *LiveDevice::Create(*LoadChipFile(path), 42, [this] { return elapsed_; });
    views_ = *GuestViews::Create(folder_, 42);
    viewed_ = std::make_unique<ViewedDevice>(*device_, views_.get());
  }
  GuestViewSample View() {
    const auto reader = GuestViewReader::Open(folder_ + "/vm1.sbv");
    EXPECT_TRUE(reader.ok()) << reader.status();
    const auto sample = (*reader)->Read();
    EXPECT_TRUE(sample.ok()) << sample.status();
    return *sample;
  }

  absl::Duration elapsed_;
  std::string folder_;
  std::unique_ptr<LiveDevice> device_;
  std::unique_ptr<GuestViews> views_;
  std::unique_ptr<ViewedDevice> viewed_;
};

TEST_F(ViewedDeviceTest, AViewAndASnapshotOfOneTriggerAgree) {
  for (const int ms : {10, 20, 70}) {
    elapsed_ = absl::Milliseconds(ms);
    viewed_->Tick();
    const GuestViewSample between = View();
    const mailbox::Snapshot snapshot = viewed_->Latch();
    const GuestViewSample view = View();
    EXPECT_EQ(view.trigger_id, snapshot.trigger_id);
    EXPECT_EQ(view.reference_time_ns, snapshot.reference_time_ns);
    ASSERT_EQ(view.blocks.size(), 3u) << "the VM's own and two contexts'";
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(view.blocks[i], snapshot.blocks[i + 1]);
      EXPECT_EQ(view.Counters(i)[0], snapshot.Counters(i + 1)[0]);
      EXPECT_EQ(view.Counters(i)[0], between.Counters(i)[0]) << "no time has passed";
    }
    EXPECT_NE(between.trigger_id, view.trigger_id);
  }
}

TEST_F(ViewedDeviceTest, IsConfiguredAsTheDeviceItself) {
  ASSERT_NE(viewed_->counting(), nullptr);
  mailbox::CountingConfig config = viewed_->counting()->GetConfig();
  config.vms[1].pinned = 1;
  ASSERT_TRUE(viewed_->counting()->CheckConfig(config).ok());
  viewed_->counting()->ApplyConfig(config);
  EXPECT_EQ(device_->GetConfig().vms[1].pinned, 1u);
  config.vms[1].selection = 9;
  EXPECT_FALSE(viewed_->counting()->CheckConfig(config).ok());
  EXPECT_EQ(viewed_->HasPrivateVms(), device_->HasPrivateVms());
}

TEST_F(ViewedDeviceTest, IsMarkedAsTheDeviceItself) {
  DeviceClocks* const clocks = viewed_->clocks();
  ASSERT_NE(clocks, nullptr);
  EXPECT_TRUE(absl::IsFailedPrecondition(clocks->SetBookmark(1, 0, 17).status()));
  ASSERT_TRUE(viewed_->triggers()->SetTriggerGrid(1000).ok());
  elapsed_ = absl::Milliseconds(3);
  EXPECT_TRUE(clocks->SetBookmark(1, 0, 17).ok());
  EXPECT_FALSE(clocks->SelectClocks(1).ok()) << "it has no domains";
  EXPECT_EQ(clocks->GetTimeline(5), device_->GetTimeline(5));
  EXPECT_EQ(clocks->GetHulls(5), device_->GetHulls(5));
  elapsed_ = absl::Milliseconds(6);
  EXPECT_EQ(viewed_->Latch().bookmarks.size(), 1u);
}

// R10 of registers.md
TEST_F(ViewedDeviceTest, RegistersAndAViewOfOneCycleAgree) {
  constexpr uint64_t kStart = 10'500;  // a cycle is a microsecond
  Chip& chip = device_->chip();
  const auto advance_to = [&](uint64_t cycle) {
    elapsed_ = absl::Microseconds(static_cast<int64_t>(cycle));
    device_->CatchUp();
  };
  const auto write = [&](HpcRegister which, uint64_t value) {
    chip.live().hpc().Write(0, which, value, HpcPrivilege::kSupervisor, chip.now());
  };
  const auto read = [&] { return chip.live().hpc().Read(0, HpcRegister::kHpcr, chip.now()); };

  advance_to(kStart);
  write(HpcRegister::kHpcm, 0b11);
  write(HpcRegister::kHpcc,
        uint64_t{hpc::kModuleVm} << hpc::kHpccModuleLsb | hpc::kHpccUseren | hpc::kHpccStamp | hpc::kHpccTrigger);
  advance_to(kStart + hpc::kHopCycles);  // the cycle of the grant
  const mailbox::Snapshot snapshot = viewed_->Latch();
  const GuestViewSample view = View();
  advance_to(kStart + 20);
  EXPECT_EQ(read() * 1000, snapshot.reference_time_ns);
  for (size_t event = 0; event < 2; ++event) {
    const uint64_t count = read();
    EXPECT_EQ(count, view.Counters(0)[event]);
    EXPECT_EQ(count, snapshot.Counters(1)[event]);
  }
  EXPECT_EQ(view.reference_time_ns, snapshot.reference_time_ns);
}

TEST_F(ViewedDeviceTest, TheViewFollowsGenerations) {
  elapsed_ = absl::Milliseconds(120);
  viewed_->Latch();
  EXPECT_EQ(View().blocks[1].state, mailbox::BlockState::kRetired);
  viewed_->Acknowledge();
  elapsed_ += absl::Milliseconds(10);
  viewed_->Tick();
  EXPECT_EQ(View().blocks[1].generation, 2u);
}

TEST_F(ViewedDeviceTest, WhatWasLatchedStandsForAWhile) {
  elapsed_ = absl::Milliseconds(1);
  viewed_->Tick();
  EXPECT_EQ(View().trigger_id, 1u) << "the first shows at once";
  elapsed_ = absl::Milliseconds(2);
  const uint32_t latched = viewed_->Latch().trigger_id;
  elapsed_ = absl::Milliseconds(11);
  viewed_->Tick();
  EXPECT_EQ(View().trigger_id, latched);
  EXPECT_EQ(viewed_->ReferenceTimeNs(), 11'000'000u) << "it counts all the same";
  elapsed_ = absl::Milliseconds(12);
  viewed_->Tick();
  EXPECT_EQ(View().trigger_id, latched + 1);
}

TEST_F(ViewedDeviceTest, APeekLeavesTheView) {
  elapsed_ = absl::Milliseconds(1);
  viewed_->Tick();
  const GuestViewSample before = View();
  elapsed_ = absl::Milliseconds(2);
  EXPECT_GE(viewed_->PeekBlock(1, 0)->reference_time_ns, 2'000'000u);
  EXPECT_EQ(View().trigger_id, before.trigger_id);
}

TEST_F(ViewedDeviceTest, WithoutViewsItOnlyCounts) {
  ViewedDevice plain(*device_, nullptr);
  elapsed_ = absl::Milliseconds(5);
  plain.Tick();
  EXPECT_EQ(plain.ReferenceTimeNs(), 5'000'000u);
  EXPECT_EQ(plain.Latch().trigger_id, 1u);
}

class NoCommands final : public CommandHandler {
 public:
  Reply Execute(const mailbox::CommandWord&, uint32_t, uint32_t) override { return {}; }
  ByteSpan Window(uint8_t) const override { return {}; }
};

class BoardTest : public testing::Test {
 protected:
  static Outcome Write(Board& board, uint8_t address, Bytes bytes) {
    VirtualBus bus;
    board.Connect(bus);
    return bus.Execute({{Message::Write(address, std::move(bytes))}}).outcome;
  }
  static uint8_t ReadByte(Board& board, uint8_t address, uint8_t code) {
    VirtualBus bus;
    board.Connect(bus);
    return bus.Execute({{Message::Write(address, {code}), Message::Read(address, 1)}}).read.at(0).at(0);
  }
  NoCommands commands_;
};

TEST_F(BoardTest, IsOursUnlessItIsToldOtherwise) {
  Board board({}, commands_, /*own_handler=*/nullptr);
  EXPECT_EQ(Write(board, 0x4F, {}), Outcome::kOk);
  EXPECT_EQ(Write(board, 0x50, {}), Outcome::kAddressNack);
  EXPECT_EQ(ReadByte(board, 0x4F, 0x62), 0x53);
  EXPECT_EQ(ReadByte(board, 0x4F, 0x63), 0x42);
}

TEST_F(BoardTest, NvidiasHasAnEepromToo) {
  Board board({.persona = Persona::kNvidia}, commands_, /*own_handler=*/nullptr);
  EXPECT_EQ(ReadByte(board, 0x4F, 0x62), 0xDE);
  EXPECT_EQ(ReadByte(board, 0x4F, 0x63), 0x10);
  EXPECT_EQ(Write(board, 0x50, {}), Outcome::kOk) << "a probe";
  EXPECT_EQ(Write(board, 0x50, {0}), Outcome::kDataNack) << "with nothing in it";
}

TEST_F(BoardTest, TheMailboxIsWhereItWasToldToBe) {
  Board board({.address = 0x50, .persona = Persona::kNvidia}, commands_, /*own_handler=*/nullptr);
  EXPECT_EQ(ReadByte(board, 0x50, 0x62), 0xDE);
  EXPECT_EQ(Write(board, 0x4F, {}), Outcome::kAddressNack);
}

TEST_F(BoardTest, IsGoneWhenItIsTakenOff) {
  VirtualBus bus;
  Board board({.persona = Persona::kNvidia}, commands_, /*own_handler=*/nullptr);
  board.Connect(bus);
  board.Disconnect(bus);
  for (const uint8_t address : {0x4F, 0x50}) {
    EXPECT_EQ(bus.Execute({{Message::Write(address, {})}}).outcome, Outcome::kAddressNack);
  }
}

absl::Duration AtStart() { return absl::ZeroDuration(); }

// A chip with a program and without a board's parts.
ChipFile ChipWithProgram() {
  const std::string path = testing::TempDir() + "chip.yaml";
  std::ofstream(testing::TempDir() + "endless.hex") << "0000006f\n";
  std::ofstream(path) << "device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10}\n"
                         "program: {hex: endless.hex}\n";
  auto file = LoadChipFile(path);
  EXPECT_TRUE(file.ok()) << file.status();
  return *std::move(file);
}

TEST(ServedDeviceTest, AChipWithAProgramHasNoGuestPorts) {
  const std::string ports = testing::TempDir() + "ports";
  const ChipFile file = ChipWithProgram();
  EXPECT_TRUE(ServedDevice::PowerOn(file, {}, AtStart).ok());
  EXPECT_EQ(ServedDevice::PowerOn(file, {.guest_ports = ports}, AtStart).status(),
            absl::InvalidArgumentError(
                absl::StrCat(file.path, ":2: the cores of a program have the registers: no guest ports")));
  EXPECT_FALSE(std::filesystem::exists(ports));
}

TEST(ServedDeviceTest, AFaultOfTheBoardNeedsItsPart) {
  ChipFile file = ChipWithProgram();
  file.board.ecc = EccGeneration::kV6;
  const auto device = ServedDevice::PowerOn(file, {}, AtStart);
  ASSERT_TRUE(device.ok()) << device.status();
  (*device)->Strike({.kind = sim::BoardFaultKind::kEcc, .count = 3});
  (*device)->Strike({.kind = sim::BoardFaultKind::kRetirePage});
  EXPECT_EQ((*device)->board_state().dram.corrected, 3u);
  EXPECT_EQ((*device)->board_state().pages.single_bit, 0) << "no pages to retire";
}

TEST(ServedDeviceTest, AMessageHasTheTimeOfDay) {
  ChipFile file = ChipWithProgram();
  file.board.driver_events = true;
  const struct {
    std::function<absl::Time()> time_of_day;
    uint32_t time_s;
  } kCases[] = {{nullptr, 0},
                {[] { return absl::FromUnixSeconds(1'700'000'000); }, 1'700'000'000},
                {[] { return absl::FromUnixSeconds(-1); }, 0},
                {[] { return absl::FromUnixSeconds(int64_t{1} << 32); }, 0xFFFF'FFFF}};
  for (const auto& test : kCases) {
    const auto device = ServedDevice::PowerOn(file, {.time_of_day = test.time_of_day}, AtStart);
    ASSERT_TRUE(device.ok()) << device.status();
    (*device)->Strike({.kind = sim::BoardFaultKind::kXid, .xid = 63});
    EXPECT_EQ((*device)->board_state().driver.FindFrom(1)->time_s, test.time_s);
  }
}

}  // namespace
}  // namespace sideband::mcu
