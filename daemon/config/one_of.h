// SPDX-License-Identifier: Apache-2.0
//
// Reads a configuration value that is one of a fixed set of words.
//   errors.Take(OneOfOr(map, "min_version", TlsVersion::kTls13,
//                       {{"TLS12", TlsVersion::kTls12}, {"TLS13", TlsVersion::kTls13}}),
//               tls.min_version);
#ifndef SIDEBAND_DAEMON_CONFIG_ONE_OF_H_
#define SIDEBAND_DAEMON_CONFIG_ONE_OF_H_

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "proto/base/yaml.h"

namespace sideband::daemon {

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

#endif  // SIDEBAND_DAEMON_CONFIG_ONE_OF_H_
