// SPDX-License-Identifier: Apache-2.0
//
// State shared by the readers of the configuration's sections. A reader continues after an error and adds it to
// `errors`, so that all errors are reported at once. Its result is valid only if no error was added.
//   ErrorList errors;
//   const ConfigContext context{.path = path, .folder = folder, .errors = errors};
//   config.audit = ReadAuditConfig(root, context);
#ifndef SIDEBAND_DAEMON_CONFIG_CONFIG_CONTEXT_H_
#define SIDEBAND_DAEMON_CONFIG_CONFIG_CONTEXT_H_

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/errors.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "proto/base/yaml.h"

namespace sideband::daemon {

struct ConfigContext {
  std::string path;              // the configuration file's, for messages
  std::filesystem::path folder;  // relative paths start here
  ErrorList& errors;

  // Resolves a path of the configuration to the path that the daemon opens.
  std::string Resolve(const std::string& named) const { return (folder / named).string(); }

  // Returns the section `key` of `root`; nullopt if it is absent or not a mapping.
  std::optional<YamlMap> Section(const YamlMap& root, const std::string& key,
                                 std::initializer_list<absl::string_view> keys) const;
  // Returns the path of the readable file under the required key `key`. Opens the file to check that it satisfies
  // `trust`, but does not read it, since it may be a key. Errors carry the line of the key.
  std::string ReadableFile(const YamlMap& map, const std::string& key, FileTrust trust) const;
  // Returns the number of bytes under `key` (such as 16MiB), which must be within [low, high], or `otherwise` if
  // absent.
  uint64_t ByteSizeOr(const YamlMap& map, const std::string& key, uint64_t otherwise, uint64_t low,
                      uint64_t high) const;
};

// Returns the text under the required key `key` if it has letters, digits, _ . and - only, as names in labels, URLs and
// commands have. INVALID_ARGUMENT "FILE:LINE: WHAT 'TEXT' may hold …".
absl::StatusOr<std::string> LabelSafe(const YamlMap& map, const std::string& key, absl::string_view what);
bool IsLabelSafe(absl::string_view text);

// Reads a configuration value that is one of a fixed set of words.
template <typename T>
using Words = std::initializer_list<std::pair<std::string, T>>;

// INVALID_ARGUMENT "FILE:LINE: 'WORD' is unknown, must be A, B or C".
template <typename T>
absl::StatusOr<T> OneOf(const YamlNode& node, Words<T> words) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::string text, node.String());
  std::vector<std::string> known;
  for (const auto& [word, value] : words) {
    if (word == text) return value;
    known.push_back(word);
  }
  return node.Error(absl::StrCat("'", text, "' is unknown", MustBeOneOf(known)));
}

template <typename T>
absl::StatusOr<T> OneOfOr(const YamlMap& map, const std::string& key, T otherwise, Words<T> words) {
  const auto node = map.Find(key);
  return node ? OneOf(*node, words) : otherwise;
}

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_CONFIG_CONTEXT_H_
