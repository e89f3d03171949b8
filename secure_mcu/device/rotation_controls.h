// SPDX-License-Identifier: Apache-2.0
//
// The rotation of an emulated device: its plans, by the numbers of VMs and contexts (counter-rotation.md, "Plans").
//   RotationControls rotation(*chip, tenants);
//   catalog.plans = rotation.Plans();
//   SIDEBAND_RETURN_IF_ERROR(rotation.Apply({.vm = 1, .settings = settings}));
//   rotation.AddNumbers(snapshot);                     // right after a latch
#ifndef SIDEBAND_SECURE_MCU_DEVICE_ROTATION_CONTROLS_H_
#define SIDEBAND_SECURE_MCU_DEVICE_ROTATION_CONTROLS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/rotation.h"
#include "proto/mailbox/snapshot.h"
#include "secure_mcu/chip/chip.h"
#include "secure_mcu/chip/player.h"

namespace sideband::mcu {

// Not thread-safe.
class RotationControls {
 public:
  // `chip` must outlive it. The tenants are those of its memory blocks.
  RotationControls(Chip& chip, std::vector<Tenant> tenants) : chip_(chip), tenants_(std::move(tenants)) {}

  bool empty() const { return !chip_.has_rotation(); }
  // How the chip's own plan counts an event.
  mailbox::Counting CountingOf(size_t event) const;
  // Those that rows have numbers of, as the catalogue has them.
  std::vector<mailbox::RotationPlan> Plans() const;
  // As those of Device.
  std::optional<mailbox::RotationPlan> Get(uint16_t vm, uint16_t context) const;
  absl::Status Apply(const mailbox::RotationRequest& request);
  absl::Status Learn(uint16_t vm, uint16_t context);
  absl::Status SetPass(uint16_t vm, uint16_t context, uint32_t pass);
  // Of the blocks' present state. Flags a block as estimated if an event of it was not counted in all of its cycles.
  void AddNumbers(mailbox::Snapshot& snapshot) const;
  // Whether the same holds for a block's live counts: a turn that is open counts, too.
  bool IsEstimated(BlockId block) const;

 private:
  absl::Status Check(const mailbox::RotationRequest& request) const;
  absl::StatusOr<uint16_t> PlanFor(const mailbox::RotationRequest& request);
  absl::StatusOr<uint16_t> MakePlan(const mailbox::RotationRequest& request, uint64_t pinned);
  uint32_t PlansOfVmMax() const;
  size_t OtherSetsOf(const mailbox::RotationRequest& request) const;
  // The blocks of the request's scope; none of a VM or a context that is not there.
  std::vector<BlockId> BlocksOf(const mailbox::RotationRequest& request) const;
  std::optional<BlockId> FindBlock(uint16_t vm, uint16_t context) const;
  absl::StatusOr<BlockId> BlockToRotate(uint16_t vm, uint16_t context) const;
  mailbox::RotationPlan Describe(const TurnPlan& plan) const;

  Chip& chip_;
  const std::vector<Tenant> tenants_;
  std::map<uint16_t, mailbox::RotationRequest> requests_;  // by the plan that was made of each
  std::map<uint16_t, uint32_t> made_;                      // plans so far, by the VM that they were made for
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DEVICE_ROTATION_CONTROLS_H_
