// SPDX-License-Identifier: Apache-2.0
#include "client/cli/change_lines.h"

#include <gtest/gtest.h>

namespace sideband::client {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

TEST(ChangeLinesTest, EachItemIsALine) {
  v1::StateChange change;
  v1::Device& device = *change.add_items()->mutable_device();
  device.set_name("gpu0");
  device.set_boot_id(0xb007);
  device.set_state(v1::Device::STATE_STALE);
  v1::ScopeState& scope = *change.add_items()->mutable_scope();
  scope.mutable_scope()->set_device("gpu0");
  scope.mutable_scope()->set_vm("vm0");
  scope.mutable_scope()->set_context("train\x1b");
  scope.set_state(v1::ScopeCounters::STATE_IDLE);
  scope.add_flags("overflow");
  scope.add_flags("partial");
  v1::StateItem& gone = *change.add_items();
  gone.set_gone(true);
  gone.mutable_scope()->mutable_scope()->set_device("gpu0");
  v1::SensorLimit& limit = *change.add_items()->mutable_limit();
  limit.set_device("gpu1");
  limit.mutable_sensor()->set_name("sideband_power_limit_watts");
  limit.mutable_sensor()->add_labels()->set_name("kind");
  limit.mutable_sensor()->mutable_labels(0)->set_value("current");
  limit.mutable_sensor()->set_value(350);
  v1::MarkInfo& mark = *change.add_items()->mutable_mark();
  mark.mutable_scope()->set_device("gpu0");
  mark.mutable_scope()->set_vm("vm0");
  mark.set_mark_id(3);
  mark.set_label("begin");
  mark.set_state(v1::MarkInfo::STATE_READ);
  v1::WatchBoardEventsResponse& event = *change.add_items()->mutable_board_event();
  event.set_device("gpu1");
  event.mutable_driver_message()->set_xid(63);
  event.mutable_driver_message()->set_text("row remapping");
  EXPECT_EQ(ChangeLines(change, kNow),
            "22:13:20.0 gpu0 is stale, boot 000000000000b007\n"
            "22:13:20.0 gpu0 vm0/train\\x1b is idle (overflow, partial)\n"
            "22:13:20.0 gpu0 device is gone\n"
            "22:13:20.0 gpu1 sideband_power_limit_watts kind=current is 350\n"
            "22:13:20.0 gpu0 vm0 mark 3 is read: begin\n"
            "22:13:20.0 gpu1 xid 63: row remapping\n");
}

TEST(ChangeLinesTest, AGapSaysFromWhenAndWhy) {
  v1::Gap gap;
  gap.mutable_to()->set_seconds(1'700'000'012);
  gap.set_reason(v1::Gap::REASON_UNKNOWN_TOKEN);
  EXPECT_EQ(
      GapText(gap),
      "a gap to 2023-11-14T22:13:32.000Z: the daemon has restarted, or does not know this stream; the present state "
      "follows");
  gap.set_device("gpu0");
  gap.mutable_from()->set_seconds(1'700'000'000);
  gap.set_reason(v1::Gap::REASON_NOT_KEPT);
  EXPECT_EQ(
      GapText(gap),
      "gpu0: a gap from 2023-11-14T22:13:20.000Z to 2023-11-14T22:13:32.000Z: not all was kept; the present state "
      "follows");
}

}  // namespace
}  // namespace sideband::client
