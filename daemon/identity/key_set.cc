// SPDX-License-Identifier: Apache-2.0
#include "daemon/identity/key_set.h"

#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "proto/base/yaml.h"

namespace sideband::daemon {
namespace {

constexpr size_t kKeySetBytesMax = 1 << 20;
// Sized for kKeysMax keys, each with certificates and members that other issuers add.
constexpr YamlBounds kKeySetBounds = {.depth_max = 16, .nodes_max = 1 << 14};

// The list under "keys". Other members are ignored; SPIFFE trust bundles have some.
absl::StatusOr<std::vector<YamlNode>> KeyNodes(const YamlNode& root) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto entries, root.Entries());
  for (const auto& [name, node] : entries) {
    if (name != "keys") continue;
    SIDEBAND_ASSIGN_OR_RETURN(std::vector<YamlNode> nodes, node.List());
    if (nodes.empty()) return root.Error("'keys' is empty: no token could be verified");
    if (nodes.size() > kKeysMax) return root.Error(absl::StrCat("more than ", kKeysMax, " keys"));
    return nodes;
  }
  return root.Error("'keys' is missing");
}

// The bounds count brackets and quotes as JSON has them. In other YAML they can mean something else.
absl::Status CheckIsJsonObject(const std::string& text, const std::string& path) {
  if (absl::StartsWith(absl::StripLeadingAsciiWhitespace(text), "{")) return absl::OkStatus();
  return LineError(path, 1, "not a JSON object");
}

}  // namespace

std::shared_ptr<const KeySet> KeySet::Parse(const std::string& text, const std::string& path, ErrorList& errors) {
  // `errors` may have errors of other files.
  const size_t before = errors.count();
  if (!errors.Add(CheckIsJsonObject(text, path))) return nullptr;
  const auto root = YamlNode::Parse(text, path, kKeySetBounds);
  std::vector<YamlNode> nodes;
  if (!errors.Add(root.status()) || !errors.Take(KeyNodes(*root), nodes)) return nullptr;
  std::shared_ptr<KeySet> set(new KeySet);
  for (const YamlNode& node : nodes) {
    std::unique_ptr<const VerificationKey> key;
    // Continues after a faulty key, so that all errors are reported at once.
    if (!errors.Take(VerificationKey::FromJwk(node), key)) continue;
    const std::string id = key->id();
    if (!set->keys_.emplace(id, std::move(key)).second) {
      errors.Add(node.Error(absl::StrCat("kid '", id, "' is given twice")));
    }
  }
  return errors.count() == before ? set : nullptr;
}

absl::StatusOr<std::shared_ptr<const KeySet>> KeySet::Parse(const std::string& text, const std::string& path) {
  ErrorList errors;
  auto set = Parse(text, path, errors);
  if (set == nullptr) return errors.First();
  return set;
}

const VerificationKey* KeySet::Find(absl::string_view key_id) const {
  const auto found = keys_.find(key_id);
  return found == keys_.end() ? nullptr : found->second.get();
}

std::shared_ptr<const KeySet> LoadKeySet(const std::string& path, ErrorList& errors) {
  std::string text;
  if (!errors.Take(ReadFile(path, kKeySetBytesMax, FileTrust::kNotWritable), text)) return nullptr;
  return KeySet::Parse(text, path, errors);
}

}  // namespace sideband::daemon
