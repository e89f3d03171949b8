// SPDX-License-Identifier: Apache-2.0
#include "client/cli/export_command.h"

#include <grpcpp/channel.h>
#include <gtest/gtest.h>

#include <limits>

#include "absl/strings/match.h"
#include "client/lib/fake_daemon.h"
#include "client/lib/rpc_status.h"

namespace sideband::client {
namespace {

class GuestExportTest : public testing::Test {
 protected:
  static v1::Snapshot ASnapshot() {
    v1::Snapshot snapshot;
    snapshot.set_reference_time_ns(5);
    return snapshot;
  }
  void Open() { export_.Opened({.device = "gpu0", .vm = "vm3"}, absl::Seconds(3)); }
  bool HasSamples() const { return absl::StrContains(export_.Metrics(), "sideband_device_reference_seconds_total{"); }
  bool Has(const std::string& line) const { return absl::StrContains(export_.Metrics(), "\n" + line + "\n"); }

  absl::Duration now_ = absl::Seconds(100);
  GuestExport export_{{.now = [this] { return now_; }}};
};

TEST_F(GuestExportTest, BeforeTheFirstRecordItIsDown) {
  EXPECT_EQ(export_.Metrics().find("record_age"), std::string::npos);
  EXPECT_TRUE(Has("sideband_export_up 0"));
  Open();
  EXPECT_FALSE(export_.IsUp());
  EXPECT_FALSE(HasSamples());
}

TEST_F(GuestExportTest, AStaleRecordVanishes) {
  Open();
  export_.Received(ASnapshot(), 0);
  now_ += absl::Seconds(3);
  EXPECT_TRUE(HasSamples());
  EXPECT_TRUE(Has("sideband_export_up 1"));
  EXPECT_TRUE(Has("sideband_export_record_age_seconds 3"));
  now_ += absl::Nanoseconds(1);
  EXPECT_FALSE(HasSamples());
  EXPECT_TRUE(Has("sideband_export_up 0"));
  export_.Received(ASnapshot(), 0);
  EXPECT_TRUE(HasSamples());
}

TEST_F(GuestExportTest, WithTheStreamTheSamplesEnd) {
  Open();
  export_.Received(ASnapshot(), 0);
  export_.Ended(/*is_rejection=*/false);
  EXPECT_FALSE(HasSamples());
  Open();
  EXPECT_FALSE(HasSamples()) << "the record is of the stream before";
  export_.Received(ASnapshot(), 0);
  EXPECT_TRUE(HasSamples());
}

TEST_F(GuestExportTest, CountsWhatHappened) {
  Open();
  export_.Received(ASnapshot(), 0);
  export_.Received(ASnapshot(), 7);
  export_.Ended(/*is_rejection=*/true);
  Open();
  export_.Ended(/*is_rejection=*/false);
  EXPECT_TRUE(Has("sideband_export_records_total 2"));
  EXPECT_TRUE(Has("sideband_export_gaps_total 7"));
  EXPECT_TRUE(Has("sideband_export_rejected_total 1"));
  EXPECT_TRUE(Has("sideband_export_streams_total 2"));
}

v1::ScopeCounters& AddRow(v1::Snapshot& snapshot, const std::string& context) {
  v1::ScopeCounters& row = *snapshot.add_scopes();
  row.mutable_scope()->set_slice(1);
  row.mutable_scope()->set_vm("as the record says");
  row.mutable_scope()->set_context(context);
  return row;
}

v1::Counter& AddCounter(v1::ScopeCounters& row, const std::string& event, uint64_t count) {
  v1::Counter& counter = *row.add_counters();
  counter.set_event(event);
  counter.set_count(count);
  return counter;
}

v1::Snapshot ASnapshot() {
  v1::Snapshot snapshot;
  snapshot.set_reference_time_ns(12'000'000'345);
  snapshot.mutable_host_time()->set_seconds(1'700'000'000);
  snapshot.mutable_host_time()->set_nanos(5'000'000);
  v1::ScopeCounters& vm = AddRow(snapshot, "");
  vm.add_flags("overflow");
  AddCounter(vm, "dram_bytes", std::numeric_limits<uint64_t>::max());
  AddCounter(AddRow(snapshot, "tr\"ain"), "dram_bytes", 42);
  return snapshot;
}

const GuestNames kNames = {
    .device = "gpu0", .vm = "vm3", .events = {{.name = "dram_bytes", .unit = "bytes", .description = "Bytes."}}};

TEST(GuestExpositionTest, IsThatOfTheDaemon) {
  EXPECT_EQ(
      GuestExposition(ASnapshot(), kNames, {}),
      "# HELP sideband_context_dram_bytes_total Bytes (unit: bytes). Of each context.\n"
      "# TYPE sideband_context_dram_bytes_total counter\n"
      "sideband_context_dram_bytes_total{device=\"gpu0\",slice=\"1\",vm=\"vm3\",context=\"tr\\\"ain\"} 42\n"
      "# HELP sideband_device_reference_seconds_total Time of the device's reference clock since its boot, at the "
      "newest snapshot.\n"
      "# TYPE sideband_device_reference_seconds_total counter\n"
      "sideband_device_reference_seconds_total{device=\"gpu0\"} 12.000000345\n"
      "# HELP sideband_sample_timestamp_seconds When the newest snapshot of the device was latched, by the host's "
      "clock, since 1970.\n"
      "# TYPE sideband_sample_timestamp_seconds gauge\n"
      "sideband_sample_timestamp_seconds{device=\"gpu0\"} 1700000000.005\n"
      "# HELP sideband_vm_dram_bytes_total Bytes (unit: bytes). Of each VM.\n"
      "# TYPE sideband_vm_dram_bytes_total counter\n"
      "sideband_vm_dram_bytes_total{device=\"gpu0\",slice=\"1\",vm=\"vm3\"} 18446744073709551615\n"
      "# HELP sideband_vm_flags 1 for each reason why counts of a VM may be inexact.\n"
      "# TYPE sideband_vm_flags gauge\n"
      "sideband_vm_flags{device=\"gpu0\",slice=\"1\",vm=\"vm3\",flag=\"overflow\"} 1\n");
}

TEST(GuestExpositionTest, PatternsChooseEvents) {
  v1::Snapshot snapshot = ASnapshot();
  AddCounter(*snapshot.mutable_scopes(0), "sm_cycles", 7);
  const std::string text = GuestExposition(snapshot, kNames, {"sm_*", "x"});
  EXPECT_NE(text.find("\nsideband_vm_sm_cycles_total{"), std::string::npos);
  EXPECT_NE(text.find("HELP sideband_vm_sm_cycles_total sm_cycles. Of each VM.\n"), std::string::npos)
      << "the daemon has not described it";
  EXPECT_EQ(text.find("dram"), std::string::npos);
  for (const char* shown : {"sm", "*m"}) {
    EXPECT_EQ(GuestExposition(snapshot, kNames, {shown}), text) << "the name that screens show: " << shown;
  }
}

TEST(GuestExpositionTest, EstimatesHaveTheirBounds) {
  v1::Snapshot snapshot;
  v1::Estimate& estimate = *AddCounter(AddRow(snapshot, ""), "x", 10).mutable_estimate();
  estimate.set_lower(5);
  const std::string labels = "{device=\"gpu0\",slice=\"1\",vm=\"vm3\",event=\"x\"} ";
  std::string text = GuestExposition(snapshot, kNames, {});
  EXPECT_NE(text.find("\nsideband_vm_event_coverage_ratio" + labels + "1\n"), std::string::npos);
  EXPECT_NE(text.find("\nsideband_vm_event_lower_total" + labels + "5\n"), std::string::npos);
  EXPECT_EQ(text.find("upper"), std::string::npos) << "unknown";
  v1::Counter& counter = *snapshot.mutable_scopes(0)->mutable_counters(0);
  counter.set_coverage(0.25);
  counter.mutable_estimate()->set_upper(20);
  counter.mutable_estimate()->set_standard_error(3);
  text = GuestExposition(snapshot, kNames, {});
  EXPECT_NE(text.find("\nsideband_vm_event_coverage_ratio" + labels + "0.25\n"), std::string::npos);
  EXPECT_NE(text.find("\nsideband_vm_event_upper_total" + labels + "20\n"), std::string::npos);
  EXPECT_NE(text.find("\nsideband_vm_event_standard_error" + labels + "3\n"), std::string::npos);
}

TEST(GuestExpositionTest, NoSeriesOccursTwice) {
  v1::Snapshot snapshot;
  AddCounter(AddRow(snapshot, "train"), "x", 1);
  AddCounter(AddRow(snapshot, "train"), "x", 2);
  const std::string text = GuestExposition(snapshot, kNames, {});
  EXPECT_NE(text.find("context=\"train\"} 1\n"), std::string::npos);
  EXPECT_NE(text.find("context=\"train 2\"} 2\n"), std::string::npos);
}

TEST(GuestExpositionTest, AnEventWithoutAMetricsNameIsLeftOut) {
  v1::Snapshot snapshot;
  v1::ScopeCounters& row = AddRow(snapshot, "");
  AddCounter(row, "x} 1\ny", 1);
  AddCounter(row, "", 1);
  EXPECT_EQ(GuestExposition(snapshot, kNames, {}).find("sideband_vm_"), std::string::npos);
}

constexpr char kUuid[] = "6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10";

FakeDaemon::Script AScript() {
  FakeDaemon::Script script;
  for (const std::string name : {"gpu0", "gpu1"}) {
    v1::Device& device = *script.devices.add_devices();
    device.set_name(name);
    device.mutable_interval()->set_nanos(name == "gpu0" ? 1 : 200'000'000);
    auto& events = *script.events.add_devices();
    events.set_device(name);
    v1::Event& event = *events.add_events();
    event.set_name("cycles_of_" + name);
    event.set_unit("cycles");
    event.set_description("Cycles.");
  }
  for (const bool is_confidential : {false, true}) {
    v1::Scope& scope = *script.scopes.add_scopes();
    scope.set_device(is_confidential ? "gpu1" : "gpu0");
    scope.set_vm("vm3");
    scope.set_vm_uuid(kUuid);
    scope.set_confidential(is_confidential);
  }
  return script;
}

class GuestNamesTest : public testing::Test {
 protected:
  FakeDaemon daemon_{AScript()};
  Cancellation cancellation_;
  TelemetryClient client_{daemon_.Channel(), {}, cancellation_};
};

TEST_F(GuestNamesTest, AreThoseOfTheConfidentialVmsDevice) {
  for (const std::string vm : {"vm3", kUuid, "6F1C0A52-3D0E-4A53-9A51-0D4C2A7E9B10"}) {
    const absl::StatusOr<GuestSite> site = FindGuestSite(client_, {.vm = vm});
    ASSERT_TRUE(site.ok()) << site.status();
    EXPECT_EQ(site->names.device, "gpu1");
    EXPECT_EQ(site->names.vm, "vm3");
    EXPECT_EQ(site->interval, absl::Milliseconds(200));
    ASSERT_EQ(site->names.events.size(), 1u);
    EXPECT_EQ(site->names.events[0],
              (mailbox::EventInfo{.name = "cycles_of_gpu1", .unit = "cycles", .description = "Cycles."}));
  }
}

TEST_F(GuestNamesTest, AnotherVmOrDeviceIsNotFound) {
  for (const ExchangeSubject& subject : {ExchangeSubject{.vm = "vm4"}, {.device = "gpu0", .vm = "vm3"}}) {
    const absl::Status status = FindGuestSite(client_, subject).status();
    EXPECT_TRUE(absl::IsNotFound(status)) << status;
    EXPECT_TRUE(IsRemote(status)) << "it may come yet";
  }
}

}  // namespace

}  // namespace sideband::client
