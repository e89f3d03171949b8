// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/counting_config.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/file.h"
#include "proto/base/text.h"

namespace sideband::daemon {
namespace {

constexpr size_t kCountingBytesMax = 1 << 20;

}  // namespace

DeviceSettings ReadCountingConfig(const YamlMap& root, const std::vector<DeviceConfig>& devices,
                                  const ConfigContext& context) {
  const auto key = root.Find("counting_file");
  if (!key) return {};
  std::string named, text;
  if (!context.errors.Take(key->String(), named)) return {};
  const std::string path = context.Resolve(named);
  if (!context.errors.Take(ReadFile(path, kCountingBytesMax, FileTrust::kNotWritable), text)) return {};
  DeviceSettings settings = ParseCountingFile(text, path, context.errors);
  std::vector<std::string> names;
  for (const DeviceConfig& device : devices) names.push_back(device.name);
  for (const auto& [name, setting] : settings) {
    if (std::ranges::find(names, name) != names.end()) continue;
    context.errors.Add(absl::InvalidArgumentError(
        absl::StrCat(path, ": no device '", name, "' is configured", DidYouMean(name, names))));
  }
  return settings;
}

}  // namespace sideband::daemon
