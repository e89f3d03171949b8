// SPDX-License-Identifier: Apache-2.0
#include "daemon/sensors/sensor_families.h"
#include "proto/mailbox/memory_links.h"

namespace sideband::daemon {
namespace {

using mailbox::EccMemory;

constexpr double kMib = 1 << 20;

constexpr BoardWord<EccMemory> kMemoryWords[] = {{EccMemory::kSram, "sram"}, {EccMemory::kDram, "dram"}};

void WriteMemory(BoardSeries& out) {
  const MemoryReading& memory = out.reading().memory;
  out.Gauge({{"state", "used"}}, memory.used_mib, kMib);
  out.Gauge({{"state", "reserved"}}, memory.reserved_mib, kMib);
  out.Gauge({{"state", "total"}}, memory.total_mib, kMib);
}

void WriteEccErrors(BoardSeries& out) {
  const EccReading& ecc = out.reading().ecc;
  for (const auto& [memory, word] : kMemoryWords) {
    out.Count({{"kind", "corrected"}, {"memory", word}}, Find(ecc.corrected, memory));
    out.Count({{"kind", "uncorrected"}, {"memory", word}}, Find(ecc.uncorrected, memory));
  }
}

void WriteEccThreshold(BoardSeries& out) { out.Gauge({}, out.reading().ecc.sram_threshold_exceeded); }

void WriteRemappedRows(BoardSeries& out) {
  out.Count({{"kind", "corrected"}}, out.reading().row_remaps.corrected);
  out.Count({{"kind", "uncorrected"}}, out.reading().row_remaps.uncorrected);
}

void WriteRemapState(BoardSeries& out) {
  const RowRemapReading& remaps = out.reading().row_remaps;
  out.Gauge({{"state", "pending"}}, remaps.is_pending);
  out.Gauge({{"state", "failed"}}, remaps.has_failed);
  if (remaps.corrected || remaps.uncorrected) out.Gauge({{"state", "excess"}}, remaps.has_excess);
}

void WriteRetiredPages(BoardSeries& out) {
  out.Gauge({{"kind", "single_bit"}}, out.reading().retired_pages.single_bit);
  out.Gauge({{"kind", "double_bit"}}, out.reading().retired_pages.double_bit);
}

constexpr BoardFamilyRow kMemoryFamilies[] = {
    {"sideband_ecc_errors_total", MetricType::kCounter, BoardGroup::kEcc, "Errors of the board's memories.",
     WriteEccErrors},
    {"sideband_ecc_threshold_exceeded", MetricType::kGauge, BoardGroup::kEcc,
     "1 if the board's SRAM has had more uncorrected errors than the vendor tolerates, else 0.", WriteEccThreshold},
    {"sideband_memory_bytes", MetricType::kGauge, BoardGroup::kMemory,
     "Size of the board's memory, and what is used or reserved of it.", WriteMemory},
    {"sideband_remapped_rows_total", MetricType::kCounter, BoardGroup::kRowRemaps,
     "Rows of the board's memory that were replaced by spare ones.", WriteRemappedRows},
    {"sideband_retired_pages", MetricType::kGauge, BoardGroup::kRetiredPages,
     "Pages of the board's memory that are not used any more.", WriteRetiredPages},
    {"sideband_row_remap_state", MetricType::kGauge, BoardGroup::kRowRemaps,
     "1 if a row waits for its replacement, a replacement has failed, or there were more than can be counted, else 0.",
     WriteRemapState},
};

}  // namespace

std::span<const BoardFamilyRow> BoardMemoryFamilies() { return kMemoryFamilies; }

}  // namespace sideband::daemon
