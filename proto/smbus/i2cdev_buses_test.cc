// SPDX-License-Identifier: Apache-2.0
#include "proto/smbus/i2cdev_buses.h"

#include <gtest/gtest.h>

namespace sideband::smbus {
namespace {

TEST(I2cDevBusesTest, ReadsBackWhatItWrote) {
  const I2cDevBuses buses = {{3, "/run/gpu0.sock"}, {4, "gpu=1.sock"}};
  EXPECT_EQ(FormatI2cDevBuses(buses), "3=unix:/run/gpu0.sock,4=unix:gpu=1.sock");
  EXPECT_EQ(*ParseI2cDevBuses(FormatI2cDevBuses(buses)), buses);
}

TEST(I2cDevBusesTest, NothingIsNoBus) { EXPECT_TRUE(ParseI2cDevBuses("")->empty()); }

TEST(I2cDevBusesTest, SaysWhatIsWrong) {
  const struct {
    const char* text;
    const char* message;
  } kCases[] = {
      {"gpu0.sock", "bus 'gpu0.sock': must be NUMBER=unix:PATH, with a number from 0 to 999"},
      {"-1=unix:a", "bus '-1=unix:a': must be NUMBER=unix:PATH, with a number from 0 to 999"},
      {"1000=unix:a", "bus '1000=unix:a': must be NUMBER=unix:PATH, with a number from 0 to 999"},
      {"3=/dev/i2c-3", "bus '3=/dev/i2c-3': must be NUMBER=unix:PATH"},
      {"3=unix:", "bus '3=unix:': the path is missing"},
      {"3=unix:a@0x4f", "bus '3=unix:a@0x4f': must name the whole bus, without an address"},
      {"3=unix:a,3=unix:b", "bus '3=unix:b': the number is given twice"},
  };
  for (const auto& test : kCases) {
    const absl::Status status = ParseI2cDevBuses(test.text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(), test.message);
  }
}

}  // namespace
}  // namespace sideband::smbus
