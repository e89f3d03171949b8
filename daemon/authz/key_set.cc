// SPDX-License-Identifier: Apache-2.0
#include "daemon/authz/key_set.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/yaml.h"

namespace sideband::daemon {
namespace {

constexpr size_t kKeySetBytesMax = 1 << 20;

// The list under "keys"; other names beside it are somebody else's (SPIFFE's, for one).
absl::StatusOr<std::vector<YamlNode>> KeyNodes(const YamlNode& root) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto entries, root.Entries());
  for (const auto& [name, node] : entries) {
    if (name == "keys") return node.List();
  }
  return root.Error("'keys' is missing");
}

}  // namespace

absl::StatusOr<std::shared_ptr<const KeySet>> KeySet::Parse(const std::string& text, const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode root, YamlNode::Parse(text, path));
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<YamlNode> nodes, KeyNodes(root));
  if (nodes.empty()) return root.Error("'keys' is empty: no token could be verified");
  if (nodes.size() > kKeysMax) return root.Error(absl::StrCat("more than ", kKeysMax, " keys"));
  std::shared_ptr<KeySet> set(new KeySet);
  for (const YamlNode& node : nodes) {
    SIDEBAND_ASSIGN_OR_RETURN(auto key, VerificationKey::FromJwk(node));
    const std::string id = key->id();
    if (!set->keys_.emplace(id, std::move(key)).second)
      return node.Error(absl::StrCat("kid '", id, "' is given twice"));
  }
  return std::shared_ptr<const KeySet>(std::move(set));
}

const VerificationKey* KeySet::Find(absl::string_view key_id) const {
  const auto found = keys_.find(key_id);
  return found == keys_.end() ? nullptr : found->second.get();
}

absl::StatusOr<std::shared_ptr<const KeySet>> LoadKeySet(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kKeySetBytesMax));
  return KeySet::Parse(text, path);
}

}  // namespace sideband::daemon
