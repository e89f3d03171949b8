// SPDX-License-Identifier: Apache-2.0
//
// Experiment R9 of docs/experiments/rotation.md: half-widths with adaptive turns beside those with equal ones.
//   bazel run -c opt //tests/lab/experiments:shares
#include <CLI/CLI.hpp>
#include <string>

#include "absl/strings/str_format.h"
#include "proto/base/errors.h"
#include "tests/lab/experiments/plot_data.h"
#include "tests/lab/laws/rotation_model.h"

namespace sideband::rotation {
namespace {

void Print(const std::string& title, const std::vector<mcu::WidthsOfMix>& mixes, PlotData& data) {
  data.Begin(title);
  absl::PrintF("%s\n", title);
  for (const mcu::WidthsOfMix& mix : mixes) {
    absl::PrintF("%-30s mean %5.2f %% -> %5.2f %% (%.2f)   median event %5.2f %% -> %5.2f %% (%.2f)\n", mix.name,
                 100 * mix.equal.mean, 100 * mix.adaptive.mean, mix.ratio(), 100 * mix.equal.median,
                 100 * mix.adaptive.median, mix.median_ratio());
    data.AddRow("\"%s\" %g %g", mix.name, 100 * mix.equal.mean, 100 * mix.adaptive.mean);
  }
}

absl::Status Run(const std::string& folder) {
  PlotData data;
  Print("one residency", mcu::MeasureWidths(mcu::OneResidency()), data);
  Print("residencies that cut slots", mcu::MeasureWidths(mcu::CutResidencies()), data);
  return data.Write(folder, "rotation_shares");
}

}  // namespace
}  // namespace sideband::rotation

int main(int argc, char** argv) {
  CLI::App app("R9: adaptive turns beside equal ones.");
  std::string folder;
  app.add_option("--curves", folder, "write data for gnuplot to this folder");
  CLI11_PARSE(app, argc, argv);
  return sideband::ReportAndExitCode("shares", sideband::rotation::Run(folder));
}
