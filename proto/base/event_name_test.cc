// SPDX-License-Identifier: Apache-2.0
#include "proto/base/event_name.h"

#include <optional>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace sideband {
namespace {

std::optional<std::string> Found(const std::set<std::string>& events, absl::string_view name) {
  return FindEvent(
      name, [&](const std::string& exact) { return events.contains(exact) ? std::optional(exact) : std::nullopt; });
}

TEST(EventNameTest, TakesTheNameAndTheOneThatScreensShow) {
  const std::set<std::string> events = {"busy", "busy_cycles", "tensor_active_cycles", "dram_bytes"};
  EXPECT_EQ(Found(events, "tensor_active_cycles"), "tensor_active_cycles");
  EXPECT_EQ(Found(events, "tensor_active"), "tensor_active_cycles");
  EXPECT_EQ(Found(events, "busy"), "busy") << "a name of its own";
  EXPECT_EQ(Found(events, "busy_cycles"), "busy_cycles");
  for (const char* unknown : {"tensor", "dram", "TENSOR_ACTIVE", "tensor_active_", "", "_cycles"}) {
    EXPECT_EQ(Found(events, unknown), std::nullopt) << unknown;
  }
}

TEST(EventNameTest, LooksTwiceAtMost) {
  std::vector<std::string> asked;
  const auto never = [&](const std::string& name) {
    asked.push_back(name);
    return false;
  };
  EXPECT_FALSE(FindEvent("a", never));
  EXPECT_EQ(asked, (std::vector<std::string>{"a", "a_cycles"}));
}

}  // namespace
}  // namespace sideband
