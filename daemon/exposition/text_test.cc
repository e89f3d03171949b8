// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/text.h"

#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

TEST(TextTest, LabelsAreEscaped) {
  std::string labels = "{";
  AppendLabel(labels, "a", "plain");
  AppendLabel(labels, "b", "back\\slash \"quoted\"\nline");
  EXPECT_EQ(labels, R"({a="plain",b="back\\slash \"quoted\"\nline")");
}

TEST(TextTest, HelpIsOneLineOfPrintableText) {
  EXPECT_EQ(FamilyHeader("m", "gauge", "a\\b\nc\xff"), "# HELP m a\\\\b?c?\n# TYPE m gauge\n");
}

TEST(TextTest, NumbersAreExact) {
  std::string out;
  AppendValue(out, uint64_t{18446744073709551615u});
  AppendValue(out, 0.1);
  AppendValue(out, 0.0);
  EXPECT_EQ(out, "18446744073709551615\n0.1\n0\n");
}

}  // namespace
}  // namespace sideband::daemon
