// SPDX-License-Identifier: Apache-2.0
#include "client/demo/child_process.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

#include "proto/base/file.h"

namespace sideband::client {
namespace {

const std::string kLog = testing::TempDir() + "/log";

TEST(ChildProcessTest, OutputGoesToTheLogAndTheStatusIsKept) {
  const auto child = ChildProcess::Start({"sh", "-c", "echo out; echo err >&2; exit 3"}, kLog);
  ASSERT_TRUE(child.ok()) << child.status();
  while (!(*child)->ExitStatus()) {
  }
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
  while (!(*child)->ExitStatus()) {
  }
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
