// SPDX-License-Identifier: Apache-2.0
//
// A chip with clock domains for tests: two slices with a domain of their own and a shared one, a domain of the device,
// and one event in each. Event e is 1 in every local cycle that is a multiple of EveryOf(e).
//   ClockedChip chip({.sm = {.hz = 60'262'000}});
//   chip->AdvanceTo(501'200);
//   chip->Trigger(TriggerKind::kRegisterWrite);
//   chip.Packets();
#ifndef SIDEBAND_SECURE_MCU_CHIP_CLOCKED_CHIP_H_
#define SIDEBAND_SECURE_MCU_CHIP_CLOCKED_CHIP_H_

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "proto/mailbox/catalog.h"
#include "secure_mcu/chip/chip.h"
#include "secure_mcu/chip/chip_clocks.h"
#include "sim/wires/domain_clock.h"
#include "sim/wires/wire_source.h"

namespace sideband::mcu {

// For tests: every wire is always 1.
class AllOnes final : public sim::WireSource {
 public:
  void AddCounts(sim::CycleRange range, std::span<const sim::WireId>, std::span<uint64_t> sums) const override {
    for (uint64_t& sum : sums) sum += range.size();
  }
};

// Wires that are 1 in every local cycle that is a multiple of their number.
class MultiplesSource final : public sim::WireSource {
 public:
  explicit MultiplesSource(sim::LocalClocks clocks) : clocks_(std::move(clocks)) {}
  // Multiples of `every` below `cycle`.
  static uint64_t CountBelow(uint64_t every, uint64_t cycle) { return (cycle + every - 1) / every; }

  void AddCounts(sim::CycleRange range, std::span<const sim::WireId> wires, std::span<uint64_t> sums) const override {
    for (size_t i = 0; i < wires.size(); ++i)
      sums[i] += CountBelow(wires[i], range.end) - CountBelow(wires[i], range.begin);
  }
  uint64_t CyclesBefore(size_t domain, uint64_t cycle) const override { return clocks_.CyclesBefore(domain, cycle); }
  uint64_t CyclesHeld(size_t domain, uint64_t end) const override { return clocks_.CyclesBefore(domain, end); }
  void StepClock(size_t domain, sim::Instant at, uint64_t hz) { clocks_.Step(domain, at, hz); }

 private:
  sim::LocalClocks clocks_;
};

// The choices of a test; the clock of the slices' own domain first.
struct ClockedOptions {
  sim::DomainClockSpec sm{.hz = 60'262'000}, l2{.hz = 900'000'000}, dram{.hz = 2'133'000'000};
  uint64_t wire_min_ns = 0, wire_max_ns = 0;
  uint32_t sync_edges = 2;
  uint64_t trigger_period = 0;
  SchedulerSpec scheduler;
  uint32_t ulc_period = 1;
};

class ClockedChip {
 public:
  static constexpr uint16_t kSm = 0, kL2 = 1, kDram = 2;  // events; their domains are these and one
  static constexpr uint32_t EveryOf(uint16_t event) { return event == kSm ? 1000 : event == kL2 ? 7 : 3; }

  explicit ClockedChip(const ClockedOptions& options = {}) : config_(ConfigOf(options)), chip_(*Chip::Create(config_)) {
    for (const uint8_t channel : {uint8_t{0}, uint8_t{1}, kDeviceChannel}) {
      sources_.push_back(std::make_unique<MultiplesSource>(MakeClocks(config_, channel)));
      chip_->Attach(channel, *sources_.back());
    }
    const BlockId vm = chip_->memory().Create(1, mailbox::kNoContext);
    for (uint16_t context = 0; context < 3; ++context) {
      bindings_.push_back({.vm = vm, .context = chip_->memory().Create(1, context)});
    }
    for (uint8_t slice = 0; slice < 2; ++slice) chip_->SwitchTo(slice, bindings_[slice]);
    chip_->clocks().CollectReturns();
  }

  Chip* operator->() { return chip_.get(); }
  // A step of a domain with levels, of the chip and of its wires. Returns its instant.
  sim::Instant StepClock(uint32_t domain, uint64_t hz) {
    const sim::Instant at = chip_->StepClock(domain, hz);
    for (const auto& source : sources_) source->StepClock(domain, at, hz);
    return at;
  }
  const PipelineConfig& config() const { return config_; }
  // The contexts' bindings; 0 and 1 are resident on slices 0 and 1.
  const std::vector<Binding>& bindings() const { return bindings_; }
  sim::DomainClock ClockOf(const DomainInfo& row) const { return *MakeClock(config_, {row.channel, row.domain}); }
  static uint16_t EventOf(const DomainInfo& row) { return static_cast<uint16_t>(row.domain - 1); }

  // Everything that ever arrives.
  std::vector<TriggerPackets> Packets() { return chip_->clocks().PacketsFrom(0, uint64_t{1} << 60); }
  std::vector<AggregatePacket> Returns() { return chip_->clocks().TakeReturns(uint64_t{1} << 60); }

  static PipelineConfig ConfigOf(const ClockedOptions& options) {
    PipelineConfig config{.slices = 2, .events = 3, .trigger_period = options.trigger_period};
    for (const uint8_t slice : {uint8_t{0}, uint8_t{1}}) {
      config.ccus.push_back(CcuOf(slice, kSm, options));
      config.ccus.push_back(CcuOf(slice, kL2, options));
    }
    config.ccus.push_back(CcuOf(kDeviceChannel, kDram, options));
    config.domains = {DomainOf("sm", options.sm, false, options), DomainOf("l2", options.l2, true, options),
                      DomainOf("dram", options.dram, true, options)};
    config.scheduler = options.scheduler;
    return config;
  }

 private:
  static CcuSpec CcuOf(uint8_t channel, uint16_t event, const ClockedOptions& options) {
    UlcSpec ulc{.name = "ulc", .domain = event + 1u, .period = options.ulc_period, .lanes = 11};
    CounterInput input{.wire = EveryOf(event)};
    input.meaning.event = event;
    ulc.inputs = {input};
    return {.name = "ccu", .channel = channel, .ulcs = {ulc}, .threshold = 0};
  }
  static DomainSpec DomainOf(const char* name, const sim::DomainClockSpec& clock, bool is_shared,
                             const ClockedOptions& options) {
    return {.name = name,
            .clock = clock,
            .is_shared = is_shared,
            .wire_min_ns = options.wire_min_ns,
            .wire_max_ns = options.wire_max_ns,
            .sync_edges = options.sync_edges};
  }

  const PipelineConfig config_;
  std::vector<std::unique_ptr<MultiplesSource>> sources_;
  const std::unique_ptr<Chip> chip_;
  std::vector<Binding> bindings_;
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_CLOCKED_CHIP_H_
