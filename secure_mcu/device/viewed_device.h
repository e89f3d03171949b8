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
#include "secure_mcu/firmware/block_sealer.h"
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
  bool CanTrigger() const override { return device_.CanTrigger(); }
  uint32_t Trigger() override { return device_.Trigger(); }
  absl::Status SetTriggerGrid(uint64_t period) override { return device_.SetTriggerGrid(period); }
  bool HasClocks() const override { return device_.HasClocks(); }
  absl::Status SelectClocks(uint64_t domains) override { return device_.SelectClocks(domains); }
  absl::StatusOr<uint64_t> SetBookmark(uint16_t vm, uint16_t context, uint32_t bookmark) override {
    return device_.SetBookmark(vm, context, bookmark);
  }
  mailbox::Timeline GetTimeline(uint32_t first_trigger_id) override { return device_.GetTimeline(first_trigger_id); }
  mailbox::ClockHulls GetHulls(uint32_t first_trigger_id) override { return device_.GetHulls(first_trigger_id); }
  bool HasPrivateVms() const override { return device_.HasPrivateVms(); }
  std::optional<mailbox::CountingConfig> GetConfig() override { return device_.GetConfig(); }
  absl::Status CheckConfig(const mailbox::CountingConfig& config) override { return device_.CheckConfig(config); }
  void ApplyConfig(const mailbox::CountingConfig& config) override { device_.ApplyConfig(config); }
  bool HasRotation() const override { return device_.HasRotation(); }
  std::optional<mailbox::RotationPlan> GetRotation(uint16_t vm, uint16_t context) override {
    return device_.GetRotation(vm, context);
  }
  absl::Status ApplyRotation(const mailbox::RotationRequest& request) override {
    return device_.ApplyRotation(request);
  }
  absl::Status LearnRotation(uint16_t vm, uint16_t context) override { return device_.LearnRotation(vm, context); }
  absl::Status SetPass(uint16_t vm, uint16_t context, uint32_t pass) override {
    return device_.SetPass(vm, context, pass);
  }

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
