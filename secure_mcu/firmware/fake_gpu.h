// SPDX-License-Identifier: Apache-2.0
//
// A device with several VMs, for tests of values that the firmware computes from counters.
//   FakeGpu gpu;
//   gpu.Count(2, 1, "sm_active_cycles", 505);     // context 1 of VM 2, and so VM 2 and the device
//   gpu.time_ns += 1'000'000;
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_FAKE_GPU_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_FAKE_GPU_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "proto/base/uuid.h"
#include "secure_mcu/firmware/device.h"

namespace sideband::mcu {

// Reference clock 1 GHz. Two slices, each with 4 SMs and 2 DRAM channels; slice 0 also has a tensor unit of 8 wires.
// One PCIe link. VM 1 has contexts 0 and 1 on slice 0, VM 2 has contexts 0 and 1 on slice 1, VM 3 has turns on both
// slices and no contexts. Tests add further events.
class FakeGpu final : public Device {
 public:
  using Scope = std::pair<uint16_t, uint16_t>;

  FakeGpu() {
    catalog_.reference_clock_hz = 1'000'000'000;
    catalog_.events = {{"sm_active_cycles", "cycles"},
                       {"dram_read_cycles", "cycles"},
                       {"dram_write_cycles", "cycles"},
                       {"tensor_active_cycles", "cycles"},
                       {"pcie_tx_cycles", "cycles", mailbox::EventScope::kDevice}};
    catalog_.slices = {{0, "slice0"}, {1, "slice1"}};
    for (const uint16_t vm : {1, 2, 3}) {
      catalog_.vms.push_back({.id = vm, .name = "vm" + std::to_string(vm), .generation = 1});
      Add({vm, mailbox::kNoContext}, vm == 3 ? 0b11 : 1u << (vm - 1));
    }
    for (const uint16_t vm : {1, 2}) {
      for (const uint16_t context : {0, 1}) {
        catalog_.contexts.push_back({.vm = vm, .id = context, .name = "c", .generation = 1});
        Add({vm, context}, 1u << (vm - 1));
      }
    }
    Add(kDevice, kEverySlice);
  }

  // Gives a slice a host block, which Count addresses as context `slice` of VM 0.
  void AddHostBlock(uint8_t slice) {
    catalog_.host_blocks.push_back({.slice = slice, .generation = 1});
    Add({mailbox::kHypervisorVm, slice}, SliceSet{1} << slice);
  }
  // Adds an event that counts as many wires of each slice; `slice_wires` {}: one wire, of the device as a whole.
  void AddEvent(const std::string& name, std::vector<double> slice_wires) {
    const auto scope = slice_wires.empty() ? mailbox::EventScope::kDevice : mailbox::EventScope::kContext;
    catalog_.events.push_back({name, "cycles", scope});
    more_wires_.push_back(std::move(slice_wires));
    for (auto& [unused, block] : blocks) block.counters.push_back(0);
  }
  // Adds to the block of the scope and to the blocks that include it.
  void Count(uint16_t vm, uint16_t context, const std::string& event, uint64_t count) {
    const std::set<Scope> scopes = {{vm, context}, {vm, mailbox::kNoContext}, kDevice};
    for (const Scope& scope : scopes) blocks.at(scope).counters[Index(event)] += count;
  }
  mailbox::Catalog& catalog() { return catalog_; }

  const DeviceIdentity& identity() const override { return identity_; }
  const mailbox::Catalog& catalog() const override { return catalog_; }
  mailbox::Snapshot Latch() override { return {.blocks = {{}}, .counters = {}}; }
  std::span<const uint64_t> DeviceCounters() override { return blocks.at(kDevice).counters; }
  uint64_t ReferenceTimeNs() override { return time_ns; }
  std::optional<BlockView> BlockCounters(uint16_t vm, uint16_t context) override {
    const auto found = blocks.find({vm, context});
    if (found == blocks.end()) return std::nullopt;
    return BlockView{found->second.counters, found->second.generation, time_ns, found->second.slices};
  }
  std::optional<LiveBlock> PeekBlock(uint16_t vm, uint16_t context) override {
    ++peeks;
    const auto found = blocks.find({vm, context});
    if (found == blocks.end()) return std::nullopt;
    return LiveBlock{.counters = found->second.counters,
                     .generation = found->second.generation,
                     .reference_cycle = time_ns,
                     .reference_time_ns = time_ns};
  }
  double GainPerCycle(uint16_t event, SliceSet slices) const override {
    if (event >= kEvents && !more_wires_[event - kEvents].empty()) {
      const std::vector<double>& wires = more_wires_[event - kEvents];
      return (slices & 1 ? wires[0] : 0) + (slices & 2 ? wires[1] : 0);
    }
    const double on_slices = (slices & 1 ? 1 : 0) + (slices & 2 ? 1 : 0);
    switch (event) {
      case 0:
        return 4 * on_slices;
      case 1:
      case 2:
        return 2 * on_slices;
      case 3:
        return slices & 1 ? 8 : 0;
      default:
        return slices == kEverySlice ? 1 : 0;
    }
  }
  std::optional<MemoryUse> GetMemoryUse() override { return memory; }
  std::optional<WorkloadClock> GetWorkloadClock() const override { return clock; }
  void SetWorkloadClock(uint64_t hz) override { clock->hz = hz; }

  struct Block {
    SliceSet slices;
    std::vector<uint64_t> counters;
    uint32_t generation = 1;
  };
  std::map<Scope, Block> blocks;
  int peeks = 0;  // calls of PeekBlock
  uint64_t time_ns = 0;
  std::optional<WorkloadClock> clock;  // initially none
  std::optional<MemoryUse> memory = MemoryUse{.reserved_mib = 512, .used_mib = 2048};

 private:
  static constexpr size_t kEvents = 5;  // before AddEvent
  static constexpr Scope kDevice = {mailbox::kHypervisorVm, mailbox::kNoContext};

  void Add(const Scope& scope, SliceSet slices) { blocks[scope] = {slices, std::vector<uint64_t>(kEvents)}; }
  size_t Index(const std::string& event) const {
    size_t index = 0;
    while (catalog_.events[index].name != event) ++index;
    return index;
  }

  const DeviceIdentity identity_ = {.uuid = *Uuid::Parse("6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10"),
                                    .serial = "SERIAL-1",
                                    .part_number = "PART",
                                    .boot_id = 1};
  mailbox::Catalog catalog_;
  std::vector<std::vector<double>> more_wires_;  // of each added event
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_FAKE_GPU_H_
