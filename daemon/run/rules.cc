// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/rules.h"

#include <spdlog/spdlog.h>

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/authz/absent_names.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

// LoadRules, and a look at the devices, which at start are not known yet.
absl::StatusOr<Rules> LoadRulesFor(const Config& config, const Reader& reader) {
  SIDEBAND_ASSIGN_OR_RETURN(Rules rules, LoadRules(config));
  if (const auto topologies = reader.FreshTopologies()) {
    SIDEBAND_RETURN_IF_ERROR(CheckNewNamesExist(*rules.policy, *reader.policy().Current().policy, *topologies));
    for (const std::string& absent : AbsentNames(*rules.policy, *topologies)) spdlog::warn("reload: {}", absent);
  }
  return rules;
}

// What became of reading the policy file.
void RecordPolicy(AuditSink& audit, const Config& config, const absl::Status& status, uint64_t version_in_force) {
  audit.Record({.kind = AuditKind::kPolicy,
                .resource = config.policy_file,
                .reason = status.ok() ? "in force" : absl::StrCat("the old one stays in force: ", status.message()),
                .policy_version = version_in_force});
}

}  // namespace

absl::StatusOr<Rules> LoadRules(const Config& config) {
  Rules rules;
  SIDEBAND_ASSIGN_OR_RETURN(rules.policy, LoadPolicy(config.policy_file));
  if (!config.tokens) return rules;
  SIDEBAND_ASSIGN_OR_RETURN(rules.keys, LoadKeySet(config.tokens->jwks_file));
  return rules;
}

void TellRulesInForce(const Config& config, const Reader& reader) {
  RecordPolicy(reader.audit(), config, absl::OkStatus(), reader.policy().Current().version);
}

void Reload(const Config& config, const Reader& reader, SelfMetrics& metrics) {
  auto rules = LoadRulesFor(config, reader);
  metrics.ConfigReloaded(rules.ok());
  if (rules.ok()) reader.policy().Replace(std::move(rules->policy), std::move(rules->keys));
  const uint64_t version = reader.policy().Current().version;
  RecordPolicy(reader.audit(), config, rules.status(), version);
  if (rules.ok()) return spdlog::info("reload: policy version {} is in force", version);
  spdlog::error("reload: {}; the old policy stays in force", std::string(rules.status().message()));
}

}  // namespace sideband::daemon
