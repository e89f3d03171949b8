// SPDX-License-Identifier: Apache-2.0
//
// Tests what `sideband get` prints, of now and of the past, and how it chooses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/cli_fixture.h"

namespace sideband::client {
namespace {

using nlohmann::json;

TEST_F(CliTest, GetAsTable) {
  FakeDaemon::Script script;
  *script.snapshots.add_snapshots() = ASnapshot();
  *script.snapshots.add_snapshots() = ASnapshot();
  Serve(script);
  EXPECT_EQ(Printed({"get"}), std::string(kSnapshotTable) + "\n" + kSnapshotTable);
}

TEST_F(CliTest, TablesAreCutForATerminalOnly) {
  FakeDaemon::Script script;
  v1::Snapshot& snapshot = *script.snapshots.add_snapshots() = ASnapshot();
  const std::string name = std::string(60, 'x') + "_cycles";
  snapshot.mutable_scopes(1)->mutable_counters(0)->set_event(name);
  Serve(script);
  EXPECT_THAT(Printed({"get"}), testing::HasSubstr(name));
  terminal_ = TerminalSize{.rows = 24, .columns = 80};
  EXPECT_THAT(Printed({"get"}), testing::HasSubstr("xxxxxx…cycles  "));
  EXPECT_THAT(out_.text(), testing::HasSubstr("idle,overfl…\n"));
  EXPECT_THAT(Printed({"get", "--wide"}), testing::HasSubstr(name));
  terminal_->columns = 200;
  EXPECT_THAT(Printed({"get"}), testing::HasSubstr(name));
}

TEST_F(CliTest, AStaleDeviceSaysSo) {
  FakeDaemon::Script script;
  v1::Snapshot& snapshot = *script.snapshots.add_snapshots();
  snapshot = ASnapshot();
  snapshot.set_device_state(v1::Device::STATE_STALE);
  snapshot.mutable_age()->set_seconds(74);
  snapshot.mutable_age()->set_nanos(900'000'000);
  Serve(script);
  EXPECT_THAT(Printed({"get"}), testing::HasSubstr("  STALE: 1m14s old, its present rates are unknown\n"));
  EXPECT_EQ(err_.text(), "sideband: gpu0 is stale: its newest snapshot is 1m14s old; there are no rates\n");
}

TEST_F(CliTest, GetShowsUtilisations) {
  FakeDaemon::Script script;
  v1::Snapshot& snapshot = *script.snapshots.add_snapshots();
  snapshot.mutable_elapsed()->set_seconds(1);
  v1::ScopeCounters& row = *snapshot.add_scopes();
  row.set_state(v1::ScopeCounters::STATE_ACTIVE);
  for (const char* event : {"a_cycles", "b_cycles"}) {
    v1::Counter& counter = *row.add_counters();
    counter.set_event(event);
    counter.set_count(3);
    counter.set_rate_per_second(3);
  }
  v1::Ratio& configured = *row.add_ratios();
  configured.set_name("b");
  configured.set_value(0.5);
  v1::Ratio& utilisation = *row.add_ratios();
  utilisation.set_name("a");
  utilisation.set_event("a_cycles");
  utilisation.set_value(0.3725);
  Serve(script);
  const std::string table = Printed({"get"});
  EXPECT_THAT(table, testing::HasSubstr("rates over 1.000 s"));
  EXPECT_THAT(table, testing::HasSubstr("VM  CONTEXT  EVENT     COUNT     RATE    UTIL\n"
                                        "-   -        a_cycles      3  3.00 /s  37.2 %\n"
                                        "-   -        b_cycles      3  3.00 /s       -\n"));
  EXPECT_THAT(Printed({"get", "--raw"}), testing::HasSubstr("  3.0  0.372500"));
  EXPECT_THAT(Printed({"get", "--event", "a*"}), testing::HasSubstr("a_cycles      3  3.00 /s  37.2 %\n"));
  EXPECT_THAT(Printed({"get", "--event", "b*"}), testing::Not(testing::HasSubstr("UTIL")));
  EXPECT_THAT(Printed({"get", "--format", "csv"}), testing::HasSubstr(",a_cycles,3,3,1,0.3725,\r\n"));
  EXPECT_EQ(json::parse(Printed({"get", "--format", "json"}))["snapshots"][0]["elapsed"], "1s");
}

// In place of a VM's name: the device's own row has none.
TEST_F(CliTest, TheHypervisorIsNamedByItsSlice) {
  FakeDaemon::Script script;
  v1::Snapshot& snapshot = *script.snapshots.add_snapshots();
  for (const int slice : {-1, 0, 12}) {
    v1::ScopeCounters& row = *snapshot.add_scopes();
    row.set_state(v1::ScopeCounters::STATE_ACTIVE);
    row.mutable_scope()->set_host(slice >= 0);
    if (slice >= 0) row.mutable_scope()->set_slice(static_cast<uint32_t>(slice));
    v1::Counter& counter = *row.add_counters();
    counter.set_event("a_cycles");
    counter.set_count(7);
    *script.scopes.add_scopes() = row.scope();
  }
  Serve(script);
  EXPECT_THAT(Printed({"get"}), testing::HasSubstr("-          -        a_cycles      7     -\n"
                                                   "(host:0)   -        a_cycles      7     -\n"
                                                   "(host:12)  -        a_cycles      7     -\n"));
  EXPECT_THAT(Printed({"get", "--format", "csv"}), testing::HasSubstr(",12,(host:12),,,0,active,a_cycles,7,"));
  EXPECT_EQ(json::parse(Printed({"get", "--format", "json"}))["snapshots"][0]["scopes"][2]["scope"]["host"], true);
  EXPECT_THAT(Printed({"scopes"}), testing::HasSubstr("(host:12)"));
  const std::string of_host = Printed({"get", "--vm", "(host:12)"});
  EXPECT_EQ(daemon_->requests().get_snapshot, "filter { }") << "which has no name for it";
  EXPECT_THAT(of_host, testing::HasSubstr("(host:12)  -"));
  EXPECT_THAT(of_host, testing::Not(testing::HasSubstr("(host:0)")));
  EXPECT_EQ(err_.text(), "");
}

TEST_F(CliTest, GetAsJson) {
  FakeDaemon::Script script;
  *script.snapshots.add_snapshots() = ASnapshot();
  Serve(script);
  const json response = json::parse(Printed({"get", "--format", "json"}));
  const json& scopes = response["snapshots"][0]["scopes"];
  EXPECT_EQ(scopes[0]["counters"][0], json::parse(R"({"event": "sm_active", "count": "18446744073709551615"})"))
      << "an unknown rate is absent, not 0";
  EXPECT_EQ(scopes[1]["counters"][0]["rate_per_second"], 1234.56);
  EXPECT_EQ(scopes[1]["scope"]["slice"], 0);
  EXPECT_EQ(scopes[1]["flags"], json::parse(R"(["overflow", "estimated"])"));
}

TEST_F(CliTest, GetAsksForWhatTheFilterSays) {
  FakeDaemon::Script script;
  script.snapshots.add_snapshots();
  Serve(script);
  Printed({"get", "--device", "gpu0", "--vm", "vm0", "--context", "c", "--event", "a", "--event", "b"});
  EXPECT_EQ(daemon_->requests().get_snapshot,
            R"(filter { device: "gpu0" vm: "vm0" context: "c" events: "a" events: "b" })");
}

TEST_F(CliTest, WildcardsSelectAmongWhatThereIs) {
  Serve(ASite());
  const auto lines = [this](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"get", "--format", "csv"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    std::vector<std::string> shown;
    for (const auto& line : absl::StrSplit(Printed(arguments), "\r\n", absl::SkipEmpty())) {
      const std::vector<std::string> fields = absl::StrSplit(line, ',');
      if (fields[0] != "device") shown.push_back(absl::StrCat(fields[0], "/", fields[9], "/", fields[14]));
    }
    return shown;
  };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(lines({}), (Lines{"gpu0//sm_active", "gpu0/vm0/dram_read", "gpu1//sm_active", "gpu1/vm0/dram_read"}));
  EXPECT_EQ(lines({"--device", "*1"}), (Lines{"gpu1//sm_active", "gpu1/vm0/dram_read"}));
  EXPECT_EQ(daemon_->requests().get_snapshot, "filter { }");
  EXPECT_EQ(lines({"--vm", "vm?"}), (Lines{"gpu0/vm0/dram_read", "gpu1/vm0/dram_read"})) << "a device is no VM";
  EXPECT_EQ(lines({"--device", "gpu0", "--event", "*_active"}), (Lines{"gpu0//sm_active", "gpu1//sm_active"}));
  EXPECT_EQ(daemon_->requests().get_snapshot, R"(filter { device: "gpu0" events: "sm_active" })");
  EXPECT_EQ(lines({"--vm", "vm0", "--event", "dram_*", "--event", "sm_active"}),
            (Lines{"gpu0//sm_active", "gpu0/vm0/dram_read", "gpu1//sm_active", "gpu1/vm0/dram_read"}));
  EXPECT_EQ(daemon_->requests().get_snapshot, R"(filter { vm: "vm0" })") << "what matches need not be of that VM";
  EXPECT_EQ(lines({"--device", "gpu0", "--device", "gpu1", "--vm", "none*"}), Lines{});
  EXPECT_EQ(err_.text(), "sideband: no VM matches 'none*'\n");
}

TEST_F(CliTest, EmptyAnswersSayWhy) {
  Serve(ASite());
  const struct {
    std::vector<std::string> arguments;
    const char* notes;
  } kCases[] = {
      {{"get", "--device", "gpu0", "--event", "dram_write"},
       "sideband: gpu0: event 'dram_write' is masked: the device does not count it\n"},
      {{"get", "--event", "x*"}, "sideband: no event matches 'x*'\n"},
      {{"get", "--device", "x*"}, "sideband: no device matches 'x*'\n"},
      {{"get", "--vm", "vm3*"}, "sideband: VM 'vm3' is confidential: its counters are in sealed records only\n"},
      {{"get", "--device", "gpu1", "--event", "pcie_*", "--vm", "vm?"},
       "sideband: gpu1: event 'pcie_tx' is counted for the device as a whole, not for VMs\n"},
      {{"events", "--device", "x*"}, "sideband: no device matches 'x*'\n"},
      {{"scopes", "--device", "gpu?"}, "sideband: nothing that this caller may see matches\n"},
  };
  for (const auto& test : kCases) {
    Printed(test.arguments);
    EXPECT_EQ(err_.text(), test.notes) << absl::StrJoin(test.arguments, " ");
  }
  FakeDaemon::Script boards;
  boards.devices.add_devices()->set_name("gpu2");
  Serve(boards);
  Printed({"get"});
  EXPECT_EQ(err_.text(), "sideband: gpu2 is a board without counters: see sideband sensors --device gpu2\n");
}

// The daemon answers `tensor_active` with tensor_active_cycles; patterns are matched here.
TEST_F(CliTest, EventsAreMeantByTheNamesThatScreensShow) {
  FakeDaemon::Script script;
  v1::ScopeCounters& row = *script.snapshots.add_snapshots()->add_scopes();
  script.snapshots.mutable_snapshots(0)->set_device("gpu0");
  auto& events = *script.events.add_devices();
  script.devices.add_devices()->set_name("gpu0");
  events.set_device("gpu0");
  for (const char* event : {"tensor_active_cycles", "dram_read_cycles"}) {
    row.add_counters()->set_event(event);
    events.add_events()->set_name(event);
  }
  events.add_events()->set_name("sm_idle_cycles");
  events.mutable_events(2)->set_masked(true);
  Serve(script);
  EXPECT_THAT(Printed({"get", "--event", "tensor_active"}), testing::HasSubstr("tensor_active_cycles"));
  EXPECT_EQ(daemon_->requests().get_snapshot, R"(filter { events: "tensor_active" })");
  EXPECT_EQ(err_.text(), "") << "nothing is missing";
  const std::string table = Printed({"get", "--event", "tensor_active", "--event", "*_idle"});
  EXPECT_EQ(daemon_->requests().get_snapshot, R"(filter { events: "sm_idle_cycles" events: "tensor_active_cycles" })");
  EXPECT_THAT(table, testing::HasSubstr("tensor_active_cycles"));
  EXPECT_THAT(table, testing::Not(testing::HasSubstr("dram_read")));
  EXPECT_EQ(err_.text(), "sideband: gpu0: event 'sm_idle_cycles' is masked: the device does not count it\n");
  script.get_snapshot_status = grpc::Status(grpc::StatusCode::NOT_FOUND, "no such thing");
  Serve(script);
  EXPECT_EQ(Run({"get", "--address", "h:1", "--event", "tensor_active", "--event", "TENSOR"}).message(),
            "h:1: no such thing: event 'TENSOR' (did you mean 'tensor_active_cycles'?)");
}

TEST_F(CliTest, AWithheldEventSaysSo) {
  FakeDaemon::Script script = ASite();
  script.snapshots.mutable_snapshots(0)->mutable_scopes(0)->add_flags("confidential_excluded");
  Serve(script);
  Printed({"get", "--device", "gpu0", "--event", "pcie_tx"});
  EXPECT_EQ(err_.text(),
            "sideband: gpu0: event 'pcie_tx' is withheld: it would reveal a confidential VM that is or was on the "
            "device\n");
}

// vm1: sm_active in a gate group, pcie_tx beside it.
v1::Snapshot AGatedSnapshot(double coverage) {
  v1::Snapshot snapshot = ASnapshot();
  v1::ScopeCounters& row = *snapshot.mutable_scopes(1);
  row.set_state(v1::ScopeCounters::STATE_ACTIVE);
  row.clear_flags();
  row.add_flags("partial");
  v1::Counter& gated = *row.add_counters();
  gated.set_event("sm_active");
  gated.set_count(7);
  gated.set_coverage(coverage);
  gated.set_rate_coverage(0.25);
  snapshot.mutable_scopes()->DeleteSubrange(0, 1);
  return snapshot;
}

TEST_F(CliTest, CoverageIsBesideWhatHasAGate) {
  FakeDaemon::Script script;
  *script.snapshots.add_snapshots() = AGatedSnapshot(0.902);
  Serve(script);
  const std::string heading = std::string(kSnapshotTable).substr(0, std::string(kSnapshotTable).find("VM "));
  EXPECT_EQ(Printed({"get"}), heading +
                                  "VM   CONTEXT  EVENT      COUNT      RATE   COVER  NOTES\n"
                                  "vm0  train    dram_read     42  1.23 k/s       -  -\n"
                                  "vm0  train    sm_active      7         -  90.2 %  partial\n");
  const json counters = json::parse(Printed({"get", "--format", "json"}))["snapshots"][0]["scopes"][0]["counters"];
  EXPECT_EQ(counters[1]["coverage"], 0.902);
  EXPECT_EQ(counters[1]["rate_coverage"], 0.25);
  EXPECT_FALSE(counters[0].contains("coverage"));
  script.snapshots.Clear();
  *script.snapshots.add_snapshots() = AGatedSnapshot(1);
  Serve(script);
  EXPECT_NE(Printed({"get"}).find(" 100 %\n"), std::string::npos) << "the row is partial, this counter is not";
}

TEST_F(CliTest, AnEventOfAGroupSaysSo) {
  FakeDaemon::Script script = ASite();
  for (auto& device : *script.events.mutable_devices()) {
    for (v1::Event& event : *device.mutable_events()) {
      if (event.name() == "pcie_tx") event.set_gate_group("host");
    }
  }
  Serve(script);
  EXPECT_NE(Printed({"events"}).find("GROUP"), std::string::npos);
  Printed({"get", "--device", "gpu0", "--event", "pcie_tx"});
  EXPECT_EQ(err_.text(),
            "sideband: gpu0: event 'pcie_tx' has not been counted yet: its gate group 'host' was closed all the "
            "time\n");
}

TEST_F(CliTest, ANameThatIsNotThereIsNamed) {
  FakeDaemon::Script script = ASite();
  script.get_snapshot_status = grpc::Status(grpc::StatusCode::NOT_FOUND, "no such thing");
  Serve(script);
  const auto message = [this](std::vector<std::string> options) {
    options.insert(options.begin(), {"get", "--address", "h:1"});
    const absl::Status status = Run(options);
    EXPECT_EQ(ReportCli(status), 1);
    return std::string(status.message());
  };
  EXPECT_EQ(message({"--event", "dram_raed", "--event", "sm_active"}),
            "h:1: no such thing: event 'dram_raed' (did you mean 'dram_read'?)");
  EXPECT_EQ(message({"--device", "gpu0", "--vm", "vm9", "--event", "x"}),
            "h:1: no such thing: VM 'vm9' (did you mean 'vm0'?), event 'x'");
  EXPECT_EQ(message({"--vm", "vm0,vm1"}), "h:1: no such thing: VM 'vm0,vm1' (for several, repeat --vm)");
  EXPECT_EQ(message({"--vm", "vm*", "--vm", "vm3"}),
            "h:1: no such thing: VM 'vm3' (confidential: its counters are in sealed records only)")
      << "the daemon's answer, as for one name; the caller sees the VM";
  EXPECT_EQ(message({"--device", "gpu0"}), "h:1: no such thing");
  EXPECT_EQ(message({"--context", "train"}), "h:1: no such thing: context 'train'");
  EXPECT_EQ(message({"--vm", "vm0/train"}),
            "h:1: no such thing: VM 'vm0/train' (a context of it: --vm vm0 --context train)");
  script.scopes.add_scopes()->set_device("gpu0");  // its own row
  Serve(script);
  EXPECT_EQ(message({"--context", "train"}),
            "h:1: no such thing: context 'train' (operators see VMs, not their contexts)");
}

// A quarter of dram_read was counted; sm_active is exact.
TEST_F(CliTest, GetShowsHowExactAnEstimateIs) {
  v1::GetSnapshotResponse response;
  *response.add_snapshots() = ASnapshot();
  v1::ScopeCounters& row = *response.mutable_snapshots(0)->mutable_scopes(1);
  v1::Counter& read = *row.mutable_counters(0);
  read.set_coverage(0.25);
  read.mutable_estimate()->set_lower(40);
  read.mutable_estimate()->set_upper(1000);
  read.mutable_estimate()->set_standard_error(10);
  v1::Counter& exact = *row.add_counters();
  exact.set_event("sm_active");
  exact.set_count(7);
  Serve({.snapshots = response});
  const std::string table = Printed({"get"});
  EXPECT_THAT(table, testing::ContainsRegex("dram_read +~42 -2/\\+20 +~1.23 k/s +25.0 % +idle,overflow,estimated\n"));
  EXPECT_THAT(table, testing::ContainsRegex("sm_active +7 +- +- +idle,overflow\n"));
  const std::string bounds = Printed({"get", "--bounds"});
  EXPECT_THAT(bounds, testing::HasSubstr("LOWER"));
  EXPECT_THAT(bounds, testing::HasSubstr("COVERAGE"));
  EXPECT_THAT(bounds, testing::ContainsRegex("dram_read +~42 -2/\\+20 +40 +1,000 +~1.23 k/s"));
  EXPECT_THAT(bounds, testing::ContainsRegex("train +sm_active +7 +7 +7"));
  EXPECT_THAT(Printed({"get", "--format", "json"}), testing::HasSubstr("\"standard_error\": \"10\""));
  const std::string csv = Printed({"get", "--bounds", "--format", "csv"});
  EXPECT_THAT(csv, testing::HasSubstr(",flags,coverage,lower,upper,standard_error\r\n"));
  EXPECT_THAT(csv, testing::HasSubstr(",overflow estimated,0.25,40,1000,10\r\n"));
  EXPECT_THAT(csv, testing::HasSubstr(",,7,7,0\r\n"));
  EXPECT_THAT(Printed({"get", "--format", "csv"}), testing::Not(testing::HasSubstr("coverage")));
}

// Three points a second apart; the context restarts before the last.
v1::GetHistoryResponse AHistory() {
  v1::GetHistoryResponse response;
  response.mutable_step()->set_seconds(1);
  v1::DeviceHistory& device = *response.add_devices();
  device.set_device("gpu0");
  device.mutable_oldest()->set_seconds(1'699'999'000);
  device.add_events("dram_read");
  for (int i = 0; i < 3; ++i) {
    v1::HistoryPoint& point = *device.add_points();
    point.mutable_host_time()->set_seconds(1'700'000'000 + i);
    point.set_reference_time_ns((5 + 2 * i) * 1'000'000'000ull);
    point.set_snapshot_id(i);
  }
  for (const uint32_t first : {0, 2}) {
    v1::HistorySeries& series = *device.add_series();
    series.mutable_scope()->set_slice(1);
    series.mutable_scope()->set_vm("vm0");
    series.mutable_scope()->set_context("train");
    series.mutable_scope()->set_generation(first + 1);
    series.set_boot_id(0xb007);
    series.set_first_point(first);
    series.add_columns()->add_counts(first == 0 ? 100 : 7);
    series.add_statuses()->set_point(first);
    series.mutable_statuses(0)->set_state(v1::ScopeCounters::STATE_ACTIVE);
  }
  device.mutable_series(0)->mutable_columns(0)->add_counts(103);
  v1::HistoryStatus& retired = *device.mutable_series(0)->add_statuses();
  retired.set_point(1);
  retired.set_state(v1::ScopeCounters::STATE_RETIRED);
  retired.add_flags("estimated");
  return response;
}

TEST_F(CliTest, GetSinceAsTable) {
  Serve({.history = AHistory()});
  EXPECT_EQ(Printed({"get", "--since", "10m"}),
            "gpu0  3 points  2023-11-14T22:13:20.000Z to 2023-11-14T22:13:22.000Z  step 1s\n"
            "  history since 2023-11-14T21:56:40.000Z\n"
            "TIME           VM   CONTEXT  EVENT      COUNT      RATE  NOTES\n"
            "22:13:20.000Z  vm0  train    dram_read    100         -  -\n"
            "22:13:21.000Z  vm0  train    dram_read   ~103  ~1.50 /s  retired,estimated\n"
            "22:13:22.000Z  vm0  train    dram_read      7         -  restarted\n");
  EXPECT_EQ(
      Printed({"get", "--since", "10m", "--format", "csv"}),
      "device,host_time,host_time_error_seconds,reference_time_ns,snapshot_id,boot_id,slice,vm,vm_uuid,context,"
      "generation,state,event,count,rate_per_second,restarted,flags\r\n"
      "gpu0,2023-11-14T22:13:20.000Z,0,5000000000,0,000000000000b007,1,vm0,,train,1,active,dram_read,100,,no,\r\n"
      "gpu0,2023-11-14T22:13:21.000Z,0,7000000000,1,000000000000b007,1,vm0,,train,1,retired,dram_read,103,1.5,no,"
      "estimated\r\n"
      "gpu0,2023-11-14T22:13:22.000Z,0,9000000000,2,000000000000b007,1,vm0,,train,3,active,dram_read,7,,yes,\r\n");
}

TEST_F(CliTest, GetSinceHasNoNumberOfWhatWasNotCounted) {
  v1::GetHistoryResponse response = AHistory();
  auto& columns = *response.mutable_devices(0)->mutable_series(0)->mutable_columns();
  for (const double of_count : {0.5, 0.25}) columns[0].mutable_coverage()->add_of_counts(of_count);
  for (const double of_interval : {std::nan(""), 0.0}) columns[0].mutable_coverage()->add_of_intervals(of_interval);
  response.mutable_devices(0)->mutable_series(1)->mutable_columns(0)->mutable_coverage()->add_of_counts(0);
  Serve({.history = response});
  const std::string table = Printed({"get", "--since", "10m"});
  EXPECT_EQ(table.substr(table.find("TIME")),
            "TIME           VM   CONTEXT  EVENT      COUNT  RATE   COVER  NOTES\n"
            "22:13:20.000Z  vm0  train    dram_read    100     -  50.0 %  -\n"
            "22:13:21.000Z  vm0  train    dram_read   ~103     -  25.0 %  retired,estimated\n");
}

TEST_F(CliTest, GetSinceAsJson) {
  Serve({.history = AHistory()});
  const json response = json::parse(Printed({"get", "--since", "10m", "--format", "json"}));
  const json& series = response["devices"][0]["series"];
  EXPECT_EQ(series[0]["columns"][0],
            json::parse(R"({"event": 0, "counts": ["100", "103"], "rates_per_second": [null, 1.5]})"));
  EXPECT_EQ(series[1]["first_point"], 2);
  EXPECT_EQ(response["step"], "1s");
}

TEST_F(CliTest, GetSinceAsksForItsWindow) {
  Serve({});
  EXPECT_EQ(Printed({"get", "--vm", "v", "--since", "10m", "--until", "2023-11-14T22:20:00Z", "--step", "2500ms"}), "");
  EXPECT_EQ(err_.text(), "sideband: no history yet\n");
  EXPECT_EQ(daemon_->requests().get_history,
            R"(filter { vm: "v" } since { seconds: 1700000000 } until { seconds: 1700000400 } )"
            "step { seconds: 2 nanos: 500000000 }");
}

TEST_F(CliTest, GetSinceSaysWhatItHasNot) {
  v1::GetHistoryResponse nothing = AHistory();
  nothing.clear_step();
  nothing.mutable_devices(0)->clear_points();
  nothing.mutable_devices(0)->clear_series();
  Serve({.history = nothing});
  EXPECT_EQ(Printed({"get", "--since", "1m"}), "gpu0  0 points  history since 2023-11-14T21:56:40.000Z\n");
  EXPECT_EQ(err_.text(), "sideband: the history has no points in that time\n");
  Serve({.status = grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "this daemon keeps no history")});
  EXPECT_EQ(Run({"get", "--since", "1m", "--address", "h:1"}).message(), "h:1: this daemon keeps no history");
  Serve({.status = grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "")});
  const absl::Status old = Run({"get", "--since", "1m"});
  EXPECT_EQ(old.message(), "the daemon has no history: it is older than this program");
  EXPECT_EQ(ReportCli(old), 1);
}

}  // namespace
}  // namespace sideband::client
