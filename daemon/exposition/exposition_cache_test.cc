// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/exposition_cache.h"

#include <gtest/gtest.h>

#include <thread>

#include "absl/strings/match.h"
#include "daemon/view/fake_world.h"

namespace sideband::daemon {
namespace {

class ExpositionCacheTest : public testing::Test {
 protected:
  ExpositionCacheTest() { world_.Publish(0, 1); }

  Body Scrape(const std::string& who, const ScrapeRequest& request = {}, absl::string_view own = "") {
    const Caller caller = *world_.reader.Identify(CredentialsOf(who));
    return cache_.Scrape(caller, world_.reader.Devices(caller), request, own);
  }

  FakeWorld world_;
  ExpositionCache cache_;
};

TEST_F(ExpositionCacheTest, ABodyThatIsBeingReadStays) {
  const Body first = Scrape("tenant-a");
  const std::string copy = first.ToString();
  world_.Publish(0, 2);
  const Body second = Scrape("tenant-a");
  EXPECT_EQ(first.ToString(), copy);
  EXPECT_NE(second.ToString(), copy);
}

TEST_F(ExpositionCacheTest, OneSnapshotIsRenderedOnce) {
  for (const MetricsFormat format : kMetricsFormats) {
    for (const bool gzip : {false, true}) {
      const Body first = Scrape("tenant-a", {format, gzip});
      world_.clock.Advance(absl::Milliseconds(100));
      const Body second = Scrape("tenant-a", {format, gzip});
      EXPECT_EQ(first.shared.data(), second.shared.data());
      EXPECT_NE(first.head, second.head) << "the age is another";
    }
  }
  EXPECT_NE(Scrape("tenant-a").shared.data(), Scrape("tenant-b").shared.data());
}

TEST_F(ExpositionCacheTest, AStaleDeviceIsRenderedAnew) {
  EXPECT_TRUE(absl::StrContains(Scrape("tenant-a").ToString(), "vm0"));
  world_.clock.Advance(absl::Seconds(10));
  EXPECT_FALSE(absl::StrContains(Scrape("tenant-a").ToString(), "vm0"));
}

TEST_F(ExpositionCacheTest, AnotherPolicyIsRenderedAnew) {
  EXPECT_TRUE(absl::StrContains(Scrape("tenant-a").ToString(), "vm0"));
  world_.policy.Replace(FakePolicy("00000000-0000-0000-0000-0000000000ff"));
  EXPECT_FALSE(absl::StrContains(Scrape("tenant-a").ToString(), "vm0"));
}

TEST_F(ExpositionCacheTest, ABufferIsUsedAgain) {
  Scrape("tenant-a");
  world_.Publish(0, 2);
  // The first text may have been too short for this one.
  const char* const address = Scrape("tenant-a").shared.data();
  world_.Publish(0, 3);
  EXPECT_EQ(Scrape("tenant-a").shared.data(), address) << "nobody reads the first text any more";
}

TEST_F(ExpositionCacheTest, AgesAndTheDaemonsOwnComeFirst) {
  const std::string text = Scrape("ops", {}, "own 1\n").ToString();
  EXPECT_LT(text.find("sideband_sample_age_seconds"), text.find("\nown 1\n"));
  EXPECT_LT(text.find("\nown 1\n"), text.find("sideband_device_up"));
}

TEST_F(ExpositionCacheTest, AFilterIsForOneAnswer) {
  const ScrapeRequest cycles{.filter = {.events = {"cycles"}}};
  EXPECT_FALSE(absl::StrContains(Scrape("tenant-a", cycles).ToString(), "dram_bytes"));
  EXPECT_TRUE(absl::StrContains(Scrape("tenant-a").ToString(), "dram_bytes"));
}

TEST_F(ExpositionCacheTest, WhatSeveralAskForIsReadyBeforeTheyAsk) {
  const ScrapeRequest gzip{MetricsFormat::kOpenMetrics, /*gzip=*/true};
  for (int i = 0; i < 2; ++i) Scrape("tenant-a", gzip);
  world_.Publish(0, 2);
  int looks = 0;
  const auto look = [&](const Caller& caller) {
    ++looks;
    return world_.reader.Devices(caller);
  };
  const uint64_t version = world_.policy.Current().version;
  cache_.Refresh(version + 1, look);
  EXPECT_EQ(looks, 0) << "nobody of an old policy is looked for";
  cache_.Refresh(version, look);
  EXPECT_EQ(looks, 1) << "one view in one format";
  const Body first = Scrape("tenant-a", gzip);
  cache_.Refresh(version, look);
  EXPECT_EQ(looks, 1) << "one has asked since";
  EXPECT_EQ(Scrape("tenant-a", gzip).shared.data(), first.shared.data());
}

TEST_F(ExpositionCacheTest, ThreadsGetTheirOwn) {
  std::vector<std::jthread> threads;
  for (const char* who : {"tenant-a", "tenant-b", "tenant-a", "tenant-b"}) {
    threads.emplace_back([this, who] {
      for (int i = 0; i < 50; ++i) {
        const bool is_a = std::string(who) == "tenant-a";
        const std::string text = Scrape(who).ToString();
        EXPECT_EQ(absl::StrContains(text, "vm=\"vm0\""), is_a);
        EXPECT_EQ(absl::StrContains(text, "vm=\"vm1\""), !is_a);
        Scrape(who, {MetricsFormat::kOpenMetrics, /*gzip=*/true});
      }
    });
  }
  for (uint64_t p = 2; p < 50; ++p) {
    world_.Publish(0, p);
    cache_.Refresh(1, [&](const Caller& caller) { return world_.reader.Devices(caller); });
  }
}

}  // namespace
}  // namespace sideband::daemon
