// SPDX-License-Identifier: Apache-2.0
#include "client/lib/state_members.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "proto/base/bytes.h"

namespace sideband::client {

using envelope::GuestNonce;

std::string StateMembers::Text(const char* name) {
  const auto member = json_.find(name);
  if (member != json_.end() && member->is_string()) return member->get<std::string>();
  ok_ = false;
  return "";
}

Uuid StateMembers::Id(const char* name) {
  const absl::StatusOr<Uuid> uuid = Uuid::Parse(Text(name));
  ok_ &= uuid.ok();
  return uuid.value_or(Uuid());
}

std::optional<GuestNonce> StateMembers::Nonce(const char* name) {
  const std::string text = Text(name);
  if (text.empty()) return std::nullopt;
  const std::optional<Bytes> digits = ParseHex(text);
  GuestNonce nonce{};
  ok_ &= digits && digits->size() == nonce.size();
  if (ok_) std::ranges::copy(*digits, nonce.begin());
  return nonce;
}

std::string NonceText(const std::optional<GuestNonce>& nonce) {
  if (!nonce.has_value()) return "";
  return absl::BytesToHexString({reinterpret_cast<const char*>(nonce->data()), nonce->size()});
}

}  // namespace sideband::client
