// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/board_json.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "daemon/board/board_groups.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/memory_links.h"

namespace sideband::daemon {
namespace {

using mailbox::MiscFlag;
using mailbox::PowerSource;
using mailbox::TempSensor;
using mailbox::ThermParam;
using nlohmann::json;

constexpr double kMega = 1e6;
constexpr double kMib = 1 << 20;

// Of mailbox::kThermParams, which has both kinds.
constexpr absl::string_view kMarginSuffix = " T.Limit";

// Those that ask for an operator; the others are choices.
constexpr MiscFlag kFlagsOfAttention[] = {MiscFlag::kResetRequired, MiscFlag::kDrainRecommended,
                                          MiscFlag::kDeviceDisabled, MiscFlag::kDriverReloadPending};

template <typename Key>
struct Word {
  Key key;
  const char* word;
};
constexpr Word<mailbox::BoardClock> kClockWords[] = {{mailbox::BoardClock::kGraphics, "graphics"},
                                                     {mailbox::BoardClock::kMemory, "memory"}};
constexpr Word<mailbox::EccMemory> kEccWords[] = {{mailbox::EccMemory::kSram, "SRAM"},
                                                  {mailbox::EccMemory::kDram, "DRAM"}};

template <typename Value>
void SetIfKnown(json& object, const char* name, const std::optional<Value>& value) {
  if (value) object[name] = *value;
}

void SetIfKnown(json& object, const char* name, const std::optional<RunningCount>& count) {
  if (count) object[name] = absl::StrCat(count->value);
}

// A list or an object without content is left out, too.
void SetIfAny(json& object, const char* name, json content) {
  if (!content.empty()) object[name] = std::move(content);
}

json Named(absl::string_view name, json value) { return {{"name", std::string(name)}, {"value", std::move(value)}}; }

// The sum of the counts that are known; nullopt if none is.
std::optional<RunningCount> SumOf(const std::vector<std::optional<RunningCount>>& counts) {
  std::optional<RunningCount> sum;
  for (const auto& count : counts) {
    if (!count) continue;
    if (!sum) sum.emplace();
    sum->value += count->value;
  }
  return sum;
}

json Temperatures(const BoardReading& reading) {
  json list = json::array();
  for (const mailbox::TempRow& row : mailbox::kTempSensors) {
    const auto celsius = Find(reading.temperature.celsius, row.sensor);
    if (celsius) list.push_back(Named(row.name, *celsius));
  }
  return list;
}

json Thresholds(const BoardReading& reading, bool of_margin) {
  json list = json::array();
  for (const mailbox::ThermRow& row : mailbox::kThermParams) {
    const auto celsius = Find(reading.thresholds.celsius, row.param);
    absl::string_view name = row.name;
    if (absl::ConsumeSuffix(&name, kMarginSuffix) == of_margin && celsius) list.push_back(Named(name, *celsius));
  }
  return list;
}

bool IsReached(const BoardReading& reading, TempSensor sensor, ThermParam threshold) {
  const auto celsius = Find(reading.temperature.celsius, sensor);
  const auto limit = Find(reading.thresholds.celsius, threshold);
  return celsius && limit && *celsius >= *limit;
}

bool IsHot(const BoardReading& reading) {
  return (reading.margin.celsius && *reading.margin.celsius <= 0) ||
         IsReached(reading, TempSensor::kGpu0, ThermParam::kSlowdown) ||
         IsReached(reading, TempSensor::kGpu0, ThermParam::kSoftwareSlowdown) ||
         IsReached(reading, TempSensor::kMemory, ThermParam::kMemorySlowdown);
}

json Powers(const BoardReading& reading) {
  json list = json::array();
  for (const mailbox::PowerRow& row : mailbox::kPowerSources) {
    const auto watts = Find(reading.power.watts, row.source);
    // The meaning of one source is not public.
    if (!watts || row.source == PowerSource::kSmbpbi) continue;
    list.push_back(Named(row.name, *watts));
    const auto limits = Find(reading.power_limits.limits, row.source);
    if (limits) SetIfKnown(list.back(), "limit", limits->current);
  }
  return list;
}

json Clocks(const BoardReading& reading) {
  json list = json::array();
  for (const auto& [clock, word] : kClockWords) {
    const auto now = Find(reading.clocks.current_mhz, clock);
    if (!now) continue;
    list.push_back(Named(word, kMega * *now));
    const auto maximum = Find(reading.clock_limits.maximum_mhz, clock);
    if (maximum) list.back()["maximum"] = kMega * *maximum;
  }
  return list;
}

void SetThrottling(const BoardReading& reading, json& board) {
  const auto& active = reading.clocks.throttle_active;
  if (!active) return;
  json names = json::array();
  for (const mailbox::ThrottleRow& row : mailbox::kThrottleReasons) {
    if ((*active & mailbox::MaskOf(row.reason)) != 0) names.push_back(row.name);
  }
  board["throttling"] = std::move(names);
}

json Memory(const MemoryReading& memory) {
  json object;
  if (memory.used_mib) object["used"] = kMib * *memory.used_mib;
  if (memory.reserved_mib) object["reserved"] = kMib * *memory.reserved_mib;
  if (memory.total_mib) object["total"] = kMib * *memory.total_mib;
  return object;
}

json Ecc(const EccReading& ecc) {
  json list = json::array();
  for (const auto& [memory, word] : kEccWords) {
    json errors;
    SetIfKnown(errors, "corrected", Find(ecc.corrected, memory));
    SetIfKnown(errors, "uncorrected", Find(ecc.uncorrected, memory));
    if (errors.empty()) continue;
    errors["name"] = word;
    list.push_back(std::move(errors));
  }
  return list;
}

json RemappedRows(const RowRemapReading& remaps) {
  json object;
  SetIfKnown(object, "corrected", remaps.corrected);
  SetIfKnown(object, "uncorrected", remaps.uncorrected);
  SetIfKnown(object, "is_pending", remaps.is_pending);
  SetIfKnown(object, "has_failed", remaps.has_failed);
  if (remaps.corrected || remaps.uncorrected) object["has_excess"] = remaps.has_excess;
  return object;
}

json RetiredPages(const RetiredPageReading& pages) {
  json object;
  SetIfKnown(object, "single_bit", pages.single_bit);
  SetIfKnown(object, "double_bit", pages.double_bit);
  return object;
}

json Nvlinks(const NvlinkReading& nvlink) {
  if (nvlink.links.empty()) return {};
  size_t up = 0, known = 0;
  json down = json::array();
  std::vector<std::optional<RunningCount>> errors;
  for (size_t i = 0; i < nvlink.links.size(); ++i) {
    const NvlinkStatus& link = nvlink.links[i];
    if (link.is_up) ++known;
    if (link.is_up == true) ++up;
    // A link that is lost is off, too; one that is disabled is meant to be.
    if (link.is_up == false && link.state != mailbox::NvlinkState::kDisabled) down.push_back(i);
    errors.insert(errors.end(), {link.replays, link.recoveries, link.flit_crc, link.data_crc});
  }
  json object = {{"count", nvlink.links.size()}};
  if (known != 0) object["up"] = up;
  if (known != 0) object["down"] = std::move(down);
  SetIfKnown(object, "errors", SumOf(errors));
  return object;
}

json Pcie(const PcieReading& pcie) {
  json object;
  SetIfKnown(object, "generation", pcie.generation);
  SetIfKnown(object, "lanes", pcie.lanes);
  SetIfKnown(object, "errors", SumOf({pcie.correctable, pcie.non_fatal, pcie.fatal, pcie.unsupported}));
  SetIfKnown(object, "replays", pcie.replays);
  return object;
}

json Attention(const BoardReading& reading) {
  constexpr uint8_t kManagerTimeout = 2, kManagerError = 3;
  json list = json::array();
  for (const MiscFlag flag : kFlagsOfAttention) {
    const auto* row = std::ranges::find(mailbox::kMiscFlags, flag, &mailbox::MiscFlagRow::flag);
    if (Find(reading.flags.flags, flag) == true) list.push_back(row->name);
  }
  if (reading.flags.fabric_manager == kManagerTimeout) list.push_back("the fabric manager does not answer");
  if (reading.flags.fabric_manager == kManagerError) list.push_back("the fabric manager has an error");
  if (reading.row_remaps.is_pending == true) list.push_back("a row waits for its replacement, which needs a reset");
  if (reading.row_remaps.has_failed == true) list.push_back("the replacement of a row has failed");
  if (reading.ecc.sram_threshold_exceeded == true) list.push_back("SRAM errors above the vendor's threshold");
  return list;
}

json Messages(const DriverMessageReading& reading) {
  json list = json::array();
  for (auto message = reading.messages.rbegin(); message != reading.messages.rend(); ++message) {
    if (list.size() == kMessagesShown) break;
    list.push_back({{"xid", message->xid}, {"time", message->time_s}, {"text", message->text}});
  }
  return list;
}

json Ratios(const MetricValues& values) {
  json list = json::array();
  for (const auto& [metric, value] : values.ratios) {
    const auto* row = std::ranges::find(mailbox::kMetrics, metric, &mailbox::MetricRow::metric);
    if (row != std::end(mailbox::kMetrics)) list.push_back(Named(row->name, value));
  }
  return list;
}

json RatiosOfDevice(const MetricReading& metrics) {
  const auto values = metrics.scopes.find({});
  return values == metrics.scopes.end() ? json() : Ratios(values->second);
}

json Partitions(const MetricReading& metrics) {
  json list = json::array();
  for (const auto& [scope, values] : metrics.scopes) {
    json ratios = Ratios(values);
    if (!scope.partition || ratios.empty()) continue;
    list.push_back({{"partition", *scope.partition}, {"ratios", std::move(ratios)}});
    SetIfKnown(list.back(), "instance", scope.compute_instance);
  }
  return list;
}

// What is read once at the start is of the start for ever.
json Oldest(const BoardReading& reading, absl::Duration now) {
  json oldest;
  absl::Duration time = absl::InfiniteDuration();
  for (const auto& [group, sample] : reading.samples) {
    if (RowOf(group).group_class == GroupClass::kStart || sample.steady >= time) continue;
    time = sample.steady;
    // A reading may be newer than the time that the caller has taken.
    const absl::Duration age = std::max(now - time, absl::ZeroDuration());
    oldest = {{"name", RowOf(group).name}, {"age", absl::ToDoubleSeconds(age)}};
  }
  return oldest;
}

void AddState(const BoardReading& reading, json& board) {
  SetIfKnown(board, "name", Find(reading.identity.items, mailbox::SysId::kMarketingName));
  SetIfKnown(board, "driver", reading.identity.driver_version);
  SetIfAny(board, "attention", Attention(reading));
  SetIfAny(board, "messages", Messages(reading.driver_messages));
  if (reading.driver_messages.taken != 0) board["messages_taken"] = absl::StrCat(reading.driver_messages.taken);
}

void AddHeat(const BoardReading& reading, json& board) {
  SetIfAny(board, "temperatures", Temperatures(reading));
  SetIfAny(board, "thresholds", Thresholds(reading, /*of_margin=*/false));
  SetIfKnown(board, "margin", reading.margin.celsius);
  SetIfAny(board, "margin_thresholds", Thresholds(reading, /*of_margin=*/true));
  if (IsHot(reading)) board["is_hot"] = true;
  SetIfAny(board, "powers", Powers(reading));
  SetIfAny(board, "clocks", Clocks(reading));
  SetIfKnown(board, "performance_state", reading.clocks.performance_state);
  SetThrottling(reading, board);
}

void AddParts(const BoardReading& reading, json& board) {
  SetIfAny(board, "memory", Memory(reading.memory));
  SetIfAny(board, "ecc", Ecc(reading.ecc));
  SetIfAny(board, "remapped_rows", RemappedRows(reading.row_remaps));
  SetIfAny(board, "retired_pages", RetiredPages(reading.retired_pages));
  SetIfAny(board, "nvlinks", Nvlinks(reading.nvlink));
  SetIfAny(board, "pcie", Pcie(reading.pcie));
}

}  // namespace

json BoardJson(const BoardReading& reading, absl::Duration steady_now) {
  json board = json::object();
  AddState(reading, board);
  AddHeat(reading, board);
  AddParts(reading, board);
  SetIfAny(board, "ratios", RatiosOfDevice(reading.metrics));
  SetIfAny(board, "partitions", Partitions(reading.metrics));
  SetIfAny(board, "oldest", Oldest(reading, steady_now));
  return board;
}

}  // namespace sideband::daemon
