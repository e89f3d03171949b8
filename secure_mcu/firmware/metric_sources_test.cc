// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/metric_sources.h"

#include <gtest/gtest.h>

#include <vector>

namespace sideband::mcu {
namespace {

using Events = std::vector<uint16_t>;

// A source, with what it refers to.
struct Found {
  Events events;  // in the catalogue
  std::vector<MetricGate> gates;
  bool device_scope = false;
};

Found Find(const mailbox::Catalog& catalog, uint8_t metric, uint8_t instance = 0) {
  const MetricSources sources = ResolveMetrics(catalog);
  const MetricSource* const source = sources.Find(metric, instance);
  if (source == nullptr) return {};
  Found found{.events = {}, .gates = {}, .device_scope = source->device_scope};
  for (const size_t i : source->events) {
    found.events.push_back(sources.events[i].event);
    found.gates.push_back(sources.events[i].gate);
  }
  return found;
}

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

// --- Instances

TEST(MetricSourcesTest, MetricsOfInstances) {
  for (uint8_t metric = 0; metric < mailbox::kMetricCount; ++metric) {
    EXPECT_EQ(HasInstances(metric), metric >= 0x11 && metric <= 0x16) << int{metric};
  }
}

TEST(MetricSourcesTest, AnInstancesEventHasItsNumber) {
  mailbox::Catalog catalog;
  catalog.events = {{"nvdec0_active_cycles"},  {"nvdec2_active_cycles"},  {"nvdec31_active_cycles"},
                    {"nvdec32_active_cycles"}, {"nvdec03_active_cycles"}, {"nvjpg1_active_cycles"}};
  EXPECT_EQ(Find(catalog, 0x15, 0).events, Events{0});
  EXPECT_EQ(Find(catalog, 0x15, 1).events, Events{}) << "numbers may have gaps";
  EXPECT_EQ(Find(catalog, 0x15, 2).events, Events{1});
  EXPECT_EQ(Find(catalog, 0x15, 3).events, Events{}) << "numbers have no leading zeros";
  EXPECT_EQ(Find(catalog, 0x15, kMetricInstancesMax - 1).events, Events{2});
  EXPECT_EQ(Find(catalog, 0x15, kMetricInstancesMax).events, Events{});
  EXPECT_EQ(Find(catalog, 0x0E).events, (Events{0, 1, 2})) << "the sum of all";
  EXPECT_EQ(Find(catalog, 0x16, 1).events, Events{5});
  EXPECT_EQ(Find(catalog, 0x0F).events, Events{5});
}

TEST(MetricSourcesTest, AMetricIsThereWithAnyInstance) {
  mailbox::Catalog catalog;
  catalog.events = {{"nvjpg_active_cycles"}, {"nvdec7_active_cycles"}};
  const MetricSources sources = ResolveMetrics(catalog);
  EXPECT_TRUE(sources.Has(0x0F));
  EXPECT_FALSE(sources.Has(0x16)) << "there is only the aggregate";
  EXPECT_TRUE(sources.Has(0x0E));
  EXPECT_TRUE(sources.Has(0x15));
  EXPECT_FALSE(sources.Has(0x14));
  EXPECT_FALSE(sources.Has(0x17));
}

TEST(MetricSourcesTest, AnAggregatesOwnEventIsBetterThanASum) {
  mailbox::Catalog catalog;
  catalog.events = {{"nvlink0_tx_cycles"}, {"nvlink1_tx_cycles"}, {"nvlink_tx_cycles"}};
  EXPECT_EQ(Find(catalog, 0x0A).events, Events{2});
  catalog.events[2].masked = true;
  EXPECT_EQ(Find(catalog, 0x0A).events, (Events{0, 1}));
  catalog.events[1].masked = true;
  EXPECT_EQ(Find(catalog, 0x0A).events, Events{0});
  EXPECT_EQ(Find(catalog, 0x11, 1).events, Events{});
}

TEST(MetricSourcesTest, TheDataOfEachLinkIsItsTransfersUnlessItTellsThemApart) {
  mailbox::Catalog catalog;
  catalog.events = {{"nvlink0_tx_cycles"}, {"nvlink1_tx_cycles"}, {"nvlink1_data_tx_cycles"}};
  EXPECT_EQ(Find(catalog, 0x11, 1).events, Events{1});
  EXPECT_EQ(Find(catalog, 0x12, 0).events, Events{0});
  EXPECT_EQ(Find(catalog, 0x12, 1).events, Events{2});
  EXPECT_EQ(Find(catalog, 0x0A).events, (Events{0, 1}));
  EXPECT_EQ(Find(catalog, 0x0B).events, (Events{0, 2})) << "as each link";
  EXPECT_EQ(Find(catalog, 0x14, 0).events, Events{}) << "nothing is received";
  catalog.events.push_back({"nvlink_tx_cycles"});
  EXPECT_EQ(Find(catalog, 0x0A).events, Events{3});
  EXPECT_EQ(Find(catalog, 0x0B).events, (Events{0, 2})) << "better than transfers of all links";
  catalog.events.push_back({"nvlink_data_tx_cycles"});
  EXPECT_EQ(Find(catalog, 0x0B).events, Events{4});
}

TEST(MetricSourcesTest, ASumIsOfTheDeviceIfOneInstanceIs) {
  mailbox::Catalog catalog;
  catalog.events = {{"nvlink0_rx_cycles"}, {"nvlink1_rx_cycles", "cycles", mailbox::EventScope::kDevice}};
  EXPECT_FALSE(Find(catalog, 0x13, 0).device_scope);
  EXPECT_TRUE(Find(catalog, 0x13, 1).device_scope);
  EXPECT_TRUE(Find(catalog, 0x0C).device_scope);
}

TEST(MetricSourcesTest, AnEventOfSeveralMetricsIsSampledOnce) {
  mailbox::Catalog catalog;
  catalog.events = {{"unused"}, {"sm_active_cycles"}, {"nvlink0_tx_cycles"}, {"dram_read_cycles"}};
  const MetricSources sources = ResolveMetrics(catalog);
  ASSERT_EQ(sources.events.size(), 2u) << "and those of no metric never";
  EXPECT_EQ(sources.sources.size(), 6u) << "00, 01, 0A, 0B, 11, 12";
}

}  // namespace
}  // namespace sideband::mcu
