// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "daemon/authz/absent_names.h"
#include "daemon/authz/decision.h"
#include "daemon/authz/policy.h"
#include "daemon/authz/policy_holder.h"
#include "daemon/identity/identity.h"
#include "daemon/identity/key_set.h"
#include "proto/base/errors.h"
#include "proto/base/uuid.h"
#include "proto/base/yaml.h"

namespace sideband::daemon {
namespace {

void Serve(const Principal& principal);

void UseAbsentNames(const Policy& policy, const Policy& in_force, const Topologies& topologies, ErrorList& errors) {
  //@ daemon/authz/absent_names.h
}

void UseDecision(const Policy& policy, const Principal& principal, const Uuid& uuid) {
  //@ daemon/authz/decision.h
}

void UsePolicy(const SubjectNames& names, ErrorList& errors) {
  //@ daemon/authz/policy.h
}

void UsePolicyHolder(const std::string& path, const std::string& jwks_file, const std::shared_ptr<const Policy>& policy,
                     const std::shared_ptr<const KeySet>& keys, ErrorList& errors) {
  //@ daemon/authz/policy_holder.h
}

}  // namespace
}  // namespace sideband::daemon
