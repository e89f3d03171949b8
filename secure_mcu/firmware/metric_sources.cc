// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/metric_sources.h"

#include <map>
#include <string>

#include "absl/strings/string_view.h"

namespace sideband::mcu {
namespace {

using mailbox::MetricId;

struct MetricEvents {
  MetricId metric;
  std::array<absl::string_view, kMetricEventsMax> events;  // the second may be empty
};

// If a metric has several rows, the first row whose events the device counts applies.
constexpr MetricEvents kMetricEvents[] = {
    {MetricId::kEngineActive, {"gr_engine_active_cycles"}},
    {MetricId::kEngineActive, {"sm_active_cycles"}},  // the engine is active at least as often as its SMs on average
    {MetricId::kSmActivity, {"sm_active_cycles"}},
    {MetricId::kSmOccupancy, {"sm_occupancy_cycles"}},
    {MetricId::kTensorActivity, {"tensor_active_cycles"}},
    {MetricId::kDramUsage, {"dram_read_cycles", "dram_write_cycles"}},
    {MetricId::kFp64Activity, {"fp64_active_cycles"}},
    {MetricId::kFp32Activity, {"fp32_active_cycles"}},
    {MetricId::kFp16Activity, {"fp16_active_cycles"}},
    {MetricId::kPcieTx, {"pcie_tx_cycles"}},
    {MetricId::kPcieRx, {"pcie_rx_cycles"}},
    // Raw link events count cycles with a transfer and do not separate overhead; data metrics use them if the device
    // has no data event.
    {MetricId::kNvlinkRawTx, {"nvlink_tx_cycles"}},
    {MetricId::kNvlinkDataTx, {"nvlink_data_tx_cycles"}},
    {MetricId::kNvlinkDataTx, {"nvlink_tx_cycles"}},
    {MetricId::kNvlinkRawRx, {"nvlink_rx_cycles"}},
    {MetricId::kNvlinkDataRx, {"nvlink_data_rx_cycles"}},
    {MetricId::kNvlinkDataRx, {"nvlink_rx_cycles"}},
    {MetricId::kNvdec, {"nvdec_active_cycles"}},
    {MetricId::kNvjpg, {"nvjpg_active_cycles"}},
    {MetricId::kNvofa, {"nvofa_active_cycles"}},
    {MetricId::kIntegerActivity, {"int_active_cycles"}},
    {MetricId::kDmmaActivity, {"dmma_active_cycles"}},
    {MetricId::kHmmaActivity, {"hmma_active_cycles"}},
    {MetricId::kImmaActivity, {"imma_active_cycles"}},
};

MetricGate GateOf(const mailbox::Catalog& catalog, const mailbox::EventInfo& event) {
  const uint8_t group = event.details.gate_group;
  if (group == mailbox::kNoGateGroup) return {};
  // Version 1 of the extension has groups without running cycles.
  if (group >= catalog.gate_groups.size()) return {.is_gated = true};
  return {.is_gated = true, .running = catalog.gate_groups[group].running_event};
}

// Empty if the catalogue lacks one of the events, or the device does not count it.
MetricSource Resolve(const MetricEvents& row, const std::map<absl::string_view, uint16_t>& index,
                     const mailbox::Catalog& catalog) {
  MetricSource source;
  for (const absl::string_view name : row.events) {
    if (name.empty()) continue;
    const auto found = index.find(name);
    if (found == index.end() || catalog.events[found->second].masked) return {};
    source.events.push_back(found->second);
    source.gates.push_back(GateOf(catalog, catalog.events[found->second]));
    source.device_scope |= catalog.events[found->second].scope == mailbox::EventScope::kDevice;
  }
  return source;
}

}  // namespace

MetricSources ResolveMetrics(const mailbox::Catalog& catalog) {
  std::map<absl::string_view, uint16_t> index;
  for (size_t i = 0; i < catalog.events.size(); ++i) index[catalog.events[i].name] = static_cast<uint16_t>(i);
  MetricSources sources;
  for (const MetricEvents& row : kMetricEvents) {
    MetricSource& source = sources[static_cast<size_t>(row.metric)];
    if (source.events.empty()) source = Resolve(row, index, catalog);
  }
  return sources;
}

}  // namespace sideband::mcu
