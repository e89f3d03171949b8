// SPDX-License-Identifier: Apache-2.0
#include "client/top/a_site.h"

#include <string>

namespace sideband::client::top {
namespace {

void AddScope(v1::Snapshot& snapshot, const std::string& vm, const std::string& context, double share, double rate) {
  v1::ScopeCounters& row = *snapshot.add_scopes();
  row.set_state(context == "eval" ? v1::ScopeCounters::STATE_IDLE : v1::ScopeCounters::STATE_ACTIVE);
  row.mutable_scope()->set_device("gpu0");
  row.mutable_scope()->set_vm(vm);
  row.mutable_scope()->set_context(context);
  row.mutable_scope()->set_generation(1);
  for (const char* event : {"sm_active_cycles", "dram_read_cycles"}) {
    v1::Counter& counter = *row.add_counters();
    counter.set_event(event);
    counter.set_count(1'318'814'459);
    counter.set_rate_per_second(rate);
  }
  v1::Ratio& ratio = *row.add_ratios();
  ratio.set_event("sm_active_cycles");
  ratio.set_value(share);
}

}  // namespace

v1::ListDevicesResponse TwoDevices() {
  v1::ListDevicesResponse response;
  for (const char* name : {"gpu0", "gpu1"}) {
    v1::Device& device = *response.add_devices();
    device.set_name(name);
    device.mutable_interval()->set_seconds(1);
    device.set_state(v1::Device::STATE_AWAY);
  }
  response.mutable_devices(0)->set_state(v1::Device::STATE_FRESH);
  return response;
}

v1::ListScopesResponse ConfidentialVm() {
  v1::ListScopesResponse response;
  v1::Scope& scope = *response.add_scopes();
  scope.set_device("gpu0");
  scope.set_vm("vm3");
  scope.set_confidential(true);
  return response;
}

v1::Snapshot SnapshotOf(double share) {
  v1::Snapshot snapshot;
  snapshot.set_device("gpu0");
  snapshot.set_boot_id(0xb007);
  snapshot.set_device_state(v1::Device::STATE_FRESH);
  AddScope(snapshot, "", "", share / 2, 5e9);
  AddScope(snapshot, "vm1", "", share, 2e9);
  AddScope(snapshot, "vm1", "train", share, 1.5e9);
  AddScope(snapshot, "vm1", "eval", share / 4, 1e9);
  AddScope(snapshot, "vm2", "", share / 2, 3e9);
  return snapshot;
}

Model ASite() {
  Model model;
  model.Apply(TwoDevices(), kNow);
  model.Apply(ConfidentialVm());
  model.Apply(SnapshotOf(0.5), kNow);
  return model;
}

}  // namespace sideband::client::top
