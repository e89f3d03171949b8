// SPDX-License-Identifier: Apache-2.0
//
// A device for tests whose slices run programs of sim/riscv/readers, at 1 MHz: a microsecond is a cycle.
//   ProgramDevice device("program: {hex: " + ReaderHex("cost") + ", level: machine}\n" + kOneContext);
//   device.AdvanceTo(1000);
//   EXPECT_TRUE(device.machine(0).halted());
#ifndef SIDEBAND_SECURE_MCU_DEVICE_PROGRAM_DEVICE_H_
#define SIDEBAND_SECURE_MCU_DEVICE_PROGRAM_DEVICE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/live_device.h"

namespace sideband::mcu {

// One context, for ever, on slice 0.
inline constexpr char kOneContext[] = R"(vms:
  - {name: vm1, uuid: 11111111-0000-4000-8000-000000000001, contexts: [{name: a}]}
gap: 0s
)";

inline std::string ReaderHex(const std::string& name) {
  return std::filesystem::absolute("sim/riscv/readers/" + name + ".hex").string();
}

// Not thread-safe.
class ProgramDevice {
 public:
  // `chip` is the chip file from `program` on, with `slices` if they are more than one.
  explicit ProgramDevice(const std::string& chip) {
    const std::string path = testing::TempDir() + "program_device.yaml";
    std::ofstream(path) << "device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 1000000}\n" << chip;
    const auto file = LoadChipFile(path);
    EXPECT_TRUE(file.ok()) << file.status();
    auto device = LiveDevice::Create(*file, /*boot_id=*/42, [this] { return elapsed_; });
    EXPECT_TRUE(device.ok()) << device.status();
    device_ = *std::move(device);
  }

  LiveDevice& live() { return *device_; }
  const riscv::Machine& machine(size_t slice) const { return device_->programs()[slice]->machine(); }

  uint64_t now() const { return static_cast<uint64_t>(absl::ToInt64Microseconds(elapsed_)); }
  void AdvanceTo(uint64_t cycle) {
    elapsed_ = absl::Microseconds(static_cast<int64_t>(cycle));
    device_->CatchUp();
  }

 private:
  absl::Duration elapsed_;
  std::unique_ptr<LiveDevice> device_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DEVICE_PROGRAM_DEVICE_H_
