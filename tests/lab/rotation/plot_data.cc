// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/rotation/plot_data.h"

#include <cerrno>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "proto/base/file.h"

namespace sideband::rotation {

void PlotData::Begin(const std::string& title) {
  absl::StrAppend(&text_, text_.empty() ? "" : "\n\n", "\"", title, "\"\n");
}

absl::Status PlotData::Write(const std::string& folder, const std::string& name) const {
  if (folder.empty()) return absl::OkStatus();
  const std::string path = absl::StrCat(folder, "/", name, ".data");
  std::ofstream file(path);
  file << text_ << std::flush;
  return file ? absl::OkStatus() : ErrnoStatus(errno, path);
}

}  // namespace sideband::rotation
