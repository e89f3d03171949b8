// SPDX-License-Identifier: Apache-2.0
#include "proto/smbus/bus_name.h"

#include <gtest/gtest.h>

namespace sideband::smbus {
namespace {

TEST(BusNameTest, ParsesBothKinds) {
  EXPECT_EQ(*ParseBusName("unix:/run/gpu0.sock@0x4e"), (BusName{BusName::Kind::kUnix, "/run/gpu0.sock", 0x4E}));
  EXPECT_EQ(*ParseBusName("i2c:/dev/i2c-3@79"), (BusName{BusName::Kind::kI2c, "/dev/i2c-3", 0x4F}));
  EXPECT_EQ(*ParseBusName("unix:a.sock"), (BusName{BusName::Kind::kUnix, "a.sock", 0x4F})) << "the usual address";
}

TEST(BusNameTest, RefusesWhatIsNoPlaceOnABus) {
  const struct {
    const char* name;
    const char* message;
  } kCases[] = {
      {"", "bus '': must start with unix: or i2c:"},
      {"tcp:x", "bus 'tcp:x': must start with unix: or i2c:"},
      {"/dev/i2c-3", "bus '/dev/i2c-3': must start with unix: or i2c: (did you mean 'i2c:/dev/i2c-3'?)"},
      {"/dev/i2c-3:0x4f", "bus '/dev/i2c-3:0x4f': must start with unix: or i2c: (did you mean 'i2c:/dev/i2c-3@0x4f'?)"},
      {"x.sock", "bus 'x.sock': must start with unix: or i2c: (did you mean 'unix:x.sock'?)"},
      {"/run/a:b", "bus '/run/a:b': must start with unix: or i2c: (did you mean 'unix:/run/a:b'?)"},
      {"unix:@0x4f", "bus 'unix:@0x4f': the path is missing"},
      {"i2c:/dev/i2c-3@", "bus 'i2c:/dev/i2c-3@': the address must be from 0x08 to 0x77"},
      {"i2c:/dev/i2c-3@0x07", "bus 'i2c:/dev/i2c-3@0x07': the address must be from 0x08 to 0x77"},
      {"i2c:/dev/i2c-3@0x78", "bus 'i2c:/dev/i2c-3@0x78': the address must be from 0x08 to 0x77"},
      {"i2c:/dev/i2c-3@4f", "bus 'i2c:/dev/i2c-3@4f': the address must be from 0x08 to 0x77: write 0x4f"},
      {"i2c:/dev/i2c-3@7f", "bus 'i2c:/dev/i2c-3@7f': the address must be from 0x08 to 0x77"},
      {"i2c:/dev/i2c-3@x", "bus 'i2c:/dev/i2c-3@x': the address must be from 0x08 to 0x77"},
  };
  for (const auto& test : kCases) EXPECT_EQ(ParseBusName(test.name).status().message(), test.message);
  EXPECT_TRUE(ParseBusName("unix:a@0x08").ok());
  EXPECT_TRUE(ParseBusName("unix:a@0x77").ok());
}

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
