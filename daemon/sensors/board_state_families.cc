// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/board/board_groups.h"
#include "daemon/sensors/sensor_families.h"
#include "proto/mailbox/board_items.h"

namespace sideband::daemon {
namespace {

using mailbox::MiscFlag;
using mailbox::SysId;

// Labels of the items that are part of an identity.
constexpr BoardWord<SysId> kItemWords[] = {
    {SysId::kBoardPartNumber, "part_number"},
    {SysId::kSerialNumber, "serial"},
    {SysId::kMarketingName, "name"},
    {SysId::kFirmwareVersion, "firmware"},
    {SysId::kInforomVersion, "inforom_version"},
    {SysId::kGpuPartNumber, "gpu_part_number"},
    {SysId::kGuid, "gpu_guid"},
    {SysId::kMemoryPartNumber, "memory_part_number"},
    {SysId::kMemoryVendor, "memory_vendor"},
    {SysId::kFruPartNumber, "fru_part_number"},
    {SysId::kOemInfo, "oem_info"},
    {SysId::kBuildDate, "build_date"},
    {SysId::kVendorId, "vendor_id"},
    {SysId::kDeviceId, "device_id"},
    {SysId::kSubsystemVendorId, "subsystem_vendor_id"},
    {SysId::kSubsystemId, "subsystem_id"},
};

void WriteInfo(BoardSeries& out) {
  const IdentityReading& identity = out.reading().identity;
  std::vector<std::pair<absl::string_view, std::string>> labels;
  for (const auto& [item, word] : kItemWords) labels.emplace_back(word, Find(identity.items, item).value_or(""));
  labels.emplace_back("driver_version", identity.driver_version.value_or(""));
  out.Info(labels);
}

template <MiscFlag kFlag>
void WriteFlag(BoardSeries& out) {
  out.Gauge({}, Find(out.reading().flags.flags, kFlag));
}

void WriteEvents(BoardSeries& out) {
  for (const mailbox::BoardEventRow& row : mailbox::kBoardEvents) {
    out.Count({{"event", row.word}}, Find(out.reading().events.counts, row.event));
  }
}

void WriteMessages(BoardSeries& out) {
  const DriverMessageReading& messages = out.reading().driver_messages;
  for (const auto& [xid, count] : messages.counts) out.Count({{"xid", absl::StrCat(xid)}}, count);
  if (messages.other.value != 0) out.Count({{"xid", "other"}}, messages.other);
}

void WriteAge(BoardSeries& out) {
  for (const auto& [group, time] : out.reading().samples) {
    // A reading may be newer than the time that the caller has taken.
    const absl::Duration age = std::max(out.now() - time.steady, absl::ZeroDuration());
    out.Gauge({{"sensor_group", RowOf(group).name}}, absl::ToDoubleSeconds(age));
  }
}

constexpr BoardFamilyRow kStateFamilies[] = {
    {"sideband_board_events_total", MetricType::kCounter, BoardGroup::kEvents,
     "Events that the board has raised since the daemon began to read it.", WriteEvents},
    {"sideband_board_info", MetricType::kGauge, BoardGroup::kIdentity, "1, with the identity of the board.", WriteInfo},
    {"sideband_board_sample_age_seconds", MetricType::kGauge, BoardGroup::kCapabilities,
     "How long ago a group of the board's sensors was read.", WriteAge},
    {"sideband_device_disabled", MetricType::kGauge, BoardGroup::kFlags, "1 if the board is disabled, else 0.",
     WriteFlag<MiscFlag::kDeviceDisabled>},
    {"sideband_drain_recommended", MetricType::kGauge, BoardGroup::kFlags,
     "1 if the board should get no new work and then be reset, else 0.", WriteFlag<MiscFlag::kDrainRecommended>},
    {"sideband_driver_messages_total", MetricType::kCounter, BoardGroup::kDriverMessages,
     "Messages of the driver since the daemon began to read the board, by Xid.", WriteMessages},
    {"sideband_driver_running", MetricType::kGauge, BoardGroup::kFlags, "1 if the board's driver is running, else 0.",
     WriteFlag<MiscFlag::kDriverRuns>},
    {"sideband_ecc_enabled", MetricType::kGauge, BoardGroup::kFlags,
     "1 if errors of the board's memory are corrected, else 0.", WriteFlag<MiscFlag::kEccCurrent>},
    {"sideband_mig_enabled", MetricType::kGauge, BoardGroup::kFlags,
     "1 if the board is divided into partitions, else 0.", WriteFlag<MiscFlag::kMigCurrent>},
    {"sideband_reset_required", MetricType::kGauge, BoardGroup::kFlags, "1 if the board needs a reset, else 0.",
     WriteFlag<MiscFlag::kResetRequired>},
};

}  // namespace

std::span<const BoardFamilyRow> BoardStateFamilies() { return kStateFamilies; }

}  // namespace sideband::daemon
