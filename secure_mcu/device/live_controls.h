// SPDX-License-Identifier: Apache-2.0
//
// The parts of a live device that controllers see and change beside its counts: clocks, counting and rotation.
//   RotationControls rotation(*chip, tenants);
//   catalog.plans = rotation.Plans();
//   SIDEBAND_RETURN_IF_ERROR(rotation.Apply({.vm = 1, .settings = settings}));
//   rotation.AddNumbers(snapshot);                     // right after a latch
#ifndef SIDEBAND_SECURE_MCU_DEVICE_LIVE_CONTROLS_H_
#define SIDEBAND_SECURE_MCU_DEVICE_LIVE_CONTROLS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/clocks/clock_strip.h"
#include "proto/clocks/mailbox_clocks.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/clocks.h"
#include "proto/mailbox/counting.h"
#include "proto/mailbox/rotation.h"
#include "proto/mailbox/snapshot.h"
#include "secure_mcu/chip/chip.h"
#include "secure_mcu/chip/player.h"

namespace sideband::mcu {

// The fits of a device's own clocks, from the packets of its triggers: a controller that reads their hulls has the same
// bounds as if it had read every packet. (clocks.md, "Hulls") Not thread-safe.
class ClockFits {
 public:
  // Segments of a clock that does not change are so long at most.
  static constexpr uint64_t kSegmentSeconds = 30;

  // The limits must be valid (proto/clocks/clock_limits.h).
  ClockFits(const std::vector<mailbox::ClockDomain>& domains, uint64_t reference_hz);

  // Entries ascend by their numbers.
  void Add(const mailbox::TimelineEntry& entry);
  // The current segments of the domains that have answered a trigger from that one on; none of a clock that contradicts
  // its limits.
  std::vector<mailbox::ClockHull> HullsFrom(uint32_t first_trigger_id) const;

 private:
  struct Fit {
    mailbox::ClockDomain domain;
    clocks::ClockStrip strip;
    clocks::PacketNumbers numbers;
    uint32_t first_trigger = 0, newest_trigger = 0;  // of the current segment
    bool has_packets = false;
  };
  static void AddPacket(const mailbox::TimelineEntry& entry, const mailbox::TimelineClock& clock, Fit& fit);

  std::vector<Fit> fits_;
};

// The clock domains and bookmarks of an emulated device, as controllers see them (clocks.md; proto/mailbox/clocks.h).
// Not thread-safe.
class ClockControls {
 public:
  // `chip` must outlive it.
  explicit ClockControls(Chip& chip) : chip_(chip) {}

  // In the order of the chip's rows; none of a chip without domains.
  std::vector<mailbox::ClockDomain> Domains() const;
  // The domain of a unit of that clock, as EventDetails::clock_domain has it: 0 is the reference clock's.
  uint8_t DomainOf(uint8_t channel, uint32_t domain) const;

  // INVALID_ARGUMENT: a domain that the chip does not have.
  absl::Status Select(uint64_t domains);
  // In reference cycles. With a shorter period of the grid the packet of an edge could be either of two triggers'.
  uint64_t GridPeriodMin() const;
  // In every reference packet from now on.
  void SetOwnBookmark(uint32_t bookmark);

  // The packets that have arrived of the triggers from one on; of a chip without domains, nothing. The boot is left to
  // the caller.
  mailbox::Timeline TimelineFrom(uint32_t first_trigger_id);
  // The readings of the newest latch and the bookmarks that are kept, into a snapshot of all blocks that are not
  // released.
  void AddNumbers(mailbox::Snapshot& snapshot) const;

 private:
  std::vector<std::optional<mailbox::ClockReading>> Readings() const;
  std::vector<mailbox::ServedBookmark> Bookmarks() const;

  Chip& chip_;
};

// The configuration of counting of an emulated device: what the gates and control blocks of its chip hold, by the
// numbers of VMs and contexts (virtual-counters.md, "CONFIG"). Not thread-safe.
class CountingControls {
 public:
  // `chip` must outlive it. The tenants are those of its memory blocks.
  CountingControls(Chip& chip, std::vector<Tenant> tenants, std::set<uint16_t> confidential)
      : chip_(chip), tenants_(std::move(tenants)), confidential_(std::move(confidential)) {}

  // The configuration of a chip with gate groups. Of a confidential VM only what others may know (mailbox::Shown);
  // contexts of confidential VMs, and those that have ended, are not there.
  mailbox::CountingConfig Get() const;
  // The revision in force; nullopt without gate groups.
  std::optional<uint32_t> revision() const;
  // INVALID_ARGUMENT names what the chip cannot do.
  absl::Status Check(const mailbox::CountingConfig& config) const;
  // `config` must have passed Check. It holds from the chip's present cycle on, as the next revision: a resident VM
  // whose value is changed makes an exit and an entry there, so that the value is loaded, and a resident context's is
  // loaded.
  void Apply(const mailbox::CountingConfig& config);

 private:
  absl::Status CheckPins(const Tenant& tenant, const mailbox::CountingConfig& config) const;
  void GetTenant(const Tenant& tenant, mailbox::CountingConfig& config) const;
  // The slices on which the VM runs, not the hypervisor.
  std::vector<uint8_t> RunningSlices(const VmControl& changed, BlockId vm) const;
  void ApplyVm(BlockId vm, const VmControl& changed);
  void ApplyContext(BlockId context, const ContextControl& changed);
  void ApplyTenant(const Tenant& tenant, const mailbox::CountingConfig& config);

  Chip& chip_;
  const std::vector<Tenant> tenants_;
  const std::set<uint16_t> confidential_;
  uint32_t revision_ = 1;
};

// The rotation of an emulated device: its plans, by the numbers of VMs and contexts (counter-rotation.md, "Plans"). Not
// thread-safe.
class RotationControls {
 public:
  // `chip` must outlive it. The tenants are those of its memory blocks.
  RotationControls(Chip& chip, std::vector<Tenant> tenants) : chip_(chip), tenants_(std::move(tenants)) {}

  bool empty() const { return !chip_.has_rotation(); }
  // How the chip's own plan counts an event.
  mailbox::Counting CountingOf(size_t event) const;
  // The plans that rows have numbers of, as the catalogue has them.
  std::vector<mailbox::RotationPlan> Plans() const;
  // The same as DeviceRotation's.
  std::optional<mailbox::RotationPlan> Get(uint16_t vm, uint16_t context) const;
  absl::Status Apply(const mailbox::RotationRequest& request);
  absl::Status Learn(uint16_t vm, uint16_t context);
  absl::Status SetPass(uint16_t vm, uint16_t context, uint32_t pass);
  // Adds the numbers of the blocks' present state. Flags a block as estimated if an event of it was not counted in all
  // of its cycles.
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

#endif  // SIDEBAND_SECURE_MCU_DEVICE_LIVE_CONTROLS_H_
