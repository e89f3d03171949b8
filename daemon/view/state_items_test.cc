// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/state_items.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/view/fake_world.h"

namespace sideband::daemon {
namespace {

using sideband::v1::StateItem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::string Describe(const StateItem& item) {
  if (item.has_device()) return item.device().name();
  if (item.has_scope()) {
    const auto& scope = item.scope().scope();
    return absl::StrCat(scope.vm(), "/", scope.context(), " ", static_cast<int>(item.scope().state()));
  }
  const auto& sensor = item.limit().sensor();
  std::string text = absl::StrCat(item.limit().device(), " ", sensor.name());
  for (const auto& label : sensor.labels()) absl::StrAppend(&text, " ", label.value());
  return text;
}

std::vector<std::string> Describe(const std::vector<StateItem>& items) {
  std::vector<std::string> texts;
  for (const StateItem& item : items) texts.push_back(Describe(item));
  return texts;
}

class StateItemsTest : public testing::Test {
 protected:
  StateItemsTest() { world_.Publish(0, 1); }
  std::vector<std::string> Items(const std::string& who, const RowFilter& filter = {}, bool names_rows = false) {
    std::vector<StateItem> items;
    for (const VisibleDevice& device : world_.reader.Devices(*world_.reader.Identify(CredentialsOf(who)))) {
      AddDeviceItems(device, filter, names_rows, items);
    }
    return Describe(items);
  }

  FakeWorld world_;
};

TEST_F(StateItemsTest, EachCallerHasItsOwnScopes) {
  EXPECT_THAT(Items("ops"), ElementsAre("gpu0", "/ 1", "vm0/ 1", "vm1/ 1", "secret/ 0", "gpu1"));
  EXPECT_THAT(Items("tenant-a"), ElementsAre("gpu0", "vm0/ 1", "vm0/render 1", "vm0/compute 1"));
  EXPECT_THAT(Items("tenant-b"), ElementsAre("gpu0", "vm1/train 1"));
  EXPECT_THAT(Items("tenant-c"), ElementsAre("gpu0", "secret/ 0"));
  EXPECT_THAT(Items("auditor"), IsEmpty());
}

TEST_F(StateItemsTest, AFilterOfRowsSelectsTheirDevices) {
  sideband::v1::Filter named;
  named.set_vm("vm0");
  named.set_context("render");
  EXPECT_THAT(Items("tenant-a", RowFilter(named), /*names_rows=*/true), ElementsAre("gpu0", "vm0/render 1"));
}

TEST_F(StateItemsTest, LimitsAreThoseSensorsThatAreSet) {
  auto reading = std::make_shared<BoardReading>();
  reading->samples[BoardGroup::kThresholds] = {};
  reading->thresholds.celsius[mailbox::ThermParam::kSlowdown] = 90;
  reading->temperature.celsius[mailbox::TempSensor::kGpu0] = 60;
  reading->power_limits.limits[mailbox::PowerSource::kTotal].current = 400;
  reading->clocks.current_mhz[mailbox::BoardClock::kGraphics] = 1000;
  reading->clock_limits.maximum_mhz[mailbox::BoardClock::kGraphics] = 2000;
  std::vector<StateItem> items;
  AddLimitItems({.device = "gpu0", .reading = reading}, absl::ZeroDuration(), items);
  for (const std::string& text : Describe(items)) {
    EXPECT_THAT(text, testing::AnyOf(testing::HasSubstr("maximum"),
                                     testing::HasSubstr("sideband_power_limit_watts current total"),
                                     testing::HasSubstr("sideband_temperature_threshold_celsius")));
  }
  EXPECT_EQ(items.size(), 3u);
  items.clear();
  AddLimitItems({.device = "gpu0", .reading = reading, .part = BoardPart()}, absl::ZeroDuration(), items);
  EXPECT_THAT(items, IsEmpty()) << "who does not see the whole board";
}

TEST_F(StateItemsTest, TheIdentityIsWhatDoesNotChange) {
  std::vector<StateItem> items;
  const auto devices = world_.reader.Devices(*world_.reader.Identify(CredentialsOf("ops")));
  AddDeviceItems(devices[0], {}, false, items);
  for (StateItem& item : items) {
    const std::string before = IdentityOf(item).SerializeAsString();
    if (item.has_device()) item.mutable_device()->set_state(sideband::v1::Device::STATE_STALE);
    if (item.has_scope()) item.mutable_scope()->add_flags("overflow");
    EXPECT_EQ(IdentityOf(item).SerializeAsString(), before);
    if (item.has_scope()) {
      item.mutable_scope()->mutable_scope()->set_generation(99);
      EXPECT_NE(IdentityOf(item).SerializeAsString(), before) << "its counters have begun anew";
    }
  }
}

using mailbox::BoardEvent;

std::string Describe(const BoardEventCursor::Message& message) {
  EXPECT_EQ(message.device(), "gpu0");
  if (message.has_driver_message()) return message.driver_message().text();
  if (message.has_raised()) return absl::StrCat(message.raised().name(), " ", message.raised().count());
  return absl::StrCat("lost ", message.messages_lost());
}

// A board whose driver has said 0, 1, 2, ….
class BoardEventCursorTest : public testing::Test {
 protected:
  void Say(int messages) {
    DriverMessageReading& kept = reading_.driver_messages;
    for (int i = 0; i < messages; ++i) {
      const auto number = static_cast<uint32_t>(kept.taken++);
      kept.messages.push_back({.xid = 63, .sequence = number, .text = absl::StrCat(number)});
      if (kept.messages.size() > DriverMessageReading::kMessagesMax) kept.messages.pop_front();
    }
  }
  void Raise(BoardEvent event, uint64_t total, absl::Time created = absl::UnixEpoch()) {
    reading_.events.counts[event] = {.value = total, .created = created};
  }

  std::vector<std::string> Take() {
    cursor_.Follow(reading_);
    std::vector<std::string> events;
    while (const auto event = cursor_.Next()) events.push_back(Describe(*event));
    return events;
  }

  BoardReading reading_;
  BoardEventCursor cursor_{"gpu0"};
};

using Events = std::vector<std::string>;

TEST_F(BoardEventCursorTest, MessagesThatAreHeldThenNewOnesEachOnce) {
  Say(2);
  EXPECT_EQ(Take(), (Events{"0", "1"}));
  EXPECT_EQ(Take(), Events());
  Say(1);
  EXPECT_EQ(Take(), Events{"2"});
}

TEST_F(BoardEventCursorTest, AMessageHasAllThatTheBoardSays) {
  reading_.driver_messages = {.messages = {{.xid = 79,
                                            .later_lost = true,
                                            .text_truncated = true,
                                            .sequence = 5,
                                            .time_s = 1'700'000'000,
                                            .text = "GPU has fallen off the bus"}},
                              .taken = 1};
  cursor_.Follow(reading_);
  const auto event = cursor_.Next();
  ASSERT_TRUE(event);
  const auto& message = event->driver_message();
  EXPECT_EQ(message.xid(), 79u);
  EXPECT_EQ(message.sequence(), 5u);
  EXPECT_EQ(message.time().seconds(), 1'700'000'000);
  EXPECT_TRUE(message.later_lost());
  EXPECT_TRUE(message.text_truncated());
}

TEST_F(BoardEventCursorTest, WhatWasDroppedMeanwhileIsCounted) {
  Say(100);
  EXPECT_EQ(Take().size(), DriverMessageReading::kMessagesMax) << "what was dropped before is not missed";
  Say(70);
  Events events = Take();
  ASSERT_EQ(events.size(), 1 + DriverMessageReading::kMessagesMax);
  EXPECT_EQ(events.front(), "lost 6");
  EXPECT_EQ(events[1], "106");
  EXPECT_EQ(events.back(), "169");
}

TEST_F(BoardEventCursorTest, ASlowCallerHoldsNoMoreThanAReading) {
  Say(10);
  cursor_.Follow(reading_);
  for (int i = 0; i < 10; ++i) {
    Say(50);
    cursor_.Follow(reading_);
  }
  const Events events = Take();
  EXPECT_EQ(events.size(), 1 + DriverMessageReading::kMessagesMax);
  EXPECT_EQ(events.front(), absl::StrCat("lost ", 510 - DriverMessageReading::kMessagesMax));
}

TEST_F(BoardEventCursorTest, ANewReadersMessagesAreNew) {
  Say(5);
  EXPECT_EQ(Take().size(), 5u);
  reading_ = {};
  EXPECT_EQ(Take(), Events());
  Say(2);
  EXPECT_EQ(Take(), (Events{"0", "1"}));
}

TEST_F(BoardEventCursorTest, EventsThatWereRaisedSince) {
  Raise(BoardEvent::kColdRestart, 1);
  EXPECT_EQ(Take(), Events()) << "when they were raised is not known";
  Raise(BoardEvent::kColdRestart, 2);
  Raise(BoardEvent::kMigToggled, 3);
  EXPECT_EQ(Take(), (Events{"cold_restart 1", "mig_toggled 3"}));
  EXPECT_EQ(Take(), Events());
}

TEST_F(BoardEventCursorTest, ACountThatBeganAnewIsNew) {
  Raise(BoardEvent::kEccToggled, 7);
  EXPECT_EQ(Take(), Events());
  Raise(BoardEvent::kEccToggled, 2, absl::UnixEpoch() + absl::Seconds(1));
  EXPECT_EQ(Take(), Events{"ecc_toggled 2"});
}

// Events that were followed and not taken do not move the position.
TEST_F(BoardEventCursorTest, APositionIsWhatWasTaken) {
  Say(2);
  Raise(BoardEvent::kResetRequired, 3);
  cursor_.Follow(reading_);
  cursor_.Next();
  Raise(BoardEvent::kResetRequired, 5);
  cursor_.Follow(reading_);
  const BoardEventCursor::Position position = cursor_.position();
  EXPECT_EQ(position.messages, 1u);
  BoardEventCursor other("gpu0");
  ASSERT_TRUE(other.Resume(position, reading_));
  other.Follow(reading_);
  for (const char* expected : {"1", "reset_required 2"}) {
    const auto event = other.Next();
    ASSERT_TRUE(event);
    EXPECT_EQ(Describe(*event), expected);
  }
  EXPECT_FALSE(other.Next());
}

TEST_F(BoardEventCursorTest, APositionThatIsNotHeldIsNotResumed) {
  Say(1);
  Take();
  const BoardEventCursor::Position position = cursor_.position();
  Say(DriverMessageReading::kMessagesMax);
  EXPECT_TRUE(BoardEventCursor("gpu0").Resume(position, reading_));
  Say(1);
  EXPECT_FALSE(BoardEventCursor("gpu0").Resume(position, reading_)) << "one is dropped";
  reading_.driver_messages = {};
  EXPECT_FALSE(BoardEventCursor("gpu0").Resume(position, reading_)) << "another reader has taken fewer";
}

}  // namespace

}  // namespace sideband::daemon
