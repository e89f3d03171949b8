// SPDX-License-Identifier: Apache-2.0
//
// The keys whose tokens count, from a JWKS file (RFC 7517, 5). It is read all or nothing.
//   SIDEBAND_ASSIGN_OR_RETURN(const std::shared_ptr<const KeySet> keys, LoadKeySet("/etc/sideband/jwks.json"));
//   if (const VerificationKey* key = keys->Find(kid)) …
#ifndef SIDEBAND_DAEMON_AUTHZ_KEY_SET_H_
#define SIDEBAND_DAEMON_AUTHZ_KEY_SET_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "daemon/authz/verification_key.h"

namespace sideband::daemon {

inline constexpr size_t kKeysMax = 64;

// Immutable, therefore thread-safe.
class KeySet {
 public:
  // INVALID_ARGUMENT "FILE:LINE: key 'kid': what is wrong". A set without keys is refused: no token would count, and
  // whoever means that configures none. `path` is for messages.
  static absl::StatusOr<std::shared_ptr<const KeySet>> Parse(const std::string& text, const std::string& path);

  size_t size() const { return keys_.size(); }
  // nullptr where there is none.
  const VerificationKey* Find(absl::string_view key_id) const;

 private:
  KeySet() = default;

  absl::flat_hash_map<std::string, std::unique_ptr<const VerificationKey>> keys_;  // by kid
};

absl::StatusOr<std::shared_ptr<const KeySet>> LoadKeySet(const std::string& path);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUTHZ_KEY_SET_H_
