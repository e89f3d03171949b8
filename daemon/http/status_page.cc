// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/status_page.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "daemon/authz/policy.h"
#include "daemon/board/board_groups.h"
#include "daemon/view/row_filter.h"
#include "daemon/view/sensor_queries.h"
#include "daemon/view/snapshot_message.h"
#include "proto/base/status_macros.h"
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

// The suffix in mailbox::kThermParams, which has both kinds.
constexpr absl::string_view kMarginSuffix = " T.Limit";

// These ask for an operator; the others are choices.
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
    errors.insert(errors.end(), {link.replays, link.recoveries, link.flit_crc, link.data_crc, link.downs,
                                 link.symbol_errors, link.receive_errors});
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
  if (reading.health.worst == BoardHealth::kWarning) list.push_back("the BMC warns of its health");
  if (reading.health.worst == BoardHealth::kCritical) list.push_back("the BMC says that its health is critical");
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

// Groups that are read once, at the start, do not age; nor do those that a BMC, which has no capabilities, is asked for
// once an hour.
json Oldest(const BoardReading& reading, absl::Duration now) {
  json oldest;
  const bool is_of_bmc = reading.capabilities.IsEmpty();
  absl::Duration time = absl::InfiniteDuration();
  for (const auto& [group, sample] : reading.samples) {
    const bool stays = RowOf(group).group_class == GroupClass::kStart || group == BoardGroup::kHealth ||
                       (is_of_bmc && IsHourlyOfBmc(group));
    if (stays || sample.steady >= time) continue;
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

std::string Member(absl::string_view name, const std::vector<std::string>& items) {
  return absl::StrCat("\"", name, "\":[", absl::StrJoin(items, ","), "]");
}

std::string RowsJson(const std::vector<VisibleDevice>& devices) {
  std::vector<std::string> scopes, snapshots;
  for (const VisibleDevice& device : devices) {
    if (device.snapshot == nullptr) continue;
    for (const sideband::v1::Scope& scope : ScopeMessages(*device.info, *device.view)) {
      if (scope.confidential()) scopes.push_back(MessageJson(scope));
    }
    sideband::v1::Snapshot snapshot = SnapshotMessage(device, RowFilter());
    if (snapshot.scopes_size() == 0) continue;  // as in GetSnapshot
    // The rows are shown until the next snapshot; their age grows meanwhile.
    snapshot.clear_age();
    snapshots.push_back(MessageJson(snapshot));
  }
  return absl::StrCat(Member("scopes", scopes), ",", Member("snapshots", snapshots));
}

// The page's metrics of the bus, the pipeline and the daemon. docs/metrics.md describes them.
constexpr absl::string_view kOwnMetrics[] = {
    "sideband_audit_lost_total",
    "sideband_bus_transfers_total",
    "sideband_collect_errors_total",
    "sideband_config_last_reload_successful",
    "sideband_conservation_ok",
    "sideband_pipeline_mmu_faults_total",
    "sideband_pipeline_trigger_overruns_total",
    "sideband_snapshots_total",
    "sideband_tls_certificate_not_after_timestamp_seconds",
};

nlohmann::json OwnMetrics(SelfMetrics& metrics) {
  nlohmann::json list = nlohmann::json::array();
  for (const MetricSample& sample : metrics.Samples(kOwnMetrics)) {
    list.push_back({{"name", sample.name}, {"labels", sample.labels}, {"value", sample.value}});
  }
  return list;
}

nlohmann::json AgesOf(const std::vector<VisibleDevice>& devices) {
  nlohmann::json ages = nlohmann::json::object();
  for (const VisibleDevice& device : devices) {
    if (device.snapshot != nullptr) ages[device.info->name] = absl::ToDoubleSeconds(device.age);
  }
  return ages;
}

size_t ContextsOf(const std::vector<VisibleDevice>& devices) {
  size_t count = 0;
  for (const VisibleDevice& device : devices) {
    if (device.view == nullptr) continue;
    for (const mailbox::ContextInfo& context : device.view->topology()->catalog().contexts) {
      if (device.view->Events(context.vm, context.id) != nullptr) ++count;
    }
  }
  return count;
}

// nullopt for callers that may not see them.
std::optional<nlohmann::json> BoardsOf(const PageData::Sources& sources, const Caller& caller,
                                       const std::vector<VisibleDevice>& devices) {
  if (sources.boards == nullptr) return std::nullopt;
  const bool is_operator = caller.May(Resource::Device(), Right::kRead);
  const absl::Duration now = sources.reader.clock().Steady();
  nlohmann::json boards = nlohmann::json::object();
  for (const VisibleBoard& board : VisibleBoards(*sources.boards, sources.reader.tenures(), caller, devices, now)) {
    if (!board.part.is_whole()) continue;
    nlohmann::json& shown = boards[board.device] = BoardJson(*board.reading, now);
    // They name processes, maybe those of the tenant before.
    if (!is_operator) shown.erase("messages");
  }
  if (boards.empty() && !is_operator) return std::nullopt;
  return boards;
}

#include "daemon/http/status_page.inc"

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

std::string MessageJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  // Fails only for messages of unknown types, which the API has not.
  if (!google::protobuf::util::MessageToJsonString(message, &json, options).ok()) return "{}";
  return json;
}

std::shared_ptr<const std::string> SharedRows::JsonOf(const Caller& caller, const std::vector<VisibleDevice>& devices) {
  std::vector<Shown> shown;
  for (const VisibleDevice& device : devices) {
    shown.push_back({device.info, device.snapshot, device.view, device.state});
  }
  const std::shared_ptr<Group> group = groups_.Find(caller);
  absl::MutexLock lock(&group->mu);
  if (group->json != nullptr && group->shown == shown) return group->json;
  group->json = std::make_shared<const std::string>(RowsJson(devices));
  group->shown = std::move(shown);
  return group->json;
}

// Everything that differs between two answers from one snapshot. Ends after a member and its comma.
std::string PageData::Head(const Caller& caller, const std::vector<VisibleDevice>& devices) const {
  nlohmann::json head = {{"identity", caller.principal.identity},
                         {"role", RoleName(*caller.policy.policy, caller.principal)},
                         {"time", absl::ToDoubleSeconds(sources_.reader.clock().Now() - absl::UnixEpoch())},
                         {"ages", AgesOf(devices)},
                         {"own_metrics", nlohmann::json::array()}};
  if (caller.May(Resource::SelfMetrics(), Right::kRead)) {
    head["version"] = sources_.version;
    head["own_metrics"] = OwnMetrics(sources_.metrics);
  }
  if (auto boards = BoardsOf(sources_, caller, devices)) head["boards"] = *std::move(boards);
  std::vector<std::string> messages;
  for (const VisibleDevice& device : devices) messages.push_back(MessageJson(DeviceMessage(device)));
  // Identities and labels may be any bytes.
  std::string object = head.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  object.pop_back();
  return absl::StrCat(object, ",\"devices\":[", absl::StrJoin(messages, ","), "],");
}

Body PageData::Status(const Caller& caller) {
  const std::vector<VisibleDevice> devices = sources_.reader.Devices(caller);
  const std::shared_ptr<const std::string> rows = rows_.JsonOf(caller, devices);
  return {.head = Head(caller, devices), .shared = *rows, .owner = rows, .tail = "}"};
}

absl::StatusOr<std::string> PageData::History(const Caller& caller,
                                              const sideband::v1::GetHistoryRequest& request) const {
  const bool has_few = ContextsOf(sources_.reader.Devices(caller)) <= kContextsWithHistory;
  const HistoryRows rows = has_few ? HistoryRows::kAll : HistoryRows::kWithoutContexts;
  SIDEBAND_ASSIGN_OR_RETURN(const auto response, sources_.history.Get(caller, request, rows));
  return MessageJson(response);
}

absl::string_view StatusPage() { return kPage; }

absl::string_view StatusPagePolicy() { return kPolicy; }

}  // namespace sideband::daemon
