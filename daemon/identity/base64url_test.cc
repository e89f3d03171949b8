// SPDX-License-Identifier: Apache-2.0
#include "daemon/identity/base64url.h"

#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

// RFC 7515, appendix C.
TEST(Base64UrlTest, VectorOfTheRfc) {
  const std::string bytes("\x03\xec\xff\xe0\xc1", 5);
  EXPECT_EQ(EncodeBase64Url(bytes), "A-z_4ME");
  EXPECT_EQ(DecodeBase64Url("A-z_4ME"), bytes);
}

TEST(Base64UrlTest, OneTextPerByteString) {
  EXPECT_EQ(DecodeBase64Url(""), "");
  for (const char* text : {"A", "A-z_4ME=", "A-z_4M E", "A-z_4MF", "A+z/4ME", "A-z_4ME\n", "AB", "AAB"}) {
    EXPECT_EQ(DecodeBase64Url(text), std::nullopt) << text;
  }
}

TEST(Base64UrlTest, EveryLengthSurvives) {
  std::string bytes;
  for (int size = 0; size < 70; ++size) {
    EXPECT_EQ(DecodeBase64Url(EncodeBase64Url(bytes)), bytes);
    bytes.push_back(static_cast<char>(37 * size));
  }
}

}  // namespace
}  // namespace sideband::daemon
