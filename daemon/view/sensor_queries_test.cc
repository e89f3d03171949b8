// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/sensor_queries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "daemon/view/fake_world.h"
#include "daemon/view/row_filter.h"

namespace sideband::daemon {
namespace {

using mailbox::MetricId;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class SensorQueriesTest : public testing::Test {
 protected:
  SensorQueriesTest() {
    world_.policy.Replace(*Policy::Parse(kPartitionPolicy, "policy.yaml"), nullptr);
    reading_.samples = {{BoardGroup::kPower, At(3)}, {BoardGroup::kEnergy, At(2)}, {BoardGroup::kMetrics, At(1)}};
    reading_.power.watts[mailbox::PowerSource::kTotal] = 250;
    reading_.energy.millijoules[mailbox::PowerSource::kTotal] = {.value = 9'007'199'254'740'993,
                                                                 .created = absl::FromUnixSeconds(5)};
    reading_.metrics.scopes[{}].ratios = {{MetricId::kSmActivity, 0.5}};
    for (const uint8_t partition : {2, 3}) {
      reading_.metrics.scopes[{.partition = partition}].ratios = {{MetricId::kSmActivity, 0.25},
                                                                  {MetricId::kDramUsage, 0.75}};
    }
    reading_.metrics.scopes[{.partition = 2, .compute_instance = 1}].ratios = {{MetricId::kSmActivity, 0.125}};
    boards_.SetSettings(0, {.is_read = true});
    boards_.Publish(0, std::make_shared<const BoardReading>(reading_));
  }

  // So many seconds ago.
  BoardTime At(int ago) const {
    return {world_.clock.Steady() - absl::Seconds(ago), world_.clock.Now() - absl::Seconds(ago)};
  }

  Caller CallerOf(const std::string& who) { return *world_.reader.Identify(CredentialsOf(who)); }

  absl::StatusOr<sideband::v1::GetSensorsResponse> Get(const std::string& who, const std::string& device = "",
                                                       const std::string& name = "") {
    sideband::v1::GetSensorsRequest request;
    request.mutable_filter()->set_device(device);
    if (!name.empty()) request.mutable_filter()->add_names(name);
    return sensors_.Get(CallerOf(who), request);
  }

  // "NAME{VALUES OF LABELS} VALUE" of each.
  std::vector<std::string> Texts(const std::string& who, const std::string& name = "") {
    const auto response = Get(who, "", name);
    std::vector<std::string> texts;
    for (const auto& device : response->devices()) {
      for (const auto& sensor : device.sensors()) {
        std::string labels;
        for (const auto& label : sensor.labels()) absl::StrAppend(&labels, labels.empty() ? "" : ",", label.value());
        texts.push_back(absl::StrCat(sensor.name(), "{", labels, "} ", sensor.value()));
      }
    }
    return texts;
  }

  FakeWorld world_;
  BoardStore boards_;
  BoardReading reading_;
  SensorQueries sensors_{world_.reader, boards_};
};

TEST_F(SensorQueriesTest, AnOperatorSeesEverything) {
  EXPECT_THAT(
      Texts("ops"),
      ElementsAre("sideband_board_sm_activity_ratio{} 0.5", "sideband_energy_joules_total{total} 9.0072e+12",
                  "sideband_partition_dram_usage_ratio{2} 0.75", "sideband_partition_dram_usage_ratio{3} 0.75",
                  "sideband_partition_sm_activity_ratio{2} 0.25", "sideband_partition_sm_activity_ratio{2,1} 0.125",
                  "sideband_partition_sm_activity_ratio{3} 0.25", "sideband_power_watts{total} 250"));
}

TEST_F(SensorQueriesTest, ACountIsExactAndHasItsBeginning) {
  const auto response = Get("ops", "gpu0", "sideband_energy_joules_total");
  ASSERT_TRUE(response.ok()) << response.status();
  ASSERT_EQ(response->devices(0).sensors_size(), 1);
  const auto& energy = response->devices(0).sensors(0);
  EXPECT_EQ(energy.count(), 9'007'199'254'740'993u);
  EXPECT_EQ(energy.count_per_unit(), 1000u);
  EXPECT_EQ(energy.created().seconds(), 5);
  EXPECT_EQ(energy.group(), "energy");
}

TEST_F(SensorQueriesTest, GroupsHaveTheirAges) {
  const auto response = Get("ops", "gpu0", "sideband_power_watts");
  ASSERT_TRUE(response.ok()) << response.status();
  ASSERT_EQ(response->devices(0).groups_size(), 1) << "those of the sensors that are shown";
  EXPECT_EQ(response->devices(0).groups(0).name(), "power");
  EXPECT_EQ(response->devices(0).groups(0).age().seconds(), 3);
  EXPECT_EQ(response->devices(0).groups(0).host_time().seconds(), 1'800'000'000 - 3);
}

TEST_F(SensorQueriesTest, ATenantSeesItsPartition) {
  EXPECT_THAT(Texts("tenant-a"), UnorderedElementsAre("sideband_partition_dram_usage_ratio{2} 0.75",
                                                      "sideband_partition_sm_activity_ratio{2} 0.25",
                                                      "sideband_partition_sm_activity_ratio{2,1} 0.125"));
  EXPECT_THAT(Texts("tenant-b"), ElementsAre("sideband_partition_dram_usage_ratio{3} 0.75"));
  EXPECT_THAT(Texts("auditor"), IsEmpty());
}

TEST_F(SensorQueriesTest, DeniedAndAbsentNamesAreTheSame) {
  EXPECT_EQ(Get("tenant-a", "", "sideband_power_watts").status(), NotFound());
  EXPECT_EQ(Get("tenant-a", "", "sideband_no_such").status(), NotFound());
  EXPECT_EQ(Get("tenant-b", "", "sideband_partition_sm_activity_ratio").status(), NotFound());
  EXPECT_EQ(Get("ops", "", "sideband_no_such").status(), NotFound());
  EXPECT_EQ(Get("auditor", "gpu0").status(), NotFound());
  EXPECT_EQ(Get("tenant-a", "gpu1").status(), NotFound());
  EXPECT_EQ(Get("tenant-b", "gpu1").status(), NotFound()) << "its board is not read";
  EXPECT_EQ(Get("ops", "gpu7").status(), NotFound());
  EXPECT_EQ(Get("ops", "gpu1")->devices_size(), 0) << "configured, and not read";
}

TEST_F(SensorQueriesTest, ABoardThatIsSilentHasNoValues) {
  world_.clock.Advance(absl::Seconds(59));
  EXPECT_EQ(Get("ops")->devices_size(), 1);
  world_.clock.Advance(absl::Seconds(1));
  EXPECT_EQ(Get("ops")->devices_size(), 0);
  EXPECT_EQ(Get("tenant-a", "gpu0").status(), NotFound());
  EXPECT_EQ(sensors_.WholeBoards(CallerOf("ops"), "gpu0")->size(), 1u) << "its events are not over";
}

TEST_F(SensorQueriesTest, WholeBoardsAreForOperators) {
  EXPECT_THAT(*sensors_.WholeBoards(CallerOf("tenant-a"), ""), IsEmpty());
  EXPECT_EQ(sensors_.WholeBoards(CallerOf("tenant-a"), "gpu0").status(), NotFound());
  EXPECT_EQ(sensors_.WholeBoards(CallerOf("ops"), "gpu7").status(), NotFound());
}

TEST_F(SensorQueriesTest, DescriptionsOfWhatHasAValue) {
  const auto response = sensors_.List(CallerOf("tenant-b"), {});
  ASSERT_TRUE(response.ok()) << response.status();
  ASSERT_EQ(response->devices_size(), 1);
  ASSERT_EQ(response->devices(0).sensors_size(), 1);
  const auto& sensor = response->devices(0).sensors(0);
  EXPECT_EQ(sensor.name(), "sideband_partition_dram_usage_ratio");
  EXPECT_EQ(sensor.labels(0).name(), "partition");
  EXPECT_EQ(sensor.kind(), sideband::v1::SensorDescription::KIND_GAUGE);
  EXPECT_EQ(sensor.group(), "metrics");
  EXPECT_FALSE(sensor.description().empty());
}

TEST_F(SensorQueriesTest, ATenantOfAPartitionSeesTheDevice) {
  std::vector<std::string> names;
  for (const VisibleDevice& device : world_.reader.Devices(CallerOf("tenant-b"))) names.push_back(device.info->name);
  EXPECT_THAT(names, ElementsAre("gpu0", "gpu1"));
}

}  // namespace

}  // namespace sideband::daemon
