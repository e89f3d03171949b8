// SPDX-License-Identifier: Apache-2.0
#include "daemon/snapshot/store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "absl/synchronization/notification.h"
#include "proto/base/wait_until.h"

namespace sideband::daemon {
namespace {

std::shared_ptr<const DeviceSnapshot> Publication(uint64_t number) {
  auto snapshot = std::make_shared<DeviceSnapshot>();
  snapshot->publication = number;
  return snapshot;
}

std::vector<DeviceInfo> TwoDevices() { return {{"gpu0", absl::Seconds(1)}, {"gpu1", absl::Seconds(1)}}; }

class CountingListener final : public PublicationListener {
 public:
  void OnPublish(size_t, const std::shared_ptr<const DeviceSnapshot>&) override { ++count; }
  std::atomic<int> count = 0;
};

TEST(StoreTest, NewestIsWhatWasPublishedLast) {
  Store store(TwoDevices());
  EXPECT_EQ(store.Newest(0), nullptr);
  store.Publish(0, Publication(1));
  store.Publish(0, Publication(2));
  EXPECT_EQ(store.Newest(0)->publication, 2u);
  EXPECT_EQ(store.Newest(1), nullptr) << "devices are apart";
}

TEST(StoreTest, AHeldSnapshotOutlivesItsSuccessor) {
  Store store(TwoDevices());
  store.Publish(0, Publication(1));
  const auto held = store.Newest(0);
  store.Publish(0, Publication(2));
  EXPECT_EQ(held->publication, 1u);
}

TEST(StoreTest, ListenersAreToldUntilRemoved) {
  Store store(TwoDevices());
  CountingListener listener;
  store.AddListener(listener);
  store.Publish(1, Publication(1));
  store.RemoveListener(listener);
  store.Publish(1, Publication(2));
  EXPECT_EQ(listener.count, 1);
}

TEST(StoreTest, DevicesAreFoundByName) {
  Store store(TwoDevices());
  EXPECT_EQ(store.FindDevice("gpu1"), 1u);
  EXPECT_EQ(store.FindDevice("gpu2"), std::nullopt);
}

DeviceInfo Named(const char* name) { return {.name = name, .interval = absl::Seconds(1)}; }

TEST(StoreTest, DevicesMayChange) {
  Store store(TwoDevices());
  store.Publish(0, Publication(1));
  store.Publish(1, Publication(2));
  const auto before = store.devices();
  const size_t added = store.NewId();
  EXPECT_EQ(added, 2u);
  DeviceList devices = {before->at(1), {added, std::make_shared<const DeviceInfo>(Named("gpu2"))}};
  store.SetDevices(devices);
  ASSERT_EQ(store.devices()->size(), 2u);
  EXPECT_EQ(store.devices()->at(0).info->name, "gpu1");
  EXPECT_EQ(store.Newest(1)->publication, 2u) << "what stays keeps its snapshot";
  EXPECT_EQ(store.Newest(2), nullptr);
  EXPECT_EQ(store.Newest(0), nullptr);
  EXPECT_EQ(store.Info(0), nullptr);
  EXPECT_EQ(store.Info(2)->name, "gpu2");
  EXPECT_EQ(store.FindDevice("gpu0"), std::nullopt);
  EXPECT_EQ(before->at(0).info->name, "gpu0") << "held as it was";
}

TEST(StoreTest, NothingIsPublishedOfADeviceThatIsGone) {
  Store store(TwoDevices());
  CountingListener listener;
  store.AddListener(listener);
  store.SetDevices({store.devices()->at(1)});
  store.Publish(0, Publication(1));
  EXPECT_EQ(store.Newest(0), nullptr);
  EXPECT_EQ(listener.count, 0);
  EXPECT_EQ(store.NewId(), 2u) << "an id is never given again";
  store.RemoveListener(listener);
}

TEST(StoreTest, ReadersSeeMonotonicPublicationsWhileOneWrites) {
  Store store(TwoDevices());
  const TimeLimit limit("2000 publications");
  std::thread writer([&] {
    for (uint64_t i = 1; i <= 2000; ++i) store.Publish(0, Publication(i));
  });
  uint64_t last = 0;
  while (last < 2000) {
    const auto newest = store.Newest(0);
    if (newest == nullptr) continue;
    ASSERT_GE(newest->publication, last);
    last = newest->publication;
  }
  writer.join();
}

TEST(DeviceSnapshotTest, FreshForThreeIntervals) {
  DeviceSnapshot snapshot;
  snapshot.steady_time = absl::Seconds(10);
  const DeviceInfo device{"gpu0", absl::Seconds(1)};
  EXPECT_TRUE(snapshot.IsFresh(absl::Seconds(13), device));
  EXPECT_FALSE(snapshot.IsFresh(absl::Seconds(13) + absl::Nanoseconds(1), device));
}

class PublicationThreadTest : public testing::Test {
 protected:
  void Publish() { store_.Publish(0, std::make_shared<DeviceSnapshot>()); }

  Store store_{{{.name = "gpu0", .interval = absl::Seconds(1)}}};
};

TEST_F(PublicationThreadTest, WorksAfterAPublication) {
  absl::Notification done;
  PublicationThread thread(store_, [&] { done.Notify(); });
  thread.Start();
  Publish();
  WaitUntil(done, "the work after a publication");
}

TEST_F(PublicationThreadTest, WhatComesMeanwhileIsOneTurn) {
  absl::Notification is_working, may_go_on, second_turn;
  int turns = 0;
  PublicationThread thread(store_, [&] {
    if (++turns == 1) {
      is_working.Notify();
      WaitUntil(may_go_on, "the five publications");
    } else {
      second_turn.Notify();  // a third would abort
    }
  });
  thread.Start();
  Publish();
  WaitUntil(is_working, "the work after the first publication");
  for (int i = 0; i < 5; ++i) Publish();
  may_go_on.Notify();
  WaitUntil(second_turn, "the work after the others");
  thread.Stop();
  EXPECT_EQ(turns, 2);
}

TEST_F(PublicationThreadTest, AfterStopThereIsNoMore) {
  int turns = 0;
  PublicationThread thread(store_, [&] { ++turns; });
  thread.Start();
  thread.Stop();
  Publish();
  thread.Stop();
  EXPECT_EQ(turns, 0);
}

TEST_F(PublicationThreadTest, NeedNotBeStarted) {
  PublicationThread thread(store_, [] {});
}

}  // namespace

}  // namespace sideband::daemon
