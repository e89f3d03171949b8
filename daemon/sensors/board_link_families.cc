// SPDX-License-Identifier: Apache-2.0
#include "daemon/sensors/board_link_families.h"

#include <cstddef>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"

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

constexpr BoardFamilyRow kFamilies[] = {
    {"sideband_nvlink_bandwidth_bits_per_second", MetricType::kGauge, BoardGroup::kNvlink,
     "Bandwidth of an NVLink, as it was set up.", WriteNvlinkBandwidth},
    {"sideband_nvlink_errors_total", MetricType::kCounter, BoardGroup::kNvlink, "Errors of an NVLink.",
     WriteNvlinkErrors},
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

std::span<const BoardFamilyRow> BoardLinkFamilies() { return kFamilies; }

}  // namespace sideband::daemon
