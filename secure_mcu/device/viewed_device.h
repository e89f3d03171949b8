// SPDX-License-Identifier: Apache-2.0
//
// A live device as it is seen from outside: confidential VMs sealed, if it has a sealer, and every latch published in
// the guests' views, so a view and a snapshot with the same trigger id agree. A view is refreshed when it is 10 ms old;
// one of sealed records by each latch, and each second if there was none for two, so that a controller misses none.
//   ViewedDevice viewed(device, views.get(), sealer.get());
//   Firmware firmware(viewed, board, {.extension = mailbox::ExtensionVersion::kOne});
//   while (!stop) viewed.Tick();
#ifndef SIDEBAND_SECURE_MCU_DEVICE_VIEWED_DEVICE_H_
#define SIDEBAND_SECURE_MCU_DEVICE_VIEWED_DEVICE_H_

#include <cstdint>
#include <optional>
#include <span>

#include "secure_mcu/device/live_device.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/guest_view/guest_views.h"
#include "secure_mcu/sealing/device_sealer.h"

namespace sideband::mcu {

// Not thread-safe. A failure to write a view is reported on standard error, once until the next success; it never
// affects the controller.
class ViewedDevice final : public Device {
 public:
  // All must outlive it; `views` is null if the guests have no views, `sealer` if the device does not seal.
  ViewedDevice(LiveDevice& device, GuestViews* views, DeviceSealer* sealer = nullptr)
      : device_(device), views_(views), sealer_(sealer) {}

  const DeviceIdentity& identity() const override { return device_.identity(); }
  const mailbox::Catalog& catalog() const override { return device_.catalog(); }
  uint64_t catalog_version() const override { return device_.catalog_version(); }
  mailbox::Snapshot Latch() override;
  void Acknowledge() override { device_.Acknowledge(); }
  std::span<const uint64_t> DeviceCounters() override { return device_.DeviceCounters(); }
  uint64_t ReferenceTimeNs() override { return device_.ReferenceTimeNs(); }
  std::optional<BlockView> BlockCounters(uint16_t vm, uint16_t context) override {
    return device_.BlockCounters(vm, context);
  }
  std::optional<LiveBlock> PeekBlock(uint16_t vm, uint16_t context) override { return device_.PeekBlock(vm, context); }
  BlockSealer* block_sealer() override { return sealer_; }
  double GainPerCycle(uint16_t event, SliceSet slices) const override { return device_.GainPerCycle(event, slices); }
  std::optional<MemoryUse> GetMemoryUse() override { return device_.GetMemoryUse(); }
  std::optional<WorkloadClock> GetWorkloadClock() const override { return device_.GetWorkloadClock(); }
  void SetWorkloadClock(uint64_t hz) override { device_.SetWorkloadClock(hz); }
  DeviceTriggers* triggers() override { return device_.triggers(); }
  DeviceClocks* clocks() override { return device_.clocks(); }
  DeviceCounting* counting() override { return device_.counting(); }
  DeviceRotation* rotation() override { return device_.rotation(); }
  bool HasPrivateVms() const override { return device_.HasPrivateVms(); }

  // Counts up to the present, and publishes the counts to the guests if their view is 10 ms old.
  void Tick();

 private:
  void Show(const mailbox::Snapshot& snapshot);

  LiveDevice& device_;
  GuestViews* const views_;
  DeviceSealer* const sealer_;
  uint64_t latched_ns_ = 0;           // reference time of the last latch
  std::optional<uint64_t> shown_ns_;  // reference time of the published view
  bool failed_ = false;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DEVICE_VIEWED_DEVICE_H_
