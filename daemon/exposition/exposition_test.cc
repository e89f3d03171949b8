// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/exposition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/view/fake_world.h"
#include "proto/base/file.h"
#include "proto/exposition/prometheus_text.h"

namespace sideband::daemon {
namespace {

class ExpositionTest : public testing::Test {
 protected:
  std::vector<VisibleDevice> Devices(const std::string& who) {
    return world_.reader.Devices(*world_.reader.Identify(CredentialsOf(who)));
  }
  std::string Render(const std::string& who) { return Render(who, exposition_); }
  std::string Render(const std::string& who, Exposition& exposition) {
    TextBuffer out;
    exposition.Render(Devices(who), out);
    return std::string(out.text());
  }

  // After an intended change, copy the expected text from the test's output.
  static std::string Golden(const std::string& name) { return *ReadFile("daemon/exposition/testdata/" + name); }

  FakeWorld world_;
  Exposition exposition_{MetricsFormat::kText};
};

TEST_F(ExpositionTest, OperatorIsAsTheGoldenFile) {
  world_.Publish(0, 1);
  world_.clock.Advance(absl::Milliseconds(250));
  EXPECT_EQ(Render("ops"), Golden("operator.prom"));
}

TEST_F(ExpositionTest, OpenMetricsIsAsTheGoldenFile) {
  world_.Publish(0, 1);
  Exposition open_metrics(MetricsFormat::kOpenMetrics);
  EXPECT_EQ(Render("ops", open_metrics), Golden("operator.om"));
}

TEST_F(ExpositionTest, TenantIsAsTheGoldenFile) {
  world_.Publish(0, 1);
  world_.clock.Advance(absl::Milliseconds(250));
  EXPECT_EQ(Render("tenant-a"), Golden("tenant_a.prom"));
}

TEST_F(ExpositionTest, TheHypervisorIsALevel) {
  world_.Publish(0, 1);
  const std::string without = Render("ops"), of_a = Render("tenant-a");
  EXPECT_FALSE(absl::StrContains(without, "sideband_host_cycles"));
  world_.AddHostBlocks();
  world_.Publish(0, 1);
  const std::string out = Render("ops");
  EXPECT_TRUE(absl::StrContains(out,
                                "# HELP sideband_host_cycles_total Cycles of the shader clock (unit: cycles). Of the "
                                "hypervisor on each slice, while nobody is resident.\n"
                                "# TYPE sideband_host_cycles_total counter\n"
                                "sideband_host_cycles_total{device=\"gpu0\",slice=\"0\"} 1060\n"
                                "sideband_host_cycles_total{device=\"gpu0\",slice=\"1\"} 1070\n"));
  EXPECT_FALSE(absl::StrContains(out, "sideband_host_pcie")) << "device scope is the device's";
  EXPECT_EQ(Render("tenant-a"), of_a);
  Exposition hosts(MetricsFormat::kText, {.events = {"cycles"}, .devices = false, .vms = false, .contexts = false});
  EXPECT_TRUE(absl::StrContains(Render("ops", hosts), "slice=\"1\"} 1070\n"));
  EXPECT_FALSE(absl::StrContains(Render("ops", hosts), "sideband_vm_cycles"));
  Exposition others(MetricsFormat::kText, {.hosts = false});
  EXPECT_EQ(Render("ops", others), without);
}

TEST_F(ExpositionTest, AMaskedEventHasNoFamily) {
  mailbox::Catalog catalog = world_.topology->catalog();
  catalog.events[0].masked = true;  // the event "cycles"
  world_.topology = std::make_shared<Topology>(catalog, 6);
  world_.Publish(0, 1);
  const std::string out = Render("ops");
  EXPECT_FALSE(absl::StrContains(out, "_cycles"));
  EXPECT_TRUE(absl::StrContains(out, "sideband_vm_dram_bytes_total{"));
}

TEST_F(ExpositionTest, AnEstimateHasItsBoundsAndItsCoverage) {
  world_.topology = RotatingTopology();
  world_.Publish(0, 1);
  const std::string out = Render("tenant-a");
  const std::string row = "{device=\"gpu0\",slice=\"0\",vm=\"vm0\"";
  for (const std::string& line : {absl::StrCat("sideband_vm_dram_bytes_total", row, "} 2022\n"),
                                  absl::StrCat("sideband_vm_event_coverage_ratio", row, ",event=\"dram_bytes\"} 0.5\n"),
                                  absl::StrCat("sideband_vm_event_lower_total", row, ",event=\"dram_bytes\"} 1011\n"),
                                  absl::StrCat("sideband_vm_event_upper_total", row, ",event=\"dram_bytes\"} 4044\n"),
                                  absl::StrCat("sideband_vm_event_standard_error", row, ",event=\"dram_bytes\"} 7\n"),
                                  absl::StrCat("sideband_vm_flags", row, ",flag=\"estimated\"} 1\n"),
                                  absl::StrCat("sideband_vm_cycles_total", row, "} 1010\n")}) {
    EXPECT_TRUE(absl::StrContains(out, line)) << line << out;
  }
  EXPECT_FALSE(absl::StrContains(out, "event=\"cycles\"} ")) << "which is exact";
  const std::string of_b = Render("tenant-b");
  EXPECT_FALSE(absl::StrContains(of_b, "dram")) << "which is not granted";
  EXPECT_FALSE(absl::StrContains(of_b, "estimated")) << "nothing is that it sees";
  EXPECT_FALSE(absl::StrContains(of_b, "partial"));
}

TEST_F(ExpositionTest, BoundsBeganWithTheirRowAndClocksWithTheirFirstReading) {
  world_.topology = RotatingTopology();
  world_.Publish(0, 1);
  Exposition open_metrics(MetricsFormat::kOpenMetrics);
  const std::string labels = "{device=\"gpu0\",slice=\"0\",vm=\"vm0\",event=\"dram_bytes\"} 1790000000.000\n";
  const std::string bounds = Render("tenant-a", open_metrics);
  EXPECT_TRUE(absl::StrContains(bounds, "sideband_vm_event_lower_created" + labels)) << bounds;
  EXPECT_TRUE(absl::StrContains(bounds, "sideband_vm_event_upper_created" + labels)) << bounds;
  EXPECT_FALSE(absl::StrContains(bounds, "standard_error_created")) << "no counter";

  mailbox::Catalog catalog = world_.topology->catalog();
  catalog.clock_domains = {{.name = "dram", .nominal_hz = 1, .period_min = 1, .period_max = 1}};
  world_.topology = std::make_shared<Topology>(catalog, 9);
  world_.Publish(0, 1);
  auto snapshot = std::make_shared<DeviceSnapshot>(*world_.store.Newest(0));
  snapshot->clocks = {{.created = absl::FromUnixSeconds(7), .segments = 3}};
  world_.store.Publish(0, std::move(snapshot));
  const std::string clock = "{device=\"gpu0\",domain=\"device.dram\"} ";
  const std::string clocks = Render("ops", open_metrics);
  for (const char* count : {"segments", "refuted_segments", "unused_readings"}) {
    EXPECT_TRUE(absl::StrContains(clocks, absl::StrCat("sideband_clock_domain_", count, "_created", clock, "7.000\n")))
        << count << clocks;
  }
}

TEST_F(ExpositionTest, TheConfigurationLimitsWhatIsToldOfEstimates) {
  world_.topology = RotatingTopology();
  const auto render = [&](EstimateSeries estimates) {
    auto info = std::make_shared<DeviceInfo>(*world_.store.Info(0));
    info->estimates = estimates;
    world_.store.SetDevices({{0, std::move(info)}});
    world_.Publish(0, 1);
    return Render("ops");
  };
  const std::string coverage = render(EstimateSeries::kCoverage), none = render(EstimateSeries::kNone);
  EXPECT_TRUE(absl::StrContains(coverage, "sideband_device_event_coverage_ratio{"));
  EXPECT_FALSE(absl::StrContains(coverage, "sideband_device_event_lower_total"));
  EXPECT_FALSE(absl::StrContains(none, "_event_coverage_ratio"));
  EXPECT_TRUE(absl::StrContains(none, "sideband_device_dram_bytes_total{device=\"gpu0\"} 2002\n"));
}

TEST_F(ExpositionTest, AnEventWithoutATurnIsAbsent) {
  mailbox::Catalog catalog = RotatingTopology()->catalog();
  catalog.plans[0].sets = {{0b000}, {0b000}};
  world_.topology = std::make_shared<Topology>(catalog, 9);
  world_.Publish(0, 1);
  EXPECT_FALSE(absl::StrContains(Render("ops"), "sideband_vm_dram_bytes_total"));
}

TEST_F(ExpositionTest, ARatioNeedsAllItsEvents) {
  world_.Publish(0, 1);
  EXPECT_FALSE(absl::StrContains(Render("ops"), "_ratio")) << "no interval yet";
  world_.Publish(0, 2);
  const std::string out = Render("tenant-a");
  EXPECT_TRUE(absl::StrContains(out, "# TYPE sideband_context_dram_share_ratio gauge\n"));
  EXPECT_TRUE(absl::StrContains(
      out, "\nsideband_context_dram_share_ratio{device=\"gpu0\",slice=\"0\",vm=\"vm0\",context=\"render\"} 0.5\n"));
  EXPECT_FALSE(absl::StrContains(Render("tenant-b"), "_ratio")) << "dram_bytes is not granted";
}

// cycles of four units in each slice; dram_bytes becomes resident_cycles.
TEST_F(ExpositionTest, UtilisationsNeedNoConfiguration) {
  mailbox::Catalog catalog = world_.topology->catalog();
  catalog.events[0] = {.name = "busy_cycles", .details = {.slices = {{.capacity_q32 = uint64_t{4} << 32}}}};
  catalog.events[1].name = "resident_cycles";
  catalog.reference_clock_hz = 5;
  world_.topology = std::make_shared<Topology>(catalog, 6);
  world_.Publish(0, 2);
  const std::string a = Render("tenant-a");
  EXPECT_TRUE(absl::StrContains(a, "sideband_vm_busy_ratio{device=\"gpu0\",slice=\"0\",vm=\"vm0\"} 0.125\n"));
  EXPECT_TRUE(absl::StrContains(a,
                                "sideband_context_busy_ratio{device=\"gpu0\",slice=\"0\",vm=\"vm0\","
                                "context=\"render\"} 0.25\n"));
  EXPECT_FALSE(absl::StrContains(a, "sideband_device_busy_ratio")) << "a tenant has no such row";
  EXPECT_TRUE(absl::StrContains(Render("ops"), "sideband_device_busy_ratio{device=\"gpu0\"} 0.0625\n"));
  EXPECT_FALSE(absl::StrContains(Render("tenant-b"), "_ratio")) << "resident_cycles are not granted";
  constexpr char kOnSlice[] = "\nsideband_event_capacity{device=\"gpu0\",slice=\"%d\",event=\"busy_cycles\"} 4\n";
  for (int slice = 0; slice < 2; ++slice) {
    const std::string line = absl::StrFormat(kOnSlice, slice);
    EXPECT_TRUE(absl::StrContains(Render("ops"), line));
    EXPECT_EQ(absl::StrContains(a, line), slice == 0) << "tenant a has a VM on slice 0";
  }
  Exposition only(MetricsFormat::kText, {.events = {"busy_cycles"}});
  EXPECT_TRUE(absl::StrContains(Render("tenant-a", only), "sideband_vm_busy_ratio{"));
  Exposition other(MetricsFormat::kText, {.events = {"resident_cycles"}});
  EXPECT_FALSE(absl::StrContains(Render("tenant-a", other), "busy"));
}

class GatedExpositionTest : public ExpositionTest {
 protected:
  GatedExpositionTest() {
    world_.topology = GatedTopology();
    world_.Publish(0, 2);
  }
};

TEST_F(GatedExpositionTest, AGroupHasACoverageInEachRow) {
  world_.PublishRows(0, {70, 1000, 900}, {7, 100, 25});
  const std::string a = Render("tenant-a");
  EXPECT_TRUE(absl::StrContains(
      a, "sideband_vm_gate_coverage_ratio{device=\"gpu0\",slice=\"0\",vm=\"vm0\",gate_group=\"g\"} 0.25\n"));
  EXPECT_TRUE(absl::StrContains(a,
                                "sideband_context_gate_coverage_ratio{device=\"gpu0\",slice=\"0\",vm=\"vm0\","
                                "context=\"render\",gate_group=\"g\"} 0.25\n"));
  EXPECT_FALSE(absl::StrContains(a, "sideband_device_gate_coverage_ratio")) << "a tenant has no such row";
  EXPECT_TRUE(
      absl::StrContains(Render("ops"), "sideband_device_gate_coverage_ratio{device=\"gpu0\",gate_group=\"g\"} 0.25\n"));
  Exposition only(MetricsFormat::kText, {.events = {"cycles"}});
  EXPECT_TRUE(absl::StrContains(Render("tenant-a", only), "gate_coverage_ratio{"));
  Exposition other(MetricsFormat::kText, {.events = {"resident_cycles"}});
  EXPECT_FALSE(absl::StrContains(Render("tenant-a", other), "gate_coverage"));
}

TEST_F(GatedExpositionTest, AnEventNamesItsGateGroup) {
  const std::string text = Render("ops");
  EXPECT_TRUE(absl::StrContains(text, "event=\"cycles\",unit=\"cycles\",scope=\"context\",gate_group=\"g\"} 1\n"))
      << text;
  for (const char* event : {"event=\"resident_cycles\",unit=\"bytes\"", "event=\"group_g_running_cycles\",unit=\"\""}) {
    EXPECT_TRUE(absl::StrContains(text, absl::StrCat(event, ",scope=\"context\"} 1\n"))) << event;
  }
}

TEST_F(GatedExpositionTest, ACoverageThatIsUnknownIsAbsent) {
  for (const std::vector<double>& rates : std::vector<std::vector<double>>{{NAN, NAN, NAN}, {0, 0, 0}}) {
    world_.PublishRows(0, {70, 1000, 900}, rates);
    EXPECT_FALSE(absl::StrContains(Render("ops"), "gate_coverage")) << "no interval, or no VM was resident";
  }
  world_.PublishRows(0, {0, 1000, 0}, {0, 100, 0});
  EXPECT_TRUE(absl::StrContains(Render("ops"), "vm=\"vm0\",gate_group=\"g\"} 0\n")) << "the gate was closed";
}

TEST_F(GatedExpositionTest, AnEventThatWasNeverCountedHasNoSample) {
  world_.PublishRows(0, {0, 1000, 0}, {0, 100, 0});
  Exposition open_metrics(MetricsFormat::kOpenMetrics);
  const std::string never = Render("tenant-a", open_metrics);
  EXPECT_FALSE(absl::StrContains(never, "sideband_vm_cycles"));
  EXPECT_TRUE(absl::StrContains(never, "sideband_vm_resident_cycles_total{"));
  world_.PublishRows(0, {70, 2000, 900}, {7, 100, 90});
  const std::string later = Render("tenant-a", open_metrics);
  const std::string labels = "{device=\"gpu0\",slice=\"0\",vm=\"vm0\"} ";
  EXPECT_TRUE(absl::StrContains(later, "sideband_vm_cycles_total" + labels + "70\n"));
  EXPECT_TRUE(absl::StrContains(later, "sideband_vm_cycles_created" + labels + "1790000000.000\n"))
      << "the count was zero when the block began, whenever the gate opened";
}

TEST_F(ExpositionTest, FlagsAreOfALevel) {
  world_.Publish(0, 1);
  const std::string a = Render("tenant-a");
  EXPECT_TRUE(absl::StrContains(a,
                                "sideband_context_flags{device=\"gpu0\",slice=\"0\",vm=\"vm0\","
                                "context=\"compute\",flag=\"estimated\"} 1\n"));
  EXPECT_FALSE(absl::StrContains(a, "sideband_vm_flags"));
}

TEST_F(ExpositionTest, AReferenceClockBeyondItsLimitsIsTold) {
  world_.Publish(0, 1);
  auto snapshot = std::make_shared<DeviceSnapshot>(*world_.store.Newest(0));
  snapshot->reference_is_unsound = true;
  world_.store.Publish(0, std::move(snapshot));
  EXPECT_TRUE(absl::StrContains(Render("ops"), "sideband_reference_clock_within_limits{device=\"gpu0\"} 0\n"));
  EXPECT_FALSE(absl::StrContains(Render("tenant-a"), "sideband_reference_clock_within_limits"));
}

TEST_F(ExpositionTest, ADeviceIsIncompleteBesideAConfidentialVm) {
  world_.Publish(0, 1);
  EXPECT_TRUE(absl::StrContains(Render("ops"), "sideband_device_complete{device=\"gpu0\"} 1\n"));
  EXPECT_FALSE(absl::StrContains(Render("tenant-a"), "sideband_device_complete")) << "a tenant has no such row";
  auto incomplete = std::make_shared<DeviceSnapshot>(*world_.store.Newest(0));
  incomplete->data.blocks[0].flags |= mailbox::kFlagConfidentialExcluded;
  world_.store.Publish(0, std::move(incomplete));
  EXPECT_TRUE(absl::StrContains(Render("ops"), "sideband_device_complete{device=\"gpu0\"} 0\n"));
}

TEST_F(ExpositionTest, AWithheldDeviceHasNoCounters) {
  world_.Publish(0, 1);
  ASSERT_TRUE(absl::StrContains(Render("ops"), "sideband_device_cycles_total{device=\"gpu0\"}"));
  auto withheld = std::make_shared<DeviceSnapshot>(*world_.store.Newest(0));
  withheld->device_row_withheld = true;
  world_.store.Publish(0, std::move(withheld));
  EXPECT_FALSE(absl::StrContains(Render("ops"), "sideband_device_cycles_total{"));
  EXPECT_TRUE(absl::StrContains(Render("ops"), "sideband_vm_cycles_total{")) << "VMs have theirs";
}

TEST_F(ExpositionTest, NothingOfAnotherTenant) {
  world_.Publish(0, 1);
  const std::string b = Render("tenant-b");
  EXPECT_TRUE(absl::StrContains(
      b, "sideband_context_cycles_total{device=\"gpu0\",slice=\"1\",vm=\"vm1\",context=\"train\"} 1050\n"));
  for (const char* foreign : {"vm0", "render", "secret", "inner", "dram_bytes", "pcie", "gpu1"}) {
    EXPECT_FALSE(absl::StrContains(b, foreign)) << foreign;
  }
}

TEST_F(ExpositionTest, AConfidentialVmHasItsNameOnly) {
  world_.Publish(0, 1);
  EXPECT_EQ(
      Render("tenant-c"),
      "# HELP sideband_device_clock_hertz Frequency of the device's reference clock.\n"
      "# TYPE sideband_device_clock_hertz gauge\n"
      "sideband_device_clock_hertz{device=\"gpu0\"} 1000000000\n"
      "# HELP sideband_device_info 1, with the identity of the device.\n"
      "# TYPE sideband_device_info gauge\n"
      "sideband_device_info{device=\"gpu0\",uuid=\"00000000-0000-0000-0000-0000000000d0\"} 1\n"
      "# HELP sideband_device_reference_seconds_total Time of the device's reference clock since its boot, at the "
      "newest snapshot.\n"
      "# TYPE sideband_device_reference_seconds_total counter\n"
      "sideband_device_reference_seconds_total{device=\"gpu0\"} 1.000000000\n"
      "# HELP sideband_device_up Whether the newest snapshot of the device is younger than three intervals.\n"
      "# TYPE sideband_device_up gauge\n"
      "sideband_device_up{device=\"gpu0\"} 1\n"
      "# HELP sideband_sample_timestamp_seconds When the newest snapshot of the device was latched, by the host's "
      "clock, since 1970.\n"
      "# TYPE sideband_sample_timestamp_seconds gauge\n"
      "sideband_sample_timestamp_seconds{device=\"gpu0\"} 1800000000.000\n"
      "# HELP sideband_vm_info 1, with the identity of the VM. A confidential VM has no other series here.\n"
      "# TYPE sideband_vm_info gauge\n"
      "sideband_vm_info{device=\"gpu0\",vm=\"secret\",uuid=\"00000000-0000-0000-0000-0000000000a2\","
      "confidential=\"true\"} 1\n");
}

TEST_F(ExpositionTest, AStaleDeviceIsDownWithoutSeries) {
  world_.Publish(0, 1);
  world_.clock.Advance(absl::Seconds(4));
  const std::string out = Render("tenant-a");
  EXPECT_TRUE(absl::StrContains(out, "sideband_device_up{device=\"gpu0\"} 0\n"));
  EXPECT_TRUE(absl::EndsWith(SampleAges(MetricsFormat::kText, Devices("tenant-a")),
                             "\nsideband_sample_age_seconds{device=\"gpu0\"} 4\n"));
  EXPECT_FALSE(absl::StrContains(out, "_total"));
  EXPECT_FALSE(absl::StrContains(out, "vm0"));
}

TEST_F(ExpositionTest, ThePlanFollowsTopologyAndPolicy) {
  world_.Publish(0, 1);
  Render("tenant-a");
  mailbox::Catalog catalog = world_.topology->catalog();
  catalog.vms[0].name = "renamed";
  world_.topology = std::make_shared<Topology>(catalog, 6);
  world_.Publish(0, 2);
  EXPECT_TRUE(absl::StrContains(Render("tenant-a"), "vm=\"renamed\""));
  EXPECT_FALSE(absl::StrContains(Render("tenant-a"), "vm=\"vm0\""));
  world_.policy.Replace(FakePolicy("00000000-0000-0000-0000-0000000000ff"));
  EXPECT_EQ(Render("tenant-a"), "");
}

TEST_F(ExpositionTest, EqualNamesStayApart) {
  mailbox::Catalog catalog = world_.topology->catalog();
  catalog.vms[1].name = "vm0";
  catalog.contexts[1].name = "render";
  world_.topology = std::make_shared<Topology>(catalog, 6);
  world_.Publish(0, 1);
  EXPECT_TRUE(absl::StrContains(Render("ops"), "vm=\"vm0 00000000-0000-0000-0000-0000000000a1 2\"} 1040\n"));
  EXPECT_TRUE(absl::StrContains(Render("tenant-a"), "context=\"render 11\"} 1030\n"));
}

TEST_F(ExpositionTest, NoDevicesNoText) {
  EXPECT_EQ(Render("tenant-a"), "");
  EXPECT_EQ(SampleAges(MetricsFormat::kText, Devices("tenant-a")), "");
  Exposition open_metrics(MetricsFormat::kOpenMetrics);
  EXPECT_EQ(Render("tenant-a", open_metrics), "# EOF\n");
}

TEST_F(ExpositionTest, AFilterNarrowsEventsAndRows) {
  world_.Publish(0, 1);
  Exposition contexts(MetricsFormat::kText, {.events = {"cycles"}, .devices = false, .vms = false});
  const std::string out = Render("tenant-a", contexts);
  EXPECT_TRUE(absl::StrContains(out, "context=\"render\"} 1020\n"));
  EXPECT_FALSE(absl::StrContains(out, "vm=\"vm0\"} 1010"));
  EXPECT_FALSE(absl::StrContains(out, "dram_bytes"));
}

using testing::ElementsAre;

std::vector<std::string> Counters(const std::vector<std::string>& events) {
  std::vector<mailbox::EventInfo> infos;
  for (const std::string& event : events) infos.push_back({event});
  return CounterNames(infos);
}

TEST(FamilyNamesTest, ALevelIsPartOfTheName) {
  EXPECT_EQ(FamilyName(NameOf(Level::kDevice), "x_total"), "sideband_device_x_total");
  EXPECT_EQ(FamilyName(NameOf(Level::kVm), "x_total"), "sideband_vm_x_total");
  EXPECT_EQ(FamilyName(NameOf(Level::kContext), "x_ratio"), "sideband_context_x_ratio");
}

TEST(FamilyNamesTest, TotalIsNotDoubled) {
  EXPECT_THAT(Counters({"cycles", "stalls_total"}), ElementsAre("cycles_total", "stalls_total"));
}

TEST(FamilyNamesTest, ClashesAreSetApart) {
  EXPECT_THAT(Counters({"x_total", "x", "event_x"}), ElementsAre("x_total", "event_x_total", "event_event_x_total"));
}

TEST(FamilyNamesTest, TheDaemonsOwnNamesAreKeptAtAllLevels) {
  EXPECT_THAT(Counters({"info", "up", "flags", "reference_seconds", "disabled"}),
              ElementsAre("event_info_total", "event_up_total", "event_flags_total", "event_reference_seconds_total",
                          "event_disabled_total"));
}

TEST(FamilyNamesTest, WhatOpenMetricsCouldTakeForAnotherFamilyIsExtended) {
  EXPECT_THAT(Counters({"x", "x_created"}), ElementsAre("x_total", "x_created_count_total"));
  EXPECT_THAT(Counters({"hit_ratio", "hit_ratio_total"}),
              ElementsAre("hit_ratio_count_total", "event_hit_ratio_count_total"));
  EXPECT_THAT(Counters({"x", "x_total_total"}), ElementsAre("x_total", "x_total_count_total"));
}

// Other families of the daemon cannot be taken for an event's.
TEST(FamilyNamesTest, TheDaemonsOtherFamiliesHaveNoLevel) {
  const std::string own = (*SelfMetrics::Create({.version = "1"}))->Serialize(MetricsFormat::kOpenMetrics);
  size_t families = 0;
  for (absl::string_view line : absl::StrSplit(own, '\n')) {
    if (!absl::ConsumePrefix(&line, "# TYPE ")) continue;
    ++families;
    for (const LevelRow& row : kLevels) {
      EXPECT_FALSE(absl::StartsWith(line, absl::StrCat("sideband_", row.name, "_"))) << line;
    }
  }
  EXPECT_GE(families, 10u);
}

}  // namespace
}  // namespace sideband::daemon
