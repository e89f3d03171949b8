// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/authz/policy.h"
#include "daemon/base/clock.h"
#include "daemon/identity/compact_jws.h"
#include "daemon/identity/fake_issuer.h"
#include "daemon/identity/identity.h"
#include "daemon/identity/key_set.h"
#include "daemon/identity/token_verifier.h"
#include "proto/base/errors.h"
#include "proto/base/status_macros.h"
#include "proto/base/yaml.h"

namespace sideband::daemon {
namespace {

absl::Status UseCompactJws(absl::string_view token) {
  //@ daemon/identity/compact_jws.h
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

absl::Status UseTokenVerifier(const Clock& clock, const std::shared_ptr<const KeySet>& keys, absl::string_view token) {
  //@ daemon/identity/token_verifier.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::daemon
