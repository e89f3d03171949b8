// SPDX-License-Identifier: Apache-2.0
//
// `./dev bench`: prints one table. README.md explains each line.
//   bench [--curves FOLDER] [--scratch FOLDER] [--chip FILE] [--only NAME] [--instructions N]
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/base/errors.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "tests/lab/bench/benchmarks.h"
#include "tests/lab/bench/mailbox_budget.h"
#include "tests/lab/bench/measurement.h"
#include "tests/lab/bench/register_readers.h"

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

struct Options {
  std::string curves;
  std::string chip = "deploy/examples/chip.yaml";
  std::string scratch = ".";
  std::string only;
  uint64_t instructions = 10'000'000;
};

absl::Status WriteCurves(const Options& options, const std::string& name, std::span<const Curve> curves) {
  if (options.curves.empty()) return absl::OkStatus();
  return Write(absl::StrCat(options.curves, "/", name, ".data"), GnuplotData(curves));
}

absl::StatusOr<Rows> MailboxBudgets() {
  Rows rows;
  for (const Scenario scenario : {Scenario::kOneInEight, Scenario::kSteady}) {
    SIDEBAND_ASSIGN_OR_RETURN(
        const MailboxBudget budget,
        MeasureMailboxBudget("tests/lab/bench/mailbox_budget.yaml", mailbox::ExtensionVersion::kTwo, scenario));
    const Rows more = RowsOf(budget);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  SIDEBAND_ASSIGN_OR_RETURN(const PeekBudget peeks, MeasurePeekBudget("tests/lab/bench/mailbox_budget.yaml"));
  const Rows more = RowsOf(peeks);
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

absl::StatusOr<Rows> LinearCosts(const Options& options) {
  SIDEBAND_ASSIGN_OR_RETURN(const LinearCost cost, MeasureLinearCost());
  SIDEBAND_RETURN_IF_ERROR(WriteCurves(options, "replay_cost", cost.curves));
  return cost.rows;
}

absl::StatusOr<Rows> ExpositionCosts(const Options& options) {
  const ExpositionCost cost = MeasureExpositionCost();
  SIDEBAND_RETURN_IF_ERROR(WriteCurves(options, "exposition_cost", cost.curves));
  return cost.rows;
}

absl::StatusOr<Rows> RegisterReaderCycles(const Options& options) {
  const RegisterReaders readers = MeasureRegisterReaders();
  SIDEBAND_RETURN_IF_ERROR(WriteCurves(options, "register_readers", readers.curves));
  return readers.rows;
}

absl::StatusOr<Rows> LiveChips(const Options& options) {
  SIDEBAND_ASSIGN_OR_RETURN(const LiveChip live, MeasureLiveChip());
  SIDEBAND_RETURN_IF_ERROR(WriteCurves(options, "virtual_counters", live.curves));
  return live.rows;
}

absl::StatusOr<Rows> GateCosts(const Options&) {
  SIDEBAND_ASSIGN_OR_RETURN(const GateCost cost, MeasureGateCost("deploy/examples/chip-large.yaml"));
  Rows rows = RowsOf(cost);
  SIDEBAND_ASSIGN_OR_RETURN(const CommitBudget commit, MeasureCommitBudget("tests/lab/bench/mailbox_budget.yaml"));
  const Rows more = RowsOf(commit);
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

absl::StatusOr<Rows> RotationCosts(const Options& options) {
  SIDEBAND_ASSIGN_OR_RETURN(const RotationCost cost, MeasureRotationCost("deploy/examples", options.scratch));
  return RowsOf(cost);
}

struct Benchmark {
  const char* name;
  absl::StatusOr<Rows> (*measure)(const Options&);
};

constexpr Benchmark kBenchmarks[] = {
    {"replay-core", [](const Options&) { return MeasureReplayCore(); }},
    {"live-chip", LiveChips},
    {"gate-cost", GateCosts},
    {"rotation-cost", RotationCosts},
    {"program-speed", [](const Options& options) { return MeasureProgramSpeed(options.scratch); }},
    {"kernel-misses", [](const Options& options) { return MeasureKernelMisses(options.instructions); }},
    {"clocks", [](const Options&) { return MeasureClockCost(); }},
    {"clocked-device", [](const Options& options) { return MeasureClockedDevice(options.scratch); }},
    {"base-commands", [](const Options& options) { return MeasureBaseCommands(options.chip); }},
    {"board-cost", [](const Options&) { return MeasureBoardCost("deploy/examples"); }},
    {"mailbox-budget", [](const Options&) { return MailboxBudgets(); }},
    {"session-overhead", [](const Options&) { return MeasureSessionOverhead(); }},
    {"hpc-access", [](const Options& options) { return MeasureHpcAccess(options.chip, options.scratch); }},
    {"host-counters", [](const Options&) { return MeasureHostCounters(); }},
    {"hpc-retries", [](const Options&) -> absl::StatusOr<Rows> { return MeasureHpcRetryRates(); }},
    {"register-readers", RegisterReaderCycles},
    {"multiplexed-counters", [](const Options&) { return MeasureMultiplexedCounters(); }},
    {"sealing", [](const Options& options) { return MeasureSealingCost(options.chip, options.scratch); }},
    {"history-cost", [](const Options&) { return MeasureHistoryCost(); }},
    {"linear-cost", LinearCosts},
    {"exposition-cost", ExpositionCosts},
    {"scrape-load", [](const Options& options) { return MeasureScrapeLoad(options.scratch); }},
};

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const Benchmark& benchmark : kBenchmarks) names.emplace_back(benchmark.name);
  return names;
}

absl::Status Run(const Options& options) {
  std::printf("%-68s %10s\n", "benchmark", "value");
  for (const Benchmark& benchmark : kBenchmarks) {
    if (!options.only.empty() && options.only != benchmark.name) continue;
    SIDEBAND_ASSIGN_OR_RETURN(const Rows rows, benchmark.measure(options));
    Print(rows);
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::bench

int main(int argc, char** argv) {
  CLI::App app("Benchmarks: ratios and speeds of this machine.");
  sideband::bench::Options options;
  app.add_option("--curves", options.curves, "write curves to this folder, as data for gnuplot");
  app.add_option("--chip", options.chip, "the device whose firmware is measured")->capture_default_str();
  app.add_option("--scratch", options.scratch, "where throw-away certificates may lie")->capture_default_str();
  app.add_option("--only", options.only, "measure this only")->check(CLI::IsMember(sideband::bench::Names()));
  app.add_option("--instructions", options.instructions, "of each kernel whose misses are counted")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return sideband::ReportAndExitCode("bench", sideband::bench::Run(options));
}
