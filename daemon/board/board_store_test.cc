// SPDX-License-Identifier: Apache-2.0
#include "daemon/board/board_store.h"

#include <gtest/gtest.h>

#include <vector>

namespace sideband::daemon {
namespace {

TEST(BoardStoreTest, ABoardIsNotReadUnlessItIsSaid) {
  BoardStore boards;
  EXPECT_FALSE(boards.SettingsOf(3).is_read);
  boards.SetSettings(3, {.is_read = true, .bus_share = 0.1});
  EXPECT_EQ(boards.SettingsOf(3), (BoardSettings{.is_read = true, .bus_share = 0.1}));
  EXPECT_FALSE(boards.SettingsOf(4).is_read);
}

TEST(BoardStoreTest, TheNewestReading) {
  BoardStore boards;
  boards.SetSettings(3, {.is_read = true});
  EXPECT_EQ(boards.Newest(3), nullptr);
  const auto reading = std::make_shared<const BoardReading>();
  boards.Publish(3, reading);
  EXPECT_EQ(boards.Newest(3), reading);
  EXPECT_EQ(boards.Newest(4), nullptr);
}

class CountingListener final : public BoardListener {
 public:
  void OnPublish(size_t device, const std::shared_ptr<const BoardReading>&) override { devices.push_back(device); }
  std::vector<size_t> devices;
};

TEST(BoardStoreTest, ListenersSeeWhatIsPublished) {
  BoardStore boards;
  CountingListener listener;
  boards.SetSettings(3, {.is_read = true});
  boards.SetSettings(4, {.is_read = false});
  boards.AddListener(listener);
  for (const size_t device : {3, 4, 5}) boards.Publish(device, std::make_shared<const BoardReading>());
  boards.Forget(3);
  boards.Publish(3, std::make_shared<const BoardReading>());
  boards.SetSettings(3, {.is_read = true});
  boards.RemoveListener(listener);
  boards.Publish(3, std::make_shared<const BoardReading>());
  EXPECT_EQ(listener.devices, (std::vector<size_t>{3})) << "of a board that is read";
  EXPECT_EQ(boards.Newest(4), nullptr);
}

TEST(BoardStoreTest, ARemovedDeviceHasNothing) {
  BoardStore boards;
  boards.SetSettings(3, {.is_read = true});
  boards.Publish(3, std::make_shared<const BoardReading>());
  boards.Forget(3);
  EXPECT_EQ(boards.Newest(3), nullptr);
  boards.Publish(3, std::make_shared<const BoardReading>());
  EXPECT_EQ(boards.Newest(3), nullptr) << "by a collector that has not stopped yet";
  EXPECT_FALSE(boards.SettingsOf(3).is_read);
}

}  // namespace
}  // namespace sideband::daemon
