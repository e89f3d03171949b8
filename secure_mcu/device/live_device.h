// SPDX-License-Identifier: Apache-2.0
//
// An emulated device in real time: at each call its chip has counted the cycles that its clock has made since the
// start.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto device, LiveDevice::Create(file, boot_id, elapsed));
//   device->CatchUp();
// Contexts end with their lifetime. Their successors start after the acknowledgement of a latch with their final
// counts.
#ifndef SIDEBAND_SECURE_MCU_DEVICE_LIVE_DEVICE_H_
#define SIDEBAND_SECURE_MCU_DEVICE_LIVE_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "secure_mcu/chip/chip.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip/player.h"
#include "secure_mcu/chip/selections.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/live_controls.h"
#include "secure_mcu/device/trigger_line.h"
#include "secure_mcu/device/wiring.h"
#include "secure_mcu/firmware/board_unit.h"
#include "secure_mcu/firmware/device.h"

namespace sideband::mcu {

// The lifetimes of a chip file's contexts: which contexts end, when, and whether they restart. The memory block of an
// ended context stays, retired, until the controller has acknowledged a snapshot with its final counts. Then either a
// successor of the next generation starts, or the block is released. (pipeline.md, "Memory blocks".)
// Tenants are numbered as in wiring.h: a VM without a context, then its contexts. Not thread-safe.
class ContextLives {
 public:
  explicit ContextLives(const ChipFile& file);

  struct EndOfLife {
    uint64_t cycle;
    size_t tenant;
  };
  // The context that ends next; absent if no context ends.
  std::optional<EndOfLife> NextEnd() const;
  // End: the context of this tenant has ended. Begin: its successor starts at `cycle`.
  void End(size_t tenant) { lives_[tenant].ends_at = std::nullopt; }
  void Begin(size_t tenant, uint64_t cycle) { lives_[tenant].ends_at = cycle + *lives_[tenant].lifetime; }
  bool restarts(size_t tenant) const { return lives_[tenant].restarts; }

 private:
  struct Life {
    std::optional<uint64_t> lifetime;  // cycles; absent: unlimited
    std::optional<uint64_t> ends_at;
    bool restarts = false;
  };
  std::vector<Life> lives_;  // per tenant
};

// The largest gain per cycle of each event's counter, per slice: the number of its wires and their weights. Immutable.
class EventGains {
 public:
  // `config` must be valid.
  explicit EventGains(const PipelineConfig& config);

  // The same as Device::GainPerCycle: a wire counted in full adds its weight, a prescaled wire a 32nd of it, a masked
  // wire nothing. A wire of another clock domain counts as if it were in the domain of the reference clock.
  double PerCycle(uint16_t event, SliceSet slices) const;
  // The same for the catalogue, the event's gate group, and whether it is selectable. The capacity per reference cycle
  // is 0 if a wire is of another clock domain, whose frequency is unknown here.
  mailbox::EventDetails DetailsOf(uint16_t event, mailbox::EventScope scope) const;

 private:
  const size_t slices_;
  std::vector<double> gains_;    // per event: its slices, then the device's own units
  std::vector<uint8_t> groups_;  // per event: its gate group or kNoGateGroup
  const SelectableEvents selectable_;
  std::vector<bool> has_own_clock_;  // per event: a wire is not of the reference clock's domain
};

// Not thread-safe.
class LiveDevice final : public Device,
                         public DeviceTriggers,
                         public DeviceClocks,
                         public DeviceCounting,
                         public DeviceRotation {
 public:
  // The time since the start; it must not decrease.
  using Elapsed = std::function<absl::Duration()>;

  // Errors are those of the chip file and of the waveform's files, or name a unit that cannot be built.
  static absl::StatusOr<std::unique_ptr<LiveDevice>> Create(const ChipFile& file, uint64_t boot_id, Elapsed elapsed);

  // From now on what TRIGGER commands reaches the line's other chips, and theirs this one. `powered_on` is the start on
  // the axis of the line, which must outlive the device.
  void Connect(TriggerLine& line, const TriggerLineFileSpec& spec, absl::Duration powered_on);

  // Counts up to the present. Frequent calls keep each call short.
  void CatchUp();
  // Triggers and flushes all units now, without a latch for the controller: for the guests' views.
  mailbox::Snapshot Observe() { return TakeSnapshot(/*leaves_packets=*/false); }

  const DeviceIdentity& identity() const override { return identity_; }
  const mailbox::Catalog& catalog() const override { return catalog_; }
  uint64_t catalog_version() const override { return catalog_version_; }
  bool HasPrivateVms() const override { return has_private_vms_; }
  mailbox::Snapshot Latch() override;
  void Acknowledge() override;
  std::span<const uint64_t> DeviceCounters() override;
  uint64_t ReferenceTimeNs() override;
  std::optional<BlockView> BlockCounters(uint16_t vm, uint16_t context) override;
  std::optional<LiveBlock> PeekBlock(uint16_t vm, uint16_t context) override;
  double GainPerCycle(uint16_t event, SliceSet slices) const override { return gains_.PerCycle(event, slices); }
  std::optional<MemoryUse> GetMemoryUse() override;
  std::optional<WorkloadClock> GetWorkloadClock() const override { return workload_clock_; }
  void SetWorkloadClock(uint64_t hz) override;
  DeviceTriggers* triggers() override { return this; }
  uint32_t Trigger() override;
  absl::Status SetTriggerGrid(uint64_t period) override;
  DeviceClocks* clocks() override { return this; }
  absl::Status SelectClocks(uint64_t domains) override;
  absl::StatusOr<uint64_t> SetBookmark(uint16_t vm, uint16_t context, uint32_t bookmark) override;
  mailbox::Timeline GetTimeline(uint32_t first_trigger_id) override;
  mailbox::ClockHulls GetHulls(uint32_t first_trigger_id) override;
  DeviceCounting* counting() override { return chip_->guests().has_gates() ? this : nullptr; }
  mailbox::CountingConfig GetConfig() override { return controls_.Get(); }
  absl::Status CheckConfig(const mailbox::CountingConfig& config) override { return controls_.Check(config); }
  void ApplyConfig(const mailbox::CountingConfig& config) override { controls_.Apply(config); }
  DeviceRotation* rotation() override { return rotation_.empty() ? nullptr : this; }
  std::optional<mailbox::RotationPlan> GetRotation(uint16_t vm, uint16_t context) override {
    return rotation_.Get(vm, context);
  }
  absl::Status ApplyRotation(const mailbox::RotationRequest& request) override;
  absl::Status LearnRotation(uint16_t vm, uint16_t context) override;
  absl::Status SetPass(uint16_t vm, uint16_t context, uint32_t pass) override;

  // The power model of the chip file, with its energies in the order of the events.
  const PowerModel::Config& power() const { return power_; }
  const Chip& chip() const { return *chip_; }
  // Its registers may be accessed after CatchUp.
  Chip& chip() { return *chip_; }
  // VMs and contexts as numbered in wiring.h, and the slices of their turns.
  const std::vector<Tenant>& tenants() const { return timeline_->tenants(); }
  SliceSet slices_of(size_t tenant) const { return wiring_.tenant_slices[tenant]; }
  // Wiring::warning
  const std::string& warning() const { return wiring_.warning; }
  // One per slice; empty if other sources drive the wires.
  const std::vector<std::shared_ptr<SliceProgram>>& programs() const { return wiring_.programs; }

 private:
  LiveDevice(const ChipFile& file, uint64_t boot_id, Elapsed elapsed, Wiring wiring, const PipelineConfig& config,
             std::unique_ptr<Chip> chip);

  mailbox::Snapshot TakeSnapshot(bool leaves_packets);
  mailbox::Catalog MakeCatalog(const ChipFile& file) const;
  void AddClockDomains(mailbox::Catalog& catalog) const;
  // Gives the fits what has arrived.
  void FollowClocks();
  std::vector<Tenant> CreateBlocks(const ChipFile& file);
  void AdvanceTo(uint64_t cycle);
  void PlayTo(uint64_t cycle);
  std::optional<LiveCounts::Block> AwaitLiveBlock();
  // The block that a bookmark is of; an error as of SetBookmark.
  absl::StatusOr<BlockId> BlockToMark(uint16_t vm, uint16_t context) const;
  void EndContext(size_t tenant, uint64_t cycle);
  void Succeed(size_t tenant);
  void FollowBlocks();
  void FollowPlans();
  std::optional<size_t> FindTenant(uint16_t vm, uint16_t context) const;
  std::optional<BlockId> FindHostBlock(uint16_t slice) const;
  // The block of the device, a slice's host, a VM or a context, unless it is released.
  std::optional<BlockId> FindBlock(uint16_t vm, uint16_t context) const;
  uint64_t CommittedNs(SliceSet slices) const;
  std::vector<RotatedCount> RotatedCounts(BlockId block) const;

  const DeviceIdentity identity_;
  const Elapsed elapsed_;
  const uint64_t clock_hz_;
  const bool has_out_of_band_;
  const bool has_private_vms_;
  const Wiring wiring_;
  const EventGains gains_;
  const std::optional<MemoryFileSpec> memory_;
  const std::vector<uint32_t> shown_mib_;  // per tenant; 0 for contexts of confidential and private VMs
  const std::vector<size_t> vm_tenants_;   // per VM, the tenant without a context
  const std::unique_ptr<Chip> chip_;
  const SlicePrograms programs_;
  const mailbox::Catalog whole_catalog_;  // with all contexts of the chip file
  mailbox::Catalog catalog_;              // without contexts whose blocks are released
  uint64_t catalog_version_ = 0;
  ContextLives lives_;
  const std::unique_ptr<Timeline> timeline_;
  CountingControls controls_;
  RotationControls rotation_;
  ClockControls clocks_;
  const uint32_t throttled_domain_;
  std::optional<WorkloadClock> workload_clock_;
  ClockFits fits_;
  uint32_t next_packets_ = 0;  // the first trigger whose packets the fits do not have
  PowerModel::Config power_;
  std::unique_ptr<Player> player_;
  std::unique_ptr<LineEnd> line_;  // null: not connected
  std::vector<size_t> retired_;    // the tenants that were retired in the newest latch
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_DEVICE_LIVE_DEVICE_H_
