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

}  // namespace
}  // namespace sideband::smbus
