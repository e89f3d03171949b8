// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/metric_sources.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace sideband::mcu {
namespace {

using mailbox::MetricId;

struct MetricEvents {
  MetricId metric;
  std::array<absl::string_view, 2> events;  // all are needed; the second may be empty
};

constexpr MetricEvents kMetricEvents[] = {
    {MetricId::kEngineActive, {"gr_engine_active_cycles"}},
    {MetricId::kSmActivity, {"sm_active_cycles"}},
    {MetricId::kSmOccupancy, {"sm_occupancy_cycles"}},
    {MetricId::kTensorActivity, {"tensor_active_cycles"}},
    {MetricId::kDramUsage, {"dram_read_cycles", "dram_write_cycles"}},
    {MetricId::kFp64Activity, {"fp64_active_cycles"}},
    {MetricId::kFp32Activity, {"fp32_active_cycles"}},
    {MetricId::kFp16Activity, {"fp16_active_cycles"}},
    {MetricId::kPcieTx, {"pcie_tx_cycles"}},
    {MetricId::kPcieRx, {"pcie_rx_cycles"}},
    {MetricId::kNvlinkRawTx, {"nvlink_tx_cycles"}},
    {MetricId::kNvlinkDataTx, {"nvlink_data_tx_cycles"}},
    {MetricId::kNvlinkRawRx, {"nvlink_rx_cycles"}},
    {MetricId::kNvlinkDataRx, {"nvlink_data_rx_cycles"}},
    {MetricId::kNvdec, {"nvdec_active_cycles"}},
    {MetricId::kNvjpg, {"nvjpg_active_cycles"}},
    {MetricId::kNvofa, {"nvofa_active_cycles"}},
    {MetricId::kIntegerActivity, {"int_active_cycles"}},
    {MetricId::kDmmaActivity, {"dmma_active_cycles"}},
    {MetricId::kHmmaActivity, {"hmma_active_cycles"}},
    {MetricId::kImmaActivity, {"imma_active_cycles"}},
};

struct InstanceEvents {
  MetricId each;
  MetricId all;                      // without an event of its own, it is made of all instances
  absl::string_view engine, suffix;  // of the event; the instance's number is between them
};

// Raw link events count cycles with a transfer and do not separate overhead; data metrics use them if the device has no
// data event. If a metric has two rows, the first row whose event the device counts applies to the instance.
constexpr InstanceEvents kInstanceEvents[] = {
    {MetricId::kNvlinkRawTxPerLink, MetricId::kNvlinkRawTx, "nvlink", "_tx_cycles"},
    {MetricId::kNvlinkDataTxPerLink, MetricId::kNvlinkDataTx, "nvlink", "_data_tx_cycles"},
    {MetricId::kNvlinkDataTxPerLink, MetricId::kNvlinkDataTx, "nvlink", "_tx_cycles"},
    {MetricId::kNvlinkRawRxPerLink, MetricId::kNvlinkRawRx, "nvlink", "_rx_cycles"},
    {MetricId::kNvlinkDataRxPerLink, MetricId::kNvlinkDataRx, "nvlink", "_data_rx_cycles"},
    {MetricId::kNvlinkDataRxPerLink, MetricId::kNvlinkDataRx, "nvlink", "_rx_cycles"},
    {MetricId::kNvdecPerInstance, MetricId::kNvdec, "nvdec", "_active_cycles"},
    {MetricId::kNvjpgPerInstance, MetricId::kNvjpg, "nvjpg", "_active_cycles"},
};

// The events of metrics that have neither their own events nor instances.
constexpr MetricEvents kSubstitutes[] = {
    {MetricId::kEngineActive, {"sm_active_cycles"}},  // the engine is active at least as often as its SMs on average
    {MetricId::kNvlinkDataTx, {"nvlink_tx_cycles"}},
    {MetricId::kNvlinkDataRx, {"nvlink_rx_cycles"}},
};

MetricKey KeyOf(MetricId metric, uint8_t instance = 0) { return {static_cast<uint8_t>(metric), instance}; }

MetricGate GateOf(const mailbox::Catalog& catalog, const mailbox::EventInfo& event) {
  const uint8_t group = event.details.gate_group;
  if (group == mailbox::kNoGateGroup) return {};
  // Version 1 of the extension has groups without running cycles.
  if (group >= catalog.gate_groups.size()) return {.is_gated = true};
  return {.is_gated = true, .running = catalog.gate_groups[group].running_event};
}

// A metric that has a source keeps it.
class Resolver {
 public:
  explicit Resolver(const mailbox::Catalog& catalog) : catalog_(catalog) {
    for (size_t i = 0; i < catalog.events.size(); ++i) {
      if (!catalog.events[i].masked) index_[catalog.events[i].name] = static_cast<uint16_t>(i);
    }
  }

  void AddMetrics(std::span<const MetricEvents> rows) {
    for (const MetricEvents& row : rows) {
      const size_t count = row.events[1].empty() ? 1 : 2;
      Add(KeyOf(row.metric), std::span(row.events).first(count));
    }
  }

  void AddInstances() {
    for (const InstanceEvents& row : kInstanceEvents) {
      for (uint8_t instance = 0; instance < kMetricInstancesMax; ++instance) {
        const std::string name = absl::StrCat(row.engine, instance, row.suffix);
        const absl::string_view names[] = {name};
        Add(KeyOf(row.each, instance), names);
      }
    }
  }

  // Instances together: each of their wires counts alike.
  void AddTotals() {
    for (const InstanceEvents& row : kInstanceEvents) {
      MetricSource total;
      for (const auto& [key, source] : result_.sources) {
        if (key.metric != KeyOf(row.each).metric) continue;
        total.events.insert(total.events.end(), source.events.begin(), source.events.end());
        total.device_scope |= source.device_scope;
      }
      if (!total.events.empty()) result_.sources.emplace(KeyOf(row.all), std::move(total));
    }
  }

  MetricSources Take() { return std::move(result_); }

 private:
  // Adds nothing if the device lacks one of the events, or does not count it.
  void Add(const MetricKey& key, std::span<const absl::string_view> names) {
    const auto is_counted = [this](absl::string_view name) { return index_.contains(name); };
    if (result_.sources.contains(key) || !std::ranges::all_of(names, is_counted)) return;
    MetricSource& source = result_.sources[key];
    for (const absl::string_view name : names) {
      source.events.push_back(Use(index_.at(name)));
      source.device_scope |= result_.events[source.events.back()].device_scope;
    }
  }

  // Its index in the result.
  size_t Use(uint16_t event) {
    auto& events = result_.events;
    const auto found = std::ranges::find(events, event, &MetricEvent::event);
    const auto index = static_cast<size_t>(found - events.begin());
    if (found != events.end()) return index;
    const mailbox::EventInfo& info = catalog_.events[event];
    events.push_back(
        {.event = event, .gate = GateOf(catalog_, info), .device_scope = info.scope == mailbox::EventScope::kDevice});
    return index;
  }

  const mailbox::Catalog& catalog_;
  std::map<absl::string_view, uint16_t> index_;  // by name, of the events that are counted
  MetricSources result_;
};

}  // namespace

bool HasInstances(uint8_t metric) {
  return std::ranges::any_of(kInstanceEvents, [&](const auto& row) { return KeyOf(row.each).metric == metric; });
}

const MetricSource* MetricSources::Find(uint8_t metric, uint8_t instance) const {
  const auto found = sources.find({metric, instance});
  return found == sources.end() ? nullptr : &found->second;
}

bool MetricSources::Has(uint8_t metric) const {
  const auto first = sources.lower_bound({metric, 0});
  return first != sources.end() && first->first.metric == metric;
}

// A total of data prefers data of the links to raw cycles of all links.
MetricSources ResolveMetrics(const mailbox::Catalog& catalog) {
  Resolver resolver(catalog);
  resolver.AddMetrics(kMetricEvents);
  resolver.AddInstances();
  resolver.AddTotals();
  resolver.AddMetrics(kSubstitutes);
  return resolver.Take();
}

}  // namespace sideband::mcu
