// SPDX-License-Identifier: Apache-2.0
//
// Reads the members of a state file, whose values are strings.
//   StateMembers members(json);
//   const auto epoch = members.Count<uint64_t>("epoch");
//   if (!members.ok()) return std::nullopt;
#ifndef SIDEBAND_CLIENT_LIB_STATE_MEMBERS_H_
#define SIDEBAND_CLIENT_LIB_STATE_MEMBERS_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "absl/strings/numbers.h"
#include "proto/base/uuid.h"
#include "proto/envelope/record.h"

namespace sideband::client {

// Must not outlive `json`. A member that is absent or malformed has the value zero, and clears ok().
class StateMembers {
 public:
  explicit StateMembers(const nlohmann::json& json) : json_(json) {}

  template <typename Number>
  Number Count(const char* name) {
    Number number = 0;
    ok_ &= absl::SimpleAtoi(Text(name), &number);
    return number;
  }
  Uuid Id(const char* name);
  // nullopt for an empty text.
  std::optional<envelope::GuestNonce> Nonce(const char* name);
  bool ok() const { return ok_; }

 private:
  std::string Text(const char* name);

  const nlohmann::json& json_;
  bool ok_ = true;
};

// The text of a nonce in such a file; empty: there is none.
std::string NonceText(const std::optional<envelope::GuestNonce>& nonce);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_STATE_MEMBERS_H_
