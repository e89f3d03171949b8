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

namespace sideband::mcu {
namespace {

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
