// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "daemon/http/site.h"

namespace sideband::daemon {
namespace {

TEST(TargetListTest, ListsTheConfiguredGroups) {
  const TargetList targets({{{.targets = {"a:1", "b:2"}, .labels = {{"rack", "r\"1"}}}, {.targets = {"c:3"}}}});
  EXPECT_EQ(targets.Json("here:9877"),
            R"([{"labels":{"rack":"r\"1"},"targets":["a:1","b:2"]},{"labels":{},"targets":["c:3"]}])");
}

TEST(TargetListTest, WithoutGroupsListsTheDaemonItself) {
  const TargetList targets(std::nullopt);
  EXPECT_EQ(targets.Json("here:9877"), R"([{"labels":{},"targets":["here:9877"]}])");
  EXPECT_EQ(targets.Json(""), "[]") << "HTTP/1.0 has no Host";
  EXPECT_EQ(targets.Json("\"\xff"), "[{\"labels\":{},\"targets\":[\"\\\"\xef\xbf\xbd\"]}]");
}

TEST(TargetListTest, AnEmptyFileListsNoTarget) {
  EXPECT_EQ(TargetList(std::vector<TargetGroup>()).Json("here:9877"), "[]");
}

TEST(TargetListTest, IsReplaced) {
  TargetList targets(std::nullopt);
  targets.Replace({{{.targets = {"a:1"}}}});
  EXPECT_EQ(targets.Json("here:9877"), R"([{"labels":{},"targets":["a:1"]}])");
}

}  // namespace
}  // namespace sideband::daemon
