// SPDX-License-Identifier: Apache-2.0
//
// Workloads are counted in closed form. Each drawn run (workloads, chip, schedule) is played twice, once in closed form
// and once with wires that return single bits: memory blocks, headers and costs must be identical.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "secure_mcu/chip/player.h"
#include "sim/workload/bitwise_source.h"
#include "sim/workload/synthetic_slice.h"

namespace sideband::mcu {
namespace {

namespace gen = rc::gen;

constexpr uint32_t kTenants = 4;  // a VM, two contexts of it, another VM
constexpr uint32_t kEvents = 3;

struct DrawnPhase {
  uint32_t kind = 0;
  uint32_t cycles = 1;
};

struct DrawnWork {
  uint32_t seed = 0;
  std::vector<DrawnPhase> phases;
};

struct DrawnSwitch {
  uint32_t gap = 0;
  uint32_t slice = 0;
  uint32_t tenant = 0;  // kTenants: none
};

struct DrawnRun {
  uint32_t slices = 1;
  uint32_t inputs = 1;
  uint32_t digits = 0;  // of the first input
  uint32_t period = 511;
  uint32_t trigger_period = 0;
  uint32_t commit_period = 0;
  uint32_t record_cycles = 1;
  uint32_t threshold = 0;
  std::vector<DrawnWork> works;  // per tenant, then of the device-scope units
  std::vector<DrawnSwitch> switches;
  uint32_t latch_every = 100;
};

std::ostream& operator<<(std::ostream& out, const DrawnRun& run) {
  out << run.slices << " slices, " << run.inputs << " inputs, the first of " << run.digits << " digits, period "
      << run.period << ", trigger " << run.trigger_period << ", commit " << run.commit_period << ", record "
      << run.record_cycles << ", threshold " << run.threshold << ", latch every " << run.latch_every << "\n";
  for (const DrawnWork& work : run.works) {
    out << "  seed " << work.seed << ", phases";
    for (const DrawnPhase& phase : work.phases) out << " " << phase.kind << " for " << phase.cycles;
    out << "\n";
  }
  for (const DrawnSwitch& to : run.switches)
    out << "  +" << to.gap << " slice " << to.slice << " to " << to.tenant << "\n";
  return out;
}

uint32_t WireCount(const DrawnRun& run) { return run.inputs - 1 + std::max(1u, run.digits); }

sim::Workload WorkOf(const DrawnRun& run, size_t tenant) {
  sim::Workload::Options options;
  for (const DrawnPhase& phase : run.works[tenant].phases) {
    options.phases.push_back({static_cast<sim::PhaseKind>(phase.kind), phase.cycles});
  }
  options.seed = run.works[tenant].seed;
  for (uint32_t wire = 0; wire < WireCount(run); ++wire) options.wire_events.push_back(absl::StrCat("event", wire % 7));
  return *sim::Workload::Create(options);
}

PipelineConfig ConfigOf(const DrawnRun& run) {
  PipelineConfig config{.slices = run.slices, .events = kEvents};
  std::vector<CounterInput> inputs;
  for (uint32_t i = 0; i < run.inputs; ++i) {
    const uint32_t wire = i == 0 ? 0 : i - 1 + std::max(1u, run.digits);
    inputs.push_back({.wire = wire, .meaning = {static_cast<uint16_t>(i % kEvents), static_cast<uint8_t>(i % 4)}});
  }
  inputs[0].digits = static_cast<uint8_t>(run.digits);
  for (uint32_t channel = 0; channel <= run.slices; ++channel) {
    const uint8_t number = channel == run.slices ? kDeviceChannel : static_cast<uint8_t>(channel);
    for (CcuSpec& ccu : Pack("channel", number, inputs, UlcSpec{.period = run.period, .lanes = 512})) {
      ccu.threshold = run.threshold;
      config.ccus.push_back(std::move(ccu));
    }
  }
  config.trigger_period = run.trigger_period;
  config.commit_period = config.hypervisor_commit_period = run.commit_period;
  config.record_cycles = run.record_cycles;
  return config;
}

class DrawnTimeline final : public Timeline {
 public:
  DrawnTimeline(const DrawnRun& run, std::vector<Tenant> tenants) : tenants_(std::move(tenants)) {
    uint64_t cycle = 0;
    for (const DrawnSwitch& to : run.switches) {
      cycle += to.gap;
      events_.push_back({cycle, static_cast<uint8_t>(to.slice % run.slices),
                         to.tenant < kTenants ? std::optional<size_t>(to.tenant) : std::nullopt});
    }
  }
  std::optional<SwitchEvent> Peek() const override {
    return next_ < events_.size() ? std::optional(events_[next_]) : std::nullopt;
  }
  void Pop() override { ++next_; }
  const std::vector<Tenant>& tenants() const override { return tenants_; }
  uint64_t end() const { return events_.empty() ? 0 : events_.back().cycle; }

 private:
  const std::vector<Tenant> tenants_;
  std::vector<SwitchEvent> events_;
  size_t next_ = 0;
};

struct Latched {
  uint32_t id;
  std::vector<mailbox::BlockHeader> headers;
  mailbox::CounterValues counters;
  bool operator==(const Latched&) const = default;
};

struct Played {
  std::vector<Latched> latches;
  ChipStats stats;
};

std::vector<Tenant> CreateTenants(MemoryBlocks& memory) {
  const BlockId vm1 = memory.Create(1, mailbox::kNoContext);
  const BlockId c0 = memory.Create(1, 0), c1 = memory.Create(1, 1);
  const BlockId vm2 = memory.Create(2, mailbox::kNoContext);
  return {{"vm1", "", {vm1, {}}}, {"vm1", "c0", {vm1, c0}}, {"vm1", "c1", {vm1, c1}}, {"vm2", "", {vm2, {}}}};
}

Latched LatchAll(Chip& chip) {
  Latched latched{.id = chip.Latch(), .headers = {}, .counters = {}};
  chip.memory().CopyTo(latched.headers, latched.counters);
  return latched;
}

Played Play(const DrawnRun& run, bool bit_by_bit) {
  const auto chip = *Chip::Create(ConfigOf(run));
  DrawnTimeline timeline(run, CreateTenants(chip->memory()));
  std::vector<std::unique_ptr<sim::SyntheticSlice>> slices;
  std::vector<std::unique_ptr<sim::BitwiseSource>> bitwise;
  std::vector<sim::WireSource*> sources;
  for (uint8_t slice = 0; slice < run.slices; ++slice) {
    slices.push_back(std::make_unique<sim::SyntheticSlice>());
    for (size_t i = 0; i < kTenants; ++i) {
      RC_ASSERT(slices.back()->Add(timeline.tenants()[i].vm, timeline.tenants()[i].context, WorkOf(run, i)).ok());
    }
    bitwise.push_back(std::make_unique<sim::BitwiseSource>(*slices.back()));
    sources.push_back(bit_by_bit ? static_cast<sim::WireSource*>(bitwise.back().get()) : slices.back().get());
    chip->Attach(slice, *sources.back());
  }
  sim::SteadyWorkload device(WorkOf(run, kTenants));
  const sim::BitwiseSource device_bits(device);
  chip->Attach(kDeviceChannel, bit_by_bit ? static_cast<const sim::WireSource&>(device_bits) : device);

  Played played;
  Player player(*chip, timeline, sources);
  for (uint64_t cycle = 0; cycle <= timeline.end(); cycle += run.latch_every) {
    player.PlayTo(cycle);
    played.latches.push_back(LatchAll(*chip));
  }
  player.PlayTo(timeline.end() + 50);
  player.Vacate();
  played.latches.push_back(LatchAll(*chip));
  played.stats = chip->stats();
  return played;
}

rc::Gen<uint32_t> From(uint32_t low, uint32_t high) {
  return gen::resize(rc::kNominalSize, gen::inRange<uint32_t>(low, high + 1));
}

rc::Gen<DrawnRun> AnyRun() {
  const auto phase = gen::build<DrawnPhase>(
      gen::set(&DrawnPhase::kind, From(0, 4)),
      gen::set(&DrawnPhase::cycles, gen::weightedOneOf<uint32_t>({{1, From(1, 9)}, {2, From(1, 700)}})));
  const auto phases = gen::nonEmpty(gen::scale(0.05, gen::container<std::vector<DrawnPhase>>(phase)));
  const auto work = gen::build<DrawnWork>(gen::set(&DrawnWork::seed), gen::set(&DrawnWork::phases, phases));
  const auto to = gen::build<DrawnSwitch>(
      gen::set(&DrawnSwitch::gap, gen::weightedOneOf<uint32_t>({{1, From(0, 3)}, {2, From(0, 200)}})),
      gen::set(&DrawnSwitch::slice, From(0, 2)), gen::set(&DrawnSwitch::tenant, From(0, kTenants)));
  const auto period = gen::weightedOneOf<uint32_t>({{1, gen::just(0u)}, {1, From(1, 12)}, {2, From(1, 900)}});
  return gen::build<DrawnRun>(
      gen::set(&DrawnRun::slices, From(1, 3)), gen::set(&DrawnRun::inputs, From(1, 20)),
      gen::set(&DrawnRun::digits, gen::weightedOneOf<uint32_t>({{1, gen::just(0u)}, {1, From(0, 5)}})),
      gen::set(&DrawnRun::period, gen::weightedOneOf<uint32_t>({{1, gen::just(1u)}, {3, From(1, 511)}})),
      gen::set(&DrawnRun::trigger_period, period), gen::set(&DrawnRun::commit_period, period),
      gen::set(&DrawnRun::record_cycles, From(1, 30)),
      gen::set(&DrawnRun::threshold, gen::weightedOneOf<uint32_t>({{1, gen::just(0u)}, {1, From(1, 2000)}})),
      gen::set(&DrawnRun::works, gen::container<std::vector<DrawnWork>>(kTenants + 1, work)),
      gen::set(&DrawnRun::switches, gen::scale(0.3, gen::container<std::vector<DrawnSwitch>>(to))),
      gen::set(&DrawnRun::latch_every, From(1, 1000)));
}

TEST(ClosedFormTest, GivesTheBlocksThatCountingBitByBitGives) {
  EXPECT_TRUE(rc::check("closed form equals bit by bit", [] {
    const DrawnRun run = *AnyRun();
    const Played closed = Play(run, /*bit_by_bit=*/false);
    const Played bits = Play(run, /*bit_by_bit=*/true);
    RC_ASSERT(closed.latches.size() == bits.latches.size());
    for (size_t i = 0; i < closed.latches.size(); ++i) {
      RC_ASSERT(closed.latches[i].id == bits.latches[i].id);
      RC_ASSERT(closed.latches[i].counters == bits.latches[i].counters);
      RC_ASSERT(closed.latches[i] == bits.latches[i]);
    }
    RC_ASSERT(closed.stats.threshold_triggers == bits.stats.threshold_triggers);
    RC_ASSERT(closed.stats.trigger_overruns == bits.stats.trigger_overruns);
    RC_ASSERT(closed.stats.commits == bits.stats.commits);
    RC_ASSERT(closed.stats.switch_cycles == bits.stats.switch_cycles);
    RC_CLASSIFY(closed.stats.trigger_overruns > 0, "overruns");
  }));
}

}  // namespace
}  // namespace sideband::mcu
