// SPDX-License-Identifier: Apache-2.0
#include "proto/base/text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sideband {
namespace {

TEST(TextTest, NearestMatchHasTheFewestEdits) {
  const std::vector<std::string> names = {"TOP.gpu.clk", "TOP.gpu.reset", "TOP.cpu.clk"};
  EXPECT_EQ(NearestMatch("TOP.gpu.clkk", names), "TOP.gpu.clk");
  EXPECT_EQ(NearestMatch("TOP.cpu.ck", names), "TOP.cpu.clk");
  EXPECT_EQ(NearestMatch("zzz", names), "");
  EXPECT_EQ(NearestMatch("anything", {}), "");
}

TEST(TextTest, AWordMayLackLettersOfAnother) {
  const std::vector<std::string> names = {"listen", "tls_server_config", "unix_socket"};
  EXPECT_EQ(NearestMatch("tls_config", names), "tls_server_config");
  EXPECT_EQ(NearestMatch("config_tls", names), "") << "in another order";
  EXPECT_EQ(NearestMatch("tls", names), "") << "too little of it";
  EXPECT_EQ(NearestMatch("lisen", names), "listen") << "the fewest edits are nearer";
}

TEST(TextTest, MustBeOneOfListsThem) {
  EXPECT_EQ(MustBeOneOf({}), "");
  EXPECT_EQ(MustBeOneOf(std::vector<std::string>{"a"}), ", must be a");
  EXPECT_EQ(MustBeOneOf(std::vector<std::string>{"a", "b"}), ", must be a or b");
  EXPECT_EQ(MustBeOneOf(std::vector<std::string>{"a", "b", "c"}), ", must be a, b or c");
}

TEST(TextTest, DidYouMeanIsEmptyWithoutANearMatch) {
  const std::vector<std::string> names = {"interval"};
  EXPECT_EQ(DidYouMean("intervall", names), " (did you mean 'interval'?)");
  EXPECT_EQ(DidYouMean("x", names), "");
}

TEST(TextTest, LineErrorNamesTheLine) {
  EXPECT_EQ(LineError("a.yaml", 7, "what").message(), "a.yaml:7: what");
  EXPECT_EQ(LineError("a.yaml", 0, "what").message(), "a.yaml: what");
}

TEST(TextTest, ExitCodeTellsInputFromRuntime) {
  EXPECT_EQ(ReportAndExitCode("p", absl::OkStatus()), 0);
  EXPECT_EQ(ReportAndExitCode("p", absl::InvalidArgumentError("x")), 2);
  EXPECT_EQ(ReportAndExitCode("p", absl::NotFoundError("x")), 2);
  EXPECT_EQ(ReportAndExitCode("p", absl::UnavailableError("x")), 1);
}

TEST(TextTest, EveryErrorOfAListHasItsLine) {
  ErrorList errors;
  EXPECT_EQ(ReportAndExitCode("p", errors), 0);
  errors.Add(absl::UnavailableError("y"));
  testing::internal::CaptureStderr();
  EXPECT_EQ(ReportAndExitCode("p", errors), 1);
  errors.Add(absl::InvalidArgumentError("x"));
  EXPECT_EQ(ReportAndExitCode("p", errors), 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "p: y\np: y\np: x\n");
}

TEST(TextTest, ReportStaysOnOneLine) {
  testing::internal::CaptureStderr();
  ReportAndExitCode("p", absl::InvalidArgumentError("bad\nname"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "p: bad\\x0aname\n");
}

TEST(DidYouMeanTest, RawBytesAreMadeVisible) {
  EXPECT_EQ(DidYouMean("top.bus", std::vector<std::string>{"top.bu\xff\x1b"}), " (did you mean 'top.bu\\xff\\x1b'?)");
}

}  // namespace
}  // namespace sideband
