// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/link_bandwidth.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

using mailbox::MetricId;

TEST(LinkBandwidthTest, WhatLinksCarry) {
  const LinkBandwidth links({.nvlink = NvlinkSpec{.count = 4, .mbps = 25'000}, .pcie = PcieSpec{.generation = 4}});
  EXPECT_NEAR(*links.MostOf(MetricId::kPcieRx), 31.508e9, 1e6);
  EXPECT_EQ(links.MostOf(MetricId::kNvlinkDataTx), 12.5e9);
  EXPECT_EQ(links.MostOf(MetricId::kNvlinkRawRxPerLink), 3.125e9);
  EXPECT_EQ(links.MostOf(MetricId::kSmActivity), std::nullopt);
}

TEST(LinkBandwidthTest, WithoutLinksThereIsNone) {
  const LinkBandwidth none({.pcie = PcieSpec{.generation = 1, .lanes = 1}});
  EXPECT_EQ(none.MostOf(MetricId::kPcieTx), 250e6);
  EXPECT_EQ(none.MostOf(MetricId::kNvlinkRawTx), std::nullopt);
  EXPECT_EQ(LinkBandwidth().MostOf(MetricId::kPcieTx), std::nullopt);
}

TEST(LinkBandwidthTest, TheFinestUnitThatFits) {
  const struct {
    double bytes_per_second;
    uint32_t data, granularity;
  } kRows[] = {{0, 0, 0},
               {4294967295.0, 0xFFFF'FFFF, 0},
               {4294967296.0, 4'194'304, 1},
               {12.5e9, 12'207'031, 1},
               {4.4e12, 4'196'167, 2}};
  for (const auto& row : kRows) {
    const Reply reply = LinkBandwidth::ReplyOf(row.bytes_per_second, 0x48, 0xFF);
    EXPECT_EQ(reply.data, row.data) << row.bytes_per_second;
    EXPECT_EQ(reply.word_bits, 0xFF4828u | row.granularity) << row.bytes_per_second;
  }
}

}  // namespace
}  // namespace sideband::mcu
