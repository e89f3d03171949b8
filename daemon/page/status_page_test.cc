// SPDX-License-Identifier: Apache-2.0
#include "daemon/page/status_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"

namespace sideband::daemon {
namespace {

using testing::HasSubstr;
using testing::Not;

// A browser would run nothing else; the browser's test runs the page itself.
TEST(StatusPageTest, LoadsNothingFromElsewhere) {
  for (const char* elsewhere : {" src=", "@import", "url(", "javascript:"}) {
    EXPECT_THAT(StatusPage(), Not(HasSubstr(elsewhere)));
  }
}

TEST(StatusPageTest, ThePolicyNamesOneScriptAndOneStyle) {
  const std::string policy(StatusPagePolicy());
  EXPECT_THAT(policy, testing::ContainsRegex("script-src 'sha256-[^' ]*'; style-src 'sha256-[^' ]*';"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
}

TEST(StatusPageTest, HasTheNoticesOfItsLibraries) {
  // A build without npm has none.
  if (absl::StrContains(StatusPage(), "This build has no charts")) return;
  EXPECT_THAT(StatusPage(), HasSubstr("Leon Sorokin"));
  EXPECT_THAT(StatusPage(), HasSubstr("Jason Miller"));
}

TEST(StatusPageTest, NoPlaceholderIsLeft) { EXPECT_THAT(StatusPage(), Not(HasSubstr("{{"))); }

}  // namespace
}  // namespace sideband::daemon
