// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/serve/served_device.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "secure_mcu/chip_file/chip_file.h"

namespace sideband::mcu {
namespace {

TEST(ServedDeviceTest, AChipWithAProgramHasNoGuestPorts) {
  const std::string path = testing::TempDir() + "chip.yaml", ports = testing::TempDir() + "ports";
  std::ofstream(testing::TempDir() + "endless.hex") << "0000006f\n";
  std::ofstream(path) << "device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10}\n"
                         "program: {hex: endless.hex}\n";
  const auto file = LoadChipFile(path);
  ASSERT_TRUE(file.ok()) << file.status();
  const auto start = [] { return absl::ZeroDuration(); };
  EXPECT_TRUE(ServedDevice::PowerOn(*file, {}, start).ok());
  EXPECT_EQ(
      ServedDevice::PowerOn(*file, {.guest_ports = ports}, start).status(),
      absl::InvalidArgumentError(absl::StrCat(path, ":2: the cores of a program have the registers: no guest ports")));
  EXPECT_FALSE(std::filesystem::exists(ports));
}

}  // namespace
}  // namespace sideband::mcu
