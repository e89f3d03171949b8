// SPDX-License-Identifier: Apache-2.0
//
// A helper for tests of section readers.
//   EXPECT_EQ(ReadSection("history: {max_bytes: 0}", "history", ReadHistoryConfig)->max_bytes, 0u);
#ifndef SIDEBAND_DAEMON_CONFIG_READ_SECTION_H_
#define SIDEBAND_DAEMON_CONFIG_READ_SECTION_H_

#include <string>
#include <type_traits>

#include "absl/status/statusor.h"
#include "daemon/config/config_context.h"

namespace sideband::daemon {

// Runs `read` on the configuration `text` and returns its result, or the first error. The text is treated as the file
// c.yaml in `folder` and may contain the keys `section` and `other`.
template <typename Reader>
auto ReadSection(const std::string& text, const std::string& section, Reader read, const std::string& folder = "")
    -> absl::StatusOr<std::invoke_result_t<Reader, const YamlMap&, const ConfigContext&>> {
  const auto document = YamlNode::Parse(text, "c.yaml");
  if (!document.ok()) return document.status();
  ErrorList errors;
  const auto root = document->Map({section, "other"}, errors);
  if (!root) return errors.First();
  auto value = read(*root, ConfigContext{.path = "c.yaml", .folder = folder, .errors = errors});
  if (!errors.empty()) return errors.First();
  return value;
}

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_CONFIG_READ_SECTION_H_
