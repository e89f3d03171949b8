// SPDX-License-Identifier: Apache-2.0
//
// Tests what `sideband peek` prints, and why it is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli_fixture.h"

namespace sideband::client {
namespace {

using nlohmann::json;

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

}  // namespace
}  // namespace sideband::client
