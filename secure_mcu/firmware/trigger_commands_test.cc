// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/trigger_commands.h"

#include <gtest/gtest.h>

#include "proto/mailbox/bookmark_check.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/features.h"
#include "proto/mailbox/hull_stream.h"
#include "proto/mailbox/timeline_stream.h"
#include "secure_mcu/firmware/fake_device.h"
#include "secure_mcu/firmware/snapshot_commands.h"

namespace sideband::mcu {
namespace {

using mailbox::ExtensionVersion;
using mailbox::MailboxStatus;
using mailbox::Opcode;
using mailbox::TriggerStep;

class TriggerCommandsTest : public testing::Test {
 protected:
  Reply Run(TriggerStep step, uint64_t period = 0, uint8_t arg2 = 0) {
    return commands_.Execute({.opcode = Opcode::kTrigger, .arg1 = static_cast<uint8_t>(step), .arg2 = arg2},
                             static_cast<uint32_t>(period), static_cast<uint32_t>(period >> 32));
  }

  FakeDevice gpu_;
  SnapshotCommands commands_{gpu_, ExtensionVersion::kTwo};
};

TEST_F(TriggerCommandsTest, OnceAnswersTheTriggersNumber) {
  EXPECT_EQ(Run(TriggerStep::kOnce).data, 1u);
  EXPECT_EQ(Run(TriggerStep::kOnce).data, 2u);
  EXPECT_EQ(gpu_.latches, 0u) << "nothing is latched";
}

TEST_F(TriggerCommandsTest, StartSetsTheGridAndStopEndsIt) {
  const Reply started = Run(TriggerStep::kStart, uint64_t{3} << 32 | 7);
  EXPECT_EQ(started.status, MailboxStatus::kSuccess);
  EXPECT_EQ(started.data, 7u) << "the period that was taken";
  EXPECT_EQ(started.extended_data, 3u);
  EXPECT_EQ(gpu_.trigger_grid, uint64_t{3} << 32 | 7);
  EXPECT_EQ(Run(TriggerStep::kStop, 99).status, MailboxStatus::kSuccess) << "data-in has no meaning";
  EXPECT_EQ(gpu_.trigger_grid, 0u);
}

TEST_F(TriggerCommandsTest, RefusedCommandsChangeNothing) {
  ASSERT_EQ(Run(TriggerStep::kStart, 1000).status, MailboxStatus::kSuccess);
  EXPECT_EQ(Run(TriggerStep::kStart, 0).status, MailboxStatus::kErrData);
  EXPECT_EQ(Run(TriggerStep::kStart, FakeDevice::kTriggerPeriodMin - 1).status, MailboxStatus::kErrData);
  EXPECT_EQ(Run(TriggerStep::kStop, 0, /*arg2=*/1).status, MailboxStatus::kErrArg2);
  for (int step = 7; step < 256; ++step) {
    EXPECT_EQ(Run(static_cast<TriggerStep>(step)).status, MailboxStatus::kErrArg1) << step;
  }
  EXPECT_EQ(gpu_.trigger_grid, 1000u);
  EXPECT_EQ(gpu_.triggers, 0u);
}

TEST_F(TriggerCommandsTest, WithoutClockDomainsTheirStepsAreNotServed) {
  for (const TriggerStep step :
       {TriggerStep::kSelect, TriggerStep::kBookmark, TriggerStep::kTimeline, TriggerStep::kHulls}) {
    EXPECT_EQ(Run(step).status, MailboxStatus::kErrOpcode);
    EXPECT_EQ(Run(step, 0, /*arg2=*/255).status, MailboxStatus::kErrOpcode) << "windows";
  }
}

class ClockCommandsTest : public TriggerCommandsTest {
 protected:
  ClockCommandsTest() {
    gpu_.has_clocks = true;
    gpu_.timeline.entries = {
        {.trigger_id = 5, .reference_cycle = 1000, .domains = 0b10, .clocks = {{.local_clock = 9}}},
        {.trigger_id = 6, .reference_cycle = 2000}};
    gpu_.hulls.hulls = {{.domain = 1, .last_trigger_id = 6, .lower = {{1, 2}}, .upper = {{1, 3}}}};
  }
  Reply Open(TriggerStep step, uint32_t first, uint32_t offset, uint8_t width) {
    return commands_.Execute({.opcode = Opcode::kTrigger, .arg1 = static_cast<uint8_t>(step), .arg2 = width}, first,
                             offset);
  }
  // All windows of the open stream.
  Bytes Stream(TriggerStep step, uint32_t first) {
    Bytes bytes;
    for (uint32_t size = 1; bytes.size() < size;) {
      const Reply reply = Open(step, first, static_cast<uint32_t>(bytes.size()), 16);
      EXPECT_EQ(reply.status, MailboxStatus::kSuccess);
      size = reply.data;
      for (uint8_t i = 0; i < mailbox::kWindowCount && bytes.size() < size; ++i) {
        const ByteSpan window = commands_.Window(i);
        bytes.insert(bytes.end(), window.begin(), window.end());
      }
    }
    return bytes;
  }
};

TEST_F(ClockCommandsTest, TheyAreAFeature) {
  const auto features = [this] { return commands_.Execute({.opcode = Opcode::kDiscover, .arg1 = 4}, 0, 0).data; };
  EXPECT_NE(features() & mailbox::kClocksFeature, 0u);
  gpu_.can_trigger = false;
  EXPECT_EQ(features() & mailbox::kClocksFeature, 0u);
}

TEST_F(ClockCommandsTest, SelectAnswersTheDomainsThatItHasTaken) {
  const Reply selected = Run(TriggerStep::kSelect, 0b10);
  EXPECT_EQ(selected.status, MailboxStatus::kSuccess);
  EXPECT_EQ(selected.data, 0b10u);
  EXPECT_EQ(gpu_.selected_clocks, 0b10u);
  EXPECT_EQ(Run(TriggerStep::kSelect, uint64_t{1} << 33).status, MailboxStatus::kErrData);
  EXPECT_EQ(Run(TriggerStep::kSelect, 0b01, /*arg2=*/1).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(gpu_.selected_clocks, 0b10u);
}

TEST_F(ClockCommandsTest, ABookmarkAnswersWhenItWasAskedFor) {
  gpu_.time_ns = uint64_t{3} << 32 | 5;
  const Reply marked = Run(TriggerStep::kBookmark, uint64_t{17} << 32 | 2u << 16 | 1);
  EXPECT_EQ(marked.data, 5u);
  EXPECT_EQ(marked.extended_data, 3u);
  EXPECT_EQ((gpu_.bookmarks[{1, 2}]), 17u);
}

// Another controller may have written to the operands before the command.
TEST_F(ClockCommandsTest, ABookmarkThatIsNotWhatWasMeantIsRefused) {
  const uint8_t check = mailbox::BookmarkCheck(2u << 16 | 1, 17);
  EXPECT_EQ(Run(TriggerStep::kBookmark, uint64_t{17} << 32 | 2u << 16 | 1, check).status, MailboxStatus::kSuccess);
  EXPECT_EQ(Run(TriggerStep::kBookmark, uint64_t{17} << 32 | 2u << 16 | 2, check).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(Run(TriggerStep::kBookmark, uint64_t{18} << 32 | 2u << 16 | 1, check).status, MailboxStatus::kErrArg2);
  EXPECT_EQ(gpu_.bookmarks.size(), 1u);
}

TEST_F(ClockCommandsTest, RefusedBookmarksSayWhy) {
  const auto refused = [this](const absl::Status& status) {
    gpu_.refuse_bookmarks = status;
    return Run(TriggerStep::kBookmark, 1).status;
  };
  EXPECT_EQ(refused(absl::NotFoundError("")), MailboxStatus::kErrNotAvailable);
  EXPECT_EQ(refused(absl::UnavailableError("")), MailboxStatus::kErrAgain);
  EXPECT_EQ(refused(absl::FailedPreconditionError("")), MailboxStatus::kErrNotSupported);
}

TEST_F(ClockCommandsTest, TimelinesAndHullsAreStreams) {
  mailbox::Timeline timeline = *mailbox::DecodeTimelineStream(Stream(TriggerStep::kTimeline, 4), 4, 2);
  EXPECT_EQ(timeline.boot_id, gpu_.identity().boot_id);
  EXPECT_EQ(timeline.entries, gpu_.timeline.entries);
  EXPECT_EQ(mailbox::DecodeHullStream(Stream(TriggerStep::kHulls, 3), 3, 2)->hulls, gpu_.hulls.hulls);
}

TEST_F(ClockCommandsTest, AReaderGoesOnInWhatItHasBegun) {
  const Reply opened = Open(TriggerStep::kTimeline, 4, 0, 16);
  EXPECT_EQ(opened.extended_data, 6u) << "the newest trigger";
  gpu_.timeline.entries.clear();
  EXPECT_EQ(Open(TriggerStep::kTimeline, 4, 16, 16).data, opened.data);
  EXPECT_EQ(Open(TriggerStep::kTimeline, 5, 16, 16).status, MailboxStatus::kErrAgain) << "another trigger";
  EXPECT_EQ(Open(TriggerStep::kHulls, 4, 16, 16).status, MailboxStatus::kErrAgain) << "another stream";
  EXPECT_EQ(Open(TriggerStep::kTimeline, 4, opened.data, 16).status, MailboxStatus::kErrData);
}

TEST_F(TriggerCommandsTest, TheOpcodeIsServedByVersionTwoOfDevicesThatCanTrigger) {
  SnapshotCommands one{gpu_, ExtensionVersion::kOne};
  EXPECT_EQ(one.Execute({.opcode = Opcode::kTrigger}, 0, 0).status, MailboxStatus::kErrOpcode);
  const auto served = [this] { return commands_.Execute({.opcode = Opcode::kDiscover}, 0, 0).extended_data >> 6 & 1; };
  EXPECT_EQ(served(), 1u);
  gpu_.can_trigger = false;
  EXPECT_EQ(served(), 0u);
  EXPECT_EQ(Run(TriggerStep::kOnce).status, MailboxStatus::kErrOpcode);
}

}  // namespace
}  // namespace sideband::mcu
