// SPDX-License-Identifier: Apache-2.0
//
// Plays a drawn case on a chip and checks the laws of pipeline.md: at every latch, at every step of every switch, and
// at the end. A violation fails the property (rapidcheck), which then shrinks the case.
//   LawsRun run(test, LawsReaders::kOnEverySlice);
//   run.Play();
//   RC_CLASSIFY(run.stats().trigger_overruns > 0);
#ifndef SIDEBAND_TESTS_LAB_LAWS_LAWS_RUN_H_
#define SIDEBAND_TESTS_LAB_LAWS_LAWS_RUN_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "secure_mcu/chip/chip.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "sim/wires/wire_source.h"
#include "tests/lab/laws/laws_case.h"
#include "tests/lab/laws/laws_truth.h"

namespace sideband::mcu {

// The chip of a drawn case, and its wires.
PipelineConfig ConfigOf(const LawsCase& test);

// Cumulative counts of a channel's wires in one clock domain, from which ranges are computed at once. A query outside
// the window set by Show fails the property.
class DomainWires final : public sim::WireSource {
 public:
  using CountsBefore = std::vector<std::vector<uint32_t>>;  // per wire and cycle

  void AddCounts(sim::CycleRange range, std::span<const sim::WireId> wires, std::span<uint64_t> sums) const override;
  void Show(const CountsBefore* counts, sim::CycleRange held) {
    counts_ = counts;
    held_ = held;
  }

 private:
  const CountsBefore* counts_ = nullptr;
  sim::CycleRange held_{0, 0};
};

// The wires of a channel at some reference cycle. They hold the history that a chip may read, and a range of cycles.
class WireWindow final : public sim::WireSource {
 public:
  struct Domain {
    DomainWires::CountsBefore counts;
    std::vector<uint64_t> before;  // cycles of the domain before each reference cycle
    std::vector<uint64_t> held;    // cycles of the domain held at each reference cycle
  };
  WireWindow(const std::array<Domain, kDomains>& domains, sim::CycleRange cycles);

  void AddCounts(sim::CycleRange range, std::span<const sim::WireId> wires, std::span<uint64_t> sums) const override {
    wires_[0].AddCounts(range, wires, sums);
  }
  const sim::WireSource& domain(size_t index) const override;
  uint64_t CyclesBefore(size_t domain, uint64_t cycle) const override;
  uint64_t CyclesHeld(size_t domain, uint64_t reference_end) const override;

 private:
  const std::array<Domain, kDomains>& domains_;
  const sim::CycleRange cycles_;
  std::array<DomainWires, kDomains> wires_;
};

class CaseWires {
 public:
  CaseWires(const LawsCase& test, uint32_t channel);
  // Must not outlive this object.
  std::unique_ptr<WireWindow> Window(sim::CycleRange cycles) const {
    return std::make_unique<WireWindow>(domains_, cycles);
  }

 private:
  std::array<WireWindow::Domain, kDomains> domains_;
};

// A program on a slice that reads live counts by the registers (registers.md), at cycles and in a manner drawn from the
// case's seed. Every reading must be the truth of the cycle in its stamp; a violation fails the property.
class LawsReader {
 public:
  // All must outlive the object.
  LawsReader(const LawsCase& test, uint32_t slice, Chip& chip);

  void Act(std::optional<uint32_t> resident);
  void Note(const LawsTruth& truth);
  void CheckSwitch();

  uint64_t readings() const { return readings_; }

 private:
  struct Reading {
    size_t block = 0;
    uint64_t bitmap = 0;
    uint64_t started = 0;                    // cycle
    std::vector<uint64_t> words;             // the stamp and the values
    bool eager = false;                      // reads as soon as the FIFO is not empty
    std::map<uint64_t, EventCounts> truths;  // of the block, at the cycles of grants
  };

  bool Chance(uint32_t in) { return random_() % in == 0; }
  uint64_t Read(HpcRegister which, HpcHalf half = HpcHalf::kWhole);
  void WriteHpcm(uint64_t bitmap);
  void Start(uint32_t tenant);
  void StartRefused(uint32_t tenant);
  void Collect();
  void Check();

  const LawsCase& test_;
  const uint32_t slice_;
  const uint64_t counted_;  // events
  Chip& chip_;
  std::mt19937 random_;
  std::optional<Reading> reading_;
  uint64_t readings_ = 0;
};

// Whether programs on the slices, and the firmware, read live counts by registers while the case is played.
enum class LawsReaders { kNone, kOnEverySlice };

class LawsRun {
 public:
  // `test` must outlive the object.
  LawsRun(const LawsCase& test, LawsReaders readers);

  void Play();
  ChipStats stats() const { return chip_->stats(); }
  uint64_t readings() const;
  // Everything that the chip has counted and stated: equal whether or not somebody reads by registers.
  struct Outcome {
    ChipStats stats;
    std::vector<mailbox::BlockHeader> headers;
    std::vector<EventCounts> blocks;
    EventCounts out_of_band;
    std::vector<uint64_t> switch_costs;
    std::vector<uint32_t> trigger_ids;  // of latches and of written and external triggers
    bool operator==(const Outcome&) const = default;
  };
  Outcome outcome() const;

 private:
  // State of a memory block besides its counts.
  struct Life {
    uint32_t generation = 1;
    bool ended = false;
    uint32_t final_sequence = 0;  // at its end
    bool may_overrun = false;     // a trigger overrun occurred while it was resident
    bool has_lost = false;        // a commit to it went nowhere
    EventCounts past;             // of earlier generations
  };

  void Attach();
  void Read();
  void CheckFirmware();
  void Advance(uint64_t cycle, uint32_t stride);
  void Do(const CaseAct& act);
  void SetUpControls();
  void SetUpHosts();
  void TurnSelections();
  template <typename Change>
  void ChangeMode(const Change& change);
  void Exit(uint32_t slice);
  void Enter(uint32_t slice);
  void Write(const CaseAct& act);
  void BindVm(uint32_t slice, std::optional<uint32_t> tenant);
  void SpoilEntry(const CaseAct& act);
  bool LosesData(uint32_t slice) const;
  template <typename Commits>
  void CountFaults(const std::vector<uint32_t>& slices, const Commits& commits);
  void NoteTrigger(uint32_t id);
  void Trigger(TriggerKind kind);
  void SetTriggerGrid(uint64_t period);
  uint64_t GridTriggers() const;
  void End(uint32_t tenant);
  void RenewIfEnded(uint32_t tenant);
  void Latch();

  void Switch(uint32_t slice, std::optional<uint32_t> tenant);
  bool IsPrivate(uint32_t tenant) const { return test_.vms[VmOf(tenant)].is_private; }
  std::optional<Binding> BindingOf(std::optional<uint32_t> tenant) const;
  void CheckStep(const SwitchStepEvent& event, std::optional<uint32_t> from);
  void CheckSwitch(const std::vector<SwitchStepEvent>& steps, uint32_t slice, std::optional<uint32_t> from);

  void NoteOverruns();
  EventCounts Counters(size_t block) const;
  EventCounts LiveCounts(size_t block) const;
  EventCounts AllGenerations(size_t block) const;
  void CheckConservation() const;
  void CheckLiveCounts() const;
  void CheckAdditivity() const;
  void CheckHonesty() const;
  void CheckHeaders(uint32_t latch_id) const;
  void CheckHostHeaders() const;
  std::optional<size_t> BlockOfTime(uint32_t slice) const;
  void CheckTriggers() const;

  const LawsCase& test_;
  std::vector<bool> has_collectors_;  // per channel
  bool one_channel_;                  // a single channel has all collectors
  bool has_private_;                  // a VM is private
  std::vector<CaseWires> wires_;      // per channel
  std::vector<std::unique_ptr<WireWindow>> windows_;
  uint64_t window_end_ = 0;
  std::unique_ptr<Chip> chip_;
  LawsTruth truth_;
  std::vector<LawsReader> readers_;  // per slice, or none
  std::mt19937 random_;              // the firmware's
  size_t firmware_block_ = 0;        // which it asked for last
  uint64_t firmware_readings_ = 0;
  std::vector<Life> lives_;  // per block
  uint64_t overruns_ = 0;
  bool has_faulted_ = false;     // a commit went nowhere
  bool may_lose_flags_ = false;  // a slice's commits went nowhere, and its flags with them
  std::vector<uint32_t> trigger_ids_;
  uint64_t last_pipeline_cycle_ = 0;
  std::vector<uint64_t> switch_costs_;
  uint64_t written_ = 0, external_ = 0;
  uint64_t grid_period_ = 0, grid_begin_ = 0, grid_fired_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_TESTS_LAB_LAWS_LAWS_RUN_H_
