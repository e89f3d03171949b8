// SPDX-License-Identifier: Apache-2.0
//
// `./dev bench`: prints one table. README.md explains each line.
//   bench [--curves FOLDER] [--scratch FOLDER] [--chip FILE]
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "tests/bench/base_commands.h"
#include "tests/bench/curve.h"
#include "tests/bench/exposition_cost.h"
#include "tests/bench/history_cost.h"
#include "tests/bench/linear_cost.h"
#include "tests/bench/live_chip.h"
#include "tests/bench/mailbox_budget.h"
#include "tests/bench/replay_core.h"
#include "tests/bench/scrape_load.h"
#include "tests/bench/session_overhead.h"

namespace sideband::bench {
namespace {

void Print(const Rows& rows) {
  for (const Row& row : rows) {
    std::string line = absl::StrFormat("%-68s %10.3f %-11s %s", row.name, row.value, row.unit, row.note);
    absl::StripTrailingAsciiWhitespace(&line);
    std::puts(line.c_str());
  }
  std::fflush(stdout);
}

absl::Status Write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  return file ? absl::OkStatus() : ErrnoStatus(errno, path);
}

absl::Status Run(const std::string& curves, const std::string& chip, const std::string& scratch) {
  std::printf("%-68s %10s\n", "benchmark", "value");
  SIDEBAND_ASSIGN_OR_RETURN(const Rows core, MeasureReplayCore());
  Print(core);
  SIDEBAND_ASSIGN_OR_RETURN(const Rows live, MeasureLiveChip());
  Print(live);
  SIDEBAND_ASSIGN_OR_RETURN(const Rows commands, MeasureBaseCommands(chip));
  Print(commands);
  for (const Scenario scenario : {Scenario::kOneInEight, Scenario::kSteady}) {
    SIDEBAND_ASSIGN_OR_RETURN(
        const MailboxBudget budget,
        MeasureMailboxBudget("tests/bench/mailbox_budget.yaml", mailbox::ExtensionVersion::kTwo, scenario));
    Print(RowsOf(budget));
  }
  SIDEBAND_ASSIGN_OR_RETURN(const Rows overhead, MeasureSessionOverhead());
  Print(overhead);
  SIDEBAND_ASSIGN_OR_RETURN(const Rows history, MeasureHistoryCost());
  Print(history);
  SIDEBAND_ASSIGN_OR_RETURN(const LinearCost cost, MeasureLinearCost());
  Print(cost.rows);
  const ExpositionCost exposition = MeasureExpositionCost();
  Print(exposition.rows);
  SIDEBAND_ASSIGN_OR_RETURN(const Rows load, MeasureScrapeLoad(scratch));
  Print(load);
  if (curves.empty()) return absl::OkStatus();
  SIDEBAND_RETURN_IF_ERROR(Write(curves + "/replay_cost.data", GnuplotData(cost.curves)));
  return Write(curves + "/exposition_cost.data", GnuplotData(exposition.curves));
}

}  // namespace
}  // namespace sideband::bench

int main(int argc, char** argv) {
  CLI::App app("Benchmarks: ratios and speeds of this machine.");
  std::string curves;
  app.add_option("--curves", curves, "write curves to this folder, as data for gnuplot");
  std::string chip = "deploy/examples/chip.yaml";
  app.add_option("--chip", chip, "the device whose firmware is measured")->capture_default_str();
  std::string scratch = ".";
  app.add_option("--scratch", scratch, "where throw-away certificates may lie")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return sideband::ReportAndExitCode("bench", sideband::bench::Run(curves, chip, scratch));
}
