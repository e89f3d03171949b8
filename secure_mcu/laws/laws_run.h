// SPDX-License-Identifier: Apache-2.0
//
// Plays a drawn case on a chip and checks the laws of pipeline.md: at every latch, at every step of every switch, and
// at the end. A violation fails the property (rapidcheck), which then shrinks the case.
//   LawsRun run(test, LawsReaders::kOnEverySlice);
//   run.Play();
//   RC_CLASSIFY(run.stats().trigger_overruns > 0);
#ifndef SIDEBAND_SECURE_MCU_LAWS_LAWS_RUN_H_
#define SIDEBAND_SECURE_MCU_LAWS_LAWS_RUN_H_

#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "secure_mcu/chip/chip.h"
#include "secure_mcu/laws/laws_case.h"
#include "secure_mcu/laws/laws_chip.h"
#include "secure_mcu/laws/laws_reader.h"
#include "secure_mcu/laws/laws_truth.h"

namespace sideband::mcu {

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

#endif  // SIDEBAND_SECURE_MCU_LAWS_LAWS_RUN_H_
