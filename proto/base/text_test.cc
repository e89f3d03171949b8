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
  EXPECT_EQ(NearestMatch("srv", names), "") << "too little of it";
  EXPECT_EQ(NearestMatch("lisen", names), "listen") << "the fewest edits are nearer";
}

TEST(TextTest, NearestMatchPrefersANameThatBeginsWithTheWord) {
  const std::vector<std::string> names = {"tensor_issued_cycles", "tensor_active_cycles", "sensor", "Tensor_op", "vm1"};
  EXPECT_EQ(NearestMatch("tensor", names), "Tensor_op") << "the shortest, and not a name with one edit";
  EXPECT_EQ(NearestMatch("tensor_", names), "Tensor_op");
  EXPECT_EQ(NearestMatch("TENSOR_ACTIVE", names), "tensor_active_cycles");
  EXPECT_EQ(NearestMatch("VM1", names), "vm1");
  EXPECT_EQ(NearestMatch("t", names), "Tensor_op");
  EXPECT_EQ(NearestMatch("tensor_i", std::vector<std::string>{"tensor_ib", "tensor_ia"}), "tensor_ib") << "the first";
  EXPECT_EQ(NearestMatch("sensors", names), "sensor") << "the fewest edits, where no name begins with the word";
  EXPECT_EQ(NearestMatch("", names), "");
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
