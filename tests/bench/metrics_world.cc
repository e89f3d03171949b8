// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/metrics_world.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace sideband::bench {
namespace {

using mailbox::kNoContext;

std::string UuidOf(size_t tenant) { return absl::StrFormat("00000000-0000-0000-0000-%012x", tenant + 1); }

std::shared_ptr<const daemon::Topology> MakeTopology(const MetricsSize& size) {
  mailbox::Catalog catalog;
  catalog.reference_clock_hz = 1'000'000'000;
  for (size_t e = 0; e < size.events; ++e) {
    catalog.events.push_back({absl::StrCat("unit", e / 8, "_event", e, "_cycles"), "cycles",
                              mailbox::EventScope::kContext, absl::StrCat("Cycles of event ", e)});
  }
  for (size_t t = 0; t < size.tenants; ++t) {
    const auto vm = static_cast<uint16_t>(t + 1);
    catalog.vms.push_back({vm, *Uuid::Parse(UuidOf(t)), absl::StrCat("vm", t), false, 0, 1});
    for (size_t c = 0; c < size.contexts; ++c) {
      catalog.contexts.push_back({vm, static_cast<uint16_t>(c), absl::StrCat("context", c), 0, 1});
    }
  }
  return std::make_shared<daemon::Topology>(std::move(catalog), 1);
}

// Rows: the device, then each VM with its contexts.
mailbox::Snapshot MakeData(const MetricsSize& size) {
  mailbox::Snapshot data{.boot_id = 1, .counters_per_block = static_cast<uint32_t>(size.events)};
  data.blocks.push_back({.vm = mailbox::kHypervisorVm, .generation = 1});
  for (size_t t = 0; t < size.tenants; ++t) {
    const auto vm = static_cast<uint16_t>(t + 1);
    data.blocks.push_back({.vm = vm, .generation = 1});
    for (size_t c = 0; c < size.contexts; ++c) {
      data.blocks.push_back({.vm = vm, .context = static_cast<uint16_t>(c), .generation = 1});
    }
  }
  data.counters.assign(data.blocks.size() * size.events, 1'000'000'000);
  return data;
}

}  // namespace

std::string PolicyText(size_t tenants) {
  std::string text = "version: 1\noperators: [{name: ops, identities: [\"spiffe://example.org/ops\"]}]\ntenants:\n";
  for (size_t t = 0; t < tenants; ++t) {
    absl::StrAppend(&text, "  - {name: t", t, ", identities: [\"spiffe://example.org/t", t,
                    "\"], vms: [{uuid: ", UuidOf(t), "}]}\n");
  }
  return text;
}

MetricsWorld::MetricsWorld(const MetricsSize& size)
    : topology_(MakeTopology(size)),
      data_(MakeData(size)),
      store({{"gpu0", absl::Seconds(1)}}),
      policy(*daemon::Policy::Parse(PolicyText(size.tenants), "policy.yaml")),
      reader(store, policy, clock_, audit_) {}

void MetricsWorld::Publish() {
  uint64_t step = 1'234'567;
  for (uint64_t& counter : data_.counters) counter += step += 977;
  data_.reference_time_ns += 1'000'000'000;
  auto snapshot = std::make_shared<daemon::DeviceSnapshot>();
  snapshot->topology = topology_;
  snapshot->data = data_;
  snapshot->created.assign(data_.blocks.size(), absl::FromUnixSeconds(1'790'000'000));
  snapshot->host_time = clock_.Now();
  snapshot->steady_time = clock_.Steady();
  snapshot->publication = ++publication_;
  store.Publish(0, std::move(snapshot));
}

daemon::Credentials MetricsWorld::CredentialsOf(size_t tenant) const {
  return {.certificate = {{absl::StrCat("spiffe://example.org/t", tenant)}, {}}};
}

}  // namespace sideband::bench
