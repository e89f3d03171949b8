// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/persona.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

TEST(PersonaTest, HasAVendorId) {
  EXPECT_EQ(VendorId(*ParsePersona("sideband")), 0x4253) << "SB";
  EXPECT_EQ(VendorId(*ParsePersona("nvidia")), 0x10DE);
}

TEST(PersonaTest, NobodyElse) {
  EXPECT_EQ(std::string(ParsePersona("nvida").status().message()),
            "unknown persona 'nvida', must be sideband or nvidia (did you mean 'nvidia'?)");
  EXPECT_FALSE(ParsePersona("").ok());
}

}  // namespace
}  // namespace sideband::mcu
