// SPDX-License-Identifier: Apache-2.0
#include "client/demo/child_process.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <vector>

#include "proto/base/file.h"
#include "proto/base/wait_until.h"

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
      .limit = absl::Milliseconds(400), .between = absl::Milliseconds(1), .report = absl::ZeroDuration()};
  EXPECT_EQ(AwaitReady("it", brief, probe, [&lines](const std::string& line) { lines.push_back(line); }),
            absl::DeadlineExceededError("it did not become ready within 400ms: later"));
  EXPECT_EQ(lines.at(0), "it is not ready yet: first\n");
  EXPECT_EQ(lines.at(1), "it is not ready yet: later\n");
}

const std::string kLog = testing::TempDir() + "/log";

TEST(ChildProcessTest, OutputGoesToTheLogAndTheStatusIsKept) {
  const auto child = ChildProcess::Start({"sh", "-c", "echo out; echo err >&2; exit 3"}, kLog);
  ASSERT_TRUE(child.ok()) << child.status();
  WaitUntil([&] { return (*child)->ExitStatus().has_value(); }, "the end of the program");
  EXPECT_EQ((*child)->ExitStatus(), 3);
  EXPECT_EQ(*ReadFile(kLog), "out\nerr\n");
}

TEST(ChildProcessTest, StopEndsIt) {
  const auto child = ChildProcess::Start({"sleep", "1000"}, kLog);
  ASSERT_TRUE(child.ok());
  EXPECT_EQ((*child)->ExitStatus(), std::nullopt);
  EXPECT_EQ((*child)->Stop(), 128 + SIGTERM);
  EXPECT_EQ((*child)->Stop(), 128 + SIGTERM) << "a second time changes nothing";
}

TEST(ChildProcessTest, AMissingProgramIs127) {
  const auto child = ChildProcess::Start({"/nonexistent/program"}, kLog);
  ASSERT_TRUE(child.ok());
  WaitUntil([&] { return (*child)->ExitStatus().has_value(); }, "the end of the program");
  EXPECT_EQ((*child)->ExitStatus(), 127);
}

TEST(RunShellTest, ReturnsBothOutputsAndTheStatus) {
  const auto result = RunShell("echo a; echo b >&2; exit 4");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->output, "a\nb\n");
  EXPECT_EQ(result->exit_status, 4);
}

TEST(RunShellTest, ALongSilenceIsReported) {
  int calls = 0;
  const std::string go = testing::TempDir() + "/go";
  const auto create = [&] {
    if (++calls == 3) std::ofstream(go) << "";
  };
  const auto result =
      RunShell("while [ ! -e " + go + " ]; do sleep 0.01; done; echo end", create, absl::Milliseconds(20));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->output, "end\n");
  EXPECT_GE(calls, 3);
}

}  // namespace

}  // namespace sideband::client
