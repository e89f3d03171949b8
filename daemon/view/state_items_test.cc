// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/state_items.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sideband::daemon
