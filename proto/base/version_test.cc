// SPDX-License-Identifier: Apache-2.0
#include "proto/base/version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sideband {
namespace {

TEST(BuildVersionTest, IsTheReleaseAndPerhapsARevision) {
  EXPECT_THAT(BuildVersion(), testing::StartsWith(kVersion));
  const std::string rest = BuildVersion().substr(std::string(kVersion).size());
  EXPECT_THAT(rest, testing::AnyOf("", testing::MatchesRegex(" \\([0-9a-f]+(-dirty)?\\)")));
}

}  // namespace
}  // namespace sideband
