// SPDX-License-Identifier: Apache-2.0
#include "client/cli/export_command.h"

#include <grpcpp/channel.h>
#include <gtest/gtest.h>

#include "client/lib/fake_daemon.h"
#include "client/lib/rpc_status.h"

namespace sideband::client {
namespace {

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
