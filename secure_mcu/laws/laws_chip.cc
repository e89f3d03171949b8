// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/laws/laws_chip.h"

#include <rapidcheck.h>

#include <algorithm>
#include <string>

namespace sideband::mcu {
namespace {

UlcSpec UnitOf(const CaseUnit& unit, bool is_gated) {
  UlcSpec spec{.name = "unit", .domain = unit.domain};
  spec.counter_bits = unit.counter_bits;
  spec.period = unit.period;
  spec.lanes = unit.lanes;
  spec.counters = unit.counters;
  for (const CaseInput& input : unit.inputs) {
    CounterInput& counter = spec.inputs.emplace_back();
    counter = {.wire = input.wire,
               .meaning = {static_cast<uint16_t>(input.event), static_cast<uint8_t>(input.shift)},
               .masked = input.masked,
               .digits = static_cast<uint8_t>(input.digits)};
    if (is_gated && input.group > 0) counter.group = static_cast<uint8_t>(input.group - 1);
  }
  return spec;
}

std::vector<uint32_t> CountsBefore(const LawsCase& test, uint32_t channel, uint32_t domain, uint32_t wire,
                                   uint64_t cycles) {
  std::vector<uint32_t> counts{0};
  counts.reserve(cycles + 1);
  for (uint64_t cycle = 0; cycle < cycles; ++cycle) {
    counts.push_back(counts.back() + (WireBit(test, channel, domain, wire, cycle) ? 1 : 0));
  }
  return counts;
}

}  // namespace

PipelineConfig ConfigOf(const LawsCase& test) {
  PipelineConfig config{.slices = test.slices, .events = test.events};
  for (const CaseCollector& collector : test.collectors) {
    CcuSpec& ccu = config.ccus.emplace_back();
    ccu.name = "collector";
    ccu.channel = collector.channel == test.device() ? kDeviceChannel : static_cast<uint8_t>(collector.channel);
    ccu.threshold = collector.threshold;
    for (const CaseUnit& unit : collector.units) ccu.ulcs.push_back(UnitOf(unit, collector.channel != test.device()));
  }
  config.trigger_period = test.trigger_period;
  config.commit_period = test.commit_period;
  config.hypervisor_commit_period = test.hypervisor_commit_period;
  config.out_of_band_commit_period = test.out_of_band_commit_period;
  config.buffer_depth = test.buffer_depth;
  config.record_cycles = test.record_cycles;
  config.route_cycles = test.route_cycles;
  config.grant_cycles = test.grant_cycles;
  config.switch_step_cycles = test.switch_step_cycles;
  for (const CaseGroup& group : test.groups) {
    config.gate_groups.push_back({.identifier = static_cast<uint16_t>(group.identifier),
                                  .valid = group.valid,
                                  .in_guest = group.in_guest,
                                  .in_host = group.in_host});
  }
  config.gate_cycles = test.gate_cycles;
  for (const uint32_t selection : test.selections) config.selections.push_back({selection});
  config.hpc = {.hop_cycles = test.hop_cycles, .lookup_cycles = test.lookup_cycles};
  return config;
}

void DomainWires::AddCounts(sim::CycleRange range, std::span<const sim::WireId> wires, std::span<uint64_t> sums) const {
  RC_ASSERT(range.begin >= held_.begin);
  RC_ASSERT(range.end <= held_.end);
  RC_ASSERT(range.begin <= range.end);
  for (size_t i = 0; i < wires.size(); ++i) {
    const std::vector<uint32_t>& counts = (*counts_)[wires[i]];
    sums[i] += counts[range.end] - counts[range.begin];
  }
}

WireWindow::WireWindow(const std::array<Domain, kDomains>& domains, sim::CycleRange cycles)
    : domains_(domains), cycles_(cycles) {
  for (size_t i = 0; i < kDomains; ++i) {
    // A chip may read up to kUlcHistoryCycles before the window.
    const uint64_t begin = domains[i].before[cycles.begin];
    wires_[i].Show(&domains[i].counts,
                   {begin - std::min<uint64_t>(begin, kUlcHistoryCycles), domains[i].held[cycles.end]});
  }
}

const sim::WireSource& WireWindow::domain(size_t index) const {
  RC_ASSERT(index < kDomains);
  if (index == 0) return *this;
  return wires_[index];
}

uint64_t WireWindow::CyclesBefore(size_t domain, uint64_t cycle) const {
  RC_ASSERT(cycle >= cycles_.begin);
  RC_ASSERT(cycle <= cycles_.end);
  return domains_[domain].before[cycle];
}

uint64_t WireWindow::CyclesHeld(size_t domain, uint64_t reference_end) const {
  RC_ASSERT(reference_end >= cycles_.begin);
  RC_ASSERT(reference_end <= cycles_.end);
  return domains_[domain].held[reference_end];
}

CaseWires::CaseWires(const LawsCase& test, uint32_t channel) {
  for (uint32_t domain = 0; domain < kDomains; ++domain) {
    WireWindow::Domain& here = domains_[domain];
    uint64_t before = 0;
    for (uint64_t cycle = 0; cycle <= test.cycles(); ++cycle) {
      here.before.push_back(before);
      here.held.push_back(before + EdgesHeldIn(test, domain, cycle));
      before += EdgesIn(test, domain, cycle);
    }
    // A prescaled number may extend beyond the last wire.
    here.counts.resize(kWires + kPrescaledDigitsMax);
    for (const CaseCollector& collector : test.collectors) {
      for (const CaseUnit& unit : collector.units) {
        if (collector.channel != channel || unit.domain != domain) continue;
        for (const CaseInput& input : unit.inputs) {
          for (uint32_t wire = input.wire; wire < input.wire + std::max(1u, input.digits); ++wire) {
            // Several inputs may share a wire.
            if (here.counts[wire].empty())
              here.counts[wire] = CountsBefore(test, channel, domain, wire, here.held.back());
          }
        }
      }
    }
  }
}

}  // namespace sideband::mcu
