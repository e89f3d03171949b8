// SPDX-License-Identifier: Apache-2.0
//
// Files of settings; README.md has the formats. The operator's is `counting_file` of the configuration; the callers'
// are one per device in the state folder.
//   const DeviceSettings settings = ParseCountingFile(text, "counting.yaml", errors);
//   SettingsFiles files("/var/lib/sideband");
//   CountingBook book(&files);
//   book.Replace(settings);
#ifndef SIDEBAND_DAEMON_COUNTING_SETTINGS_FILE_H_
#define SIDEBAND_DAEMON_COUNTING_SETTINGS_FILE_H_

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "daemon/counting/settings.h"
#include "proto/base/errors.h"
#include "proto/base/uuid.h"

namespace sideband::daemon {

// By the device's name in the configuration.
using DeviceSettings = std::map<std::string, CountingSettings>;

enum class CountingKeys {
  kOperators,  // those of the operator's file
  kCallers,    // also `contexts`, which only tenants set, and `selection_name`
};

// Each error is one line with FILE:LINE and is added to `errors`; the result is then not to be used. Names of devices,
// groups, VMs and contexts are not checked.
DeviceSettings ParseCountingFile(const std::string& text, const std::string& path, ErrorList& errors,
                                 CountingKeys keys = CountingKeys::kOperators);

inline constexpr size_t kSettingsFileMax = 4 << 20;  // bytes

// A gate value with its master bit off is written as `none`, without its groups.
std::string EncodeSettings(const Uuid& device, const CountingSettings& settings);
// INVALID_ARGUMENT "PATH:LINE: why" unless the text is that of EncodeSettings for this device: cut, changed, of another
// version or device.
absl::StatusOr<CountingSettings> DecodeSettings(const std::string& text, const std::string& path, const Uuid& device);

class SettingsFiles final : public SettingsStore {
 public:
  explicit SettingsFiles(std::string folder) : folder_(std::move(folder)) {}

  // Errors of ReadFile and DecodeSettings; PERMISSION_DENIED if other users than root could have written the file.
  absl::StatusOr<CountingSettings> Load(const Uuid& device) override;
  // The file is its owner's (mode 0600), and on the disk when this returns. Errors of ReplaceFile; RESOURCE_EXHAUSTED
  // beyond kSettingsFileMax.
  absl::Status Save(const Uuid& device, const CountingSettings& settings) override;

 private:
  std::string PathOf(const Uuid& device) const;

  const std::string folder_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COUNTING_SETTINGS_FILE_H_
