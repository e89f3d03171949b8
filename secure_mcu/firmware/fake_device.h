// SPDX-License-Identifier: Apache-2.0
//
// A device for firmware tests.
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_FAKE_DEVICE_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_FAKE_DEVICE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "proto/base/uuid.h"
#include "secure_mcu/firmware/device.h"

namespace sideband::mcu {

// One event and one VM. Each latch increments the latched counters.
class FakeDevice final : public Device,
                         public DeviceTriggers,
                         public DeviceClocks,
                         public DeviceCounting,
                         public DeviceRotation {
 public:
  FakeDevice() {
    catalog_.events = {{"busy_cycles", "cycles"}};
    catalog_.vms = {{.id = 1, .uuid = *Uuid::Parse("00000000-0000-0000-0000-000000000001"), .name = "vm1"}};
  }
  const DeviceIdentity& identity() const override { return identity_; }
  const mailbox::Catalog& catalog() const override { return catalog_; }
  uint64_t catalog_version() const override { return version_; }
  void Acknowledge() override {
    ++acknowledged;
    catalog_.vms[0].generation = ++version_;
  }
  mailbox::Snapshot Latch() override {
    ++latches;
    return {.trigger_id = latches,
            .counters_per_block = 1,
            .blocks = blocks,
            .counters = mailbox::CounterValues(blocks.size(), latches)};
  }
  std::span<const uint64_t> DeviceCounters() override { return counters; }
  uint64_t ReferenceTimeNs() override { return time_ns; }
  DeviceTriggers* triggers() override { return can_trigger ? this : nullptr; }
  uint32_t Trigger() override { return ++triggered; }
  absl::Status SetTriggerGrid(uint64_t period) override {
    if (period != 0 && period < kTriggerPeriodMin) return absl::InvalidArgumentError("too short");
    trigger_grid = period;
    return absl::OkStatus();
  }
  DeviceCounting* counting() override { return config ? this : nullptr; }
  mailbox::CountingConfig GetConfig() override { return *config; }
  absl::Status CheckConfig(const mailbox::CountingConfig& changed) override {
    return check ? check(changed) : absl::OkStatus();
  }
  void ApplyConfig(const mailbox::CountingConfig& changed) override {
    const uint32_t revision = config->revision + 1;
    config = changed;
    config->revision = revision;
  }
  BlockSealer* block_sealer() override { return sealer; }
  DeviceClocks* clocks() override { return has_clocks ? this : nullptr; }
  absl::Status SelectClocks(uint64_t domains) override {
    if (domains > 0b11) return absl::InvalidArgumentError("no such domain");
    selected_clocks = domains;
    return absl::OkStatus();
  }
  absl::StatusOr<uint64_t> SetBookmark(uint16_t vm, uint16_t context, uint32_t bookmark) override {
    if (!refuse_bookmarks.ok()) return refuse_bookmarks;
    bookmarks[{vm, context}] = bookmark;
    return time_ns;
  }
  mailbox::Timeline GetTimeline(uint32_t first_trigger_id) override {
    mailbox::Timeline from = timeline;
    from.first_trigger_id = first_trigger_id;
    return from;
  }
  mailbox::ClockHulls GetHulls(uint32_t first_trigger_id) override {
    mailbox::ClockHulls from = hulls;
    from.first_trigger_id = first_trigger_id;
    return from;
  }
  DeviceRotation* rotation() override { return has_rotation ? this : nullptr; }
  std::optional<mailbox::RotationPlan> GetRotation(uint16_t vm, uint16_t context) override {
    const auto plan = plans.find({vm, context});
    return plan == plans.end() ? std::nullopt : std::optional(plan->second);
  }
  absl::Status ApplyRotation(const mailbox::RotationRequest& request) override {
    if (request.vm != 1 && !more_vms.contains(request.vm)) return absl::InvalidArgumentError("no such VM");
    requests.push_back(request);
    return absl::OkStatus();
  }
  absl::Status LearnRotation(uint16_t vm, uint16_t context) override {
    if (vm != 1) return absl::InvalidArgumentError("no such VM");
    learned.emplace_back(vm, context);
    return absl::OkStatus();
  }
  absl::Status SetPass(uint16_t vm, uint16_t context, uint32_t pass) override {
    if (vm != 1) return absl::InvalidArgumentError("no such VM");
    passes[{vm, context}] = pass;
    return absl::OkStatus();
  }

  static constexpr uint64_t kTriggerPeriodMin = 10;

  uint32_t latches = 0;
  BlockSealer* sealer = nullptr;
  bool can_trigger = true;
  uint32_t triggered = 0;
  uint64_t trigger_grid = 0;  // the period; 0: none
  uint32_t acknowledged = 0;
  std::vector<mailbox::BlockHeader> blocks = {{}};
  std::vector<uint64_t> counters = {0};
  uint64_t time_ns = 0;
  std::optional<mailbox::CountingConfig> config;
  std::function<absl::Status(const mailbox::CountingConfig&)> check;
  using Scope = std::pair<uint16_t, uint16_t>;  // VM, context
  bool has_clocks = false;
  uint64_t selected_clocks = 0;
  absl::Status refuse_bookmarks;
  std::map<Scope, uint32_t> bookmarks;
  mailbox::Timeline timeline;
  mailbox::ClockHulls hulls;
  bool has_rotation = false;
  std::map<Scope, mailbox::RotationPlan> plans;
  std::vector<mailbox::RotationRequest> requests;  // applied
  std::set<uint16_t> more_vms;                     // whose requests are taken, too
  std::vector<Scope> learned;
  std::map<Scope, uint32_t> passes;

 private:
  const DeviceIdentity identity_ = {.uuid = *Uuid::Parse("6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10"),
                                    .serial = "SERIAL-1",
                                    .part_number = "PART",
                                    .boot_id = 0x1122334455667788};
  mailbox::Catalog catalog_;
  uint32_t version_ = 0;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_FAKE_DEVICE_H_
