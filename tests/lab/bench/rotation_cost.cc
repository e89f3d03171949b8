// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <fstream>
#include <memory>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "secure_mcu/chip/rotation_life.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/live_device.h"
#include "secure_mcu/pipeline/event_estimate.h"
#include "tests/lab/bench/benchmarks.h"
#include "tests/lab/bench/mailbox_budget.h"
#include "tests/lab/bench/measurement.h"

namespace sideband::bench {
namespace {

constexpr absl::Duration kTurningWarmUp = absl::Milliseconds(20);
constexpr absl::Duration kTurningStep = absl::Milliseconds(10);
constexpr int kRotationRounds = 15;
constexpr uint64_t kTurnsPerSecond = 10'000;

using Replacements = std::vector<std::pair<std::string, std::string>>;

constexpr char kSmallTurns[] = "slots: {stable: 200us, fluctuating: 100us}";
constexpr char kFastTurns[] = "slots: {stable: 100us, fluctuating: 100us}";

// A text that is not there would make the comparison one of something else.
absl::StatusOr<std::string> WriteVariant(const std::string& from, const std::string& to, const Replacements& changes) {
  SIDEBAND_ASSIGN_OR_RETURN(std::string text, ReadFile(from));
  for (const auto& [before, after] : changes) {
    if (absl::StrReplaceAll({{before, after}}, &text) == 0) {
      return absl::InternalError(absl::StrCat(from, ": no '", before, "'"));
    }
  }
  std::ofstream file(to);
  file << text << std::flush;
  if (!file) return ErrnoStatus(errno, to);
  return to;
}

// The events that fit the counters of each unit; the others are not there.
mcu::ChipFile WithoutTurns(mcu::ChipFile file) {
  file.rotation.reset(), file.pipeline.rotation.reset();
  file.relations.clear(), file.pipeline.relations.clear();
  for (mcu::UnitFileSpec& unit : file.units) {
    unit.fixed.clear();
    if (unit.events.size() > unit.ulc.counters) unit.events.resize(unit.ulc.counters);
  }
  return file;
}

// A device that runs as far as it is told.
struct Running {
  absl::Duration elapsed;
  std::unique_ptr<mcu::LiveDevice> device;

  static absl::StatusOr<std::unique_ptr<Running>> Create(const mcu::ChipFile& file) {
    auto running = std::make_unique<Running>();
    SIDEBAND_ASSIGN_OR_RETURN(running->device,
                              mcu::LiveDevice::Create(file, /*boot_id=*/1, [r = running.get()] { return r->elapsed; }));
    running->Advance(kTurningWarmUp);
    return running;
  }
  void Advance(absl::Duration time) {
    elapsed += time;
    device->CatchUp();
  }
};

absl::StatusOr<RotationCost::Live> MeasureLive(const std::string& name, const std::string& path, RotationCost& cost) {
  SIDEBAND_ASSIGN_OR_RETURN(const mcu::ChipFile file, mcu::LoadChipFile(path));
  SIDEBAND_ASSIGN_OR_RETURN(const auto rotating, Running::Create(file));
  mcu::ChipFile without = WithoutTurns(file);
  SIDEBAND_ASSIGN_OR_RETURN(const auto plain, Running::Create(without));
  without.pipeline.trigger_period = without.pipeline.clock_hz / kTurnsPerSecond;
  SIDEBAND_ASSIGN_OR_RETURN(const auto triggered, Running::Create(without));
  BestTime of_rotating, of_plain, of_triggered;
  // By turns, so that a slow minute of the machine is both's.
  for (int round = 0; round < kRotationRounds; ++round) {
    of_rotating.Measure([&] { rotating->Advance(kTurningStep); });
    of_plain.Measure([&] { plain->Advance(kTurningStep); });
    of_triggered.Measure([&] { triggered->Advance(kTurningStep); });
  }
  const mcu::ChipStats stats = rotating->device->chip().stats();
  if (stats.slot_ends == 0 || stats.switches == 0) return absl::InternalError("no turns, or no switches");
  cost.slot_ends = stats.slot_ends, cost.switches = stats.switches;
  cost.slot_cycles = static_cast<double>(stats.slot_cycles) / static_cast<double>(stats.slot_ends);
  cost.switch_cycles = static_cast<double>(stats.switch_cycles) / static_cast<double>(stats.switches);
  return RotationCost::Live{name, of_rotating.seconds(), of_plain.seconds(), of_triggered.seconds()};
}

absl::StatusOr<uint64_t> SteadyBitTimes(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(const MailboxBudget budget,
                            MeasureMailboxBudget(path, mailbox::ExtensionVersion::kTwo, Scenario::kSteady));
  return budget.steady;
}

}  // namespace

absl::StatusOr<RotationCost> MeasureRotationCost(const std::string& examples, const std::string& scratch) {
  const std::string small = examples + "/chip-rotating.yaml", large = examples + "/chip-large.yaml";
  SIDEBAND_ASSIGN_OR_RETURN(const std::string turning,
                            WriteVariant(small, scratch + "/rotating.yaml", {{kSmallTurns, kFastTurns}}));
  SIDEBAND_ASSIGN_OR_RETURN(const std::string large_turning,
                            WriteVariant(large, scratch + "/large-rotating.yaml",
                                         {{"    count: 48\n", "    count: 48\n    counters: 24\n"},
                                          {"\nvms:\n", absl::StrCat("\nrotation: {", kFastTurns, "}\n\nvms:\n")}}));
  SIDEBAND_ASSIGN_OR_RETURN(const std::string exact, WriteVariant(small, scratch + "/exact.yaml",
                                                                  {{"    counters: 6\n", ""},
                                                                   {"    fixed: [", "    # ["},
                                                                   {"rotation:\n", ""},
                                                                   {"  instructions: ", "  # "},
                                                                   {absl::StrCat("  ", kSmallTurns, "\n"), ""},
                                                                   {"  period: 127 ", "  period: 511 "},
                                                                   {"counter_bits: 7", "counter_bits: 9"}}));
  RotationCost cost;
  SIDEBAND_ASSIGN_OR_RETURN(auto of_large, MeasureLive("69120 counters for 45 events a unit", large_turning, cost));
  cost.live.push_back(std::move(of_large));
  SIDEBAND_ASSIGN_OR_RETURN(auto of_small, MeasureLive("6 counters for 40 events", turning, cost));
  cost.live.push_back(std::move(of_small));
  SIDEBAND_ASSIGN_OR_RETURN(cost.rotating_bit_times, SteadyBitTimes(small));
  SIDEBAND_ASSIGN_OR_RETURN(cost.exact_bit_times, SteadyBitTimes(exact));
  cost.state_bytes = sizeof(mcu::EventEstimate) + sizeof(absl::int128);
  cost.shown_bytes = sizeof(mcu::LeafNumbers::Event);
  return cost;
}

Rows RowsOf(const RotationCost& cost) {
  Rows rows;
  for (const RotationCost::Live& live : cost.live) {
    rows.push_back({absl::StrCat("rotation: a live chip, turns of 100 us, ", live.chip), live.ratio(), "x without",
                    absl::StrFormat("%.3f and %.3f ms for %.0f ms", live.rotating_seconds * 1e3,
                                    live.plain_seconds * 1e3, absl::ToDoubleMilliseconds(kTurningStep))});
    rows.push_back({"rotation: the same, beside a trigger every 100 us", live.rotating_seconds / live.triggered_seconds,
                    "x triggers", absl::StrFormat("%.3f ms", live.triggered_seconds * 1e3)});
  }
  rows.push_back({"rotation: the end of a turn, of a context switch", cost.slot_cycles / cost.switch_cycles, "x",
                  absl::StrFormat("%.1f and %.1f cycles, %d turns, %d switches", cost.slot_cycles, cost.switch_cycles,
                                  cost.slot_ends, cost.switches)});
  rows.push_back({"rotation: a snapshot a second later, of one without estimates",
                  static_cast<double>(cost.rotating_bit_times) / static_cast<double>(cost.exact_bit_times), "x",
                  absl::StrFormat("%d and %d bit times", cost.rotating_bit_times, cost.exact_bit_times)});
  rows.push_back({"rotation: state of a rotated event of a context", static_cast<double>(cost.state_bytes), "bytes",
                  absl::StrFormat("and %d for what is shown", cost.shown_bytes)});
  return rows;
}

}  // namespace sideband::bench
