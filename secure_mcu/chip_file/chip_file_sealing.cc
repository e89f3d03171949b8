// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip_file/chip_file_sealing.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::mcu {

absl::Status ReadSealing(const YamlMap& root, ChipFile& file) {
  const auto node = root.Find("sealing");
  if (!node) return absl::OkStatus();
  if (file.extension != mailbox::ExtensionVersion::kTwo) return node->Error("'sealing' needs extension 2");
  if (file.rotation) return node->Error("a device that seals has no 'rotation': its records have no estimates");
  const auto open =
      std::ranges::find_if(file.vms, [](const VmFileSpec& vm) { return vm.confidential && !vm.counting.is_private; });
  if (open != file.vms.end()) {
    return node->Error(absl::StrCat("VM '", open->name,
                                    "' is confidential and not private: the device's own block would "
                                    "have its counts"));
  }
  SIDEBAND_ASSIGN_OR_RETURN(const std::string path, node->String());
  file.sealing = {.path = (std::filesystem::path(file.path).parent_path() / path).string(), .line = node->line()};
  return absl::OkStatus();
}

}  // namespace sideband::mcu
