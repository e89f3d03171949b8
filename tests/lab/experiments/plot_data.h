// SPDX-License-Identifier: Apache-2.0
//
// Measurements as a file for gnuplot: blocks that are chosen by `index`, each with a title for `columnheader(1)`.
//   PlotData data;
//   data.Begin("fast");
//   data.AddRow("\"420 s\" %g", share);
//   SIDEBAND_RETURN_IF_ERROR(data.Write(folder, "rotation_runs"));    // FOLDER/rotation_runs.data
#ifndef SIDEBAND_TESTS_LAB_EXPERIMENTS_PLOT_DATA_H_
#define SIDEBAND_TESTS_LAB_EXPERIMENTS_PLOT_DATA_H_

#include <cerrno>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/base/file.h"

namespace sideband::rotation {

// Not thread-safe.
class PlotData {
 public:
  // `title` has no quotes.
  void Begin(const std::string& title) { absl::StrAppend(&text_, text_.empty() ? "" : "\n\n", "\"", title, "\"\n"); }
  template <typename... Values>
  void AddRow(const absl::FormatSpec<Values...>& format, const Values&... values) {
    text_ += absl::StrFormat(format, values...) + "\n";
  }
  // Without effect if `folder` is empty.
  absl::Status Write(const std::string& folder, const std::string& name) const {
    if (folder.empty()) return absl::OkStatus();
    const std::string path = absl::StrCat(folder, "/", name, ".data");
    std::ofstream file(path);
    file << text_ << std::flush;
    return file ? absl::OkStatus() : ErrnoStatus(errno, path);
  }

 private:
  std::string text_;
};

}  // namespace sideband::rotation

#endif  // SIDEBAND_TESTS_LAB_EXPERIMENTS_PLOT_DATA_H_
