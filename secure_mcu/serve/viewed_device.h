// SPDX-License-Identifier: Apache-2.0
//
// A live device whose guests are shown what the controller is shown: every latch is published in the guests' views, so
// that a view and a snapshot that bear one trigger id agree. A view is refreshed when it is 10 ms old.
//   ViewedDevice viewed(device, views.get());
//   Firmware firmware(viewed, power);
//   while (!stop) viewed.Tick();
#ifndef SIDEBAND_SECURE_MCU_SERVE_VIEWED_DEVICE_H_
#define SIDEBAND_SECURE_MCU_SERVE_VIEWED_DEVICE_H_

#include <cstdint>
#include <optional>
#include <span>

#include "secure_mcu/firmware/device.h"
#include "secure_mcu/guest_view/guest_views.h"
#include "secure_mcu/serve/live_device.h"

namespace sideband::mcu {

// Not thread-safe. A view that cannot be written is said on standard error, once; it never disturbs the controller.
class ViewedDevice final : public Device {
 public:
  // Both must outlive it; `views` is null where guests have none.
  ViewedDevice(LiveDevice& device, GuestViews* views) : device_(device), views_(views) {}

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
  double GainPerCycle(uint16_t event, SliceSet slices) const override { return device_.GainPerCycle(event, slices); }
  std::optional<MemoryUse> GetMemoryUse() override { return device_.GetMemoryUse(); }

  // Counts up to now, and shows it to the guests where what they see is old.
  void Tick();

 private:
  void Show(const mailbox::Snapshot& snapshot);

  LiveDevice& device_;
  GuestViews* const views_;
  std::optional<uint64_t> shown_ns_;  // the reference time of what the guests see
  bool failed_ = false;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SERVE_VIEWED_DEVICE_H_
