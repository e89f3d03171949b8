// SPDX-License-Identifier: Apache-2.0
#include "client/rotation/rotation_file.h"

#include <gtest/gtest.h>

namespace sideband::client {
namespace {

absl::StatusOr<v1::SetRotationRequest> Read(const std::string& text) {
  const auto root = YamlNode::Parse(text, "r.yaml");
  if (!root.ok()) return root.status();
  return ReadRotation(*root);
}

TEST(RotationFileTest, EveryKeyIsRead) {
  const auto request = Read(
      "profile: two-set\nslots: {stable: 8s, fluctuating: 1500ms}\ninterval: 0.5s\nthreshold: 0.1\nstep: 5\n"
      "adapt: false\nweights: {a: 2, b: 0.5}\nevents: [a, b]\nalways: [a]\n");
  ASSERT_TRUE(request.ok()) << request.status();
  const v1::RotationSettings& settings = request->settings();
  EXPECT_EQ(settings.profile(), v1::RotationSettings::PROFILE_TWO_SET);
  EXPECT_EQ(settings.stable_slot().seconds(), 8);
  EXPECT_EQ(settings.fluctuating_slot().seconds(), 1);
  EXPECT_EQ(settings.fluctuating_slot().nanos(), 500'000'000);
  EXPECT_EQ(settings.interval().nanos(), 500'000'000);
  EXPECT_EQ(settings.threshold(), 0.1);
  EXPECT_EQ(settings.step(), 5u);
  EXPECT_TRUE(settings.has_adapt());
  EXPECT_FALSE(settings.adapt());
  EXPECT_EQ(settings.weights().at("b"), 0.5);
  EXPECT_EQ(request->events_size(), 2);
  EXPECT_EQ(request->always(0), "a");
}

TEST(RotationFileTest, WhatIsAbsentIsTheDaemonsChoice) {
  const auto request = Read("{}");
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_FALSE(request->settings().has_stable_slot());
  EXPECT_FALSE(request->settings().has_threshold());
  EXPECT_TRUE(request->events().empty());
}

TEST(RotationFileTest, MistakesAreNamed) {
  EXPECT_EQ(Read("profile: slow").status().message(), "r.yaml:1: 'slow' is unknown, must be fast or two-set");
  EXPECT_EQ(Read("\nslot: {}").status().message(), "r.yaml:2: unknown key 'slot' (did you mean 'slots'?)");
  EXPECT_FALSE(Read("threshold: 2").ok());
  EXPECT_FALSE(Read("slots: {stable: 0s}").ok());
  EXPECT_FALSE(Read("weights: {a: -1}").ok());
  EXPECT_FALSE(Read("step: 0").ok());
}

}  // namespace
}  // namespace sideband::client
