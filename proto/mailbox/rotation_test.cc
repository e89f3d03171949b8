// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/rotation.h"

#include <gtest/gtest.h>

#include <string>

#include "proto/mailbox/catalog.h"
#include "proto/mailbox/stream.h"

namespace sideband::mailbox {
namespace {

// Plans 0 with two sets and 3 with one, of 70 events in two words.
Catalog TwoPlans() {
  Catalog catalog;
  catalog.events.resize(70);
  for (const size_t event : {2, 5, 69}) catalog.events[event].details.counting = Counting::kRotated;
  catalog.events[6].details.counting = Counting::kDerived;
  catalog.events[5].details.gate_group = 1;
  RotationPlan own, other{.number = 3};
  own.sets = {EmptySet(70), EmptySet(70)};
  other.sets = {EmptySet(70)};
  Insert(2, own.sets[0]), Insert(5, own.sets[1]), Insert(69, own.sets[0]), Insert(69, own.sets[1]);
  Insert(2, other.sets[0]);
  catalog.plans = {own, other};
  return catalog;
}

// Each with all of the block's cycles, and those with the gates of groups 0 and 1 open.
BlockRotation Numbers() {
  return {.parts = {{.plan = 0, .enabled = {100, 80, 60}, .running = {40, 30, 20, 50, 40, 30}},
                    {.plan = 2, .enabled = {7}, .running = {5, 2}},
                    {.plan = 3, .enabled = {1000}, .running = {900}}},
          .events = {}};
}

TEST(RotationTest, TimesAddUpOverPartsAndSets) {
  const Catalog catalog = TwoPlans();
  EXPECT_EQ(TimeOf(Numbers(), catalog.plans, 2, {}), (RotationTime{1107, 940}));
  EXPECT_EQ(TimeOf(Numbers(), catalog.plans, 69, {}), (RotationTime{1107, 90})) << "of both sets";
  EXPECT_EQ(TimeOf(Numbers(), catalog.plans, 6, {}), (RotationTime{1107, 0})) << "in no set";
  EXPECT_EQ(TimeOf({}, catalog.plans, 2, {}), RotationTime{});
}

// The device's block has parts of both scopes.
TEST(RotationTest, EachEventHasTheTimesOfItsScope) {
  const std::vector<RotationPlan> plans = {{.number = 0, .sets = {{0b01}, {0b10}}},
                                           {.number = 1, .of_device = true, .sets = {{0b100}, {0b1000}}}};
  const BlockRotation device{.parts = {{.plan = 0, .enabled = {100}, .running = {60, 40}},
                                       {.plan = 1, .enabled = {1000}, .running = {700, 300}},
                                       {.plan = kForgottenPlan, .enabled = {50}, .running = {}}},
                             .events = {}};
  EXPECT_EQ(TimeOf(device, plans, 0, std::nullopt), (RotationTime{.enabled = 150, .running = 60}));
  EXPECT_EQ(TimeOf(device, plans, 3, std::nullopt), (RotationTime{.enabled = 1000, .running = 300}));
}

TEST(RotationTest, GatedTimesAreThoseOfPartsWithTheGroup) {
  const Catalog catalog = TwoPlans();
  EXPECT_EQ(TimeOf(Numbers(), catalog.plans, 5, 1), (RotationTime{60, 30}));
  EXPECT_EQ(TimeOf(Numbers(), catalog.plans, 5, 0), (RotationTime{80, 40}));
  EXPECT_EQ(TimeOf(Numbers(), catalog.plans, 5, 2), RotationTime{});
}

TEST(RotationTest, PassesCountEverySetOnce) {
  EXPECT_EQ(Passes(5, 0), 1u) << "all in one";
  EXPECT_EQ(Passes(5, 5), 1u);
  EXPECT_EQ(Passes(5, 1), 5u);
  EXPECT_EQ(Passes(5, 2), 3u) << "1 and 2 · 2";
  EXPECT_EQ(Passes(6, 2), 4u) << "1, 2, 2 and 1";
}

TEST(RotationTest, ALayoutHasTheSetsOfEachEvent) {
  const Catalog catalog = TwoPlans();
  EXPECT_EQ(RotatedEvents(catalog), (std::vector<uint16_t>{2, 5, 6, 69}));
  const RotationLayout layout = LayoutOf(catalog);
  ASSERT_EQ(layout.events.size(), 4u);
  EXPECT_EQ(layout.events[1], (RotationLayout::Event{.event = 5, .gate_group = 1}));
  EXPECT_EQ(layout.plans, (std::vector<RotationLayout::Plan>{{.number = 0, .sets_of = {0b01, 0b10, 0, 0b11}},
                                                             {.number = 3, .sets_of = {0b1, 0, 0, 0}}}));
}

constexpr size_t kEvents = 70;

RotationSettings Settings() {
  RotationSettings settings{.profile = RotationProfile::kTwoSet, .step = 9, .sets_per_pass = 3, .adapt = false};
  settings.weights = {{1, 500}, {69, 2000}};
  return settings;
}

RotationRequest Request() {
  return {.vm = 7, .contexts = {0, 3}, .settings = Settings(), .events = {6, 1}, .always = {2}};
}

RotationPlan Plan() {
  return {.number = 4, .of_device = true, .sets = {{1, 0}, {6, 32}}, .derived = {2}, .settings = Settings()};
}

TEST(RotationStreamTest, RequestsComeBack) {
  EXPECT_EQ(*DecodeRotationRequest(EncodeRotationRequest(Request()), kEvents), Request());
  EXPECT_EQ(*DecodeRotationRequest(EncodeRotationRequest({}), 0), RotationRequest{});
}

TEST(RotationStreamTest, PlansComeBack) {
  const Bytes stream = EncodePlanStream(42, 0xFFFF0001, Plan());
  EXPECT_EQ(DecodePlanStream(stream, 1, kEvents).status(), absl::AbortedError("rotation: the plan of another scope"));
  EXPECT_EQ(*DecodePlanStream(stream, 0xFFFF0001, kEvents), Plan());
  EXPECT_EQ(DecodeStream(stream)->header,
            (StreamHeader{.kind = StreamKind::kPlan, .boot_id = 42, .snapshot_id = 0xFFFF0001}));
}

// The example of stream_format.md.
TEST(RotationStreamTest, WorkedExample) {
  const Bytes expected = {0x01, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x40, 0x0D, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00,
                          0xA0, 0x86, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x65, 0xCD, 0x1D, 0x00, 0x00, 0x00,
                          0x00, 0x32, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00,
                          0x00, 0x01, 0x00, 0x06, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};
  EXPECT_EQ(EncodeRotationRequest({.vm = 1, .contexts = {0}, .settings = {}, .events = {6}, .always = {}}), expected);
}

TEST(RotationStreamTest, EveryShorterAndLongerInputIsRefused) {
  Bytes bytes = EncodeRotationRequest(Request());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeRotationRequest(ByteSpan(bytes).first(size), kEvents).ok()) << size;
  }
  bytes.push_back(0);
  EXPECT_EQ(DecodeRotationRequest(bytes, kEvents).status().message(), "rotation: bytes after the end");
}

TEST(RotationStreamTest, WhatCannotBeIsRefused) {
  const auto refusal = [](const RotationRequest& request) {
    return std::string(DecodeRotationRequest(EncodeRotationRequest(request), kEvents).status().message());
  };
  RotationRequest request = Request();
  request.contexts = {3, 3};
  EXPECT_EQ(refusal(request), "rotation: contexts do not ascend");
  request = Request();
  request.contexts = {0xFFFF};
  EXPECT_EQ(refusal(request), "rotation: a context has no number");
  request = Request();
  request.events = {0, 64};
  EXPECT_EQ(refusal(request), "rotation: an event does not exist") << "70";
  request = Request();
  request.events = {0, 0, 0};
  EXPECT_EQ(refusal(request), "rotation: a set of too many events");
  request = Request();
  request.settings.weights[70] = 1;
  EXPECT_EQ(refusal(request), "rotation: an event does not exist");
  request = Request();
  request.settings.profile = static_cast<RotationProfile>(2);
  EXPECT_EQ(refusal(request), "rotation: an unknown profile");
}

TEST(RotationStreamTest, PlansWithoutSetsAndOtherStreamsAreRefused) {
  RotationPlan plan = Plan();
  plan.sets.clear();
  EXPECT_EQ(DecodePlanStream(EncodePlanStream(1, 0, plan), 0, kEvents).status().message(),
            "rotation: no counter sets, or too many");
  EXPECT_EQ(DecodePlanStream(EncodeStream({.kind = StreamKind::kConfig}, {}), 0, kEvents).status().message(),
            "rotation: wrong kind of stream");
  EXPECT_EQ(DecodePlanStream({}, 0, kEvents).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace

}  // namespace sideband::mailbox
