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
#include "daemon/authz/policy_holder.h"
#include "daemon/base/clock.h"
#include "daemon/identity/base64url.h"
#include "daemon/identity/bearer.h"
#include "daemon/identity/claims.h"
#include "daemon/identity/compact_jws.h"
#include "daemon/identity/connection_standing.h"
#include "daemon/identity/credentials.h"
#include "daemon/identity/fake_issuer.h"
#include "daemon/identity/identity.h"
#include "daemon/identity/key_set.h"
#include "daemon/identity/strict_json.h"
#include "daemon/identity/token_verifier.h"
#include "daemon/metrics/audit_metrics.h"
#include "daemon/sealing/daemon_sealer.h"
#include "daemon/sealing/epoch_source.h"
#include "daemon/sealing/exchange_book.h"
#include "daemon/sealing/guest_sealer.h"
#include "daemon/sealing/seal_vms.h"
#include "daemon/sealing/sealer_choice.h"
#include "daemon/sealing/sealer_set.h"
#include "daemon/view/exchange_queries.h"
#include "proto/audit/entry.h"
#include "proto/base/bytes.h"
#include "proto/base/error_list.h"
#include "proto/base/status_macros.h"
#include "proto/base/uuid.h"
#include "proto/base/yaml.h"
#include "proto/envelope/secret.h"

namespace sideband::daemon {
namespace {

void UseBase64Url() {
  //@ daemon/identity/base64url.h
}

void UseBearer(Credentials& credentials) {
  //@ daemon/identity/bearer.h
}

absl::Status UseClaims(const CompactJws& jws, const Clock& clock) {
  //@ daemon/identity/claims.h
  return absl::OkStatus();
}

absl::Status UseCompactJws(absl::string_view token) {
  //@ daemon/identity/compact_jws.h
  return absl::OkStatus();
}

absl::Status UseConnectionStanding(const Credentials& credentials) {
  //@ daemon/identity/connection_standing.h
  return absl::OkStatus();
}

void UseFakeIssuer() {
  //@ daemon/identity/fake_issuer.h
}

void UseIdentity(const SubjectNames& names, const Policy& policy) {
  //@ daemon/identity/identity.h
}

absl::Status UseKeySet(absl::string_view kid, absl::string_view token, const CompactJws& jws, ErrorList& errors) {
  //@ daemon/identity/key_set.h
  return absl::OkStatus();
}

absl::Status UseStrictJson(absl::string_view payload) {
  //@ daemon/identity/strict_json.h
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

void UsePolicy(const SubjectNames& names, ErrorList& errors) {
  //@ daemon/authz/policy.h
}

void UsePolicyHolder(const std::string& path, const std::string& jwks_file, const std::shared_ptr<const Policy>& policy,
                     const std::shared_ptr<const KeySet>& keys, ErrorList& errors) {
  //@ daemon/authz/policy_holder.h
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

absl::Status UseEpochSource() {
  //@ daemon/sealing/epoch_source.h
  return absl::OkStatus();
}

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

absl::Status UseGuestSealer(GuestSealer& sealer, const SealedVm& subject, const Bytes& request,
                            GuestSealer::Done<Bytes> done) {
  //@ daemon/sealing/guest_sealer.h
  return absl::OkStatus();
}

void UseDaemonSealer(const std::unique_ptr<ExchangeBook>& exchanges, Reader& reader) {
  //@ daemon/sealing/daemon_sealer.h
}

void UseSealerChoice(GuestSealer& daemon_sealer, GuestSealer& seal_router, Reader& reader) {
  //@ daemon/sealing/sealer_choice.h
}

}  // namespace
}  // namespace sideband::daemon
