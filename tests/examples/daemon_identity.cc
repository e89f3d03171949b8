// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/audit/audit_files.h"
#include "daemon/audit/audit_log.h"
#include "daemon/audit/audit_sink.h"
#include "daemon/audit/fake_audit_sink.h"
#include "daemon/authz/absent_names.h"
#include "daemon/authz/decision.h"
#include "daemon/authz/policy.h"
#include "daemon/base/clock.h"
#include "daemon/identity/fake_issuer.h"
#include "daemon/identity/identity.h"
#include "daemon/identity/key_set.h"
#include "daemon/identity/token_verifier.h"
#include "daemon/metrics/area_metrics.h"
#include "daemon/sealing/exchange_book.h"
#include "daemon/sealing/seal_vms.h"
#include "daemon/sealing/sealer_set.h"
#include "daemon/view/exchange_queries.h"
#include "proto/audit/chain.h"
#include "proto/base/bytes.h"
#include "proto/base/errors.h"
#include "proto/base/status_macros.h"
#include "proto/base/uuid.h"
#include "proto/base/yaml.h"
#include "proto/envelope/secret.h"

namespace sideband::daemon {
namespace {

void UseFakeIssuer() {
  //@ daemon/identity/fake_issuer.h
}

void UseIdentity(const SubjectNames& names, const Policy& policy) {
  //@ daemon/identity/identity.h
}

absl::Status UseKeySet(absl::string_view token, ErrorList& errors) {
  //@ daemon/identity/key_set.h
  return absl::OkStatus();
}

absl::Status UseTokenVerifier(const Clock& clock, const std::shared_ptr<const KeySet>& keys, absl::string_view token) {
  //@ daemon/identity/token_verifier.h
  return absl::OkStatus();
}

void Serve(const Principal& principal);

void UseAbsentNames(const Policy& policy, const Policy& in_force, const Topologies& topologies, ErrorList& errors) {
  //@ daemon/authz/absent_names.h
}

void UseDecision(const Policy& policy, const Principal& principal, const Uuid& uuid) {
  //@ daemon/authz/decision.h
}

void UsePolicy(const SubjectNames& names, const std::string& jwks_file, const std::shared_ptr<const KeySet>& keys,
               ErrorList& errors) {
  //@ daemon/authz/policy.h
}

void Write(const AuditEntry& entry);

absl::Status UseAuditFiles(absl::string_view lines) {
  //@ daemon/audit/audit_files.h
  return absl::OkStatus();
}

absl::Status UseAuditLog(const Clock& clock, AuditMetrics& metrics, const AuditEntry& entry) {
  //@ daemon/audit/audit_log.h
  return absl::OkStatus();
}

void UseAuditSink(AuditSink& audit, const std::string& identity) {
  //@ daemon/audit/audit_sink.h
}

void UseFakeAuditSink() {
  //@ daemon/audit/fake_audit_sink.h
}

void Withhold(const Uuid& vm);

absl::Status UseSealerSet(EpochSource& epochs, const Uuid& device, const Uuid& vm, const SealInput& input) {
  //@ daemon/sealing/sealer_set.h
  return absl::OkStatus();
}

absl::Status UseExchangeBook(exchange::SealingRules rules, const exchange::Sha384Digest& measurement,
                             const Clock& clock, const Uuid& device, const Uuid& vm,
                             const exchange::ExchangeTarget& target, const Bytes& request,
                             const ExchangeBook::Subject& subject, const Bytes& content) {
  //@ daemon/sealing/exchange_book.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::daemon
