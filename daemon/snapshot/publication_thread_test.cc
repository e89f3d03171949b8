// SPDX-License-Identifier: Apache-2.0
#include "daemon/snapshot/publication_thread.h"

#include <gtest/gtest.h>

#include "absl/synchronization/notification.h"
#include "proto/base/wait_until.h"

namespace sideband::daemon {
namespace {

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
