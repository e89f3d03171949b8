// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/metric_sources.h"

#include <gtest/gtest.h>

namespace sideband::mcu {
namespace {

using Events = std::vector<uint16_t>;

MetricSource Find(const mailbox::Catalog& catalog, uint8_t metric) { return ResolveMetrics(catalog)[metric]; }

TEST(MetricSourcesTest, EventsAreFoundByName) {
  mailbox::Catalog catalog;
  catalog.events = {{"other"}, {"sm_active_cycles"}, {"int_active_cycles"}};
  EXPECT_EQ(Find(catalog, 0x01).events, Events{1});
  EXPECT_EQ(Find(catalog, 0x17).events, Events{2});
  EXPECT_EQ(Find(catalog, 0x03).events, Events{}) << "no tensor cores";
  for (uint8_t metric = 0x11; metric <= 0x16; ++metric) EXPECT_EQ(Find(catalog, metric).events, Events{});
}

TEST(MetricSourcesTest, ASumNeedsAllOfIt) {
  mailbox::Catalog catalog;
  catalog.events = {{"dram_read_cycles"}};
  EXPECT_EQ(Find(catalog, 0x04).events, Events{});
  catalog.events.push_back({"dram_write_cycles"});
  EXPECT_EQ(Find(catalog, 0x04).events, (Events{0, 1}));
}

TEST(MetricSourcesTest, WhatIsMaskedIsNotThere) {
  mailbox::Catalog catalog;
  catalog.events = {{"dram_read_cycles"}, {"dram_write_cycles"}};
  catalog.events[1].masked = true;
  EXPECT_EQ(Find(catalog, 0x04).events, Events{});
}

TEST(MetricSourcesTest, AnEventOfAGroupHasItsRunningCycles) {
  mailbox::Catalog catalog;
  catalog.events = {{"dram_read_cycles"}, {"dram_write_cycles"}, {"group_g_running_cycles"}};
  catalog.events[1].details.gate_group = 0;
  catalog.gate_groups = {{"g", 2}};
  using Gates = std::vector<MetricGate>;
  EXPECT_EQ(Find(catalog, 0x04).gates, (Gates{{}, {.is_gated = true, .running = 2}}));
  catalog.gate_groups.clear();
  EXPECT_EQ(Find(catalog, 0x04).gates, (Gates{{}, {.is_gated = true}}));
}

TEST(MetricSourcesTest, TheEnginesOwnEventIsBetterThanTheSms) {
  mailbox::Catalog catalog;
  catalog.events = {{"sm_active_cycles"}};
  EXPECT_EQ(Find(catalog, 0x00).events, Events{0});
  catalog.events.push_back({"gr_engine_active_cycles"});
  EXPECT_EQ(Find(catalog, 0x00).events, Events{1});
}

TEST(MetricSourcesTest, ALinksTransfersAreDataUnlessItTellsThemApart) {
  mailbox::Catalog catalog;
  catalog.events = {{"nvlink_tx_cycles", "cycles", mailbox::EventScope::kDevice}, {"nvlink_data_rx_cycles"}};
  EXPECT_EQ(Find(catalog, 0x0A).events, Events{0});
  EXPECT_EQ(Find(catalog, 0x0B).events, Events{0});
  EXPECT_TRUE(Find(catalog, 0x0B).device_scope);
  EXPECT_EQ(Find(catalog, 0x0C).events, Events{});
  EXPECT_EQ(Find(catalog, 0x0D).events, Events{1});
  EXPECT_FALSE(Find(catalog, 0x0D).device_scope);
}

}  // namespace
}  // namespace sideband::mcu
