// SPDX-License-Identifier: Apache-2.0
//
// The configuration of counting of an emulated device: what the gates and control blocks of its chip hold, by the
// numbers of VMs and contexts (virtual-counters.md, "CONFIG").
//   CountingControls controls(*chip, tenants, confidential);
//   mailbox::CountingConfig config = *controls.Get();
//   config.vms[1].pinned = 0b1;
//   if (controls.Check(config).ok()) controls.Apply(config);     // right after a latch
#ifndef SIDEBAND_SECURE_MCU_DEVICE_COUNTING_CONTROLS_H_
#define SIDEBAND_SECURE_MCU_DEVICE_COUNTING_CONTROLS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "proto/mailbox/counting.h"
#include "secure_mcu/chip/chip.h"
#include "secure_mcu/chip/player.h"

namespace sideband::mcu {

// Not thread-safe.
class CountingControls {
 public:
  // `chip` must outlive it. The tenants are those of its memory blocks.
  CountingControls(Chip& chip, std::vector<Tenant> tenants, std::set<uint16_t> confidential)
      : chip_(chip), tenants_(std::move(tenants)), confidential_(std::move(confidential)) {}

  // nullopt without gate groups, and before them the device counts as ever. Of a confidential VM only what others may
  // know (mailbox::Shown); contexts of confidential VMs, and those that have ended, are not there.
  std::optional<mailbox::CountingConfig> Get() const;
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

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DEVICE_COUNTING_CONTROLS_H_
