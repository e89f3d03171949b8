// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/sensor_queries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "daemon/board/board_reading.h"
#include "daemon/board/board_store.h"
#include "daemon/view/fake_world.h"
#include "daemon/view/history_window.h"
#include "daemon/view/row_filter.h"

namespace sideband::daemon {
namespace {

using mailbox::MetricId;
using mailbox::PowerSource;
using sideband::v1::GetSensorHistoryRequest;
using sideband::v1::GetSensorHistoryResponse;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::IsEmpty;
using testing::SizeIs;
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

// kPartitionPolicy after partition 2 was given to the other tenant.
constexpr char kMovedPartitionPolicy[] = R"(version: 1
operators: [{name: ops, identities: ["spiffe://example.org/ops"]}]
tenants:
  - {name: a, identities: ["spiffe://example.org/tenant-a"], partitions: [{device: gpu1, gpu_instance: 2}]}
  - {name: b, identities: ["spiffe://example.org/tenant-b"], partitions: [{device: gpu0, gpu_instance: 2}]}
)";
constexpr char kEnergy[] = "sideband_energy_joules_total";
constexpr char kPower[] = "sideband_power_watts";

class SensorHistoryReaderTest : public testing::Test {
 protected:
  SensorHistoryReaderTest() {
    SetPolicy(kPartitionPolicy);
    for (const MetricScope& scope : {MetricScope{}, MetricScope{.partition = 2},
                                     MetricScope{.partition = 2, .compute_instance = 1}, MetricScope{.partition = 3}}) {
      reading_.metrics.scopes[scope].ratios = {{MetricId::kSmActivity, 0.25}, {MetricId::kDramUsage, 0.75}};
    }
    boards_.SetSettings(0, {.is_read = true});
    boards_.AddListener(history_);
  }
  ~SensorHistoryReaderTest() override { boards_.RemoveListener(history_); }

  void SetPolicy(const char* text) { world_.policy.Replace(*Policy::Parse(text, "policy.yaml"), nullptr); }

  // A second later: the board uses `watts`, and 10 J more than the last time.
  void Publish(double watts, size_t device = 0) {
    world_.clock.Advance(absl::Seconds(1));
    const BoardTime now = {world_.clock.Steady(), world_.clock.Now()};
    for (const BoardGroup group : {BoardGroup::kPower, BoardGroup::kEnergy, BoardGroup::kMetrics}) {
      reading_.samples[group] = now;
    }
    reading_.power.watts[PowerSource::kTotal] = watts;
    energy_.value += 10'000;
    reading_.energy.millijoules[PowerSource::kTotal] = energy_;
    boards_.Publish(device, std::make_shared<const BoardReading>(reading_));
  }

  void MakeOfBmc() {
    DeviceList devices = *world_.store.devices();
    auto info = std::make_shared<DeviceInfo>(*devices[0].info);
    info->is_of_bmc = true;
    devices[0].info = std::move(info);
    world_.store.SetDevices(std::move(devices));
  }

  Caller CallerOf(const std::string& who) { return *world_.reader.Identify(CredentialsOf(who)); }

  static GetSensorHistoryRequest Of(const std::string& device, const std::vector<std::string>& names = {}) {
    GetSensorHistoryRequest request;
    request.mutable_filter()->set_device(device);
    for (const std::string& name : names) request.mutable_filter()->add_names(name);
    return request;
  }

  absl::StatusOr<GetSensorHistoryResponse> Get(const std::string& who, const GetSensorHistoryRequest& request = {}) {
    return past_.Get(CallerOf(who), request);
  }

  // "NAME{VALUES OF LABELS} VALUES" of each column.
  std::vector<std::string> Texts(const std::string& who, const GetSensorHistoryRequest& request = {}) {
    const auto response = Get(who, request);
    EXPECT_TRUE(response.ok()) << response.status();
    std::vector<std::string> texts;
    for (const auto& device : response->devices()) {
      for (const auto& column : device.columns()) {
        const auto label = [](std::string* out, const auto& pair) { absl::StrAppend(out, pair.value()); };
        EXPECT_EQ(column.values_size() + column.counts_size(), column.host_times_ns_size());
        texts.push_back(absl::StrCat(column.name(), "{", absl::StrJoin(column.labels(), ",", label), "} ",
                                     absl::StrJoin(column.values(), " "), absl::StrJoin(column.counts(), " ")));
      }
    }
    return texts;
  }

  FakeWorld world_;
  BoardStore boards_;
  BoardReading reading_;
  RunningCount energy_ = {.value = 0, .created = absl::FromUnixSeconds(5)};
  SensorHistory history_{{}};
  SensorQueries sensors_{world_.reader, boards_};
  SensorHistoryReader past_{sensors_, history_};
};

TEST_F(SensorHistoryReaderTest, AnOperatorSeesEverything) {
  Publish(250);
  Publish(251.5);
  EXPECT_THAT(
      Texts("ops"),
      ElementsAre(
          "sideband_board_dram_usage_ratio{} 0.75 0.75", "sideband_board_sm_activity_ratio{} 0.25 0.25",
          "sideband_energy_joules_total{total} 10000 20000", "sideband_partition_dram_usage_ratio{2} 0.75 0.75",
          "sideband_partition_dram_usage_ratio{2,1} 0.75 0.75", "sideband_partition_dram_usage_ratio{3} 0.75 0.75",
          "sideband_partition_sm_activity_ratio{2} 0.25 0.25", "sideband_partition_sm_activity_ratio{2,1} 0.25 0.25",
          "sideband_partition_sm_activity_ratio{3} 0.25 0.25", "sideband_power_watts{total} 250 251.5"));
}

TEST_F(SensorHistoryReaderTest, ACountIsExactAndHasItsBeginning) {
  energy_.value = 9'007'199'254'740'993;
  Publish(250);
  const auto response = Get("ops", Of("gpu0", {kEnergy}));
  ASSERT_TRUE(response.ok()) << response.status();
  ASSERT_EQ(response->devices(0).columns_size(), 1);
  const auto& energy = response->devices(0).columns(0);
  EXPECT_EQ(energy.counts(0), 9'007'199'254'750'993u);
  EXPECT_EQ(energy.count_per_unit(), 1000u);
  EXPECT_EQ(energy.created().seconds(), 5);
  EXPECT_EQ(energy.group(), "energy");
  EXPECT_EQ(energy.host_times_ns(0), absl::ToUnixNanos(world_.clock.Now()));
  EXPECT_EQ(response->devices(0).oldest().seconds(), absl::ToUnixSeconds(world_.clock.Now()));
  EXPECT_FALSE(response->has_step());
}

TEST_F(SensorHistoryReaderTest, ATenantSeesItsPartitions) {
  Publish(250);
  EXPECT_THAT(Texts("tenant-a"), UnorderedElementsAre("sideband_partition_dram_usage_ratio{2} 0.75",
                                                      "sideband_partition_dram_usage_ratio{2,1} 0.75",
                                                      "sideband_partition_sm_activity_ratio{2} 0.25",
                                                      "sideband_partition_sm_activity_ratio{2,1} 0.25"));
  EXPECT_THAT(Texts("tenant-b"), ElementsAre("sideband_partition_dram_usage_ratio{3} 0.75"));
  EXPECT_THAT(Texts("auditor"), IsEmpty());
}

TEST_F(SensorHistoryReaderTest, ThePolicyOfTheCallDecides) {
  Publish(250);
  SetPolicy(kMovedPartitionPolicy);
  EXPECT_THAT(Get("tenant-a")->devices(), IsEmpty());
  EXPECT_EQ(Get("tenant-a", Of("gpu0")).status(), NotFound());
}

TEST_F(SensorHistoryReaderTest, ThePastOfAPartitionIsThatOfItsTenant) {
  Publish(250);
  Publish(251);
  SetPolicy(kMovedPartitionPolicy);
  EXPECT_THAT(Texts("tenant-b"), IsEmpty()) << "what is there was the other tenant's";
  Publish(252);
  EXPECT_THAT(
      Texts("tenant-b", Of("", {"sideband_partition_sm_activity_ratio"})),
      ElementsAre("sideband_partition_sm_activity_ratio{2} 0.25", "sideband_partition_sm_activity_ratio{2,1} 0.25"));
  EXPECT_EQ(Get("tenant-b")->devices(0).oldest().seconds(), absl::ToUnixSeconds(world_.clock.Now()));
  EXPECT_THAT(Texts("ops", Of("", {kPower})), ElementsAre("sideband_power_watts{total} 250 251 252"));
  SetPolicy(kPartitionPolicy);
  Publish(253);
  EXPECT_THAT(Texts("tenant-a"), Each(EndsWith("5"))) << "and back: one value";
}

// gpu0 as a whole, of a tenant.
std::string WholePolicy(const std::string& tenant, const std::string& since = "") {
  return absl::StrCat("version: 1\noperators: [{name: ops, identities: [\"spiffe://example.org/ops\"]}]\ntenants:\n",
                      "  - {name: ", tenant, ", identities: [\"spiffe://example.org/", tenant,
                      "\"], devices: [{device: gpu0", since, "}]}\n");
}

TEST_F(SensorHistoryReaderTest, ATenantSeesTheWholeOfItsDevice) {
  SetPolicy(WholePolicy("tenant-a").c_str());
  Publish(250);
  EXPECT_THAT(Texts("tenant-a"), IsEmpty()) << "it may have VMs of others";
  MakeOfBmc();
  EXPECT_EQ(Texts("tenant-a"), Texts("ops"));
  EXPECT_THAT(Texts("tenant-a"), testing::Contains("sideband_power_watts{total} 250"));
  EXPECT_EQ(Get("tenant-a", Of("gpu1")).status(), NotFound());
  // Its driver's messages are the operator's.
  EXPECT_EQ(sensors_.WholeBoards(CallerOf("tenant-a"), "gpu0").status(), NotFound());
  EXPECT_THAT(*sensors_.WholeBoards(CallerOf("ops"), "gpu0"), SizeIs(1));
}

TEST_F(SensorHistoryReaderTest, ThePastOfADeviceIsThatOfItsTenant) {
  MakeOfBmc();
  SetPolicy(WholePolicy("tenant-a").c_str());
  Publish(250);
  const auto power = Of("", {kPower});
  SetPolicy(WholePolicy("tenant-b").c_str());
  EXPECT_EQ(Get("tenant-b", power).status(), NotFound());
  EXPECT_TRUE(sensors_.Get(CallerOf("tenant-b"), {})->devices(0).sensors().empty()) << "measured before the grant";
  const std::string since =
      absl::FormatTime(absl::RFC3339_full, world_.clock.Now() + absl::Milliseconds(500), absl::UTCTimeZone());
  Publish(251);
  EXPECT_THAT(Texts("tenant-b", power), ElementsAre("sideband_power_watts{total} 251"));
  EXPECT_EQ(sensors_.Get(CallerOf("tenant-b"), {})->devices(0).sensors_size(),
            sensors_.Get(CallerOf("ops"), {})->devices(0).sensors_size());
  EXPECT_THAT(Texts("ops", power), ElementsAre("sideband_power_watts{total} 250 251"));
  SetPolicy(WholePolicy("tenant-a", absl::StrCat(", since: '", since, "'")).c_str());
  EXPECT_THAT(Texts("tenant-a", power), ElementsAre("sideband_power_watts{total} 251"));
}

TEST_F(SensorHistoryReaderTest, ThePolicyMaySaySinceWhenAPartitionIsItsTenants) {
  Publish(250);
  Publish(251);
  const std::string since = absl::FormatTime(absl::RFC3339_full, world_.clock.Now(), absl::UTCTimeZone());
  Publish(252);
  SetPolicy(absl::StrReplaceAll(kMovedPartitionPolicy,
                                {{"{device: gpu0, gpu_instance: 2}",
                                  absl::StrCat("{device: gpu0, gpu_instance: 2, since: '", since, "'}")}})
                .c_str());
  const auto request = Of("", {"sideband_partition_dram_usage_ratio"});
  EXPECT_THAT(Texts("tenant-b", request), ElementsAre("sideband_partition_dram_usage_ratio{2} 0.75 0.75",
                                                      "sideband_partition_dram_usage_ratio{2,1} 0.75 0.75"));
  EXPECT_EQ(Get("tenant-b", request)->devices(0).oldest().seconds(), absl::ToUnixSeconds(world_.clock.Now()) - 1);
}

TEST_F(SensorHistoryReaderTest, APolicyThatLeavesAPartitionLeavesItsPast) {
  Publish(250);
  SetPolicy(kPartitionPolicy);
  Publish(251);
  EXPECT_THAT(Texts("tenant-b"), ElementsAre("sideband_partition_dram_usage_ratio{3} 0.75 0.75"));
}

TEST_F(SensorHistoryReaderTest, AnotherPolicyThanTheOneInForceShowsNoPartition) {
  Publish(250);
  const Caller late = CallerOf("tenant-a");
  SetPolicy(kMovedPartitionPolicy);
  const auto response = past_.Get(late, {});
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->devices_size(), 0);
  EXPECT_EQ(world_.reader.tenures().OfBoard("a", "gpu0", 9).place, UINT64_MAX) << "nobody's";
}

// For each caller, the past has the series that the present has.
TEST_F(SensorHistoryReaderTest, ThePastShowsWhatThePresentShows) {
  Publish(250);
  for (const std::string who : {"ops", "tenant-a", "tenant-b", "auditor"}) {
    std::vector<std::string> present, past;
    const auto now = sensors_.Get(CallerOf(who), {});
    for (const auto& device : now->devices()) {
      for (const auto& sensor : device.sensors()) {
        sideband::v1::SensorDescription key;
        key.set_name(sensor.name());
        *key.mutable_labels() = sensor.labels();
        key.set_group(sensor.group());
        present.push_back(key.SerializeAsString());
      }
    }
    const auto before = Get(who);
    for (const auto& device : before->devices()) {
      for (const auto& column : device.columns()) {
        sideband::v1::SensorDescription key;
        key.set_name(column.name());
        *key.mutable_labels() = column.labels();
        key.set_group(column.group());
        past.push_back(key.SerializeAsString());
      }
    }
    EXPECT_EQ(past, present) << who;
  }
}

TEST_F(SensorHistoryReaderTest, DeniedAndAbsentNamesAreTheSame) {
  Publish(250);
  EXPECT_EQ(Get("tenant-a", Of("", {kPower})).status(), NotFound());
  EXPECT_EQ(Get("tenant-a", Of("", {"sideband_no_such"})).status(), NotFound());
  EXPECT_EQ(Get("tenant-b", Of("", {"sideband_partition_sm_activity_ratio"})).status(), NotFound());
  EXPECT_EQ(Get("ops", Of("", {"sideband_no_such"})).status(), NotFound());
  EXPECT_EQ(Get("ops", Of("", {kPower, "sideband_no_such"})).status(), NotFound());
  EXPECT_EQ(Get("auditor", Of("gpu0")).status(), NotFound());
  EXPECT_EQ(Get("tenant-a", Of("gpu1")).status(), NotFound());
  EXPECT_EQ(Get("tenant-b", Of("gpu1")).status(), NotFound()) << "its board is not read";
  EXPECT_EQ(Get("ops", Of("gpu7")).status(), NotFound());
  EXPECT_EQ(Get("ops", Of("gpu1"))->devices_size(), 0) << "configured, and not read";
}

TEST_F(SensorHistoryReaderTest, ABoardThatIsSilentHasAPast) {
  Publish(250);
  world_.clock.Advance(absl::Hours(1));
  EXPECT_EQ(sensors_.Get(CallerOf("ops"), {})->devices_size(), 0);
  EXPECT_THAT(Texts("ops", Of("gpu0", {kPower})), ElementsAre("sideband_power_watts{total} 250"));
  EXPECT_THAT(Texts("tenant-b", Of("gpu0")), SizeIs(1));
}

TEST_F(SensorHistoryReaderTest, WhatIsTooOldMayBeThereNow) {
  Publish(250);
  history_.Remove(0);
  EXPECT_THAT(Texts("ops", Of("gpu0", {kPower})), IsEmpty());
  EXPECT_THAT(Texts("tenant-a", Of("gpu0")), IsEmpty());
  EXPECT_EQ(Get("tenant-a", Of("gpu0", {kPower})).status(), NotFound());
}

TEST_F(SensorHistoryReaderTest, ABoardThatIsNoLongerReadHasNoPast) {
  Publish(250);
  boards_.Forget(0);
  history_.Remove(0);
  Publish(251);
  EXPECT_EQ(Get("tenant-a", Of("gpu0")).status(), NotFound());
  EXPECT_EQ(Get("ops", Of("gpu0"))->devices_size(), 0);
}

TEST_F(SensorHistoryReaderTest, AHoleHasNoEntry) {
  Publish(250);
  Publish(251);
  auto& metrics = reading_.metrics.scopes[{.partition = 3}].ratios;
  metrics.erase(MetricId::kDramUsage);
  Publish(252);
  metrics[MetricId::kDramUsage] = 0.5;
  Publish(253);
  const auto response = Get("tenant-b", Of("gpu0"));
  ASSERT_EQ(response->devices(0).columns_size(), 1);
  const auto& column = response->devices(0).columns(0);
  EXPECT_THAT(column.values(), ElementsAre(0.75, 0.75, 0.5));
  EXPECT_EQ(column.host_times_ns(2) - column.host_times_ns(1), 2'000'000'000);
}

TEST_F(SensorHistoryReaderTest, ACounterThatBeginsAnewBeginsAColumn) {
  Publish(250);
  Publish(250);
  energy_ = {.value = 0, .created = world_.clock.Now()};
  Publish(250);
  EXPECT_THAT(Texts("ops", Of("", {kEnergy})), ElementsAre("sideband_energy_joules_total{total} 10000 20000",
                                                           "sideband_energy_joules_total{total} 10000"));
}

TEST_F(SensorHistoryReaderTest, TheWindowIsInclusive) {
  for (const double watts : {250, 251, 252, 253}) Publish(watts);
  GetSensorHistoryRequest request = Of("gpu0", {kPower});
  const int64_t last = absl::ToUnixSeconds(world_.clock.Now());
  request.mutable_since()->set_seconds(last - 2);
  request.mutable_until()->set_seconds(last - 1);
  EXPECT_THAT(Texts("ops", request), ElementsAre("sideband_power_watts{total} 251 252"));
  request.mutable_since()->set_seconds(1);
  request.mutable_until()->set_seconds(2);
  const auto nothing = Get("ops", request);
  ASSERT_EQ(nothing->devices_size(), 1);
  EXPECT_EQ(nothing->devices(0).columns_size(), 0);
  EXPECT_EQ(nothing->devices(0).oldest().seconds(), last - 3) << "requested or not";
}

TEST_F(SensorHistoryReaderTest, InvalidWindowsAreNamed) {
  GetSensorHistoryRequest request;
  request.mutable_since()->set_seconds(2);
  request.mutable_until()->set_seconds(1);
  EXPECT_EQ(Get("ops", request).status().message(), "since: is after until");
  request.mutable_until()->set_nanos(-1);
  EXPECT_TRUE(absl::IsInvalidArgument(Get("ops", request).status()));
  request.Clear();
  request.mutable_step();
  EXPECT_TRUE(absl::IsInvalidArgument(Get("ops", request).status()));
}

TEST_F(SensorHistoryReaderTest, AStepTakesTheFirstOfEach) {
  // Steps of ten seconds since 1970 begin at multiples of ten.
  while (absl::ToUnixSeconds(world_.clock.Now()) % 10 != 9) world_.clock.Advance(absl::Seconds(1));
  for (int second = 0; second < 25; ++second) Publish(200 + second);
  GetSensorHistoryRequest request = Of("gpu0", {kPower});
  request.mutable_step()->set_seconds(10);
  EXPECT_THAT(Texts("ops", request), ElementsAre("sideband_power_watts{total} 200 210 220"));
  EXPECT_EQ(Get("ops", request)->step().seconds(), 10);
}

TEST_F(SensorHistoryReaderTest, AStepLosesNoCounts) {
  while (absl::ToUnixSeconds(world_.clock.Now()) % 10 != 9) world_.clock.Advance(absl::Seconds(1));
  for (int second = 0; second < 5; ++second) Publish(250);
  energy_ = {.value = 0, .created = world_.clock.Now()};
  for (int second = 0; second < 3; ++second) Publish(250);
  GetSensorHistoryRequest request = Of("gpu0", {kEnergy});
  request.mutable_step()->set_seconds(10);
  EXPECT_THAT(Texts("ops", request), ElementsAre("sideband_energy_joules_total{total} 10000 50000",
                                                 "sideband_energy_joules_total{total} 10000"))
      << "the last count before the counter began anew";
}

TEST_F(SensorHistoryReaderTest, AnAnswerThatWouldBeTooLargeHasALongerStep) {
  history_.SetMaxBytes(64 << 20);
  // Ten series.
  for (int second = 0; second < 25'000; ++second) Publish(200 + second % 9);
  const auto response = Get("ops");
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->step().seconds(), 2);
  EXPECT_LE(response->ByteSizeLong(), kHistoryAnswerBytesMax);
  int64_t numbers = 0;
  for (const auto& column : response->devices(0).columns()) numbers += 2 * column.host_times_ns_size();
  EXPECT_LE(numbers, kHistoryValuesMax);
  EXPECT_GT(numbers, kHistoryValuesMax / 4);
  EXPECT_FALSE(Get("ops", Of("gpu0", {kPower}))->has_step()) << "one series fits";
}

TEST_F(SensorHistoryReaderTest, WithoutMemoryThereIsNone) {
  history_.SetMaxBytes(0);
  Publish(250);
  EXPECT_EQ(Get("ops").status(), absl::FailedPreconditionError("this daemon keeps no history"));
}

}  // namespace
}  // namespace sideband::daemon
