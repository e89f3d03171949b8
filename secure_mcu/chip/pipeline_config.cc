// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/pipeline_config.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/errors.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/catalog.h"
#include "secure_mcu/chip/chip_clocks.h"
#include "secure_mcu/chip/rotation_rules.h"
#include "secure_mcu/chip/selections.h"

namespace sideband::mcu {
namespace {

constexpr uint32_t kShiftMax = 31;  // a 28-bit count shifted by 31 fits into 64 bits
constexpr uint32_t kLatencyMax = 65'536;

absl::Status ValidateUlc(const UlcSpec& ulc, uint32_t events) {
  SIDEBAND_RETURN_IF_ERROR(CheckRange("domain", ulc.domain, 0, kDomainsMax - 1));
  SIDEBAND_RETURN_IF_ERROR(CheckRange("counters", ulc.counters, 1, kUlcCountersMax));
  SIDEBAND_RETURN_IF_ERROR(UnitLevelCounter::Validate(CounterConfig(ulc)));
  for (const CounterInput& input : ulc.inputs) {
    SIDEBAND_RETURN_IF_ERROR(CheckRange("event", input.meaning.event, 0, events - 1));
    SIDEBAND_RETURN_IF_ERROR(CheckRange("shift", input.meaning.shift, 0, kShiftMax));
  }
  return absl::OkStatus();
}

// Checks the counters that have a group; a number's wires are all behind its gate.
absl::Status ValidateGroups(const UlcSpec& ulc, uint8_t channel, size_t groups) {
  for (const CounterInput& input : ulc.inputs) {
    if (!input.group) continue;
    if (channel == kDeviceChannel) return absl::InvalidArgumentError("device-scope counters have no gate");
    if (*input.group >= groups) {
      return absl::InvalidArgumentError(absl::StrCat("group is ", *input.group, ", of ", groups, " gate groups"));
    }
    SIDEBAND_RETURN_IF_ERROR(CheckRange("wire", input.wire, 0, kGatedClockWire));
  }
  return absl::OkStatus();
}

absl::Status ValidateCcu(const CcuSpec& ccu, const PipelineConfig& config) {
  if (ccu.channel != kDeviceChannel) {
    SIDEBAND_RETURN_IF_ERROR(CheckRange("slice", ccu.channel, 0, config.slices - 1));
  }
  SIDEBAND_RETURN_IF_ERROR(CheckRange("number of unit-level counters", ccu.ulcs.size(), 1, kCcuUlcsMax));
  SIDEBAND_RETURN_IF_ERROR(CheckRange("threshold", ccu.threshold, 0, kCcuCounterMax));
  const bool is_switchable =
      config.rotation.has_value() || (ccu.channel != kDeviceChannel && !config.selections.empty());
  for (const UlcSpec& ulc : ccu.ulcs) {
    if (!is_switchable) SIDEBAND_RETURN_IF_ERROR(Named(ulc.name, CheckFits(ulc)));
    SIDEBAND_RETURN_IF_ERROR(Named(ulc.name, ValidateUlc(ulc, config.events)));
    SIDEBAND_RETURN_IF_ERROR(Named(ulc.name, ValidateGroups(ulc, ccu.channel, config.gate_groups.size())));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Named(const std::string& name, const absl::Status& status) {
  return status.ok() ? status : absl::Status(status.code(), absl::StrCat(name, ": ", status.message()));
}

absl::Status Validate(const PipelineConfig& config) {
  SIDEBAND_RETURN_IF_ERROR(CheckRange("slices", config.slices, 1, mailbox::kSlicesMax));
  SIDEBAND_RETURN_IF_ERROR(CheckRange("events", config.events, 1, mailbox::kEventsMax));
  SIDEBAND_RETURN_IF_ERROR(CheckRange("number of collection units", config.ccus.size(), 1, 65'535));
  SIDEBAND_RETURN_IF_ERROR(CheckRange("clock_hz", config.clock_hz, 1, 100'000'000'000));
  SIDEBAND_RETURN_IF_ERROR(CheckRange("buffer_depth", config.buffer_depth, 1, kLatencyMax));
  SIDEBAND_RETURN_IF_ERROR(CheckRange("record_cycles", config.record_cycles, 1, kLatencyMax));
  SIDEBAND_RETURN_IF_ERROR(CheckRange("route_cycles", config.route_cycles, 1, kLatencyMax));
  SIDEBAND_RETURN_IF_ERROR(CheckRange("grant_cycles", config.grant_cycles, 1, kLatencyMax));
  SIDEBAND_RETURN_IF_ERROR(CheckRange("hop_cycles", config.hpc.hop_cycles, 1, kHpcLatencyMax));
  SIDEBAND_RETURN_IF_ERROR(CheckRange("lookup_cycles", config.hpc.lookup_cycles, 1, kHpcLatencyMax));
  SIDEBAND_RETURN_IF_ERROR(CheckRange("number of gate groups", config.gate_groups.size(), 0, kGateGroupsMax));
  SIDEBAND_RETURN_IF_ERROR(CheckRange("gate_cycles", config.gate_cycles, 1, kLatencyMax));
  SIDEBAND_RETURN_IF_ERROR(CheckRange("switch_step_cycles", config.switch_step_cycles, 0, kLatencyMax));
  for (const CcuSpec& ccu : config.ccus) SIDEBAND_RETURN_IF_ERROR(Named(ccu.name, ValidateCcu(ccu, config)));
  SIDEBAND_RETURN_IF_ERROR(CheckDomains(config));
  SIDEBAND_RETURN_IF_ERROR(CheckRelations(config));
  SIDEBAND_RETURN_IF_ERROR(CheckRotation(config));
  return SelectableEvents(config).Check(config.selections);
}

absl::Status CheckFits(const UlcSpec& ulc) {
  return CheckRange("number of counters", ulc.inputs.size(), 1, ulc.counters);
}

std::vector<CounterInput> NumberInputs(sim::WireId wire, uint32_t digits, uint16_t event, bool prescaled) {
  std::vector<CounterInput> inputs;
  const uint32_t low = prescaled ? std::min(digits, kPrescaledDigitsMax) : 0;
  if (low > 0) inputs.push_back({.wire = wire, .meaning = {event, 0}, .digits = static_cast<uint8_t>(low)});
  for (uint32_t digit = low; digit < digits; ++digit) {
    const uint32_t shift = prescaled ? digit - kPrescaledDigitsMax : digit;
    inputs.push_back({.wire = wire + digit, .meaning = {event, static_cast<uint8_t>(shift)}});
  }
  return inputs;
}

CounterAllocation AllocateCounters(const CcuSpec& ccu) {
  CounterAllocation counters;
  std::map<std::pair<uint16_t, uint8_t>, uint16_t> index;
  for (const UlcSpec& ulc : ccu.ulcs) {
    std::vector<uint16_t>& mapping = counters.mapping.emplace_back();
    for (const CounterInput& input : ulc.inputs) {
      mapping.push_back(CounterCollectionUnit::kMasked);
      if (input.masked) continue;
      const auto [entry, is_new] = index.try_emplace({input.meaning.event, input.meaning.shift},
                                                     static_cast<uint16_t>(counters.meanings.size()));
      if (is_new) counters.meanings.push_back(input.meaning);
      mapping.back() = entry->second;
    }
  }
  return counters;
}

UnitLevelCounter::Sources SourcesOf(std::span<const CounterInput> inputs) {
  UnitLevelCounter::Sources sources;
  // Without prescaled numbers `digits` stays empty: one wire for each counter.
  const bool has_numbers =
      std::any_of(inputs.begin(), inputs.end(), [](const CounterInput& input) { return input.digits > 0; });
  for (const CounterInput& input : inputs) {
    const sim::WireId first = input.group ? InGroup(input.wire, *input.group) : input.wire;
    for (uint32_t digit = 0; digit < input.wires(); ++digit) sources.wires.push_back(first + digit);
    if (has_numbers) sources.digits.push_back(input.digits);
  }
  return sources;
}

UnitLevelCounter::Config CounterConfig(const UlcSpec& ulc) {
  UnitLevelCounter::Config config{
      .wires = {}, .digits = {}, .counter_bits = ulc.counter_bits, .period = ulc.period, .lanes = ulc.lanes};
  if (ulc.is_switched()) {
    config.size = ulc.counters;
    return config;
  }
  UnitLevelCounter::Sources sources = SourcesOf(ulc.inputs);
  config.wires = std::move(sources.wires);
  config.digits = std::move(sources.digits);
  return config;
}

std::vector<CcuSpec> Pack(const std::string& name, uint8_t channel, const std::vector<CounterInput>& inputs,
                          const UlcSpec& like) {
  std::vector<CcuSpec> ccus;
  for (size_t begin = 0; begin < inputs.size(); begin += kUlcCountersMax) {
    if (ccus.empty() || ccus.back().ulcs.size() == kCcuUlcsMax) {
      ccus.push_back({.name = absl::StrCat(name, ".ccu", ccus.size()), .channel = channel});
    }
    CcuSpec& ccu = ccus.back();
    UlcSpec ulc = like;
    ulc.name = absl::StrCat("ulc", ccu.ulcs.size());
    const size_t end = std::min(inputs.size(), begin + kUlcCountersMax);
    ulc.inputs.assign(inputs.begin() + begin, inputs.begin() + end);
    ccu.ulcs.push_back(std::move(ulc));
  }
  return ccus;
}

}  // namespace sideband::mcu
