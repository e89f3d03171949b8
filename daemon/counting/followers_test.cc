// SPDX-License-Identifier: Apache-2.0
#include "daemon/counting/followers.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/mailbox/fake_mailbox.h"
#include "daemon/mailbox/register_port.h"
#include "daemon/snapshot/fake_topology.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/word.h"

namespace sideband::daemon {
namespace {

using mailbox::MailboxStatus;

class LineDriverTest : public testing::Test {
 protected:
  LineDriverTest() {
    device_.version = mailbox::ExtensionVersion::kTwo;
    device_.features = mailbox::kClocksFeature;
    EXPECT_TRUE(session_.CheckExtension().ok());
    device_.commands.clear();
  }
  size_t Pulses() const {
    size_t pulses = 0;
    for (const auto& command : device_.CommandsOf(mailbox::Opcode::kTrigger)) {
      if (command.word.arg1 == static_cast<uint8_t>(mailbox::TriggerStep::kOnce)) ++pulses;
    }
    return pulses;
  }

  FakeMailbox device_;
  RegisterPort port_{device_, FakeMailbox::kAddress, [](absl::string_view) {}};
  MailboxSession session_{port_, [](absl::Duration) {}};
  LineDriver driver_{session_};
};

TEST_F(LineDriverTest, TheDriverSendsAPulseForEachSnapshot) {
  for (int i = 0; i < 3; ++i) driver_.Follow("gpu0", {.name = "rack", .drives = true});
  EXPECT_EQ(Pulses(), 3u);
}

TEST_F(LineDriverTest, OthersSendNone) {
  driver_.Follow("gpu0", {.name = "rack"});
  driver_.Follow("gpu0", {});
  EXPECT_EQ(Pulses(), 0u);
}

TEST_F(LineDriverTest, AfterAnErrorItGoesOn) {
  device_.answer = [](const FakeMailbox::Command&) {
    return FakeMailbox::Reply{.status = mailbox::MailboxStatus::kErrAgain};
  };
  driver_.Follow("gpu0", {.name = "rack", .drives = true});
  device_.answer = [](const FakeMailbox::Command&) { return std::nullopt; };
  const size_t before = Pulses();
  driver_.Follow("gpu0", {.name = "rack", .drives = true});
  EXPECT_EQ(Pulses(), before + 1);
}

constexpr uint64_t kBoot = 7;
constexpr uint64_t kReferenceHz = 1'000'000'000;

Topology WithClock(uint64_t reference_hz) {
  mailbox::Catalog catalog = SomeCatalog(/*with_secret=*/false);
  catalog.reference_clock_hz = reference_hz;
  return Topology(catalog, /*hash=*/77);
}

class GridFollowerTest : public testing::Test {
 protected:
  GridFollowerTest() {
    device_.version = mailbox::ExtensionVersion::kTwo;
    device_.features = mailbox::kClocksFeature;
    EXPECT_TRUE(session_.CheckExtension().ok());
    device_.commands.clear();
    device_.answer = [this](const FakeMailbox::Command& command) {
      return FakeMailbox::Reply{.status = status_, .data = command.data, .extended_data = command.extended_data};
    };
  }

  void Follow(std::optional<uint32_t> hz, uint64_t boot = kBoot, uint64_t reference_hz = kReferenceHz) {
    follower_.Follow("gpu0", hz, WithClock(reference_hz), boot);
  }
  // The periods that were asked for; 0 for STOP.
  std::vector<uint64_t> Periods() const {
    std::vector<uint64_t> periods;
    for (const auto& command : device_.CommandsOf(mailbox::Opcode::kTrigger)) {
      const bool is_start = command.word.arg1 == static_cast<uint8_t>(mailbox::TriggerStep::kStart);
      periods.push_back(is_start ? uint64_t{command.extended_data} << 32 | command.data : 0);
    }
    return periods;
  }

  MailboxStatus status_ = MailboxStatus::kSuccess;
  FakeMailbox device_;
  RegisterPort port_{device_, FakeMailbox::kAddress, [](absl::string_view) {}};
  MailboxSession session_{port_, [](absl::Duration) {}};
  GridFollower follower_{session_};
};

TEST_F(GridFollowerTest, StartsTheGridOnceInABoot) {
  for (int i = 0; i < 3; ++i) Follow(1000);
  EXPECT_EQ(Periods(), (std::vector<uint64_t>{kReferenceHz / 1000}));
  Follow(1000, kBoot + 1);
  EXPECT_EQ(Periods().size(), 2u);
}

TEST_F(GridFollowerTest, AnotherRateReplacesItAndZeroStopsIt) {
  Follow(1000);
  Follow(10);
  Follow(0);
  EXPECT_EQ(Periods(), (std::vector<uint64_t>{kReferenceHz / 1000, kReferenceHz / 10, 0}));
}

TEST_F(GridFollowerTest, AGridThatIsNotConfiguredIsLeftAlone) {
  Follow(std::nullopt);
  EXPECT_TRUE(Periods().empty());
}

TEST_F(GridFollowerTest, WhatTheDeviceRefusesIsAskedOnce) {
  status_ = MailboxStatus::kErrData;
  for (int i = 0; i < 3; ++i) Follow(1000);
  const size_t asked = Periods().size();
  Follow(1000);
  EXPECT_EQ(Periods().size(), asked);
}

TEST_F(GridFollowerTest, ADeviceThatFailsIsAskedAgain) {
  status_ = MailboxStatus::kErrMisc;
  Follow(1000);
  status_ = MailboxStatus::kSuccess;
  const size_t asked = Periods().size();
  for (int i = 0; i < 3; ++i) Follow(1000);
  EXPECT_EQ(Periods().size(), asked + 1);
}

TEST_F(GridFollowerTest, NoGridIsFasterThanTheClock) {
  Follow(1000, kBoot, /*reference_hz=*/999);
  Follow(1000, kBoot + 1, /*reference_hz=*/0);
  EXPECT_TRUE(Periods().empty());
}

constexpr char kSets[] =
    "events: they may need more counter sets than the VM and the device have left; fewer events need fewer";

// The turns are as long as the device's own.
mailbox::RotationRequest SomeRequest() { return {.vm = kRotatingVm, .events = {0b0110}}; }

std::string Text(const mailbox::RotationRequest& request, const mailbox::Catalog& catalog = RotatingCatalog()) {
  return RefusalText(request, catalog);
}

std::string Expected(const std::string& reason) {
  return "the device refuses this rotation: " + reason + (reason.empty() ? "" : "; or ") + kSets;
}

TEST(RotationRefusalTest, WhatTheOwnPlanExcludesIsLeftOut) {
  EXPECT_EQ(Text(SomeRequest()), Expected(""));
  mailbox::RotationRequest request = SomeRequest();
  request.settings.stable_slot = request.settings.fluctuating_slot;
  EXPECT_EQ(Text(request), Expected(""));
}

TEST(RotationRefusalTest, ATimeBeyondTheOwnOnesIsNamed) {
  mailbox::RotationRequest request = SomeRequest();
  request.settings.fluctuating_slot = 500;
  EXPECT_EQ(Text(request),
            Expected("slots.fluctuating: 500ns may be shorter than the device allows, which is half of its own slots"));
  request = SomeRequest();
  request.settings.stable_slot = 8'000'000'000;
  EXPECT_EQ(Text(request), Expected("slots.stable: 8s may be longer than the device can measure"));
  request = SomeRequest();
  request.settings.interval = 7;
  EXPECT_EQ(Text(request),
            Expected("interval: 7ns may be shorter than the device allows, which is half of its own slots"));
}

TEST(RotationRefusalTest, TimesAreInCyclesWhereTheClockIsUnknown) {
  mailbox::Catalog catalog = RotatingCatalog();
  catalog.reference_clock_hz = 0;
  mailbox::RotationRequest request = SomeRequest();
  request.settings.fluctuating_slot = 500;
  EXPECT_EQ(
      Text(request, catalog),
      Expected("slots.fluctuating: 500 cycles may be shorter than the device allows, which is half of its own slots"));
}

TEST(RotationRefusalTest, EventsOfEverySetMayLeaveNoCounter) {
  mailbox::RotationRequest request = SomeRequest();
  request.always = {0b0000};
  EXPECT_EQ(Text(request), Expected(""));
  request.always = {0b0100};
  EXPECT_EQ(Text(request), Expected("always: these events may leave too few counters for the others"));
}

TEST(RotationRefusalTest, GateGroupsOfTheRequestMayBePinned) {
  mailbox::Catalog catalog = RotatingCatalog();
  catalog.gate_groups = {{.name = "tlb"}, {.name = "other"}};
  catalog.events[kHits].details.gate_group = 0;
  catalog.events[kDerivedMisses].details.gate_group = 1;
  EXPECT_EQ(Text(SomeRequest(), catalog),
            Expected("events: a gate group that is pinned for the VM cannot be multiplexed, and tlb may be pinned"));
  mailbox::RotationRequest request = SomeRequest();
  request.always = {0b0010};
  EXPECT_EQ(Text(request, catalog), Expected("always: these events may leave too few counters for the others"))
      << "what is always counted may be pinned";
}

RotationFile SomeFile() {
  RotationFile file;
  file.path = "r.yaml";
  file.terms.stable_slot = absl::Microseconds(50);
  file.terms.fluctuating_slot = absl::Microseconds(20);
  file.terms.interval = absl::Milliseconds(1);
  return file;
}

absl::StatusOr<mailbox::RotationRequest> Of(const RotationFile& file,
                                            const mailbox::Catalog& catalog = RotatingCatalog()) {
  return RotationOf(file, Topology(catalog, /*hash=*/77));
}

TEST(RotationFollowerTest, AFileIsInTheDevicesTerms) {
  RotationFile file = SomeFile();
  file.weights = {{.event = {.name = "miss_cycles", .line = 4}, .per_mille = 2500}};
  const auto request = Of(file);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->settings.stable_slot, 50'000u) << "at 1 GHz";
  EXPECT_EQ(request->settings.weights.at(kMisses), 2500u);
  EXPECT_TRUE(request->events.empty()) << "all that can";
  file.events = {{.name = "hit_cycles", .line = 5}};
  EXPECT_EQ(Of(file)->events, mailbox::EventSet{0b0010});
}

TEST(RotationFollowerTest, WhatDoesNotFitIsNamed) {
  RotationFile file = SomeFile();
  file.events = {{.name = "hit_cycels", .line = 5}};
  EXPECT_EQ(Of(file).status().message().substr(0, 29), "r.yaml:5: no event 'hit_cycel");
  file.events = {{.name = mailbox::kResidentCyclesEvent, .line = 6}};
  EXPECT_EQ(Of(file).status().message(), "r.yaml:6: 'resident_cycles' cannot be multiplexed");
  mailbox::Catalog catalog = RotatingCatalog();
  catalog.reference_clock_hz = 0;
  EXPECT_EQ(Of(SomeFile(), catalog).status().message(), "r.yaml: the device's clock is unknown");
  for (mailbox::EventInfo& event : catalog.events) event.details.counting = mailbox::Counting::kFixed;
  EXPECT_EQ(Of(SomeFile(), catalog).status().message(), "r.yaml: the device multiplexes no events");
}

}  // namespace
}  // namespace sideband::daemon
