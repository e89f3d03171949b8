// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/describe/totals.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "secure_mcu/chip/selectable_events.h"

namespace sideband::mcu {
namespace {

constexpr uint64_t kPrescalerBits = 6;
constexpr uint64_t kBanks = 2;
constexpr uint64_t kBlocksOfACommit = 2;  // the VM's block and the context's

uint64_t FrameBits(const UlcSpec& ulc) { return UnitLevelCounter::FrameBits(CounterConfig(ulc)); }

uint64_t Records(const CcuSpec& ccu) { return (CcuCounters(ccu) + kRecordCounters - 1) / kRecordCounters; }

// A flat design has no counters for masked wires.
uint64_t Wires(const CcuSpec& ccu) {
  uint64_t wires = 0;
  for (const UlcSpec& ulc : ccu.ulcs) {
    for (const CounterInput& input : ulc.inputs) wires += input.masked ? 0 : input.wires();
  }
  return wires;
}

// Events per second; 0 if the period is 0.
double Rate(const PipelineConfig& config, uint64_t period) {
  return period == 0 ? 0 : static_cast<double>(config.clock_hz) / static_cast<double>(period);
}

double SwitchesOf(const CcuSpec& ccu, std::span<const double> switches) {
  return ccu.channel == kDeviceChannel ? 0 : switches[ccu.channel];
}

uint64_t Rounded(double bits) { return static_cast<uint64_t>(std::llround(bits)); }

double FrameTraffic(const PipelineConfig& config) {
  double bits = 0;
  for (const CcuSpec& ccu : config.ccus) {
    for (const UlcSpec& ulc : ccu.ulcs) bits += static_cast<double>(FrameBits(ulc)) * Rate(config, ulc.period);
  }
  return bits;
}

double TriggerTraffic(const PipelineConfig& config) {
  double records = 0;
  for (const CcuSpec& ccu : config.ccus) records += static_cast<double>(Records(ccu));
  return records * static_cast<double>(RecordBits(config)) * Rate(config, config.trigger_period);
}

// Per switch, each collection unit of the slice sends its records and an acknowledgement, and the slice's channel
// commits.
double SwitchTraffic(const PipelineConfig& config, std::span<const double> switches) {
  double bits = 0;
  for (const CcuSpec& ccu : config.ccus) {
    bits += static_cast<double>((Records(ccu) + 1) * RecordBits(config)) * SwitchesOf(ccu, switches);
  }
  for (const double rate : switches)
    bits += static_cast<double>(kBlocksOfACommit * config.events * kCounterBits) * rate;
  return bits;
}

double CommitTraffic(const PipelineConfig& config) {
  const double block_bits = static_cast<double>(uint64_t{config.events} * kCounterBits);
  return block_bits * (kBlocksOfACommit * config.slices * Rate(config, config.commit_period) +
                       Rate(config, config.hypervisor_commit_period) + Rate(config, config.out_of_band_commit_period));
}

}  // namespace

size_t UlcCounters(const UlcSpec& ulc) { return ulc.is_switched() ? ulc.counters : ulc.inputs.size(); }

size_t UlcPrescaled(const UlcSpec& ulc) {
  const auto prescaled = std::ranges::count_if(ulc.inputs, [](const CounterInput& input) { return input.digits > 0; });
  return std::min(static_cast<size_t>(prescaled), UlcCounters(ulc));
}

uint64_t RecordBits(const PipelineConfig& config) {
  return config.selections.empty() && !config.rotation ? kRecordBits : kRecordBits + kSelectBits;
}

size_t ReductionChannels(const PipelineConfig& config) {
  return config.slices + 1 + (config.out_of_band_commit_period == 0 ? 0 : 1);
}

Registers CountRegisters(const PipelineConfig& config) {
  Registers registers;
  for (const CcuSpec& ccu : config.ccus) {
    registers.ccu_banks += kBanks * kCcuCounterBits * CcuCounters(ccu);
    for (const UlcSpec& ulc : ccu.ulcs) {
      registers.ulc_counters += UlcCounters(ulc) * ulc.counter_bits;
      registers.prescalers += UlcPrescaled(ulc) * kPrescalerBits;
      registers.serialisers += FrameBits(ulc);
    }
  }
  registers.buffer = config.buffer_depth * RecordBits(config);
  registers.reduction_channels = ReductionChannels(config) * config.events * kCounterBits;
  return registers;
}

GateRegisters CountGates(const PipelineConfig& config) {
  constexpr uint64_t kIdentifierBits = 16, kGroupBits = kIdentifierBits + 3;
  constexpr uint64_t kHostBits = kGateValueBits + 1 + kGateIdsMax * kIdentifierBits;
  if (config.gate_groups.empty()) return {};
  return {.values = config.slices * 2 * kGateValueBits,
          .groups = config.slices * config.gate_groups.size() * kGroupBits,
          .hosts = config.slices * kHostBits};
}

// Per counter, the number of one of the kind's sources.
SelectRegisters CountSelects(const PipelineConfig& config) {
  SelectRegisters selects;
  for (const CcuSpec& ccu : config.ccus) {
    for (const SwitchedKind& kind : SwitchedKinds(ccu)) {
      selects.bits += uint64_t{kind.counters} * std::bit_width(kind.sources.size() - 1);
      ++selects.registers;
    }
  }
  return selects;
}

Traffic CountTraffic(const PipelineConfig& config, std::span<const double> switches) {
  return {.ulc_to_ccu = Rounded(FrameTraffic(config)),
          .ccu_to_buffer = Rounded(TriggerTraffic(config)),
          .switches = Rounded(SwitchTraffic(config, switches)),
          .rc_to_memory = Rounded(CommitTraffic(config))};
}

FlatDesign CountFlat(const PipelineConfig& config, std::span<const double> switches) {
  FlatDesign flat;
  double switched = 0;
  for (const CcuSpec& ccu : config.ccus) {
    flat.wires += Wires(ccu);
    // Saved for the previous context and restored for the next.
    switched += static_cast<double>(2 * Wires(ccu) * kCounterBits) * SwitchesOf(ccu, switches);
  }
  flat.registers = flat.wires * kCounterBits;
  flat.polls = Rounded(static_cast<double>(flat.registers) * Rate(config, config.trigger_period));
  flat.switches = Rounded(switched);
  return flat;
}

}  // namespace sideband::mcu
