// SPDX-License-Identifier: Apache-2.0
#include "client/demo/readiness.h"

#include <gtest/gtest.h>

#include <vector>

namespace sideband::client {
namespace {

void Ignore(const std::string&) {}

TEST(ReadinessTest, ProbesUntilItIsReady) {
  int probes = 0;
  const auto probe = [&probes]() -> absl::StatusOr<std::string> { return ++probes < 3 ? "not yet" : ""; };
  EXPECT_EQ(AwaitReady("it", {.between = absl::ZeroDuration()}, probe, Ignore), absl::OkStatus());
  EXPECT_EQ(probes, 3);
}

TEST(ReadinessTest, AHopelessWaitEndsAtOnce) {
  const auto probe = []() -> absl::StatusOr<std::string> { return absl::UnavailableError("it ended"); };
  EXPECT_EQ(AwaitReady("it", {}, probe, Ignore), absl::UnavailableError("it ended"));
}

TEST(ReadinessTest, TheLastProbesErrorIsReturned) {
  int probes = 0;
  std::vector<std::string> lines;
  const auto probe = [&probes]() -> absl::StatusOr<std::string> { return ++probes == 1 ? "first" : "later"; };
  const Patience brief = {
      .limit = absl::Milliseconds(40), .between = absl::Milliseconds(1), .report = absl::ZeroDuration()};
  EXPECT_EQ(AwaitReady("it", brief, probe, [&lines](const std::string& line) { lines.push_back(line); }),
            absl::DeadlineExceededError("it did not become ready within 40ms: later"));
  EXPECT_EQ(lines.at(0), "it is not ready yet: first\n");
  EXPECT_EQ(lines.at(1), "it is not ready yet: later\n");
}

}  // namespace
}  // namespace sideband::client
