// SPDX-License-Identifier: Apache-2.0
#include "client/cli/cli.h"

#include <gmock/gmock.h>
#include <grpcpp/channel.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "client/cli/output.h"
#include "client/commands.h"
#include "client/lib/fake_daemon.h"
#include "client/lib/rpc_status.h"
#include "proto/base/version.h"
#include "proto/envelope/seal.h"

namespace sideband::client {
namespace {

using nlohmann::json;

constexpr char kVmUuid[] = "6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10";
// 32 times 'N'.
constexpr envelope::GuestNonce kNonce = [] {
  envelope::GuestNonce nonce{};
  nonce.fill('N');
  return nonce;
}();
constexpr char kDeviceUuid[] = "11111111-2222-4333-8444-555555555555";

v1::Snapshot ASnapshot() {
  v1::Snapshot snapshot;
  snapshot.set_device("gpu0");
  snapshot.set_boot_id(0xb007);
  snapshot.set_snapshot_id(17);
  snapshot.set_trigger_id(34);
  snapshot.set_reference_time_ns(12'000'000'345);
  snapshot.mutable_host_time()->set_seconds(1'700'000'000);
  snapshot.mutable_host_time_error()->set_nanos(1'500'000);
  v1::ScopeCounters& device = *snapshot.add_scopes();
  device.set_state(v1::ScopeCounters::STATE_ACTIVE);
  v1::Counter& active = *device.add_counters();
  active.set_event("sm_active");
  active.set_count(18446744073709551615ull);
  v1::ScopeCounters& context = *snapshot.add_scopes();
  context.mutable_scope()->set_slice(0);
  context.mutable_scope()->set_vm("vm0");
  context.mutable_scope()->set_context("train");
  context.set_state(v1::ScopeCounters::STATE_IDLE);
  context.add_flags("overflow");
  context.add_flags("estimated");
  v1::Counter& read = *context.add_counters();
  read.set_event("dram_read");
  read.set_count(42);
  read.set_rate_per_second(1234.56);
  return snapshot;
}

constexpr char kSnapshotTable[] =
    "gpu0  2023-11-14T22:13:20.000Z ±1.5ms  snapshot 17  trigger 34\n"
    "  boot 000000000000b007  at 12.000000345 s\n"
    "VM   CONTEXT  EVENT                           COUNT       RATE  NOTES\n"
    "-    -        sm_active  18,446,744,073,709,551,615          -  -\n"
    "vm0  train    dram_read                         ~42  ~1.23 k/s  idle,overflow,estimated\n";

// Standard error.
class Notes final : public Output {
 public:
  absl::Status Write(absl::string_view text) override {
    absl::StrAppend(&text_, text);
    if (on_write) on_write();
    return absl::OkStatus();
  }
  void Clear() { text_.clear(); }
  const std::string& text() const { return text_; }

  std::function<void()> on_write;

 private:
  std::string text_;
};

class CliTest : public testing::Test {
 protected:
  void Serve(FakeDaemon::Script script) { daemon_ = std::make_unique<FakeDaemon>(std::move(script)); }
  void ServeAt(const std::string& host, FakeDaemon::Script script) {
    hosts_[host] = std::make_unique<FakeDaemon>(std::move(script));
  }

  absl::Status Run(const std::vector<std::string>& arguments) {
    out_ = StringOutput();
    err_.Clear();
    Environment environment{
        .out = out_,
        .err = err_,
        .cancellation = cancellation_,
        .get_env = [this](const std::string& name) -> std::optional<std::string> {
          const auto found = environment_.find(name);
          return found == environment_.end() ? std::nullopt : std::optional(found->second);
        },
        .connect = [this](const ClientConfig& config) -> absl::StatusOr<std::shared_ptr<grpc::Channel>> {
          config_ = config;
          if (on_connect_) on_connect_();
          if (!connect_error_.ok()) return connect_error_;
          const auto host = hosts_.find(config.address);
          return (host == hosts_.end() ? daemon_ : host->second)->Channel();
        },
        .now = now_,
        .wait = wait_,
        .terminal = [this] { return terminal_; },
        .draw_nonce = [] { return kNonce; }};
    return RunCli(arguments, AllCommands(), environment);
  }

  std::string Printed(const std::vector<std::string>& arguments) {
    EXPECT_EQ(Run(arguments), absl::OkStatus());
    return out_.text();
  }

  // The message of an error that ends the program with 2.
  std::string Mistake(const std::vector<std::string>& arguments) {
    const absl::Status status = Run(arguments);
    EXPECT_EQ(ReportCli(status), 2);
    return std::string(status.message());
  }

  std::map<std::string, std::string> environment_;
  StringOutput out_;
  Notes err_;
  Cancellation cancellation_;
  std::function<absl::Time()> now_ = [] { return absl::FromUnixSeconds(1'700'000'600); };
  std::function<bool(absl::Duration)> wait_ = [](absl::Duration) { return true; };
  std::optional<TerminalSize> terminal_;
  ClientConfig config_;
  std::function<void()> on_connect_;
  absl::Status connect_error_;
  std::unique_ptr<FakeDaemon> daemon_;
  std::map<std::string, std::unique_ptr<FakeDaemon>> hosts_;  // by address
};

TEST_F(CliTest, DevicesAsTableAndJson) {
  FakeDaemon::Script script;
  v1::Device& device = *script.devices.add_devices();
  device.set_name("gpu0");
  device.set_uuid(kDeviceUuid);
  device.set_boot_id(0xb007);
  device.set_state(v1::Device::STATE_STALE);
  device.mutable_interval()->set_seconds(1);
  device.set_reference_clock_hz(1'000'000'000);
  Serve(script);
  EXPECT_EQ(Printed({"devices"}),
            "DEVICE  STATE  INTERVAL     CLOCK  BOOT\n"
            "gpu0    stale        1s  1.00 GHz  000000000000b007\n");
  EXPECT_EQ(Printed({"devices", "--wide", "--raw"}),
            "DEVICE  STATE  INTERVAL         CLOCK  BOOT              UUID\n"
            "gpu0    stale        1s  1000000000.0  000000000000b007  11111111-2222-4333-8444-555555555555\n");
  EXPECT_EQ(Printed({"devices", "--format", "csv"}),
            "device,state,interval_seconds,reference_clock_hz,boot_id,uuid,kinds\r\n"
            "gpu0,stale,1,1000000000,000000000000b007,11111111-2222-4333-8444-555555555555,\r\n");
  EXPECT_EQ(json::parse(Printed({"devices", "--format", "json"})),
            json::parse(R"({"devices": [{"name": "gpu0", "uuid": "11111111-2222-4333-8444-555555555555",
                            "boot_id": "000000000000b007", "state": "STATE_STALE", "interval": "1s",
                            "reference_clock_hz": "1000000000", "kinds": []}]})"));
}

FakeDaemon::Script Refusal() { return {.status = grpc::Status(grpc::StatusCode::UNAVAILABLE, "refused")}; }

TEST_F(CliTest, DevicesOfSeveralHosts) {
  FakeDaemon::Script script;
  v1::Device& device = *script.devices.add_devices();
  device.set_name("gpu0");
  device.set_boot_id(0xb007);
  device.set_state(v1::Device::STATE_FRESH);
  device.mutable_interval()->set_seconds(1);
  device.set_reference_clock_hz(1'000'000'000);
  ServeAt("a:1", script);
  ServeAt("b:1", Refusal());
  device.set_name("gpu7");
  ServeAt("c:1", script);
  const auto printed = [&](const std::string& format) {
    EXPECT_EQ(ReportCli(Run({"devices", "--address", "a:1,b:1,c:1", "--format", format})), 1);
    EXPECT_EQ(err_.text(), "sideband: b:1: refused\n") << "one line, and the others are there";
    return out_.text();
  };
  EXPECT_EQ(printed("table"),
            "HOST  DEVICE  STATE  INTERVAL     CLOCK  BOOT\n"
            "a:1   gpu0    fresh        1s  1.00 GHz  000000000000b007\n"
            "c:1   gpu7    fresh        1s  1.00 GHz  000000000000b007\n");
  EXPECT_EQ(printed("csv"),
            "host,device,state,interval_seconds,reference_clock_hz,boot_id,uuid,kinds\r\n"
            "a:1,gpu0,fresh,1,1000000000,000000000000b007,,\r\n"
            "c:1,gpu7,fresh,1,1000000000,000000000000b007,,\r\n");
  const json hosts = json::parse(printed("json"))["hosts"];
  ASSERT_EQ(hosts.size(), 2u);
  EXPECT_EQ(hosts[1]["host"], "c:1");
  EXPECT_EQ(hosts[1]["devices"][0]["name"], "gpu7");
  EXPECT_EQ(Printed({"devices", "--address", "a:1,c:1"}).substr(0, 4), "HOST");
  EXPECT_EQ(err_.text(), "");
}

TEST_F(CliTest, SeveralHostsAreInTheConfiguration) {
  ServeAt("a:1", {});
  ServeAt("b:1", {});
  const std::string path = testing::TempDir() + "/hosts.yaml";
  std::ofstream(path) << "address: [a:1, b:1]\n";
  EXPECT_EQ(json::parse(Printed({"devices", "--config", path, "--format", "json"}))["hosts"].size(), 2u);
  EXPECT_EQ(err_.text(),
            "sideband: a:1: there is no device that this caller may see, or it has not answered yet\n"
            "sideband: b:1: there is no device that this caller may see, or it has not answered yet\n");
  EXPECT_EQ(Mistake({"scopes", "--config", path}),
            "address 'a:1,b:1': this command asks one daemon; several are for devices, get, watch and top");
  connect_error_ = absl::NotFoundError("ca.pem: no such file");
  EXPECT_EQ(Mistake({"devices", "--config", path}), "ca.pem: no such file") << "which is not of one host";
}

TEST_F(CliTest, GetFromSeveralHosts) {
  FakeDaemon::Script script;
  *script.snapshots.add_snapshots() = ASnapshot();
  ServeAt("a:1", script);
  ServeAt("b:1", script);
  EXPECT_THAT(Printed({"get", "--address", "a:1,b:1"}),
              testing::ContainsRegex("^a:1  gpu0  2023-[^\n]+\n[^$]+\n\nb:1  gpu0  2023-"));
  EXPECT_THAT(Printed({"get", "--address", "a:1,b:1", "--format", "csv"}),
              testing::ContainsRegex("^host,device,[^$]+\na:1,gpu0,[^$]+\nb:1,gpu0,"));
  const json hosts = json::parse(Printed({"get", "--address", "a:1,b:1", "--format", "json"}))["hosts"];
  EXPECT_EQ(hosts[0]["host"], "a:1");
  EXPECT_EQ(hosts[1]["snapshots"][0]["device"], "gpu0");
  // What is asked for is on one of them.
  script.get_snapshot_status = grpc::Status(grpc::StatusCode::NOT_FOUND, "no such VM");
  ServeAt("b:1", script);
  EXPECT_THAT(Printed({"get", "--address", "a:1,b:1"}), testing::StartsWith("a:1  gpu0"));
  EXPECT_EQ(err_.text(), "");
  ServeAt("a:1", script);
  EXPECT_EQ(ReportCli(Run({"get", "--address", "a:1,b:1"})), 1);
  EXPECT_EQ(err_.text(), "sideband: a:1: no such VM\nsideband: b:1: no such VM\n") << "on none";
}

TEST_F(CliTest, GetSinceFromSeveralHosts) {
  FakeDaemon::Script script;
  v1::DeviceHistory& history = *script.history.add_devices();
  history.set_device("gpu0");
  ServeAt("a:1", script);
  ServeAt("b:1", script);
  const std::vector<std::string> arguments = {"get", "--address", "a:1,b:1", "--since", "5m"};
  EXPECT_THAT(Printed(arguments), testing::ContainsRegex("^a:1  gpu0  0 points[^$]+\nb:1  gpu0  0 points"));
  std::vector<std::string> csv = arguments;
  csv.insert(csv.end(), {"--format", "csv"});
  EXPECT_THAT(Printed(csv), testing::StartsWith("host,device,host_time,"));
}

TEST_F(CliTest, AMissingSettingIsNamedWithItsFile) {
  connect_error_ = absl::InvalidArgumentError("no ca_file is given: the configuration must name it");
  EXPECT_EQ(Mistake({"devices"}),
            "there is no configuration: neither --config nor $SIDEBAND_CONFIG names a file, and "
            "~/.config/sideband/client.yaml does not exist; 127.0.0.1:9878 needs a ca_file");
  const std::string path = testing::TempDir() + "/client.yaml";
  std::ofstream(path) << "address: h:1\n";
  EXPECT_EQ(Mistake({"devices", "--config", path}), path + ": ca_file is missing, for h:1");
}

TEST_F(CliTest, EventsAsTable) {
  FakeDaemon::Script script;
  auto& device = *script.events.add_devices();
  device.set_device("gpu0");
  v1::Event& event = *device.add_events();
  event.set_name("dram_read");
  event.set_unit("bytes");
  event.set_scope(v1::Event::SCOPE_CONTEXT);
  event.set_description("Bytes read from DRAM");
  Serve(script);
  EXPECT_EQ(Printed({"events", "--device", "gpu0"}),
            "DEVICE  EVENT      UNIT   SCOPE    DESCRIPTION\n"
            "gpu0    dram_read  bytes  context  Bytes read from DRAM\n");
  device.mutable_events(0)->set_masked(true);
  Serve(script);
  EXPECT_EQ(Printed({"events"}),
            "DEVICE  EVENT      UNIT   SCOPE    NOTES   DESCRIPTION\n"
            "gpu0    dram_read  bytes  context  masked  Bytes read from DRAM\n");
  EXPECT_EQ(Printed({"events", "--format", "csv"}),
            "device,event,unit,scope,masked,description\r\n"
            "gpu0,dram_read,bytes,context,yes,Bytes read from DRAM\r\n");
}

TEST_F(CliTest, ScopesAsTable) {
  FakeDaemon::Script script;
  v1::Scope& scope = *script.scopes.add_scopes();
  scope.set_device("gpu0");
  scope.set_slice(3);
  scope.set_vm("vm0");
  scope.set_vm_uuid(kVmUuid);
  scope.set_generation(2);
  scope.set_confidential(true);
  Serve(script);
  EXPECT_EQ(Printed({"scopes"}),
            "DEVICE  SLICE  VM   CONTEXT  GENERATION  CONFIDENTIAL\n"
            "gpu0        3  vm0  -                 2  yes\n");
  EXPECT_EQ(Printed({"scopes", "--format", "csv"}),
            "device,slice,vm,vm_uuid,context,generation,confidential\r\n"
            "gpu0,3,vm0,6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10,,2,yes\r\n");
  EXPECT_EQ(Printed({"scopes", "--wide"}),
            "DEVICE  SLICE  VM   CONTEXT  GENERATION  CONFIDENTIAL  VM UUID\n"
            "gpu0        3  vm0  -                 2  yes           6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10\n");
}

TEST_F(CliTest, ScopesListContextsUnderTheirVm) {
  FakeDaemon::Script script;
  const auto add = [&](const char* device, const char* vm, const char* context) {
    v1::Scope& scope = *script.scopes.add_scopes();
    scope.set_device(device);
    scope.set_vm(vm);
    scope.set_vm_uuid(std::string("uuid of ") + vm);
    scope.set_context(context);
  };
  for (const char* device : {"gpu0", "gpu1"}) {
    for (const char* vm : {"vm1", "vm0"}) add(device, vm, "");
    for (const char* vm : {"vm0", "vm1"}) {
      for (const char* context : {"train", "eval"}) add(device, vm, context);
    }
  }
  Serve(script);
  std::vector<std::string> rows;
  for (const auto& line : absl::StrSplit(Printed({"scopes", "--format", "csv"}), "\r\n", absl::SkipEmpty())) {
    const std::vector<std::string> fields = absl::StrSplit(line, ',');
    if (fields[0] != "device") rows.push_back(absl::StrCat(fields[0], "/", fields[2], "/", fields[4]));
  }
  EXPECT_EQ(rows, (std::vector<std::string>{"gpu0/vm1/", "gpu0/vm1/train", "gpu0/vm1/eval", "gpu0/vm0/",
                                            "gpu0/vm0/train", "gpu0/vm0/eval", "gpu1/vm1/", "gpu1/vm1/train",
                                            "gpu1/vm1/eval", "gpu1/vm0/", "gpu1/vm0/train", "gpu1/vm0/eval"}));
}

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

// Two devices; gpu0 has a readable VM and a confidential one.
FakeDaemon::Script ASite() {
  FakeDaemon::Script script;
  for (const char* name : {"gpu0", "gpu1"}) {
    v1::Device& device = *script.devices.add_devices();
    device.set_boot_id(7);
    device.set_name(name);
    device.set_state(v1::Device::STATE_FRESH);
    v1::Snapshot& snapshot = *script.snapshots.add_snapshots() = ASnapshot();
    snapshot.set_device(name);
    auto& events = *script.events.add_devices();
    events.set_device(name);
    for (const char* event : {"sm_active", "dram_read", "dram_write", "pcie_tx"}) events.add_events()->set_name(event);
    events.mutable_events(2)->set_masked(true);
    events.mutable_events(3)->set_scope(v1::Event::SCOPE_DEVICE);
  }
  for (const char* vm : {"vm0", "vm3"}) {
    v1::Scope& scope = *script.scopes.add_scopes();
    scope.set_vm(vm);
    scope.set_confidential(std::string(vm) == "vm3");
  }
  return script;
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

TEST_F(CliTest, ADeviceWithoutASnapshotSaysSo) {
  FakeDaemon::Script script;
  const std::string none = "there is no device that this caller may see, or it has not answered yet";
  for (const char* command : {"devices", "events", "scopes"}) {
    Serve(script);
    Printed({command});
    EXPECT_EQ(err_.text(), absl::StrCat("sideband: ", none, "\n")) << command;
  }
  const absl::Status nothing = Run({"get"});
  EXPECT_EQ(nothing.message(), none);
  EXPECT_EQ(ReportCli(nothing), 1);
  v1::Device& device = *script.devices.add_devices();
  device.set_name("gpu0");
  device.set_state(v1::Device::STATE_AWAY);
  script.updates.emplace_back().set_sync_response(true);
  const std::string away = "gpu0 has not answered yet: there is no snapshot";
  for (const char* command : {"devices", "events", "scopes", "watch"}) {
    Serve(script);
    (void)Run({command});
    EXPECT_THAT(err_.text(), testing::StartsWith(absl::StrCat("sideband: ", away, "\n"))) << command;
  }
  const absl::Status silent = Run({"get", "--format", "json"});
  EXPECT_EQ(silent.message(), away);
  EXPECT_EQ(ReportCli(silent), 1);
  EXPECT_EQ(out_.text(), "");
  EXPECT_EQ(Printed({"devices"}),
            "DEVICE  STATE  INTERVAL  CLOCK  BOOT\n"
            "gpu0    away          0      -  -\n");
}

TEST_F(CliTest, DevicesTellTheirKind) {
  FakeDaemon::Script script;
  v1::Device& both = *script.devices.add_devices();
  both.set_name("gpu0");
  both.set_boot_id(0xb007);
  both.set_state(v1::Device::STATE_FRESH);
  both.mutable_interval()->set_seconds(1);
  both.set_reference_clock_hz(1'000'000'000);
  both.add_kinds(v1::Device::KIND_COUNTERS);
  v1::Device& board = *script.devices.add_devices();
  board.set_name("gpu1");
  board.set_state(v1::Device::STATE_FRESH);
  board.mutable_interval()->set_seconds(1);
  board.add_kinds(v1::Device::KIND_BOARD);
  both.add_kinds(v1::Device::KIND_BOARD);
  Serve(script);
  EXPECT_EQ(Printed({"devices"}),
            "DEVICE  STATE  KIND            INTERVAL     CLOCK  BOOT\n"
            "gpu0    fresh  counters+board        1s  1.00 GHz  000000000000b007\n"
            "gpu1    fresh  board                 1s         -  -\n");
  EXPECT_THAT(Printed({"devices", "--format", "csv"}), testing::HasSubstr("gpu1,fresh,1,,,,board\r\n"));
}

TEST_F(CliTest, HealthIsAnExitStatus) {
  Serve({});
  EXPECT_EQ(Printed({"health"}), "serving\n");
  EXPECT_EQ(Printed({"health", "--alive"}), "serving\n");
  Serve({.serving = false});
  const absl::Status status = Run({"health"});
  EXPECT_EQ(status.message(), "no device is fresh");
  EXPECT_EQ(ReportCli(status), 1);
  EXPECT_EQ(Printed({"health", "--alive"}), "alive, no device is fresh\n");
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

// Live counters of context train of vm0 on gpu0.
FakeDaemon::Script APeek() {
  FakeDaemon::Script script = ASite();
  script.devices.mutable_devices()->RemoveLast();
  v1::Scope& visible = *script.scopes.add_scopes();
  visible.set_vm("vm0");
  visible.set_context("train");
  v1::PeekResponse& peek = script.peek;
  v1::Scope& scope = *peek.mutable_counters()->mutable_scope();
  scope.set_device("gpu0");
  scope.set_slice(1);
  scope.set_vm("vm0");
  scope.set_vm_uuid(kVmUuid);
  scope.set_context("train");
  scope.set_generation(2);
  for (const auto& [event, count] : {std::pair("sm_active", 1'234'567), std::pair("dram_read", 42)}) {
    v1::Counter& counter = *peek.mutable_counters()->add_counters();
    counter.set_event(event);
    counter.set_count(count);
  }
  peek.set_boot_id(0xb007);
  peek.set_reference_time_ns(12'000'000'345);
  peek.mutable_host_time()->set_seconds(1'700'000'000);
  peek.mutable_host_time_error()->set_nanos(2'000'000);
  return script;
}

const std::vector<std::string> kPeek = {"peek", "--vm", "vm0", "--context", "train", "--event", "sm_active"};

TEST_F(CliTest, PeekPrintsWhatIsNow) {
  FakeDaemon::Script script = APeek();
  script.peek.mutable_counters()->add_flags("overflow");
  Serve(script);
  EXPECT_EQ(Printed({"peek", "--vm", "vm0", "--context", "train", "--event", "sm_active", "--event", "dram_read"}),
            "gpu0  2023-11-14T22:13:20.000Z ±2ms  boot 000000000000b007  at 12.000000345 s\n"
            "VM   CONTEXT  EVENT          COUNT  NOTES\n"
            "vm0  train    sm_active  1,234,567  overflow\n"
            "vm0  train    dram_read         42  overflow\n");
  EXPECT_EQ(daemon_->requests().peek,
            R"(device: "gpu0" vm: "vm0" context: "train" events: "sm_active" events: "dram_read")");
  EXPECT_EQ(
      Printed({"peek", "--event", "sm_active", "--format", "csv"}),
      "device,boot_id,reference_time_ns,host_time,host_time_error_seconds,slice,vm,vm_uuid,context,generation,event,"
      "count,flags\r\n"
      "gpu0,000000000000b007,12000000345,2023-11-14T22:13:20.000Z,0.002,1,vm0,6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10,"
      "train,2,sm_active,1234567,overflow\r\n"
      "gpu0,000000000000b007,12000000345,2023-11-14T22:13:20.000Z,0.002,1,vm0,6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10,"
      "train,2,dram_read,42,overflow\r\n");
  const json peek = json::parse(Printed({"peek", "--event", "sm_active", "--format", "json"}));
  EXPECT_EQ(peek["counters"]["counters"][0]["count"], "1234567");
  EXPECT_EQ(peek["counters"]["scope"]["generation"], 2);
  EXPECT_EQ(peek["counters"]["flags"], json::array({"overflow"}));
  EXPECT_FALSE(peek["counters"].contains("state"));
  EXPECT_FALSE(peek["counters"].contains("ratios"));
  EXPECT_EQ(peek["boot_id"], "000000000000b007");
}

TEST_F(CliTest, PeekAsksForTheHypervisorOnASlice) {
  Serve(APeek());
  Printed({"peek", "--host", "3", "--event", "sm_active"});
  EXPECT_EQ(daemon_->requests().peek, R"(device: "gpu0" events: "sm_active" host_slice: 3)");
  Printed({"peek", "--host", "0", "--event", "sm_active"});
  EXPECT_EQ(daemon_->requests().peek, R"(device: "gpu0" events: "sm_active" host_slice: 0)");
  Printed({"peek", "--vm", "(host:3)", "--event", "sm_active"});
  EXPECT_EQ(daemon_->requests().peek, R"(device: "gpu0" events: "sm_active" host_slice: 3)") << "as tables name it";
  EXPECT_THAT(Mistake({"peek", "--host", "64", "--event", "sm_active"}), testing::HasSubstr("--host"));
  EXPECT_THAT(Mistake({"peek", "--host", "0", "--vm", "vm0", "--event", "a"}), testing::HasSubstr("excludes"));
}

TEST_F(CliTest, PeekNeedsToBeToldTheDeviceAmongSeveral) {
  FakeDaemon::Script script = APeek();
  script.devices.add_devices()->set_name("gpu1");
  Serve(script);
  script.scopes.Clear();
  for (const char* device : {"gpu0", "gpu1"}) {
    v1::Scope& scope = *script.scopes.add_scopes();
    scope.set_device(device);
    scope.set_vm("vm0");
  }
  Serve(script);
  EXPECT_EQ(Mistake(kPeek), "--device: VM 'vm0' is on several: gpu0, gpu1");
  EXPECT_EQ(Mistake({"peek", "--host", "0", "--event", "a"}), "--device: there are several: gpu0, gpu1");
  script.scopes.mutable_scopes(1)->set_vm("vm1");
  Serve(script);
  Printed(kPeek);
  EXPECT_EQ(daemon_->requests().peek, R"(device: "gpu0" vm: "vm0" context: "train" events: "sm_active")");
  script.scopes.Clear();
  Serve(script);
  EXPECT_THAT(std::string(Run(kPeek).message()), testing::HasSubstr("there is no VM 'vm0' that this caller may read"));
  std::vector<std::string> named = kPeek;
  named.insert(named.end(), {"--device", "gpu1"});
  Printed(named);
  EXPECT_EQ(daemon_->requests().peek, R"(device: "gpu1" vm: "vm0" context: "train" events: "sm_active")");
  Serve({});
  EXPECT_EQ(ReportCli(Run(kPeek)), 1);
}

TEST_F(CliTest, PeekTakesUpToSixtyFourNames) {
  Serve(APeek());
  std::vector<std::string> many = kPeek;
  for (int i = 1; i < 64; ++i) many.insert(many.end(), {"--event", absl::StrCat("e", i)});
  many.insert(many.end(), {"--event", "sm_active"});
  Printed(many);
  EXPECT_THAT(daemon_->requests().peek, testing::EndsWith(R"(events: "e62" events: "e63")"));
  many.insert(many.end(), {"--event", "e64"});
  EXPECT_EQ(Mistake(many), "--event: at most 64 at once, 65 are given");
  EXPECT_EQ(Mistake({"peek", "--event", "dram_*"}),
            "--event: 'dram_*' is a pattern; peek takes exact names (see sideband peek --help)");
  EXPECT_EQ(Mistake({"peek", "--vm", "", "--event", "e"}), "--vm: must not be empty (see sideband peek --help)");
  EXPECT_EQ(Mistake({"peek", "--vm", "vm0", "--context", "", "--event", "e"}),
            "--context: must not be empty (see sideband peek --help)");
}

TEST_F(CliTest, PeekExplainsRefusals) {
  grpc::Status read;
  const auto message = [&](const grpc::Status& status, std::vector<std::string> arguments) {
    FakeDaemon::Script script = APeek();
    script.peek_status = status;
    script.get_snapshot_status = read;
    Serve(script);
    arguments.insert(arguments.end(), {"--address", "h:1"});
    const absl::Status refused = Run(arguments);
    EXPECT_EQ(ReportCli(refused), 1);
    return std::string(refused.message());
  };
  const grpc::Status absent(grpc::StatusCode::NOT_FOUND, "no such device, VM, context or event");
  EXPECT_EQ(message(absent, {"peek", "--vm", "vm9", "--event", "sm_activ"}),
            "h:1: no such device, VM, context or event: VM 'vm9' (did you mean 'vm0'?), event 'sm_activ' (did you mean "
            "'sm_active'?)");
  EXPECT_EQ(message(absent, kPeek),
            "h:1: no such device, VM, context or event to peek at; a peek needs the right `peek` as well as `read`");
  EXPECT_EQ(daemon_->requests().get_snapshot,
            R"(filter { device: "gpu0" vm: "vm0" context: "train" events: "sm_active" })");
  EXPECT_EQ(message(absent, {"peek", "--vm", "vm0", "--context", "trian", "--event", "sm_active"}),
            "h:1: no such device, VM, context or event: context 'trian' (did you mean 'train'?)");
  EXPECT_EQ(message(absent, {"peek", "--vm", "vm3", "--event", "sm_active"}),
            "h:1: no such device, VM, context or event: VM 'vm3' (confidential: its counters are in sealed records "
            "only)");
  EXPECT_EQ(message(absent, {"peek", "--event", "sm_active"}),
            "h:1: no such device, VM, context or event: the device's own counters, which only operators can peek at; "
            "name a VM with --vm");
  read = absent;
  EXPECT_EQ(message(absent, kPeek),
            "h:1: no such device, VM, context or event: sm_active of VM 'vm0', context 'train' on gpu0");
  EXPECT_EQ(message(grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "used up; retry in 70ms"), kPeek),
            "h:1: used up; retry in 70ms");
  EXPECT_EQ(message(grpc::Status(grpc::StatusCode::UNIMPLEMENTED, ""), kPeek),
            "the daemon does not support peeks: it is older than this program");
  EXPECT_EQ(message(grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "the device does not answer peeks"), kPeek),
            "h:1: the device does not answer peeks");
}

TEST_F(CliTest, AnExpiredTokenIsSaidToBeOne) {
  const std::string token = testing::TempDir() + "/expired.token";
  std::ofstream(token) << "eyJ9." << absl::WebSafeBase64Escape(R"({"exp": 1700000599})") << ".c2ln";
  Serve({.status = grpc::Status(grpc::StatusCode::UNAUTHENTICATED, "who are you?")});
  EXPECT_EQ(Run({"devices", "--address", "h:1", "--token-file", token}).message(),
            absl::StrCat("h:1: who are you? (the token in ", token, " expired at 2023-11-14T22:23:19Z)"));
  EXPECT_EQ(Run({"devices", "--address", "h:1"}).message(), "h:1: who are you?");
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

FakeDaemon::Script Updates(int count, bool keeps_streams) {
  FakeDaemon::Script script;
  script.keeps_streams = keeps_streams;
  for (int i = 0; i < count; ++i) {
    v1::Snapshot& snapshot = *script.updates.emplace_back().mutable_update() = ASnapshot();
    snapshot.set_snapshot_id(17 + static_cast<uint32_t>(i));
    if (i == 0) script.updates.emplace_back().set_sync_response(true);
  }
  script.updates.back().set_skipped(count - 1);
  return script;
}

TEST_F(CliTest, WatchPrintsUpdatesUpToItsCount) {
  Serve(Updates(2, true));
  EXPECT_EQ(Printed({"watch", "--count", "2", "--interval", "1500ms", "--format", "table"}),
            std::string(kSnapshotTable) + "\n1 snapshot skipped, no counts lost\n" +
                absl::StrReplaceAll(kSnapshotTable, {{"snapshot 17", "snapshot 18"}}) + "\n");
  EXPECT_EQ(daemon_->requests().subscribe,
            "filter { } mode: MODE_STREAM stream_mode: STREAM_MODE_SAMPLE "
            "sample_interval { seconds: 1 nanos: 500000000 } heartbeat_interval { seconds: 10 }");
}

// The number of each device's updates that were printed; `devices` is the order in which they come, "" the sync
// response.
std::map<std::string, int> PrintedUpdates(const std::string& lines) {
  std::map<std::string, int> updates;
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);)
    ++updates[json::parse(line)["update"]["device"].get<std::string>()];
  return updates;
}

FakeDaemon::Script UpdatesOf(const std::vector<std::string>& devices) {
  FakeDaemon::Script script{.keeps_streams = true};
  for (const std::string& device : devices) {
    v1::SubscribeResponse& response = script.updates.emplace_back();
    if (device.empty()) {
      response.set_sync_response(true);
      continue;
    }
    *response.mutable_update() = ASnapshot();
    response.mutable_update()->set_device(device);
    response.mutable_update()->set_snapshot_id(static_cast<uint32_t>(17 + script.updates.size()));
  }
  return script;
}

TEST_F(CliTest, WatchCountsRounds) {
  const auto printed = [&](const char* count, const std::vector<std::string>& devices) {
    Serve(UpdatesOf(devices));
    return PrintedUpdates(Printed({"watch", "--count", count, "--format", "json"}));
  };
  using Counted = std::map<std::string, int>;
  const std::vector<std::string> both = {"gpu0", "gpu1", "", "gpu1", "gpu0", "gpu0", "gpu1"};
  EXPECT_EQ(printed("1", both), (Counted{{"gpu0", 1}, {"gpu1", 1}})) << "no second update is waited for";
  EXPECT_EQ(printed("2", both), (Counted{{"gpu0", 2}, {"gpu1", 2}}));
  EXPECT_EQ(printed("3", both), (Counted{{"gpu0", 3}, {"gpu1", 3}}));
  // gpu1 falls silent and comes again.
  const std::vector<std::string> silent = {"gpu0", "gpu1", "", "gpu0", "gpu0", "gpu0", "gpu1", "gpu0"};
  EXPECT_EQ(printed("2", silent), (Counted{{"gpu0", 2}, {"gpu1", 1}})) << "the third update of gpu0 ends it";
  EXPECT_EQ(printed("4", silent), (Counted{{"gpu0", 4}, {"gpu1", 1}}));
  EXPECT_EQ(printed("5", silent), (Counted{{"gpu0", 5}, {"gpu1", 2}}));
  EXPECT_EQ(printed("1", {"", "gpu0", "gpu0"}), (Counted{{"gpu0", 1}})) << "there was none at first";
}

// c:1 refuses. The round is over when the others have told their state.
class SeveralHostsTest : public CliTest {
 protected:
  std::string ARound(const std::string& format) {
    ServeAt("a:1", UpdatesOf({"gpu0", "gpu1", ""}));
    ServeAt("b:1", UpdatesOf({"gpu0", ""}));
    ServeAt("c:1", Refusal());
    EXPECT_EQ(ReportCli(Run({"watch", "--address", "a:1,b:1,c:1", "--count", "1", "--format", format})), 1);
    EXPECT_EQ(err_.text(), "sideband: c:1: refused\n");
    return out_.text();
  }
};

TEST_F(SeveralHostsTest, WatchHasAColumn) {
  const std::string lines = ARound("lines");
  EXPECT_THAT(lines, testing::HasSubstr("TIME (UTC) HOST DEVICE VM "));
  for (const char* start : {"22:13:20.0 a:1  gpu0 ", "22:13:20.0 a:1  gpu1 ", "22:13:20.0 b:1  gpu0 "}) {
    EXPECT_THAT(lines, testing::HasSubstr(start));
  }
}

TEST_F(SeveralHostsTest, WatchAsJsonHasAMember) {
  std::map<std::string, int> updates;
  std::istringstream stream(ARound("json"));
  for (std::string line; std::getline(stream, line);) ++updates[json::parse(line)["host"].get<std::string>()];
  EXPECT_EQ(updates, (std::map<std::string, int>{{"a:1", 2}, {"b:1", 1}}));
}

TEST_F(SeveralHostsTest, WatchAsCsvHasTheTitlesOnce) {
  const std::string csv = ARound("csv");
  EXPECT_THAT(csv, testing::StartsWith("host,device,boot_id,"));
  EXPECT_EQ(csv.find("host,", 1), std::string::npos);
  EXPECT_THAT(csv, testing::HasSubstr("\nb:1,gpu0,"));
}

TEST_F(SeveralHostsTest, WatchAsTablesNamesTheHost) {
  EXPECT_THAT(ARound("table"), testing::HasSubstr("b:1  gpu0  2023-"));
}

TEST_F(SeveralHostsTest, TopHasAColumn) {
  for (const char* host : {"a:1", "b:1"}) ServeAt(host, Updates(1, true));
  ServeAt("c:1", Refusal());
  EXPECT_EQ(ReportCli(Run({"top", "-b", "-n", "1", "--event", "dram_read", "--address", "a:1,b:1,c:1"})), 1);
  EXPECT_EQ(err_.text(), "sideband: c:1: refused\n");
  EXPECT_THAT(out_.text(), testing::ContainsRegex("^sideband top  3 daemons  22:23:20 UTC  dram_read\n"
                                                  "HOST +NAME +STATE +READS +UTIL +RATE\n"
                                                  "a:1   gpu0 +fresh 0.0s +- +- +-\n"
                                                  "a:1     vm0 +- +- +- +-\n"
                                                  "a:1       train +idle +- +- +~1.23k/s\n"
                                                  "b:1   gpu0 +fresh "));
}

// Listing its devices fails, after the names on the command line have been checked: here there are none.
TEST_F(SeveralHostsTest, TopGoesOnWithoutTheFirst) {
  ServeAt("a:1", Refusal());
  ServeAt("b:1", Updates(1, true));
  EXPECT_EQ(ReportCli(Run({"top", "-b", "-n", "1", "--address", "a:1,b:1"})), 1);
  EXPECT_EQ(err_.text(), "sideband: a:1: refused\n");
  EXPECT_THAT(out_.text(), testing::HasSubstr("\nb:1   gpu0 "));
}

TEST_F(SeveralHostsTest, TopDoesNotWaitForASilentOne) {
  ServeAt("a:1", Updates(1, true));
  ServeAt("b:1", {.keeps_streams = true});
  std::atomic<int> asked = 0;
  now_ = [&asked] { return absl::FromUnixSeconds(1'700'000'600 + 10 * ++asked); };
  EXPECT_EQ(ReportCli(Run({"top", "-b", "-n", "1", "--address", "a:1,b:1"})), 0);
  EXPECT_EQ(err_.text(), "");
  EXPECT_THAT(out_.text(), testing::StartsWith("sideband top  2 daemons  "));
}

TEST_F(SeveralHostsTest, TopNotesWhatHasEnded) {
  ServeAt("a:1", {});
  ServeAt("b:1", Updates(1, true));
  EXPECT_EQ(ReportCli(Run({"top", "-b", "-n", "1", "--address", "a:1,b:1"})), 1);
  EXPECT_EQ(err_.text(), "sideband: a:1: the server ended the stream\n");
  EXPECT_THAT(out_.text(), testing::ContainsRegex("\na:1: the server ended the stream\nHOST [^$]+\nb:1   gpu0 "));
}

TEST_F(SeveralHostsTest, TopNotesAllThatHaveEnded) {
  for (const char* host : {"a:1", "b:1"}) ServeAt(host, {});
  EXPECT_EQ(ReportCli(Run({"top", "-b", "--address", "a:1,b:1"})), 1);
  EXPECT_EQ(err_.text(), "sideband: a:1: the server ended the stream\nsideband: b:1: the server ended the stream\n");
}

TEST_F(SeveralHostsTest, TopEndsIfNoneIsThere) {
  for (const char* host : {"a:1", "b:1"}) ServeAt(host, Refusal());
  EXPECT_EQ(ReportCli(Run({"top", "-b", "--address", "a:1,b:1"})), 1);
  EXPECT_EQ(err_.text(), "sideband: a:1: refused\nsideband: b:1: refused\n");
  EXPECT_EQ(out_.text(), "");
}

TEST_F(SeveralHostsTest, ALossNamesItsHostOnce) {
  FakeDaemon::Script lost = Updates(1, false);
  lost.status = grpc::Status(grpc::StatusCode::UNAVAILABLE, "gone");
  ServeAt("a:1", lost);
  ServeAt("b:1", Updates(1, false));
  EXPECT_EQ(ReportCli(Run({"watch", "--address", "a:1,b:1", "--no-reconnect"})), 1);
  EXPECT_THAT(err_.text(), testing::HasSubstr("sideband: a:1: gone\n"));
  EXPECT_THAT(err_.text(), testing::HasSubstr("sideband: b:1: the server ended the stream\n"));
  EXPECT_EQ(ReportCli(Run({"watch", "--address", "a:1,b:1"})), 1);
  EXPECT_THAT(err_.text(), testing::HasSubstr("sideband: a:1: gone; connecting again\n"));
  EXPECT_THAT(err_.text(), testing::HasSubstr("sideband: b:1: the server ended the stream; connecting again\n"));
  EXPECT_THAT(out_.text(), testing::HasSubstr(" a:1  gpu0 "));
}

TEST_F(SeveralHostsTest, WatchEndsIfNoneIsThere) {
  ServeAt("a:1", Refusal());
  ServeAt("b:1", Refusal());
  EXPECT_EQ(ReportCli(Run({"watch", "--address", "a:1,b:1"})), 1);
  EXPECT_THAT(err_.text(), testing::HasSubstr("sideband: a:1: refused\n"));
  EXPECT_THAT(err_.text(), testing::HasSubstr("sideband: b:1: refused\n"));
  EXPECT_EQ(out_.text(), "");
}

TEST_F(CliTest, WatchGoesOnWhereAStreamWasCut) {
  FakeDaemon::Script script = Updates(1, false);
  script.updates.back().set_resume_token("here");
  Serve(script);
  wait_ = [&](absl::Duration) {
    FakeDaemon::Script rest;
    rest.updates.emplace_back().mutable_resumed()->set_device("gpu0");
    rest.updates.push_back(Updates(1, true).updates[0]);
    rest.updates.back().mutable_update()->set_snapshot_id(18);
    rest.updates.back().set_replayed(true);
    rest.updates.push_back(rest.updates.back());
    rest.updates.back().mutable_update()->set_snapshot_id(19);
    rest.updates.back().set_resume_token("there");
    rest.keeps_streams = true;
    Serve(rest);
    return false;
  };
  const std::string printed = Printed({"watch", "--count", "3", "--format", "json"});
  EXPECT_THAT(daemon_->requests().subscribe, testing::HasSubstr("resume_token: \"here\""));
  EXPECT_EQ(err_.text(),
            "sideband: the server ended the stream; connecting again\n"
            "sideband: connected again\n")
      << "there is no gap";
  EXPECT_THAT(printed, testing::HasSubstr("\"replayed\":true"));
  EXPECT_THAT(printed, testing::HasSubstr("\"resume_token\":\"\"")) << "the token is for the command alone";
}

TEST_F(CliTest, WatchNotesAGapOnce) {
  FakeDaemon::Script script = Updates(1, true);
  v1::Gap& gap = *script.updates.emplace_back().mutable_gap();
  gap.set_device("gpu0");
  gap.set_reason(v1::Gap::REASON_NOT_KEPT);
  script.updates.push_back(script.updates[0]);
  script.updates.back().mutable_update()->set_snapshot_id(29);
  script.updates.back().mutable_update()->mutable_host_time()->set_seconds(1'700'000'012);
  Serve(script);
  Printed({"watch", "--count", "2"});
  EXPECT_EQ(err_.text(),
            "sideband: gpu0: no updates from 2023-11-14T22:13:20.000Z to 2023-11-14T22:13:32.000Z, snapshots 17 to 29; "
            "no counts are lost\n");
}

// They have nothing that was not sent before.
TEST_F(CliTest, WatchDoesNotPrintHeartbeats) {
  FakeDaemon::Script script = Updates(2, true);
  script.updates[0].set_heartbeat(true);
  Serve(script);
  EXPECT_THAT(Printed({"watch", "--count", "1", "--format", "json"}), testing::HasSubstr("\"snapshot_id\":18"));
}

TEST_F(CliTest, WatchPrintsChanges) {
  FakeDaemon::Script script{.keeps_streams = true};
  v1::StateChange& change = *script.updates.emplace_back().mutable_change();
  for (const char* device : {"gpu0", "gpu1"}) {
    change.add_items()->mutable_device()->set_name(device);
    change.mutable_items()->rbegin()->mutable_device()->set_state(v1::Device::STATE_STALE);
  }
  script.updates.push_back(script.updates[0]);
  script.updates[0].set_heartbeat(true);
  for (const char* device : {"gpu0", "gpu1", "gpu2"}) script.devices.add_devices()->set_name(device);
  Serve(script);
  EXPECT_THAT(Printed({"watch", "--on-change", "--count", "1"}), testing::HasSubstr(" gpu0 is stale\n"));
  EXPECT_EQ(daemon_->requests().subscribe,
            "filter { } mode: MODE_STREAM stream_mode: STREAM_MODE_ON_CHANGE heartbeat_interval { seconds: 10 }");
  EXPECT_THAT(Printed({"watch", "--on-change", "--count", "1", "--device", "gpu1", "--device", "gpu2"}),
              testing::Not(testing::HasSubstr("gpu0")));
  EXPECT_THAT(Printed({"watch", "--on-change", "--count", "1", "--format", "json"}), testing::HasSubstr("\"change\""));
  EXPECT_THAT(Mistake({"watch", "--on-change", "--interval", "1s"}), testing::HasSubstr("--on-change"));
  EXPECT_THAT(Mistake({"watch", "--on-change", "--format", "csv"}), testing::HasSubstr("lines or json"));
}

// Of dram_read a quarter was counted; sm_active is exact.
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

TEST_F(CliTest, WatchPrintsALinePerUpdate) {
  Serve(Updates(2, true));
  EXPECT_EQ(Printed({"watch", "--count", "2", "--contexts"}),
            "                                     sm     dram\n"
            "TIME (UTC) DEVICE VM   CONTEXT   active     read\n"
            "22:13:20.0 gpu0   -    -              -        -\n"
            "22:13:20.0 gpu0   vm0  train          - ~1.23k/s *\n"
            "22:13:20.0 gpu0   -    -              -        -\n"
            "22:13:20.0 gpu0   vm0  train          - ~1.23k/s *\n");
  EXPECT_THAT(Printed({"watch", "--count", "1", "--contexts", "--event", "dram*", "--value", "count"}),
              testing::HasSubstr("vm0  train        ~42 *"));
  EXPECT_NE(Mistake({"watch", "--value", "much"}).find("--value"), std::string::npos);
}

TEST_F(CliTest, WatchSaysWhatDoesNotFit) {
  FakeDaemon::Script script = Updates(1, true);
  for (int i = 0; i < 9; ++i) {
    script.updates[0].mutable_update()->mutable_scopes(0)->add_counters()->set_event(absl::StrCat("event_", i));
  }
  Serve(script);
  Printed({"watch", "--count", "1"});
  EXPECT_EQ(err_.text(), "sideband: 7 of 10 events fit the line: --event chooses, --wide shows all\n");
  terminal_ = TerminalSize{.rows = 24, .columns = 200};
  Printed({"watch", "--count", "1"});
  EXPECT_EQ(err_.text(), "");
}

TEST_F(CliTest, WatchSaysThatADeviceIsSilent) {
  FakeDaemon::Script script = Updates(1, true);
  for (const auto& [name, state] : {std::pair("gpu0", v1::Device::STATE_STALE), {"gpu1", v1::Device::STATE_AWAY}}) {
    v1::Device& device = *script.devices.add_devices();
    device.set_name(name);
    device.set_state(state);
    device.mutable_interval()->set_seconds(1);
  }
  script.updates[0].mutable_update()->mutable_age()->set_seconds(74);
  script.updates.push_back(script.updates[0]);
  script.updates.back().mutable_update()->set_snapshot_id(99);
  Serve(script);
  Printed({"watch", "--count", "2"});
  EXPECT_EQ(err_.text(),
            "sideband: gpu0 is stale: its newest snapshot is 1m14s old\n"
            "sideband: gpu1 has not answered yet: there is no snapshot\n");
}

TEST_F(CliTest, WatchOfABoardWithoutCountersEnds) {
  FakeDaemon::Script script{.keeps_streams = true};
  v1::Device& board = *script.devices.add_devices();
  board.set_name("gpu2");
  board.set_state(v1::Device::STATE_FRESH);
  script.updates.emplace_back().set_sync_response(true);
  Serve(script);
  EXPECT_EQ(Printed({"watch"}), "");
  EXPECT_EQ(err_.text(), "sideband: gpu2 is a board without counters: see sideband sensors --device gpu2\n");
}

TEST_F(CliTest, WatchEndsWellIfInterruptedWhileItLooksNamesUp) {
  Serve(Updates(1, true));
  on_connect_ = [this] { cancellation_.Cancel(); };
  EXPECT_EQ(Printed({"watch", "--device", "g*"}), "");
  EXPECT_EQ(err_.text(), "");
}

TEST_F(CliTest, OneAddressThatIsGivenTwiceIsOneDaemon) {
  Serve(Updates(1, true));
  EXPECT_EQ(Printed({"devices", "--address", "h:1, h:1,", "--format", "csv"}).substr(0, 7), "device,");
  EXPECT_EQ(config_.address, "h:1");
}

TEST_F(CliTest, WatchAsJsonIsALinePerUpdate) {
  Serve(Updates(2, true));
  std::istringstream lines(Printed({"watch", "--count", "2", "--format", "json"}));
  std::string line;
  for (const char* skipped : {"0", "1"}) {
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_EQ(json::parse(line)["skipped"], skipped);
    EXPECT_EQ(json::parse(line)["update"]["device"], "gpu0");
  }
  EXPECT_FALSE(std::getline(lines, line));
}

TEST_F(CliTest, WatchEndsWellWhenInterrupted) {
  cancellation_.Cancel();
  Serve(Updates(1, true));
  EXPECT_EQ(Run({"watch"}), absl::OkStatus());
}

TEST_F(CliTest, AStreamThatJustEndsIsAFailure) {
  Serve(Updates(1, false));
  const absl::Status status = Run({"watch", "--no-reconnect"});
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ReportCli(status), 1);
  Serve({.status = grpc::Status(grpc::StatusCode::UNAVAILABLE, "not yet")});
  EXPECT_EQ(Run({"watch", "--address", "h:1"}).message(), "h:1: not yet") << "it was never there";
}

TEST_F(CliTest, WatchGoesOnAfterTheDaemonHasRestarted) {
  Serve(Updates(1, false));
  std::vector<absl::Duration> waits;
  wait_ = [&](absl::Duration wait) {
    waits.push_back(wait);
    // First no daemon, then a daemon that does not know its devices yet, then a ready daemon.
    Serve({.status = grpc::Status(grpc::StatusCode::UNAVAILABLE, "refused")});
    if (waits.size() == 2) Serve({.status = grpc::Status(grpc::StatusCode::NOT_FOUND, "no such VM")});
    if (waits.size() < 3) return false;
    FakeDaemon::Script script = Updates(2, true);
    script.updates.back().mutable_update()->set_snapshot_id(29);
    script.updates.back().mutable_update()->mutable_host_time()->set_seconds(1'700'000'012);
    Serve(script);
    return false;
  };
  EXPECT_EQ(
      Printed({"watch", "--count", "2", "--vm", "vm0", "--format", "table"}).substr(0, std::size(kSnapshotTable) - 1),
      kSnapshotTable);
  EXPECT_THAT(out_.text(), testing::HasSubstr("snapshot 29")) << "snapshot 17 is not shown again";
  EXPECT_EQ(err_.text(),
            "sideband: the server ended the stream; connecting again\n"
            "sideband: connected again\n"
            "sideband: gpu0: no updates from 2023-11-14T22:13:20.000Z to 2023-11-14T22:13:32.000Z, snapshots 17 to 29; "
            "no counts are lost\n");
  EXPECT_EQ(waits, (std::vector{absl::Milliseconds(500), absl::Seconds(1), absl::Seconds(2)}));
}

// Each with how the next connection fares, before one that prints snapshot 18.
TEST_F(CliTest, WatchOutlastsWhatPasses) {
  for (const grpc::StatusCode code : {grpc::StatusCode::DEADLINE_EXCEEDED, grpc::StatusCode::RESOURCE_EXHAUSTED,
                                      grpc::StatusCode::CANCELLED, grpc::StatusCode::UNAVAILABLE}) {
    FakeDaemon::Script first = Updates(1, false);
    first.status = grpc::Status(code, "the reader has taken nothing");
    Serve(first);
    int waits = 0;
    wait_ = [&](absl::Duration) {
      FakeDaemon::Script next = Updates(2, true);
      if (++waits == 1) next.status = grpc::Status(code, "at most 64 streams at a time");
      if (waits == 1) next.updates.clear(), next.keeps_streams = false;
      Serve(next);
      return false;
    };
    EXPECT_THAT(Printed({"watch", "--count", "2", "--format", "json"}), testing::HasSubstr("\"snapshot_id\":18"));
    EXPECT_EQ(waits, 2);
    Serve({.status = grpc::Status(code, "at first")});
    EXPECT_EQ(Run({"watch", "--address", "h:1"}).message(), "h:1: at first") << "it was never there";
  }
}

TEST_F(CliTest, WatchGoesOnWithANewToken) {
  const std::string token = absl::StrCat(testing::TempDir(), "/watch.token");
  std::ofstream(token) << "first";
  FakeDaemon::Script expired = Updates(1, false);
  expired.status = grpc::Status(grpc::StatusCode::UNAUTHENTICATED, "who are you?");
  Serve(expired);
  int waits = 0;
  wait_ = [&](absl::Duration) { return ++waits, false; };
  EXPECT_TRUE(absl::IsUnauthenticated(Run({"watch", "--token-file", token})));
  EXPECT_EQ(waits, 0) << "the token is the one that has expired";
  // It is renewed while the stream is open.
  on_connect_ = [&] {
    if (waits == 0) std::ofstream(token) << "the second";
  };
  EXPECT_TRUE(absl::IsUnauthenticated(Run({"watch", "--token-file", token})));
  EXPECT_EQ(waits, 1) << "once for each token";
  waits = 0;
  std::ofstream(token) << "first";
  wait_ = [&](absl::Duration) {
    Serve(Updates(2, true));
    return ++waits, false;
  };
  EXPECT_THAT(Printed({"watch", "--token-file", token, "--count", "2", "--format", "json"}),
              testing::HasSubstr("\"snapshot_id\":18"));
}

// The key is not there yet when the first one connects again.
TEST_F(CliTest, WatchWaitsForFilesThatAreBeingReplaced) {
  Serve(Updates(1, false));
  int waits = 0;
  wait_ = [&](absl::Duration) {
    ++waits;
    connect_error_ = waits == 1 ? absl::NotFoundError("client.key: no such file") : absl::OkStatus();
    Serve(Updates(2, true));
    return false;
  };
  EXPECT_THAT(Printed({"watch", "--count", "2", "--format", "json"}), testing::HasSubstr("\"snapshot_id\":18"));
  EXPECT_EQ(waits, 2);
  Serve(Updates(1, false));
  absl::Duration waited;
  wait_ = [&](absl::Duration delay) {
    waited += delay;
    connect_error_ = absl::NotFoundError("client.key: no such file");
    return false;
  };
  EXPECT_EQ(Mistake({"watch"}), "client.key: no such file");
  EXPECT_GE(waited, absl::Seconds(30));
  EXPECT_LE(waited, absl::Seconds(45));
}

TEST_F(CliTest, WatchSaysThatADeviceHasRestarted) {
  FakeDaemon::Script script = Updates(2, true);
  script.updates.back().mutable_update()->set_boot_id(0xb008);
  Serve(script);
  Printed({"watch", "--count", "2"});
  EXPECT_EQ(
      err_.text(),
      "sideband: gpu0 has restarted: boot 000000000000b008 after 000000000000b007; its counts start from 0 again\n");
}

TEST_F(CliTest, WatchWaitsForNamesOnlySoLong) {
  Serve(Updates(1, false));
  absl::Duration waited;
  wait_ = [&](absl::Duration wait) {
    waited += wait;
    Serve({.status = grpc::Status(grpc::StatusCode::NOT_FOUND, "no such VM")});
    return false;
  };
  EXPECT_EQ(Run({"watch", "--vm", "vm0", "--address", "h:1"}).message().substr(0, 15), "h:1: no such VM");
  EXPECT_GE(waited, absl::Seconds(30));
  EXPECT_LE(waited, absl::Seconds(45));
}

TEST_F(CliTest, WhatTheDaemonRefusesEndsWithOne) {
  Serve({.status = grpc::Status(grpc::StatusCode::NOT_FOUND, "not found")});
  for (const std::string command : {"devices", "events", "scopes", "get", "watch"}) {
    const absl::Status status = Run({command, "--address", "h:1"});
    EXPECT_THAT(std::string(status.message()), testing::StartsWith("h:1: not found")) << command;
    EXPECT_EQ(ReportCli(status), 1) << command;
  }
}

TEST_F(CliTest, UsageMistakesEndWithTwo) {
  Serve({});
  EXPECT_EQ(Mistake({}), "A subcommand is required (see sideband --help)");
  EXPECT_EQ(Mistake({"wacth"}), "unknown argument 'wacth' (did you mean 'watch'?)");
  EXPECT_EQ(Mistake({"get", "vm1"}),
            "unknown argument 'vm1': 'get' takes names with --device, --vm, --context, --event");
  EXPECT_EQ(Mistake({"--wide", "devices"}), "option '--wide' comes after 'devices'");
  EXPECT_EQ(Mistake({"get", "--event", "--config", "a.yaml"}), "--event has no value: '--config' follows it");
  EXPECT_EQ(Mistake({"get", "--fromat", "json"}),
            "unknown option '--fromat' (did you mean '--format'?); see sideband get --help");
  EXPECT_EQ(Mistake({"get", "--adress", "h:1"}),
            "unknown option '--adress' (did you mean '--address'?); see sideband get --help");
  EXPECT_EQ(Mistake({"get", "--qqqqqq"}), "unknown option '--qqqqqq' (see sideband get --help)");
  EXPECT_NE(Mistake({"get", "--format", "xml"}).find("--format: xml not in {table,json,csv}"), std::string::npos);
  EXPECT_NE(Mistake({"watch", "--interval", "5x"}).find("'5x' is not a duration from 10ms to 24h"), std::string::npos);
  EXPECT_NE(Mistake({"watch", "--interval", "9ms"}).find("not a duration"), std::string::npos);
  EXPECT_NE(Mistake({"watch", "--count", "0"}).find("--count"), std::string::npos);
  EXPECT_NE(Mistake({"get", "--since", "5"}).find("'5' is neither a duration, such as 5m or 2d, nor a time"),
            std::string::npos);
  EXPECT_NE(Mistake({"get", "--since", "5m", "--step", "0s"}).find("not a duration from 1ms"), std::string::npos);
  EXPECT_NE(Mistake({"get", "--step", "5s"}).find("--step requires --since"), std::string::npos);
  EXPECT_NE(Mistake({"get", "--until", "5m"}).find("--until requires --since"), std::string::npos);
  EXPECT_EQ(Mistake({"get", "--since", "5m", "--until", "6m"}), "--until is before --since");
  EXPECT_NE(Mistake({"unseal", "--vm", "vm0"}).find("--key-file or --exchange is required"), std::string::npos);
  EXPECT_NE(Mistake({"peek", "--vm", "vm0"}).find("--event is required"), std::string::npos);
  EXPECT_NE(Mistake({"peek", "--context", "c", "--event", "e"}).find("--context requires --vm"), std::string::npos);
  EXPECT_EQ(Mistake({"bus"}), "A subcommand is required (see sideband bus --help)");
  EXPECT_EQ(Mistake({"bus", "trace"}), "bus trace: either --bus or a capture FILE is needed");
  EXPECT_EQ(Mistake({"bus", "trace", "--bus", "unix:x", "--adress", "1"}),
            "unknown option '--adress' (did you mean '--address'?); see sideband bus trace --help");
  EXPECT_EQ(Mistake({"bus", "trace", "--bus", "unix:x", "--address", "0x80"}),
            "--address: the address must be from 0x08 to 0x77");
  EXPECT_EQ(Mistake({"bus", "trace", "--bus", "unix:x", "--address", "4f"}),
            "--address: the address must be from 0x08 to 0x77: write 0x4f");
  EXPECT_NE(Mistake({"get", "--config", "/nonexistent.yaml"}).find("/nonexistent.yaml"), std::string::npos);
}

TEST_F(CliTest, TopPrintsRounds) {
  Serve(Updates(1, true));
  wait_ = [](absl::Duration) { return false; };
  EXPECT_THAT(
      Printed({"top", "--batch", "--count", "2", "--event", "dram_read", "--interval", "5s", "--address", "h:1"}),
      testing::ContainsRegex("^sideband top  h:1  22:23:20 UTC  dram_read\n"
                             "NAME +STATE +READS +UTIL +RATE\n"
                             "gpu0 +fresh 0.0s +- +- +-\n"
                             "  vm0 +- +- +- +-\n"
                             "    train +idle +- +- +~1.23k/s\n"
                             "\nsideband top  h:1  22:23:20 UTC  dram_read\n"));
  EXPECT_THAT(daemon_->requests().subscribe, testing::HasSubstr("sample_interval { seconds: 5 }"));
  EXPECT_EQ(err_.text(), "");
}

TEST_F(CliTest, TopEndsWellWhenInterrupted) {
  Serve(Updates(1, true));
  std::vector<absl::Duration> waits;
  wait_ = [&](absl::Duration wait) {
    waits.push_back(wait);
    return true;
  };
  EXPECT_THAT(Printed({"top", "-b"}), testing::StartsWith("sideband top  127.0.0.1:9878  22:23:20 UTC  sm_active\n"));
  EXPECT_EQ(waits, std::vector{absl::Seconds(1)});
}

TEST_F(CliTest, TopRefusesWhatIsNoOption) {
  EXPECT_THAT(Mistake({"top", "--count", "3"}), testing::HasSubstr("--count requires --batch"));
  EXPECT_THAT(Mistake({"top", "--batch", "--interval", "9ms"}), testing::HasSubstr("not a duration from 10ms to 24h"));
}

TEST_F(CliTest, ConfigInitSaysWhatIsNext) {
  const std::string folder = testing::TempDir() + "/config_init";
  std::filesystem::remove_all(folder);
  const std::string printed = Printed({"config", "init", "--dir", folder});
  EXPECT_THAT(printed, testing::StartsWith("The files of a first site are in " + folder + ". Next:\n\n  cd " + folder));
  EXPECT_THAT(printed, testing::HasSubstr("\n  sideband --config operator.yaml devices\n"));
  EXPECT_THAT(printed, testing::HasSubstr("\nFor production, replace:\n  *.pem, *.key "));
  EXPECT_EQ(Mistake({"config", "init", "--dir", folder}),
            folder + ": the folder is not empty, and nothing is overwritten");
  EXPECT_EQ(Mistake({"config"}), "A subcommand is required (see sideband config --help)");
  EXPECT_THAT(Mistake({"config", "init"}), testing::HasSubstr("--dir is required"));
}

// One table of commands for the installed files and for what is printed: it is complete here, too.
TEST_F(CliTest, CompletionNamesAllCommands) {
  for (const auto& [shell, start] : {std::pair("bash", "# Completion of sideband for bash."),
                                     {"zsh", "#compdef sideband\n"},
                                     {"fish", "# Completion of sideband for fish."}}) {
    const std::string printed = Printed({"completion", shell});
    EXPECT_THAT(printed, testing::StartsWith(start));
    for (const auto& command : AllCommands()) EXPECT_THAT(printed, testing::HasSubstr(command->name())) << shell;
    EXPECT_THAT(printed, testing::HasSubstr("bash")) << "the shells are completed, too";
    EXPECT_EQ(Printed({"completion", shell, "--address", "h:1"}), printed) << "whatever else is given";
  }
  EXPECT_THAT(Mistake({"completion", "tcsh"}), testing::HasSubstr("tcsh not in {bash,zsh,fish}"));
  EXPECT_THAT(Mistake({"completion"}), testing::HasSubstr("shell is required"));
}

TEST_F(CliTest, HelpOfEverythingHasExamples) {
  for (const auto& command : AllCommands()) {
    const std::string help = Printed({command->name(), "--help"});
    EXPECT_NE(help.find("Example"), std::string::npos) << command->name();
    EXPECT_NE(help.find("sideband " + command->name()), std::string::npos) << command->name();
    EXPECT_NE(Printed({"--help"}).find(command->description()), std::string::npos) << command->name();
  }
  EXPECT_THAT(Printed({"--help"}), testing::HasSubstr("\nRead counters and sensors:\n  devices "));
  EXPECT_NE(Printed({"bus", "trace", "--help"}).find("sideband bus trace"), std::string::npos);
  EXPECT_EQ(Printed({"--version"}), "sideband " + BuildVersion() + "\n");
  EXPECT_EQ(Printed({"version"}), Printed({"--version"}));
}

TEST_F(CliTest, HelpOfACommandHasTheGlobalOptions) {
  for (const auto& command : AllCommands()) {
    const std::string help = Printed({command->name(), "--help"});
    for (const char* option : {"--address", "--ca-file", "--token-file", "--config"}) {
      EXPECT_THAT(help, testing::HasSubstr(option)) << command->name();
    }
  }
  EXPECT_EQ(Printed({"help", "get"}), Printed({"get", "--help"}));
  EXPECT_EQ(Printed({"help", "bus", "trace"}), Printed({"bus", "trace", "--help"}));
  EXPECT_EQ(Printed({"help"}), Printed({"--help"}));
  EXPECT_THAT(Printed({"help", "unseal"}), testing::HasSubstr("before the subcommand only:\n  --key-file"));
  EXPECT_EQ(Mistake({"help", "wacth"}), "help: unknown command 'wacth' (did you mean 'watch'?)");
}

TEST_F(CliTest, GlobalOptionsMayStandOnEitherSide) {
  Serve({});
  Printed({"--address", "h:1", "devices", "--server-name", "s"});
  EXPECT_EQ(config_, (ClientConfig{.address = "h:1", .server_name = "s"}));
}

class UnsealTest : public CliTest {
 protected:
  UnsealTest() {
    key_file_ = testing::TempDir() + "/vm.key";
    std::ofstream(key_file_) << std::string(64, '4') << "\n";
    ::chmod(key_file_.c_str(), 0600);
  }

  // A record with the stream's nonce; without one, as in a file.
  static v1::SealedRecord Record(uint64_t sequence, bool with_nonce = false, uint64_t epoch = 3) {
    envelope::RecordHeader header{.device = *Uuid::Parse(kDeviceUuid),
                                  .boot_id = 1,
                                  .vm = *Uuid::Parse(kVmUuid),
                                  .generation = 2,
                                  .epoch = epoch,
                                  .sequence = sequence};
    if (with_nonce) header.guest_nonce = kNonce;
    v1::SealedContent content;
    *content.mutable_snapshot() = ASnapshot();
    const auto keys =
        envelope::SessionKeys::Derive(envelope::Secret::Take(Bytes(32, 0x44)), envelope::KeyScope::Of(header));
    const Bytes bytes = *envelope::SealRecord(*keys, header, AsBytes(content.SerializeAsString()));
    v1::SealedRecord record;
    record.set_record(std::string(bytes.begin(), bytes.end()));
    return record;
  }

  static std::string FileOf(const v1::SealedRecord& record) {
    const std::string path = testing::TempDir() + "/record.bin";
    std::ofstream(path, std::ios::binary) << record.record();
    return path;
  }

  std::string key_file_;
};

TEST_F(UnsealTest, OpensAStream) {
  Serve({.records = {Record(0, true), Record(3, true)}, .keeps_streams = true});
  const std::string heading =
      std::string("VM ") + kVmUuid + "  generation 2\n  device " + kDeviceUuid + "  epoch 3  record ";
  EXPECT_EQ(Printed({"unseal", "--vm", "vm0", "--device", "gpu0", "--key-file", key_file_, "--count", "2"}),
            heading + "0\n" + kSnapshotTable + "\n2 records are missing before this one\n" + heading + "3\n" +
                kSnapshotTable + "\n");
  EXPECT_EQ(daemon_->requests().subscribe_sealed,
            R"(device: "gpu0" vm: "vm0" nonce: "NNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN")");
  EXPECT_EQ(config_.key_file, "") << "the VM's key is not that of TLS";
}

TEST_F(UnsealTest, SaysWhyThereIsNoRecord) {
  FakeDaemon::Script script{.status = grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "no key")};
  Serve(script);
  EXPECT_EQ(Run({"unseal", "--address", "h:1", "--vm", "vm0", "--key-file", key_file_}).message(), "h:1: no key");
  EXPECT_EQ(ReportCli(Run({"unseal", "--vm", "vm0", "--key-file", key_file_})), 1);
  script = {.keeps_streams = true};
  v1::Device& device = *script.devices.add_devices();
  device.set_name("gpu0");
  device.set_state(v1::Device::STATE_STALE);
  v1::Scope& scope = *script.scopes.add_scopes();
  scope.set_device("gpu0");
  scope.set_vm("vm0");
  scope.set_confidential(true);
  Serve(script);
  err_.on_write = [this] { cancellation_.Cancel(); };
  const std::string state = testing::TempDir() + "/silent.state";
  EXPECT_EQ(Run({"unseal", "--vm", "vm0", "--key-file", key_file_, "--state", state}), absl::OkStatus());
  EXPECT_EQ(err_.text(), "sideband: gpu0 is stale: it does not answer\n");
}

TEST_F(UnsealTest, OpensAFileAsJson) {
  const json line = json::parse(
      Printed({"unseal", "--vm", kVmUuid, "--key-file", key_file_, "--record", FileOf(Record(5)), "--format", "json"}));
  EXPECT_EQ(line["record"]["vm_uuid"], kVmUuid);
  EXPECT_EQ(line["record"]["sequence"], "5");
  EXPECT_EQ(line["gap"], "0");
  EXPECT_EQ(line["snapshot"]["scopes"][1]["counters"][0]["count"], "42");
}

TEST_F(UnsealTest, RejectionIsOneLineAndEndsWithOne) {
  v1::SealedRecord bad = Record(1);
  bad.mutable_record()->back() ^= 1;
  const std::string other = "00000000-0000-4000-8000-000000000000";
  for (const absl::Status& status :
       {Run({"unseal", "--key-file", key_file_, "--record", FileOf(bad)}),
        Run({"unseal", "--vm", other, "--key-file", key_file_, "--record", FileOf(Record(1))}),
        Run({"unseal", "--device-uuid", other, "--key-file", key_file_, "--record", FileOf(Record(1))})}) {
    EXPECT_EQ(status.message(), "record rejected");
    EXPECT_EQ(ReportCli(status), 1);
  }
  for (const auto& records : {std::vector{Record(1, true), Record(1, true)}, std::vector{Record(1)}}) {
    Serve({.records = records, .keeps_streams = true});
    EXPECT_EQ(Run({"unseal", "--vm", kVmUuid, "--key-file", key_file_}).message(), "record rejected")
        << "a replay, or a record without the stream's nonce";
  }
}

TEST_F(UnsealTest, StateTellsALaterRunWhatIsOld) {
  const std::string state = testing::TempDir() + "/unseal.state";
  ::unlink(state.c_str());
  const auto open = [&](const v1::SealedRecord& record) {
    return Run({"unseal", "--key-file", key_file_, "--record", FileOf(record), "--state", state});
  };
  EXPECT_EQ(open(Record(5)), absl::OkStatus());
  EXPECT_EQ(open(Record(5)).message(), "record rejected") << "the same once more";
  EXPECT_EQ(open(Record(9, false, 2)).message(), "record rejected") << "of an older run of the daemon";
  EXPECT_EQ(open(Record(6)), absl::OkStatus());
  Serve({.records = {Record(0, true, 8)}, .keeps_streams = true});
  Printed({"unseal", "--vm", kVmUuid, "--key-file", key_file_, "--count", "1", "--state", state});
  EXPECT_EQ(open(Record(7)).message(), "record rejected") << "older than what the stream has brought";
  std::ofstream(state) << "not a state";
  const absl::Status status = open(Record(0, false, 9));
  EXPECT_EQ(ReportCli(status), 2) << status;
  EXPECT_EQ(Run({"unseal", "--key-file", key_file_, "--record", FileOf(Record(5))}), absl::OkStatus())
      << "without a state a file may be opened again";
}

TEST_F(UnsealTest, AStreamHasAStateFileOfItsOwn) {
  environment_["XDG_STATE_HOME"] = testing::TempDir() + "/xdg";
  Serve({.records = {Record(4, true)}, .keeps_streams = true});
  Printed({"unseal", "--vm", "vm0", "--key-file", key_file_, "--count", "1"});
  const std::string state = testing::TempDir() + "/xdg/sideband/unseal-" + kVmUuid + "-" + kDeviceUuid + ".json";
  EXPECT_EQ(Run({"unseal", "--key-file", key_file_, "--record", FileOf(Record(3)), "--state", state}).message(),
            "record rejected");
  environment_["XDG_STATE_HOME"] = key_file_;
  EXPECT_FALSE(Run({"unseal", "--vm", "vm0", "--key-file", key_file_, "--count", "1"}).ok())
      << "nothing is shown that cannot be remembered";
  EXPECT_EQ(out_.text().find("VM "), std::string::npos);
}

TEST_F(UnsealTest, ExportServesOnlyTheLoopback) {
  EXPECT_EQ(Mistake({"export"}), "--vm is required");
  EXPECT_EQ(Mistake({"export", "--vm", "vm0"}), "--key-file or --exchange is required");
  EXPECT_EQ(Mistake({"export", "--vm", "vm0", "--key-file", key_file_, "--listen", "0.0.0.0:9879"}),
            "--listen: 0.0.0.0 is not a loopback address: others could read the counts, which are served in plaintext");
  EXPECT_NE(Mistake({"export", "--vm", "vm0", "--key-file", key_file_, "--listen", "9879"}).find("is not IP:PORT"),
            std::string::npos);
}

TEST_F(UnsealTest, MistakesAreNamed) {
  EXPECT_EQ(Mistake({"unseal", "--key-file", key_file_}), "--vm is required");
  EXPECT_NE(Mistake({"unseal", "--vm", "v", "--key-file", "/nonexistent.key"}).find("/nonexistent.key: "),
            std::string::npos);
  EXPECT_NE(Mistake({"unseal", "--key-file", key_file_, "--record", "/nonexistent.bin"}).find("/nonexistent.bin"),
            std::string::npos);
  EXPECT_NE(Mistake({"unseal", "--vm", "vm0", "--key-file", key_file_, "--record", "x"}).find("by UUID"),
            std::string::npos);
  EXPECT_EQ(Mistake({"unseal", "--vm", "v", "--view", "v.sbs"}),
            "--view requires --exchange (see sideband unseal --help)");
  EXPECT_EQ(Mistake({"export", "--vm", "v", "--view", "v.sbs"}),
            "--view requires --exchange (see sideband export --help)");
  EXPECT_EQ(Mistake({"unseal", "--vm", "v", "--exchange", "--view", "v.sbs", "--record", "r"}),
            "--view excludes --record (see sideband unseal --help)");
  ::chmod(key_file_.c_str(), 0644);
  EXPECT_NE(Mistake({"unseal", "--vm", "v", "--key-file", key_file_}).find("other users"), std::string::npos);
}

}  // namespace
}  // namespace sideband::client
