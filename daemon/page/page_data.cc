// SPDX-License-Identifier: Apache-2.0
#include "daemon/page/page_data.h"

#include <google/protobuf/util/json_util.h>

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "daemon/authz/role_name.h"
#include "daemon/view/queries.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

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

// With all fields, also where they have their defaults, so that the page finds what it reads.
absl::StatusOr<std::string> Json(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(message, &json, options);
  if (!status.ok()) return absl::InternalError(absl::StrCat("JSON: ", std::string(status.message())));
  return json;
}

// The members of the message's object, without its braces.
absl::StatusOr<std::string> Members(const google::protobuf::Message& message) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string object, Json(message));
  return object.substr(1, object.size() - 2);
}

nlohmann::json OwnMetrics(SelfMetrics& metrics) {
  nlohmann::json list = nlohmann::json::array();
  for (const MetricSample& sample : metrics.Samples(kOwnMetrics)) {
    list.push_back({{"name", sample.name}, {"labels", sample.labels}, {"value", sample.value}});
  }
  return list;
}

std::string Dump(const nlohmann::json& json) {
  // Identities and labels may be any bytes.
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

absl::StatusOr<std::string> PageData::Status(const Caller& caller) const {
  Reader& reader = sources_.reader;
  SIDEBAND_ASSIGN_OR_RETURN(const auto devices, ListDevices(reader, caller, {}));
  SIDEBAND_ASSIGN_OR_RETURN(const auto scopes, ListScopes(reader, caller, {}));
  SIDEBAND_ASSIGN_OR_RETURN(const auto snapshots, GetSnapshot(reader, caller, {}));
  std::vector<std::string> members;
  for (const google::protobuf::Message* message :
       std::initializer_list<const google::protobuf::Message*>{&devices, &scopes, &snapshots}) {
    SIDEBAND_ASSIGN_OR_RETURN(members.emplace_back(), Members(*message));
  }
  const bool sees_own = caller.May(Resource::SelfMetrics(), Right::kRead);
  nlohmann::json about = {{"version", sources_.version},
                          {"identity", caller.principal.identity},
                          {"role", RoleName(*caller.policy.policy, caller.principal)},
                          {"own_metrics", sees_own ? OwnMetrics(sources_.metrics) : nlohmann::json::array()}};
  const std::string rest = Dump(about);
  return absl::StrCat("{", absl::StrJoin(members, ","), ",", absl::string_view(rest).substr(1));
}

absl::StatusOr<std::string> PageData::History(const Caller& caller,
                                              const sideband::v1::GetHistoryRequest& request) const {
  SIDEBAND_ASSIGN_OR_RETURN(const auto response, sources_.history.Get(caller, request));
  return Json(response);
}

}  // namespace sideband::daemon
