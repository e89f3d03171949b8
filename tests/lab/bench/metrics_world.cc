// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/bench/metrics_world.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/mailbox/counting.h"
#include "proto/mailbox/rotation.h"

namespace sideband::bench {
namespace {

using mailbox::kNoContext;

std::string UuidOf(size_t tenant) { return absl::StrFormat("00000000-0000-0000-0000-%012x", tenant + 1); }

constexpr uint64_t kWorldHz = 1'000'000'000;
constexpr uint64_t kCapacity = 4;

void AddCapacities(mailbox::Catalog& catalog) {
  for (mailbox::EventInfo& event : catalog.events) event.details.slices = {{.capacity_q32 = kCapacity << 32}};
  catalog.events.back() = {.name = "resident_cycles", .unit = "cycles"};
}

// Every other event is in the second set.
void AddTurns(mailbox::Catalog& catalog) {
  mailbox::RotationPlan plan{.sets = std::vector(2, mailbox::EmptySet(catalog.events.size()))};
  for (size_t e = 0; e + 1 < catalog.events.size(); ++e) {
    catalog.events[e].details.counting = mailbox::Counting::kRotated;
    mailbox::Insert(e, plan.sets[e % 2]);
  }
  plan.derived = mailbox::EmptySet(catalog.events.size());
  catalog.plans = {std::move(plan)};
}

std::shared_ptr<const daemon::Topology> MakeTopology(const MetricsSize& size) {
  mailbox::Catalog catalog;
  catalog.reference_clock_hz = kWorldHz;
  catalog.slices = {{0, "slice0"}};
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
  if (size.utilisations) AddCapacities(catalog);
  if (size.rotating) AddTurns(catalog);
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
  if (!size.rotating) return data;
  data.rotation.resize(data.blocks.size());
  for (mailbox::BlockRotation& numbers : data.rotation) {
    numbers.parts = {{.plan = 0, .enabled = {0}, .running = {0, 0}}};
    numbers.events.resize(size.events - 1);
  }
  return data;
}

// Each counter has a share of the capacity of its own, between a tenth and nine tenths.
std::vector<double> MakeRates(const MetricsSize& size, size_t counters) {
  std::vector<double> rates(counters);
  for (size_t i = 0; i < counters; ++i) {
    const double share = 0.1 + 0.8 * static_cast<double>(i % 7919) / 7919;
    rates[i] = kWorldHz * (i % size.events == size.events - 1 ? 1 : share * kCapacity);
  }
  return rates;
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

MetricsWorld::MetricsWorld(const MetricsSize& size, daemon::AuditSink* audit)
    : size_(size),
      topology_(MakeTopology(size)),
      data_(MakeData(size)),
      store({{"gpu0", absl::Seconds(1)}}),
      policy(*daemon::Policy::Parse(PolicyText(size.tenants), "policy.yaml")),
      reader(store, policy, clock_, audit == nullptr ? null_audit_ : *audit) {}

void MetricsWorld::Estimate() {
  for (size_t block = 0; block < data_.rotation.size(); ++block) {
    mailbox::BlockRotation& numbers = data_.rotation[block];
    numbers.parts[0].enabled[0] += kWorldHz;
    for (uint64_t& running : numbers.parts[0].running) running += kWorldHz / 2 - 1'000 * (block % 97);
    for (size_t e = 0; e < numbers.events.size(); ++e) {
      const uint64_t counted = data_.counters[block * size_.events + e];
      numbers.events[e] = {.estimate = 2 * counted, .upper = 4 * counted, .deviation = counted / 100};
    }
  }
}

void MetricsWorld::Publish() {
  uint64_t step = 1'234'567;
  for (uint64_t& counter : data_.counters) counter += step += 977;
  data_.reference_time_ns += kWorldHz;
  auto snapshot = std::make_shared<daemon::DeviceSnapshot>();
  snapshot->topology = topology_;
  Estimate();
  snapshot->data = data_;
  if (size_.rotating) snapshot->estimated = topology_->rotation().ShownCounters(data_);
  if (size_.utilisations) {
    snapshot->rates = MakeRates(size_, data_.counters.size());
    snapshot->elapsed = absl::Seconds(1);
  }
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
