// SPDX-License-Identifier: Apache-2.0
#include "client/cli_fixture.h"

#include "client/commands.h"

namespace sideband::client {

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

FakeDaemon::Script Refusal() { return {.status = grpc::Status(grpc::StatusCode::UNAVAILABLE, "refused")}; }

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

absl::Status CliTest::Run(const std::vector<std::string>& arguments) {
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

}  // namespace sideband::client
