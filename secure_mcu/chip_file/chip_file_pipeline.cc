// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip_file/chip_file_pipeline.h"

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/catalog.h"
#include "secure_mcu/chip_file/chip_file_fields.h"
#include "secure_mcu/chip_file/chip_file_units.h"
#include "secure_mcu/chip_file/pace.h"

namespace sideband::mcu {
namespace {

constexpr uint64_t kCyclesMax = 1'000'000'000'000;
constexpr uint64_t kLatencyMax = 65'536;
constexpr uint64_t kClockMin = 1000;
constexpr uint64_t kClockMax = 100'000'000'000;

absl::Status ReadLatencies(const YamlMap& map, PipelineConfig& pipeline) {
  SIDEBAND_RETURN_IF_ERROR(Uint32Field(map, "buffer_depth", {1, kLatencyMax}, pipeline.buffer_depth));
  SIDEBAND_RETURN_IF_ERROR(Uint32Field(map, "record_cycles", {1, kLatencyMax}, pipeline.record_cycles));
  SIDEBAND_RETURN_IF_ERROR(Uint32Field(map, "route_cycles", {1, kLatencyMax}, pipeline.route_cycles));
  SIDEBAND_RETURN_IF_ERROR(Uint32Field(map, "grant_cycles", {1, kLatencyMax}, pipeline.grant_cycles));
  SIDEBAND_RETURN_IF_ERROR(Uint32Field(map, "hop_cycles", {1, kHpcLatencyMax}, pipeline.hpc.hop_cycles));
  SIDEBAND_RETURN_IF_ERROR(Uint32Field(map, "lookup_cycles", {1, kHpcLatencyMax}, pipeline.hpc.lookup_cycles));
  return Uint32Field(map, "switch_step_cycles", {0, kLatencyMax}, pipeline.switch_step_cycles);
}

absl::Status ReadPeriod(const YamlMap& map, const std::string& key, uint64_t& period) {
  SIDEBAND_ASSIGN_OR_RETURN(period, UintField(map, key, period, {0, kCyclesMax}));
  return absl::OkStatus();
}

absl::Status ReadPeriods(const YamlMap& map, PipelineConfig& pipeline) {
  SIDEBAND_RETURN_IF_ERROR(ReadPeriod(map, "trigger_period", pipeline.trigger_period));
  SIDEBAND_RETURN_IF_ERROR(ReadPeriod(map, "commit_period", pipeline.commit_period));
  pipeline.hypervisor_commit_period = pipeline.commit_period;
  SIDEBAND_RETURN_IF_ERROR(ReadPeriod(map, "hypervisor_commit_period", pipeline.hypervisor_commit_period));
  return ReadPeriod(map, "out_of_band_commit_period", pipeline.out_of_band_commit_period);
}

// The emulator must process every trigger and commit in real time. `place` is the node of the key, or the clock's node
// if the key is absent: then the clock makes the default period too short.
absl::Status CheckPace(const YamlNode& place, absl::string_view key, uint64_t period, uint64_t clock_hz) {
  const uint64_t cycles_min = CyclesBetweenMin(clock_hz);
  if (period == 0 || period >= cycles_min) return absl::OkStatus();
  return place.Error(absl::StrCat(key, " is ", period, ", must be 0 or from ", cycles_min, " to ", kCyclesMax,
                                  " cycles (", kPerSecondMax, " a second at ", clock_hz, " Hz)"));
}

absl::Status CheckPaces(const YamlMap& map, const YamlNode& clock, const PipelineConfig& pipeline) {
  for (const auto& [key, period] :
       {std::pair("trigger_period", pipeline.trigger_period), std::pair("commit_period", pipeline.commit_period),
        std::pair("hypervisor_commit_period", pipeline.hypervisor_commit_period),
        std::pair("out_of_band_commit_period", pipeline.out_of_band_commit_period)}) {
    SIDEBAND_RETURN_IF_ERROR(CheckPace(map.Find(key).value_or(clock), key, period, pipeline.clock_hz));
  }
  return absl::OkStatus();
}

// The mapping under `pipeline`, or an empty mapping if the key is absent.
absl::StatusOr<YamlMap> PipelineMap(const YamlMap& root, ChipFile& file) {
  const auto node = root.Find("pipeline");
  if (node) file.pipeline_line = node->line();
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode empty, YamlNode::Parse("{}", file.path));
  return node.value_or(empty).Map({"counter_bits", "period", "lanes", "threshold", "trigger_period", "commit_period",
                                   "hypervisor_commit_period", "out_of_band_commit_period", "buffer_depth",
                                   "record_cycles", "route_cycles", "grant_cycles", "hop_cycles", "lookup_cycles",
                                   "switch_step_cycles"});
}

}  // namespace

absl::Status ReadPipeline(const YamlMap& root, const YamlMap& device, ChipFile& file) {
  PipelineConfig& pipeline = file.pipeline;
  SIDEBAND_ASSIGN_OR_RETURN(pipeline.clock_hz,
                            UintField(device, "clock_hz", pipeline.clock_hz, {kClockMin, kClockMax}));
  SIDEBAND_RETURN_IF_ERROR(Uint32Field(root, "slices", {1, mailbox::kSlicesMax}, pipeline.slices));
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, PipelineMap(root, file));
  SIDEBAND_RETURN_IF_ERROR(ReadUlcShape(map, file.ulc));
  SIDEBAND_RETURN_IF_ERROR(Uint32Field(map, "threshold", {0, kCcuCounterMax}, file.threshold));
  SIDEBAND_RETURN_IF_ERROR(ReadLatencies(map, pipeline));
  SIDEBAND_RETURN_IF_ERROR(ReadPeriods(map, pipeline));
  return CheckPaces(map, device.Find("clock_hz").value_or(device.node()), pipeline);
}

}  // namespace sideband::mcu
