// SPDX-License-Identifier: Apache-2.0
#include "client/rotation/rotation_request.h"

#include <gtest/gtest.h>

#include <string>

#include "proto/base/yaml.h"

namespace sideband::client {
namespace {

v1::SetRotationRequest Read(const std::string& text) {
  const auto root = YamlNode::Parse(text, "r.yaml");
  EXPECT_TRUE(root.ok()) << root.status();
  const auto file = ReadRotation(*root, "r.yaml", RotationUse::kRequest);
  EXPECT_TRUE(file.ok()) << file.status();
  return RequestOf(*file);
}

TEST(RotationRequestTest, HasEveryKey) {
  const v1::SetRotationRequest request = Read(
      "profile: two-set\nslots: {stable: 8s, fluctuating: 1500ms}\ninterval: 0.5s\nthreshold: 0.1\nstep: 5\n"
      "sets_per_pass: 3\nadapt: false\nweights: {a: 2, b: 0.5}\nevents: [a, b]\nalways: [a]\n");
  const v1::RotationSettings& settings = request.settings();
  EXPECT_EQ(settings.profile(), v1::RotationSettings::PROFILE_TWO_SET);
  EXPECT_EQ(settings.stable_slot().seconds(), 8);
  EXPECT_EQ(settings.fluctuating_slot().seconds(), 1);
  EXPECT_EQ(settings.fluctuating_slot().nanos(), 500'000'000);
  EXPECT_EQ(settings.interval().nanos(), 500'000'000);
  EXPECT_EQ(settings.threshold(), 0.1);
  EXPECT_EQ(settings.step(), 5u);
  EXPECT_EQ(settings.sets_per_pass(), 3u);
  EXPECT_FALSE(settings.adapt());
  EXPECT_EQ(settings.weights().at("b"), 0.5);
  EXPECT_EQ(request.events_size(), 2);
  EXPECT_EQ(request.always(0), "a");
}

TEST(RotationRequestTest, HasTheDefaultsOfTheProfile) {
  const v1::RotationSettings fast = Read("{}").settings(), two_set = Read("profile: two-set").settings();
  EXPECT_EQ(fast.stable_slot().nanos(), 200'000);
  EXPECT_TRUE(fast.has_sets_per_pass());
  EXPECT_EQ(fast.sets_per_pass(), 0u) << "all";
  EXPECT_TRUE(fast.adapt());
  EXPECT_EQ(two_set.fluctuating_slot().seconds(), 4);
  EXPECT_EQ(two_set.sets_per_pass(), 2u);
  EXPECT_TRUE(two_set.has_adapt());
  EXPECT_FALSE(two_set.adapt());
}

}  // namespace
}  // namespace sideband::client
