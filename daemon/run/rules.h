// SPDX-License-Identifier: Apache-2.0
//
// The policy and the keys of tokens, from their files, at start and on SIGHUP.
//   SIDEBAND_ASSIGN_OR_RETURN(Rules rules, LoadRules(config));
//   Reload(config, reader, *metrics);
#ifndef SIDEBAND_DAEMON_RUN_RULES_H_
#define SIDEBAND_DAEMON_RUN_RULES_H_

#include <memory>

#include "absl/status/statusor.h"
#include "daemon/api/reader.h"
#include "daemon/authz/key_set.h"
#include "daemon/authz/policy.h"
#include "daemon/config/config.h"
#include "daemon/metrics/self_metrics.h"

namespace sideband::daemon {

// What decides who may see what, as the files say it now.
struct Rules {
  std::shared_ptr<const Policy> policy;
  std::shared_ptr<const KeySet> keys;  // nullptr where tokens are not configured
};

// "FILE:LINE: why" of what is wrong with them. Whether the devices have what they name is not known at start.
absl::StatusOr<Rules> LoadRules(const Config& config);

// Tells the audit log and the log what is in force from the start.
void TellRulesInForce(const Config& config, const Reader& reader);

// All or nothing: what cannot be loaded, or names what no device has, leaves the policy and the keys that are in force.
// The log, the audit log and the metrics are told.
void Reload(const Config& config, const Reader& reader, SelfMetrics& metrics);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_RUN_RULES_H_
