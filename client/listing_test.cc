// SPDX-License-Identifier: Apache-2.0
//
// Tests what `sideband devices`, `events` and `scopes` print and note.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli_fixture.h"

namespace sideband::client {
namespace {

using nlohmann::json;

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

}  // namespace
}  // namespace sideband::client
