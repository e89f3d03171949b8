// SPDX-License-Identifier: Apache-2.0
#include "proto/exposition/prometheus_text.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sideband {
namespace {

TEST(TextTest, LabelsAreEscaped) {
  std::string labels = "{";
  AppendLabel(labels, "a", "plain");
  AppendLabel(labels, "b", "back\\slash \"quoted\"\nline");
  EXPECT_EQ(labels, R"({a="plain",b="back\\slash \"quoted\"\nline")");
}

TEST(TextTest, HelpIsOneLineOfPrintableText) {
  EXPECT_EQ(FamilyHeader(MetricsFormat::kText, "m", MetricType::kGauge, "a\\b\n\"c\xff"),
            "# HELP m a\\\\b?\"c?\n# TYPE m gauge\n");
  EXPECT_EQ(FamilyHeader(MetricsFormat::kOpenMetrics, "m", MetricType::kGauge, "\"c\""),
            "# HELP m \\\"c\\\"\n# TYPE m gauge\n");
}

TEST(TextTest, OpenMetricsNamesACounterWithoutTotal) {
  EXPECT_EQ(FamilyHeader(MetricsFormat::kText, "m_total", MetricType::kCounter, "h"),
            "# HELP m_total h\n# TYPE m_total counter\n");
  EXPECT_EQ(FamilyHeader(MetricsFormat::kOpenMetrics, "m_total", MetricType::kCounter, "h"),
            "# HELP m h\n# TYPE m counter\n");
}

TEST(TextTest, CreatedIsNamedAfterTheFamily) {
  EXPECT_EQ(CreatedName("m_total"), "m_created");
  EXPECT_EQ(CreatedName("m"), "m_created");
}

TEST(TextTest, NumbersAreExact) {
  EXPECT_EQ(NumberText(0.1), "0.1");
  EXPECT_EQ(NumberText(0.0), "0");
  EXPECT_EQ(NumberText(std::nan("")), "NaN");
  EXPECT_EQ(NumberText(HUGE_VAL), "+Inf");
  EXPECT_EQ(NumberText(-HUGE_VAL), "-Inf");
}

TEST(TextTest, WholeValuesHaveNoExponent) {
  EXPECT_EQ(ValueText(1.8e9), "1800000000");
  EXPECT_EQ(ValueText(-3), "-3");
  EXPECT_EQ(ValueText(0.25), "0.25");
  EXPECT_EQ(ValueText(1e300), "1e+300");
  EXPECT_EQ(ValueText(std::nan("")), "NaN");
}

TEST(TextTest, TimesAreSecondsOfTheEpoch) {
  EXPECT_EQ(TimeText(absl::FromUnixMillis(1'790'000'000'007)), "1790000000.007");
}

TEST(RowFamiliesTest, AHeaderIsThatOfItsFamily) {
  EXPECT_EQ(FamilyHeader(MetricsFormat::kText, kVmFamilies.flags),
            "# HELP sideband_vm_flags 1 for each reason why counts of a VM may be inexact.\n"
            "# TYPE sideband_vm_flags gauge\n");
}

TEST(RowFamiliesTest, HelpHasDescriptionUnitAndLevel) {
  EXPECT_EQ(CounterHelp({.name = "x", .unit = "bytes", .description = "Bytes of x."}, "Of each VM."),
            "Bytes of x (unit: bytes). Of each VM.");
  EXPECT_EQ(CounterHelp({.name = "x", .unit = "bytes"}, "Of each VM."), "x (unit: bytes). Of each VM.");
  EXPECT_EQ(CounterHelp({.name = "x"}, "Of each VM."), "x. Of each VM.");
}

TEST(RowFamiliesTest, SecondsHaveNineDecimals) {
  EXPECT_EQ(SecondsText(0), "0.000000000");
  EXPECT_EQ(SecondsText(18'446'744'073'709'551'615u), "18446744073.709551615");
}

}  // namespace
}  // namespace sideband
