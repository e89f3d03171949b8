// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/status_page.h"

#include <google/protobuf/util/json_util.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/authz/policy.h"
#include "daemon/http/board_json.h"
#include "daemon/view/row_filter.h"
#include "daemon/view/sensor_queries.h"
#include "daemon/view/snapshot_message.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

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

// What the page says of the bus, of the pipeline and of the daemon. docs/metrics.md describes them.
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
  if (sources.boards == nullptr || !caller.May(Resource::Board(), Right::kRead)) return std::nullopt;
  const absl::Duration now = sources.reader.clock().Steady();
  nlohmann::json boards = nlohmann::json::object();
  for (const VisibleBoard& board : VisibleBoards(*sources.boards, caller, devices, now)) {
    boards[board.device] = BoardJson(*board.reading, now);
  }
  return boards;
}

#include "daemon/http/status_page.inc"

}  // namespace

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
