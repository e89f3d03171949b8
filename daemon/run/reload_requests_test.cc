// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/reload_requests.h"

#include <gtest/gtest.h>

#include <string>

namespace sideband::daemon {
namespace {

class ReloadRequestsTest : public testing::Test {
 protected:
  ReloadRequests::Done Note() {
    return [this](const absl::StatusOr<ReloadOutcome>& outcome) {
      answers_.push_back(outcome.ok() ? "reloaded" : std::string(outcome.status().message()));
    };
  }

  int wakes_ = 0;
  ReloadRequests requests_{[this] { ++wakes_; }};
  std::vector<std::string> answers_;
};

TEST_F(ReloadRequestsTest, OneReloadAnswersAllWhoHaveAsked) {
  requests_.Ask(Note());
  requests_.Ask(Note());
  EXPECT_EQ(wakes_, 2);
  const auto asked = requests_.Take();
  requests_.Ask(Note());
  for (const auto& done : asked) done(ReloadOutcome());
  EXPECT_EQ(answers_, std::vector<std::string>(2, "reloaded"));
  EXPECT_EQ(requests_.Take().size(), 1u) << "who asks later is answered by the next";
}

TEST_F(ReloadRequestsTest, NobodyWaitsForAnEndedDaemon) {
  requests_.Ask(Note());
  requests_.Close();
  requests_.Ask(Note());
  EXPECT_EQ(answers_, std::vector<std::string>(2, "shutting down"));
  EXPECT_EQ(wakes_, 1);
  EXPECT_TRUE(requests_.Take().empty());
}

}  // namespace
}  // namespace sideband::daemon
