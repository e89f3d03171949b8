// SPDX-License-Identifier: Apache-2.0
//
// Chip files for tests, from their text.
#ifndef SIDEBAND_SECURE_MCU_CHIP_FILE_LOADED_TEXT_H_
#define SIDEBAND_SECURE_MCU_CHIP_FILE_LOADED_TEXT_H_

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "absl/status/statusor.h"
#include "secure_mcu/chip_file/chip_file.h"

namespace sideband::mcu {

inline std::string ChipPath() { return testing::TempDir() + "chip.yaml"; }

inline absl::StatusOr<ChipFile> LoadText(const std::string& text) {
  std::ofstream(ChipPath()) << text;
  return LoadChipFile(ChipPath());
}

// The error, without the path of the chip file.
inline std::string RefusalOf(const std::string& text) {
  const absl::Status status = LoadText(text).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
  const std::string message(status.message());
  return message.starts_with(ChipPath()) ? message.substr(ChipPath().size()) : message;
}

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_FILE_LOADED_TEXT_H_
