// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "daemon/sensors/sensor_families.h"

namespace sideband::daemon {
namespace {

struct PcieErrorRow {
  std::optional<RunningCount> PcieReading::*count;
  const char* word;
};
constexpr PcieErrorRow kPcieErrors[] = {
    {&PcieReading::correctable, "correctable"},
    {&PcieReading::non_fatal, "non_fatal"},
    {&PcieReading::fatal, "fatal"},
    {&PcieReading::unsupported, "unsupported_request"},
    {&PcieReading::recoveries, "recovery"},
    {&PcieReading::replay_rollovers, "replay_rollover"},
    {&PcieReading::naks_received, "nak_received"},
    {&PcieReading::naks_sent, "nak_sent"},
};

struct NvlinkErrorRow {
  std::optional<RunningCount> NvlinkStatus::*count;
  const char* word;
};
constexpr NvlinkErrorRow kNvlinkErrors[] = {
    {&NvlinkStatus::replays, "replay"},
    {&NvlinkStatus::recoveries, "recovery"},
    {&NvlinkStatus::flit_crc, "flit_crc"},
    {&NvlinkStatus::data_crc, "data_crc"},
};

void WritePcieGeneration(BoardSeries& out) { out.Gauge({}, out.reading().pcie.generation); }
void WritePcieWidth(BoardSeries& out) { out.Gauge({}, out.reading().pcie.lanes); }
void WritePcieReplays(BoardSeries& out) { out.Count({}, out.reading().pcie.replays); }

void WritePcieErrors(BoardSeries& out) {
  for (const auto& [count, word] : kPcieErrors) out.Count({{"kind", word}}, out.reading().pcie.*count);
}

void WriteNvlinkUp(BoardSeries& out) {
  const auto& links = out.reading().nvlink.links;
  for (size_t i = 0; i < links.size(); ++i) out.Gauge({{"link", absl::StrCat(i)}}, links[i].is_up);
}

void WriteNvlinkBandwidth(BoardSeries& out) {
  const auto& links = out.reading().nvlink.links;
  for (size_t i = 0; i < links.size(); ++i) out.Gauge({{"link", absl::StrCat(i)}}, links[i].bits_per_second);
}

void WriteNvlinkErrors(BoardSeries& out) {
  const auto& links = out.reading().nvlink.links;
  for (size_t i = 0; i < links.size(); ++i) {
    const std::string link = absl::StrCat(i);
    for (const auto& [count, word] : kNvlinkErrors) out.Count({{"link", link}, {"kind", word}}, links[i].*count);
  }
}

// Of both directions.
template <typename Value>
struct Directions {
  std::optional<Value> NvlinkStatus::*tx;
  std::optional<Value> NvlinkStatus::*rx;
};
constexpr Directions<RunningCount> kDataBytes = {&NvlinkStatus::data_tx, &NvlinkStatus::data_rx};
constexpr Directions<RunningCount> kRawBytes = {&NvlinkStatus::raw_tx, &NvlinkStatus::raw_rx};
constexpr Directions<double> kDataRates = {&NvlinkStatus::data_tx_rate, &NvlinkStatus::data_rx_rate};
constexpr Directions<double> kRawRates = {&NvlinkStatus::raw_tx_rate, &NvlinkStatus::raw_rx_rate};

template <const Directions<RunningCount>& kBytes>
void WriteNvlinkBytes(BoardSeries& out) {
  const auto& links = out.reading().nvlink.links;
  for (size_t i = 0; i < links.size(); ++i) {
    const std::string link = absl::StrCat(i);
    out.Count({{"link", link}, {"direction", "tx"}}, links[i].*kBytes.tx);
    out.Count({{"link", link}, {"direction", "rx"}}, links[i].*kBytes.rx);
  }
}

template <const Directions<double>& kRates>
void WriteNvlinkRates(BoardSeries& out) {
  const auto& links = out.reading().nvlink.links;
  for (size_t i = 0; i < links.size(); ++i) {
    const std::string link = absl::StrCat(i);
    out.Gauge({{"link", link}, {"direction", "tx"}}, links[i].*kRates.tx);
    out.Gauge({{"link", link}, {"direction", "rx"}}, links[i].*kRates.rx);
  }
}

constexpr BoardFamilyRow kLinkFamilies[] = {
    {"sideband_nvlink_bandwidth_bits_per_second", MetricType::kGauge, BoardGroup::kNvlink,
     "Bandwidth of an NVLink, as it was set up.", WriteNvlinkBandwidth},
    {"sideband_nvlink_data_bytes_per_second", MetricType::kGauge, BoardGroup::kNvlink,
     "Bytes of data that an NVLink carries, between the latest two captures of metrics.", WriteNvlinkRates<kDataRates>},
    {"sideband_nvlink_data_bytes_total", MetricType::kCounter, BoardGroup::kNvlink,
     "Bytes of data that an NVLink has carried.", WriteNvlinkBytes<kDataBytes>},
    {"sideband_nvlink_errors_total", MetricType::kCounter, BoardGroup::kNvlink, "Errors of an NVLink.",
     WriteNvlinkErrors},
    {"sideband_nvlink_raw_bytes_per_second", MetricType::kGauge, BoardGroup::kNvlink,
     "Bytes that an NVLink carries with its protocol, between the latest two captures of metrics.",
     WriteNvlinkRates<kRawRates>},
    {"sideband_nvlink_raw_bytes_total", MetricType::kCounter, BoardGroup::kNvlink,
     "Bytes that an NVLink has carried with its protocol.", WriteNvlinkBytes<kRawBytes>},
    {"sideband_nvlink_up", MetricType::kGauge, BoardGroup::kNvlink,
     "1 if the NVLink is up, also in its low-power state, else 0.", WriteNvlinkUp},
    {"sideband_pcie_link_errors_total", MetricType::kCounter, BoardGroup::kPcie, "Errors of the board's PCIe link.",
     WritePcieErrors},
    {"sideband_pcie_link_generation", MetricType::kGauge, BoardGroup::kPcie,
     "Generation of PCIe by whose speed the board's link runs.", WritePcieGeneration},
    {"sideband_pcie_link_replays_total", MetricType::kCounter, BoardGroup::kPcie,
     "Packets that the board has sent again on its PCIe link.", WritePcieReplays},
    {"sideband_pcie_link_width", MetricType::kGauge, BoardGroup::kPcie, "Lanes of the board's PCIe link in use.",
     WritePcieWidth},
};

}  // namespace

std::span<const BoardFamilyRow> BoardLinkFamilies() { return kLinkFamilies; }

}  // namespace sideband::daemon
