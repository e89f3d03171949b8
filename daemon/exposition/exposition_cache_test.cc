// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/exposition_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "daemon/view/fake_world.h"

namespace sideband::daemon {
namespace {

TEST(SpareBufferTest, WhatComesBackIsLentAgainEmptyWithItsMemory) {
  const auto spare = std::make_shared<SpareBuffer>();
  auto first = SpareBuffer::Lend(spare);
  first->Append(std::string(100'000, 'x'));
  const size_t capacity = first->capacity();
  first.reset();
  const auto again = SpareBuffer::Lend(spare);
  EXPECT_EQ(again->text(), "");
  EXPECT_EQ(again->capacity(), capacity);
}

TEST(SpareBufferTest, TheLastReaderGivesItBack) {
  const auto spare = std::make_shared<SpareBuffer>();
  auto writer = SpareBuffer::Lend(spare);
  writer->Append("text");
  const std::shared_ptr<const TextBuffer> reader = writer;
  writer.reset();
  EXPECT_NE(SpareBuffer::Lend(spare).get(), reader.get());
  EXPECT_EQ(reader->text(), "text");
}

TEST(SpareBufferTest, OneIsKeptOfSeveral) {
  const auto spare = std::make_shared<SpareBuffer>();
  {
    const auto a = SpareBuffer::Lend(spare), b = SpareBuffer::Lend(spare);
    EXPECT_NE(a.get(), b.get());
    a->Append(std::string(1000, 'a'));
    b->Append(std::string(1000, 'b'));
  }
  const auto kept = SpareBuffer::Lend(spare), fresh = SpareBuffer::Lend(spare);
  EXPECT_GE(kept->capacity(), 1000u);
  EXPECT_EQ(fresh->capacity(), 0u);
}

TEST(SpareBufferTest, ABufferOutlivesWhoeverAskedForIt) {
  auto spare = std::make_shared<SpareBuffer>();
  const auto buffer = SpareBuffer::Lend(spare);
  spare.reset();
  buffer->Append("text");
  EXPECT_EQ(buffer->text(), "text");
}

// A buffer has one borrower at a time, for any order of lending and returning.
TEST(SpareBufferTest, NobodyWritesIntoAnothersBuffer) {
  const auto spare = std::make_shared<SpareBuffer>();
  std::atomic<int> spoilt = 0;
  const auto work = [&](char mine) {
    for (int i = 0; i < 2000; ++i) {
      const auto buffer = SpareBuffer::Lend(spare);
      buffer->Append(std::string(50, mine));
      spoilt += buffer->text() != std::string(50, mine);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (const char mine : {'a', 'b', 'c'}) threads.emplace_back(work, mine);
  }
  EXPECT_EQ(spoilt, 0);
}

class SharedRenderingTest : public testing::Test {
 protected:
  SharedRenderingTest() { world_.Publish(0, 1); }

  std::vector<VisibleDevice> Devices() {
    return world_.reader.Devices(*world_.reader.Identify(CredentialsOf("tenant-a")));
  }
  uint64_t CompressedPublication() { return rendering_.CompressedOf(Devices()).shown.at(0).publication; }
  void PublishAfterASecond(uint64_t publication) {
    world_.clock.Advance(absl::Seconds(1));
    world_.Publish(0, publication);
  }

  FakeWorld world_;
  SharedRendering rendering_{MetricsFormat::kOpenMetrics};
};

TEST_F(SharedRenderingTest, ASnapshotIsCompressedOnce) {
  const auto first = rendering_.CompressedOf(Devices());
  EXPECT_EQ(rendering_.CompressedOf(Devices()).deflated, first.deflated);
  PublishAfterASecond(2);
  EXPECT_NE(rendering_.CompressedOf(Devices()).deflated, first.deflated);
}

TEST_F(SharedRenderingTest, WhoComesLateGetsWhatIsNewer) {
  const std::vector<VisibleDevice> before = Devices();
  PublishAfterASecond(2);
  const auto text = rendering_.TextOf(Devices());
  const auto compressed = rendering_.CompressedOf(Devices());
  EXPECT_EQ(rendering_.TextOf(before).buffer, text.buffer);
  EXPECT_EQ(rendering_.CompressedOf(before).deflated, compressed.deflated);
  EXPECT_EQ(WithAgesOf(compressed.shown, before)[0].age, absl::ZeroDuration()) << "never from the future";
}

TEST_F(SharedRenderingTest, WhatOneHasAskedForIsNotMadeInAdvance) {
  EXPECT_FALSE(rendering_.BeginRefresh()) << "nobody has asked";
  CompressedPublication();
  EXPECT_FALSE(rendering_.BeginRefresh());
  CompressedPublication();
  EXPECT_FALSE(rendering_.BeginRefresh()) << "one in two publications is not several";
}

TEST_F(SharedRenderingTest, NobodyWaitsWhileItIsMadeAnew) {
  CompressedPublication();
  CompressedPublication();
  PublishAfterASecond(2);
  ASSERT_TRUE(rendering_.BeginRefresh());
  EXPECT_EQ(CompressedPublication(), 1u);
  rendering_.Refresh(Devices());
  EXPECT_EQ(CompressedPublication(), 2u);
}

TEST_F(SharedRenderingTest, TheAgeIsThatOfWhatIsShown) {
  CompressedPublication();
  CompressedPublication();
  PublishAfterASecond(2);
  ASSERT_TRUE(rendering_.BeginRefresh());
  world_.clock.Advance(absl::Milliseconds(20));
  EXPECT_EQ(Devices()[0].age, absl::Milliseconds(20));
  EXPECT_EQ(WithAgesOf(rendering_.CompressedOf(Devices()).shown, Devices())[0].age, absl::Milliseconds(1020));
}

// Even during a long refresh: a served rendering reports its devices as fresh.
TEST_F(SharedRenderingTest, WhatIsTooOldIsNotServedMeanwhile) {
  CompressedPublication();
  CompressedPublication();
  for (uint64_t publication = 2; publication <= 4; ++publication) PublishAfterASecond(publication);
  ASSERT_TRUE(rendering_.BeginRefresh());
  EXPECT_EQ(CompressedPublication(), 1u);
  PublishAfterASecond(5);
  EXPECT_EQ(CompressedPublication(), 5u);
}

// Even during a long refresh: a device that has become stale since must be shown as such.
TEST_F(SharedRenderingTest, AnotherStateIsShownAtOnce) {
  CompressedPublication();
  CompressedPublication();
  PublishAfterASecond(2);
  ASSERT_TRUE(rendering_.BeginRefresh());
  world_.clock.Advance(absl::Seconds(10));
  EXPECT_EQ(rendering_.CompressedOf(Devices()).shown.at(0).state, VisibleDevice::State::kStale);
}

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
