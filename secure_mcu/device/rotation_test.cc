// SPDX-License-Identifier: Apache-2.0
//
// Rotation on an emulated device. The truth is a twin with a counter for every event (counter-rotation.md, "Laws", 2
// and 10).
#include "proto/mailbox/rotation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/live_device.h"

namespace sideband::mcu {
namespace {

// Eleven events of an SM, of which one is always counted.
constexpr char kRotationChip[] = R"(
device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 100000000}
slices: 1
units:
  - name: sm
    count: 2
    COUNTERS
    events: [a_cycles, b_cycles, c_cycles, d_cycles, e_cycles, f_cycles, g_cycles, h_cycles, i_cycles, j_cycles, ipc_cycles]
ROTATION
vms:
  - name: vm1
    uuid: 11111111-0000-4000-8000-000000000001
    contexts:
      - {name: x, slice: 0, seed: 1, phases: [{kind: gemm, time: 300us}, {kind: copy, time: 70us}]}
      - {name: y, slice: 0, seed: 2, phases: [{kind: attention, time: 100us}]}
  - name: vm2
    uuid: 22222222-0000-4000-8000-000000000002
    contexts: [{name: z, slice: 0, seed: 3, phases: [{kind: all_reduce, time: 1ms}]}]
quantum: 1ms
gap: 0s
)";

class RotationTest : public testing::Test {
 protected:
  std::unique_ptr<LiveDevice> Start(const std::string& counters, const std::string& rotation,
                                    const std::string& chip = kRotationChip) {
    const std::string path = testing::TempDir() + "/chip.yaml";
    std::ofstream(path) << absl::StrReplaceAll(chip, {{"COUNTERS", counters}, {"ROTATION", rotation}});
    const auto file = LoadChipFile(path);
    EXPECT_TRUE(file.ok()) << file.status();
    auto device = LiveDevice::Create(*file, /*boot_id=*/7, [this] { return elapsed_; });
    EXPECT_TRUE(device.ok()) << device.status();
    return *std::move(device);
  }
  // A seed makes every run the same: estimates are near the truth for most orders of turns only.
  std::unique_ptr<LiveDevice> StartRotating(uint64_t seed = 1, const std::string& more = "") {
    return Start(
        "counters: 4\n    fixed: [ipc_cycles]",
        absl::StrCat("rotation: {slots: {stable: 50us, fluctuating: 50us}, adapt: false, seed: ", seed, more, "}"));
  }
  std::unique_ptr<LiveDevice> StartTwin() { return Start("counters: 45", ""); }

  absl::Duration elapsed_ = absl::ZeroDuration();
};

mailbox::RotationTime Time(const mailbox::Snapshot& snapshot, const LiveDevice& device, size_t block, uint16_t event) {
  return mailbox::TimeOf(snapshot.rotation[block], device.catalog().plans, event, std::nullopt);
}

TEST_F(RotationTest, BoundsAndEstimatesTheTruthOfATwin) {
  const auto rotating = StartRotating(), twin = StartTwin();
  ASSERT_TRUE(rotating->rotation() != nullptr);
  for (const int ms : {1, 7, 50, 400}) {
    elapsed_ = absl::Milliseconds(ms);
    const mailbox::Snapshot shown = rotating->Latch(), truth = twin->Latch();
    ASSERT_EQ(shown.rotation.size(), shown.blocks.size());
    const std::vector<uint16_t> events = rotating->chip().rotation().turns().events();
    for (size_t block = 0; block < shown.blocks.size(); ++block) {
      for (size_t i = 0; i < events.size() && !shown.rotation[block].events.empty(); ++i) {
        const mailbox::EventEstimate& numbers = shown.rotation[block].events[i];
        const uint64_t exact = truth.Counters(block)[events[i]], counted = shown.Counters(block)[events[i]];
        EXPECT_LE(counted, exact);
        EXPECT_LE(exact, numbers.upper);
        EXPECT_LE(counted, numbers.estimate);
        EXPECT_LE(numbers.estimate, numbers.upper);
        if (ms < 400) continue;
        EXPECT_NEAR(static_cast<double>(numbers.estimate) / static_cast<double>(exact), 1, 0.1) << block << " " << i;
      }
    }
  }
}

TEST_F(RotationTest, CountsFixedEventsAsTheTwinDoes) {
  const auto rotating = StartRotating(), twin = StartTwin();
  elapsed_ = absl::Milliseconds(30);
  const mailbox::Snapshot shown = rotating->Latch(), truth = twin->Latch();
  const uint16_t fixed = 10, resident_cycles = 11;
  for (size_t block = 0; block < shown.blocks.size(); ++block) {
    EXPECT_EQ(shown.Counters(block)[fixed], truth.Counters(block)[fixed]);
    EXPECT_EQ(shown.Counters(block)[resident_cycles], truth.Counters(block)[resident_cycles]);
  }
}

TEST_F(RotationTest, TellsWhatTurnsInTheCatalogue) {
  const auto device = StartRotating();
  ASSERT_EQ(device->catalog().plans.size(), 1);
  EXPECT_EQ(device->catalog().plans[0].sets.size(), 4) << "ten events by three";
  EXPECT_EQ(device->catalog().events[0].details.counting, mailbox::Counting::kRotated);
  EXPECT_EQ(device->catalog().events[10].details.counting, mailbox::Counting::kFixed);
  EXPECT_EQ(device->GetRotation(1, 0)->number, 0);
  EXPECT_EQ(device->GetRotation(9, 0), std::nullopt);
}

TEST_F(RotationTest, EnabledCyclesAreThoseOfTheResident) {
  const auto device = StartRotating();
  elapsed_ = absl::Milliseconds(23);
  const mailbox::Snapshot snapshot = device->Latch();
  const uint16_t resident_cycles = 11;
  for (size_t block = 0; block < snapshot.blocks.size(); ++block) {
    const mailbox::RotationTime time = Time(snapshot, *device, block, 0);
    EXPECT_EQ(time.enabled, snapshot.Counters(block)[resident_cycles]);
    EXPECT_LE(time.running, time.enabled);
    EXPECT_EQ((snapshot.blocks[block].flags & mailbox::kFlagEstimated) != 0, time.enabled > 0);
  }
}

// Law 3. A relation saves the counter that is missing: the plan has one set.
TEST_F(RotationTest, OneSetIsAsWithoutARotation) {
  const std::string chip =
      absl::StrReplaceAll(kRotationChip, {{"j_cycles, ipc_cycles", "ipc_cycles, {name: same_cycles, of: ipc_cycles}"}});
  const std::string rotation =
      "relations: [{event: same_cycles, is_sum_of: [ipc_cycles]}]\n"
      "rotation: {slots: {stable: 50us, fluctuating: 50us}}";
  const auto one_set = Start("counters: 10", rotation, chip), without = Start("counters: 11", "", chip);
  ASSERT_TRUE(one_set->rotation() != nullptr);
  ASSERT_EQ(one_set->catalog().plans[0].sets.size(), 1);
  for (const int ms : {1, 7, 50}) {
    elapsed_ = absl::Milliseconds(ms);
    mailbox::Snapshot shown = one_set->Latch(), exact = without->Latch();
    for (size_t block = 0; block < shown.blocks.size(); ++block) {
      for (size_t i = 0; i < shown.rotation[block].events.size(); ++i) {
        const uint64_t count = exact.Counters(block)[one_set->chip().rotation().turns().events()[i]];
        EXPECT_EQ(shown.rotation[block].events[i], (mailbox::EventEstimate{count, count, 0})) << block << " " << i;
      }
    }
    // Flags, too: nothing is estimated.
    EXPECT_EQ(shown.blocks, exact.blocks);
    EXPECT_EQ(shown.counters, exact.counters);
    // Only in the numbers of rotation and in the catalogue, which says what is derived, they differ.
    shown.rotation.clear(), shown.layout = {};
    shown.catalog_hash = exact.catalog_hash;
    shown.statistics = exact.statistics;
    EXPECT_EQ(mailbox::EncodeSnapshotStream(shown, nullptr, {}, mailbox::Framing::kSections),
              mailbox::EncodeSnapshotStream(exact, nullptr, {}, mailbox::Framing::kSections));
  }
  mailbox::Catalog catalog = one_set->catalog();
  size_t derived = 0;
  for (size_t event = 0; event < catalog.events.size(); ++event) {
    derived += catalog.events[event].details.counting == mailbox::Counting::kDerived;
    catalog.events[event].details.counting = without->catalog().events[event].details.counting;
  }
  EXPECT_EQ(derived, 1);
  catalog.plans.clear(), catalog.relations.clear();
  EXPECT_EQ(mailbox::EncodeCatalogSections(catalog), mailbox::EncodeCatalogSections(without->catalog()));
}

TEST_F(RotationTest, FollowsTheSeed) {
  const auto one = StartRotating(1), same = StartRotating(1), other = StartRotating(2);
  elapsed_ = absl::Milliseconds(30);
  const mailbox::Snapshot snapshot = one->Latch();
  EXPECT_EQ(snapshot, same->Latch());
  EXPECT_NE(snapshot, other->Latch());
}

TEST_F(RotationTest, AVmHasAPlanOfItsOwnFromItsNextResidencyOn) {
  const auto device = StartRotating();
  elapsed_ = absl::Milliseconds(10);
  device->Latch();
  const uint64_t version = device->catalog_version();
  mailbox::RotationRequest request{.vm = 1, .contexts = {}, .settings = {}, .events = {0b111}, .always = {0b001}};
  request.settings.stable_slot = request.settings.fluctuating_slot = 20'000;
  ASSERT_TRUE(device->ApplyRotation(request).ok());
  EXPECT_GT(device->catalog_version(), version);
  ASSERT_TRUE(device->ApplyRotation(request).ok()) << "the same again";
  EXPECT_EQ(device->catalog().plans.size(), 2);
  EXPECT_EQ(device->GetRotation(1, 0)->number, 2);
  EXPECT_EQ(device->GetRotation(2, 0)->number, 0);
  elapsed_ = absl::Milliseconds(40);
  const mailbox::Snapshot snapshot = device->Latch();
  for (size_t block = 0; block < snapshot.blocks.size(); ++block) {
    const mailbox::BlockHeader& header = snapshot.blocks[block];
    if (header.vm != 1) continue;
    EXPECT_EQ(snapshot.rotation[block].parts.back().plan, 2) << header.context;
    EXPECT_EQ(snapshot.rotation[block].parts.size(), 2) << "what the chip's own plan gave stays";
  }
}

mailbox::RotationRequest RequestOf(uint16_t vm, uint64_t events, uint64_t slot) {
  mailbox::RotationRequest request{.vm = vm, .contexts = {}, .settings = {}, .events = {events}, .always = {}};
  request.settings.stable_slot = request.settings.fluctuating_slot = slot;
  return request;
}

// The number of a plan that is guessed does not tell whether another VM has it.
TEST_F(RotationTest, VmsShareNoPlan) {
  const auto device = StartRotating();
  ASSERT_TRUE(device->ApplyRotation(RequestOf(1, 0b1111111, 20'000)).ok());
  ASSERT_TRUE(device->ApplyRotation(RequestOf(2, 0b1111111, 20'000)).ok());
  EXPECT_NE(device->GetRotation(1, 0)->number, device->GetRotation(2, 0)->number);
  const uint16_t number = device->GetRotation(1, 0)->number;
  ASSERT_TRUE(device->ApplyRotation(RequestOf(1, 0b1111111, 20'000)).ok());
  EXPECT_EQ(device->GetRotation(1, 0)->number, number) << "the same again is the same";
}

// No VM can use up what others need.
TEST_F(RotationTest, PlansThatNobodyHasMakeRoomForOthers) {
  const auto device = StartRotating();
  for (uint64_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(device->ApplyRotation(RequestOf(1, 0b1111111, 20'000 + i)).ok()) << i;
    elapsed_ += absl::Milliseconds(3);
  }
  const mailbox::Snapshot snapshot = device->Latch();
  EXPECT_LE(device->catalog().plans.size(), mailbox::kPlansMax);
  for (size_t block = 0; block < snapshot.blocks.size(); ++block) {
    EXPECT_LE(snapshot.rotation[block].parts.size(), mailbox::kPlansMax);
    const mailbox::RotationTime time = Time(snapshot, *device, block, 0);
    EXPECT_EQ(time.enabled, snapshot.Counters(block)[11]) << "what was enabled stays known";
  }
  EXPECT_TRUE(device->ApplyRotation(RequestOf(2, 0b1111111, 20'000)).ok());
}

// A VM that has had all of its numbers leaves the other one its own.
TEST_F(RotationTest, AVmHasItsShareOfTheNumbersOfPlans) {
  const auto device = StartRotating();
  const uint64_t share = kAddedPlansMax / 2;
  for (uint64_t i = 0; i < share; ++i) {
    ASSERT_TRUE(device->ApplyRotation(RequestOf(1, 0b11, 20'000 + i)).ok()) << i;
  }
  const absl::Status refused = device->ApplyRotation(RequestOf(1, 0b11, 10'000));
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(refused.message(), "VM 1 has had 32766 plans since the device booted: it can have no more");
  EXPECT_TRUE(device->ApplyRotation(RequestOf(1, 0b11, 20'000 + share - 1)).ok()) << "the one in force";
  EXPECT_TRUE(device->ApplyRotation(RequestOf(2, 0b11, 10'000)).ok());
}

// Half of the shortest of the chip's own, of 100 us.
TEST_F(RotationTest, SlotsThatAreAskedForAreNotMuchShorterThanTheChipsOwn) {
  const auto device = Start("counters: 4\n    fixed: [ipc_cycles]",
                            "rotation: {slots: {stable: 200us, fluctuating: 100us}, adapt: false, seed: 1}");
  EXPECT_TRUE(device->ApplyRotation(RequestOf(1, 0b1111111, 5'000)).ok());
  EXPECT_EQ(device->ApplyRotation(RequestOf(1, 0b1111111, 4'999)).message(),
            "stable slot (cycles) is 4999, must be from 5000 to 1000000000000");
  mailbox::RotationRequest request = RequestOf(1, 0b1111111, 20'000);
  request.settings.interval = 4'999;
  EXPECT_EQ(device->ApplyRotation(request).message(), "interval (cycles) is 4999, must be from 5000 to 1000000000000");
  const auto other = StartRotating(1, ", slots_min: 400us");
  EXPECT_FALSE(other->ApplyRotation(RequestOf(1, 0b1111111, 39'999)).ok());
  EXPECT_TRUE(other->ApplyRotation(RequestOf(1, 0b1111111, 40'000)).ok());
}

TEST_F(RotationTest, AVmHasOnlySoManySets) {
  const auto device = StartRotating();
  mailbox::RotationRequest x = RequestOf(1, 0b1111111, 20'000), y = x;
  x.contexts = {0};
  y.contexts = {1};
  // One event in each set but those that are in all.
  x.events = {0b1111111111};
  x.always = {0b0000000011};
  ASSERT_TRUE(device->ApplyRotation(x).ok());
  EXPECT_EQ(device->catalog().plans.back().sets.size(), 8);
  y.events = x.events, y.always = x.always, y.settings.stable_slot = 30'000;
  ASSERT_TRUE(device->ApplyRotation(y).ok());
  mailbox::RotationRequest whole = x;
  whole.contexts = {mailbox::kNoContext};
  whole.settings.stable_slot = 40'000;
  EXPECT_FALSE(device->ApplyRotation(whole).ok()) << "sixteen are in use";
  EXPECT_TRUE(device->ApplyRotation(RequestOf(2, 0b1111111, 20'000)).ok()) << "not of another VM";
}

// pipeline.md, "Together".
TEST_F(RotationTest, WhatIsPinnedTakesNoTurns) {
  const std::string gate = "\ngate_groups: [{name: ab, events: [a_cycles, b_cycles]}]";
  const auto device = Start("counters: 4\n    fixed: [ipc_cycles]",
                            absl::StrCat("rotation: {slots: {stable: 50us, fluctuating: 50us}, adapt: false}", gate));
  mailbox::CountingConfig config = device->GetConfig();
  config.vms[1].pinned = config.vms[1].allowed = 0b1;
  EXPECT_FALSE(device->CheckConfig(config).ok());
  mailbox::RotationRequest request = RequestOf(1, 0b1111111, 20'000);
  request.always = {0b11};
  ASSERT_TRUE(device->ApplyRotation(request).ok());
  ASSERT_TRUE(device->CheckConfig(config).ok()) << "a_cycles and b_cycles are in every set";
  device->Latch();
  device->ApplyConfig(config);
  const size_t plans = device->catalog().plans.size();
  EXPECT_FALSE(device->ApplyRotation(RequestOf(1, 0b1111111, 20'000)).ok());
  EXPECT_EQ(device->catalog().plans.size(), plans) << "no plan is made";
  request.contexts = {0};
  EXPECT_TRUE(device->ApplyRotation(request).ok()) << "the same again";
}

TEST_F(RotationTest, LiveCountsAreFlaggedAsALatchWouldFlagThem) {
  const auto device = StartRotating(), twin = StartTwin();
  elapsed_ = absl::Microseconds(10);
  const auto flags = [](LiveDevice& of, uint16_t vm, uint16_t context) {
    return of.PeekBlock(vm, context)->flags & mailbox::kFlagEstimated;
  };
  EXPECT_NE(flags(*device, 1, 0), 0) << "in its first slot";
  EXPECT_NE(flags(*device, 1, mailbox::kNoContext), 0);
  EXPECT_NE(flags(*device, 0, mailbox::kNoContext), 0);
  EXPECT_EQ(flags(*device, 1, 1), 0) << "it has not been resident";
  EXPECT_EQ(flags(*device, 2, mailbox::kNoContext), 0);
  EXPECT_EQ(flags(*twin, 1, 0), 0);
  elapsed_ = absl::Milliseconds(10);
  for (const uint16_t context : {uint16_t{0}, uint16_t{1}, mailbox::kNoContext})
    EXPECT_NE(flags(*device, 1, context), 0);
  EXPECT_EQ(flags(*twin, 1, 0), 0);
}

TEST_F(RotationTest, LearnsWhereThereIsSomethingToLearn) {
  elapsed_ = absl::ZeroDuration();
  EXPECT_TRUE(absl::IsFailedPrecondition(StartRotating()->LearnRotation(1, 0))) << "no event of instructions";
  EXPECT_TRUE(absl::IsFailedPrecondition(StartRotating(1, ", instructions: ipc_cycles")->LearnRotation(1, 0)))
      << "equal turns";
  const auto device = Start("counters: 4\n    fixed: [ipc_cycles]",
                            "rotation: {slots: {stable: 100us, fluctuating: 50us}, instructions: ipc_cycles, seed: 1}");
  EXPECT_TRUE(device->LearnRotation(1, 0).ok());
  EXPECT_TRUE(device->LearnRotation(2, mailbox::kNoContext).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(device->LearnRotation(1, 9)));
  device->chip().rotation().SetConfidential(device->tenants()[0].binding.vm, true);
  EXPECT_TRUE(absl::IsFailedPrecondition(device->LearnRotation(1, 0)));
  EXPECT_TRUE(absl::IsFailedPrecondition(device->LearnRotation(1, mailbox::kNoContext)));
  EXPECT_TRUE(device->LearnRotation(2, 0).ok()) << "another VM";
}

TEST_F(RotationTest, RefusesWhatItCannotCount) {
  const auto device = StartRotating();
  const mailbox::RotationRequest all{.vm = 1, .contexts = {}, .settings = {}, .events = {}, .always = {}};
  mailbox::RotationRequest request = all;
  request.vm = 9;
  EXPECT_FALSE(device->ApplyRotation(request).ok());
  request = all;
  request.contexts = {0, 7};
  EXPECT_FALSE(device->ApplyRotation(request).ok());
  request = all;
  request.settings.fluctuating_slot = 1;
  EXPECT_FALSE(device->ApplyRotation(request).ok());
  request = all;
  request.events = request.always = {0b1111};
  EXPECT_FALSE(device->ApplyRotation(request).ok()) << "no counter is left";
  EXPECT_EQ(device->catalog().plans.size(), 1);
}

}  // namespace
}  // namespace sideband::mcu
