// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/fake_world.h"

#include <cmath>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

using mailbox::kNoContext;

// Half of dram_bytes was counted.
void Rotate(uint64_t publication, mailbox::Snapshot& data) {
  for (size_t row = 0; row < data.blocks.size(); ++row) {
    const uint64_t counted = data.Counters(row)[1], cycles = 1000 * publication;
    data.blocks[row].flags |= mailbox::kFlagEstimated | mailbox::kFlagPartial;
    data.rotation.push_back({.parts = {{.plan = 0, .enabled = {cycles}, .running = {cycles / 2, cycles / 2}}},
                             .events = {{.estimate = 2 * counted, .upper = 4 * counted, .deviation = 7}}});
  }
}

mailbox::Snapshot FakeData(uint64_t publication, const mailbox::Catalog& catalog) {
  mailbox::Snapshot data{.boot_id = 77, .snapshot_id = static_cast<uint32_t>(publication), .counters_per_block = 3};
  data.trigger_id = data.snapshot_id;
  data.reference_time_ns = publication * 1'000'000'000;
  data.blocks = {{.vm = 0},
                 {.vm = 1},
                 {.vm = 1, .context = 10},
                 {.vm = 1, .context = 11, .flags = mailbox::kFlagOverflow | mailbox::kFlagEstimated},
                 {.vm = 2},
                 {.vm = 2, .context = 10}};
  for (const mailbox::HostBlockInfo& host : catalog.host_blocks)
    data.blocks.push_back({.vm = 0, .context = host.slice});
  for (size_t row = 0; row < data.blocks.size(); ++row) {
    data.blocks[row].generation = 1;
    data.blocks[row].state = mailbox::BlockState::kActive;
    for (size_t event = 0; event < 3; ++event) data.counters.push_back(1000 * publication + 10 * row + event);
  }
  if (!catalog.plans.empty()) Rotate(publication, data);
  return data;
}

}  // namespace

std::shared_ptr<const Policy> FakePolicy(const std::string& vm0) {
  const std::string text = absl::StrCat(R"(version: 1
operators: [{name: ops, identities: ["spiffe://example.org/ops"]}]
tenants:
  - {name: a, identities: ["spiffe://example.org/tenant-a"], vms: [{uuid: )",
                                        vm0, R"(}]}
  - name: b
    identities: ["spiffe://example.org/tenant-b"]
    vms: [{uuid: 00000000-0000-0000-0000-0000000000a1, contexts: [train], events: [cycles]}]
  - name: c
    identities: ["spiffe://example.org/tenant-c"]
    vms: [{uuid: 00000000-0000-0000-0000-0000000000a2, rights: [seal]}]
auditors: [{name: audit, identities: ["spiffe://example.org/auditor"]}]
)");
  return *Policy::Parse(text, "policy.yaml");
}

std::shared_ptr<const Topology> FakeTopology() {
  mailbox::Catalog catalog;
  catalog.device = *Uuid::Parse("00000000-0000-0000-0000-0000000000d0");
  catalog.reference_clock_hz = 1'000'000'000;
  catalog.events = {{"cycles", "cycles", mailbox::EventScope::kContext, "Cycles of the shader clock"},
                    {"dram_bytes", "bytes", mailbox::EventScope::kContext, "Bytes to and from memory"},
                    {"pcie_bytes", "bytes", mailbox::EventScope::kDevice, "Bytes over PCIe"}};
  catalog.slices = {{0, "slice0"}, {1, "slice1"}};
  catalog.vms = {{1, *Uuid::Parse(kVm0Uuid), "vm0", false, 0, 1},
                 {2, *Uuid::Parse(kVm1Uuid), "vm1", false, 1, 1},
                 {3, *Uuid::Parse(kSecretUuid), "secret", true, 1, 1}};
  catalog.contexts = {
      {1, 10, "render", 0, 1}, {1, 11, "compute", 0, 1}, {2, 10, "train", 1, 1}, {3, 10, "inner", 1, 1}};
  return std::make_shared<Topology>(catalog, 5);
}

std::shared_ptr<const Topology> GatedTopology() {
  mailbox::Catalog catalog = FakeTopology()->catalog();
  catalog.events[0].details.gate_group = 0;
  catalog.events[1].name = mailbox::kResidentCyclesEvent;
  catalog.events[2] = {.name = "group_g_running_cycles", .details = {.gate_group = 0}};
  catalog.gate_groups = {{"g", 2}};
  return std::make_shared<Topology>(catalog, 7);
}

std::shared_ptr<const Topology> RotatingTopology() {
  mailbox::Catalog catalog = FakeTopology()->catalog();
  catalog.events[1].details.counting = mailbox::Counting::kRotated;
  catalog.plans = {{.number = 0, .sets = {{0b010}, {0b000}}}};
  return std::make_shared<Topology>(catalog, 8);
}

FakeWorld::FakeWorld()
    : clock(absl::FromUnixSeconds(1'800'000'000)),
      store({{.name = "gpu0",
              .interval = absl::Seconds(1),
              .ratios = {{"dram_share", {"dram_bytes"}, {"cycles", "dram_bytes"}}}},
             {.name = "gpu1", .interval = absl::Seconds(1)}}),
      policy(FakePolicy()),
      reader(store, policy, clock, audit) {}

void FakeWorld::AddHostBlocks() {
  mailbox::Catalog catalog = topology->catalog();
  catalog.host_blocks = {{.slice = 0, .generation = 1}, {.slice = 1, .generation = 1}};
  topology = std::make_shared<Topology>(catalog, topology->hash() + 1);
}

void FakeWorld::Publish(size_t device, uint64_t publication) {
  auto snapshot = std::make_shared<DeviceSnapshot>();
  snapshot->topology = topology;
  snapshot->data = FakeData(publication, topology->catalog());
  snapshot->estimated = topology->rotation().ShownCounters(snapshot->data);
  snapshot->rates.assign(snapshot->data.counters.size(), publication == 1 ? std::nan("") : 2.5);
  snapshot->elapsed = publication == 1 ? absl::ZeroDuration() : absl::Seconds(1);
  snapshot->booted = absl::FromUnixSeconds(1'790'000'000);
  snapshot->created.assign(snapshot->data.blocks.size(), absl::FromUnixSeconds(1'790'000'000));
  snapshot->device_scope_withheld = true;
  const std::string record = absl::StrCat("sealed-", publication);
  snapshot->sealed = {
      {*Uuid::Parse(kSecretUuid), /*stream=*/0, std::make_shared<const Bytes>(record.begin(), record.end())}};
  snapshot->host_time = clock.Now();
  snapshot->host_time_error = absl::Milliseconds(2);
  snapshot->steady_time = clock.Steady();
  snapshot->publication = publication;
  store.Publish(device, std::move(snapshot));
}

void FakeWorld::PublishRows(size_t device, const std::vector<uint64_t>& counts, const std::vector<double>& rates) {
  auto snapshot = std::make_shared<DeviceSnapshot>(*store.Newest(device));
  for (size_t i = 0; i < snapshot->data.counters.size(); ++i) {
    snapshot->data.counters[i] = counts[i % counts.size()];
    snapshot->rates[i] = rates[i % rates.size()];
  }
  snapshot->estimated = snapshot->topology->rotation().ShownCounters(snapshot->data);
  store.Publish(device, std::move(snapshot));
}

}  // namespace sideband::daemon
