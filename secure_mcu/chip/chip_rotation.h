// SPDX-License-Identifier: Apache-2.0
//
// Counter rotation on a chip: whose turn it is on each channel (RotationTurns), by what its units have counted, who its
// resident is, and what its reduction channel is about to commit (counter-rotation.md, "Rotation in the chip").
//   rotation.Begin(0);                                        // a resident has come to slice 0
//   if (rotation.turns().EndOf(channel) <= now) rotation.EndSlot(channel);      // after its flush
//   rotation.NumbersOf(block);
#ifndef SIDEBAND_SECURE_MCU_CHIP_CHIP_ROTATION_H_
#define SIDEBAND_SECURE_MCU_CHIP_CHIP_ROTATION_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/uuid.h"
#include "secure_mcu/chip/chip_channels.h"
#include "secure_mcu/chip/chip_units.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip/residents.h"
#include "secure_mcu/chip/rotation_plan.h"
#include "secure_mcu/chip/rotation_turns.h"
#include "secure_mcu/chip/selections.h"

namespace sideband::mcu {

// The parts of a chip that rotation follows; they must outlive it.
struct RotatedParts {
  const PipelineConfig& config;  // with a rotation
  Selections& selections;
  const ChipUnits& units;
  ChipChannels& channels;
  const Residents& residents;
};

// A channel is a slice or kDeviceChannel. Not thread-safe.
class ChipRotation {
 public:
  // `plan` is the first one. Sets the selections' turns.
  ChipRotation(const RotatedParts& parts, const CounterPlan& plan);

  // Its plans, and what is chosen of them and learnt; residencies and slots are the chip's own.
  RotationTurns& turns() { return turns_; }
  const RotationTurns& turns() const { return turns_; }

  // Checks the settings of a plan that is asked for; INVALID_ARGUMENT as CheckRequestedSettings (rotation_rules.h).
  absl::Status CheckSettings(const mailbox::RotationSettings& settings) const;
  // Makes a plan, and returns its number, which must be chosen at once. INVALID_ARGUMENT as PlanCounters,
  // and where events of a gate group of `pinned` would be multiplexed; RESOURCE_EXHAUSTED beyond `sets_max` or the
  // limits of a device. Then it has no effect.
  absl::StatusOr<uint16_t> Plan(const PlanWishes& wishes, const mailbox::RotationSettings& settings,
                                size_t sets_max = mailbox::kRotationSetsMax, uint64_t pinned = 0);
  // The identity by which the order of the VM's turns is drawn; nil until then. To be called before it is resident.
  void NameVm(BlockId vm, const Uuid& uuid) { vm_uuids_[vm] = uuid; }
  // Whether the VM is confidential: its turns are then equal, of one length, and nothing is learnt of it. From its next
  // residency on.
  void SetConfidential(BlockId vm, bool is_confidential) { confidential_[vm] = is_confidential; }
  // Whether anything can be learnt of the VM and its contexts: not of a confidential one, nor without the event of
  // instructions.
  bool CanLearn(BlockId vm) const;
  // The numbers of a block at the last latch, or at the last RotationTurns::ShowEnded.
  mailbox::BlockRotation NumbersOf(BlockId block) const;
  // Whether events of a resident of the block are multiplexed now.
  bool TakesTurns(BlockId block) const;

  // Whether events are multiplexed on the channel now.
  bool Turns(uint8_t channel) const { return turns_.is_on(channel); }
  // After Residents::Bind, or the creation of the chip for kDeviceChannel. Without effect on a slice whose counts go
  // nowhere.
  void Begin(uint8_t channel);
  // The residency, or the channel's slot, has ended. To be called after the flush is committed, while the resident is
  // still bound.
  void End(uint8_t slice);
  void EndSlot(uint8_t channel);
  // To be called before the reduction channel commits what it has.
  void AddCounts(size_t index);
  // Adds to what the channel is about to commit what its derived events have gained.
  void Derive(uint8_t channel);
  void DeriveAll();
  // The same for a live read, into `sums`: of `pending`, what the channel's reduction channel would have after a flush.
  void DeriveLive(uint8_t channel, std::span<const uint64_t> pending, std::span<uint64_t> sums) const {
    turns_.Derive(channel, parts_.units.InstantOf(channel), pending, sums);
  }
  // At a latch: NumbersOf is as of now.
  void Show();

 private:
  RotationLeaf LeafOf(uint8_t slice, const Binding& binding) const;
  RotationLeaf DeviceLeaf() const;
  void RaiseInconsistency(uint8_t channel);
  bool IsConfidential(BlockId vm) const;
  // Calls it with each slice, then with kDeviceChannel.
  template <typename Function>
  void ForEachChannel(const Function& function) const;

  const RotatedParts parts_;
  RotationTurns turns_;
  std::map<BlockId, Uuid> vm_uuids_;
  std::map<BlockId, bool> confidential_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_CHIP_ROTATION_H_
