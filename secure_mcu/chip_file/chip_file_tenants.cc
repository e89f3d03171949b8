// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/errors.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/catalog.h"
#include "secure_mcu/chip_file/chip_file_sections.h"

namespace sideband::mcu {
namespace {

constexpr absl::Duration kPhaseMin = absl::Microseconds(1);
constexpr absl::Duration kBurstMin = absl::Microseconds(1);
constexpr double kVaryMax = 0.5;
constexpr absl::Duration kLifetimeMin = absl::Milliseconds(1);

// One time, or the least and the most.
absl::StatusOr<BurstTimes> ReadBurstTimes(const YamlNode& node, absl::string_view what) {
  if (!node.is_list()) {
    SIDEBAND_ASSIGN_OR_RETURN(const absl::Duration time, DurationValue(node, what, {kBurstMin, kTimeMax}));
    return BurstTimes{time, time};
  }
  SIDEBAND_ASSIGN_OR_RETURN(const auto nodes, node.List());
  if (nodes.size() != 2) return node.Error(absl::StrCat(what, " is one time, or a list of the least and the most"));
  SIDEBAND_ASSIGN_OR_RETURN(const absl::Duration low, DurationValue(nodes[0], what, {kBurstMin, kTimeMax}));
  SIDEBAND_ASSIGN_OR_RETURN(const absl::Duration high, DurationValue(nodes[1], what, {kBurstMin, kTimeMax}));
  if (low > high) return node.Error(absl::StrCat(what, ": the least time is longer than the most"));
  return BurstTimes{low, high};
}

absl::Status ReadBursts(const YamlMap& phase, std::optional<BurstFileSpec>& bursts) {
  const auto node = phase.Find("bursty");
  if (!node) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node->Map({"on", "off"}));
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode on, map.Get("on"));
  bursts.emplace();
  SIDEBAND_ASSIGN_OR_RETURN(bursts->on, ReadBurstTimes(on, "on"));
  SIDEBAND_ASSIGN_OR_RETURN(bursts->off, ReadBurstTimes(map.Find("off").value_or(on), "off"));
  return absl::OkStatus();
}

absl::StatusOr<PhaseFileSpec> ReadPhase(const YamlNode& node) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"kind", "time", "bursty"}));
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode kind_node, map.Get("kind"));
  SIDEBAND_ASSIGN_OR_RETURN(const std::string kind_name, kind_node.String());
  const auto kind = sim::ParsePhaseKind(kind_name);
  if (!kind.ok()) return kind_node.Locate(kind.status());
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode time_node, map.Get("time"));
  SIDEBAND_ASSIGN_OR_RETURN(const absl::Duration time, DurationValue(time_node, "time", {kPhaseMin, kTimeMax}));
  PhaseFileSpec phase{.kind = *kind, .time = time, .bursts = std::nullopt};
  SIDEBAND_RETURN_IF_ERROR(ReadBursts(map, phase.bursts));
  return phase;
}

absl::Status ReadLifetime(const YamlMap& map, ContextFileSpec& context) {
  const auto lifetime = map.Find("lifetime");
  if (const auto restart = map.Find("restart"); restart && !lifetime) {
    return restart->Error("'restart' needs a 'lifetime': a context without one never ends");
  }
  SIDEBAND_ASSIGN_OR_RETURN(context.restart, BoolField(map, "restart", true));
  if (!lifetime) return absl::OkStatus();
  SIDEBAND_ASSIGN_OR_RETURN(context.lifetime, DurationValue(*lifetime, "lifetime", {kLifetimeMin, kTimeMax}));
  return absl::OkStatus();
}

// The `source` that drives the wires determines these properties; its contexts must not set them.
absl::Status CheckKeysAbsent(const YamlMap& map, absl::string_view source, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (const auto node = map.Find(key)) {
      return node->Error(absl::StrCat("a context of a ", source, " has no '", key, "'"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ContextFileSpec> ReadContext(const YamlNode& node, const ChipFile& file) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map,
                            node.Map({"name", "slice", "seed", "phases", "vary", "lifetime", "restart", "memory_mib"}));
  ContextFileSpec context{.line = node.line()};
  SIDEBAND_ASSIGN_OR_RETURN(context.name, ReadName(map));
  SIDEBAND_ASSIGN_OR_RETURN(const uint64_t slice, UintField(map, "slice", 0, {0, mailbox::kSlicesMax - 1}));
  if (slice >= file.pipeline.slices) {
    return node.Error(absl::StrCat("context '", context.name, "' is on slice ", slice, ", but there are ",
                                   file.pipeline.slices, " (from 0)"));
  }
  context.slice = static_cast<uint8_t>(slice);
  SIDEBAND_RETURN_IF_ERROR(Uint32Field(map, "memory_mib", {0, kMemoryMibMax}, context.memory_mib));
  if (file.waveform) {
    SIDEBAND_RETURN_IF_ERROR(CheckKeysAbsent(map, "waveform", {"phases", "seed", "vary", "lifetime", "restart"}));
    return context;
  }
  SIDEBAND_RETURN_IF_ERROR(ReadLifetime(map, context));
  if (!file.programs.empty()) {
    SIDEBAND_RETURN_IF_ERROR(CheckKeysAbsent(map, "program", {"phases", "seed", "vary"}));
    return context;
  }
  SIDEBAND_ASSIGN_OR_RETURN(context.workload, ReadWorkload(map));
  return context;
}

absl::Status ReadContexts(const YamlMap& map, const ChipFile& file, VmFileSpec& vm) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto nodes, map.ListOrEmpty("contexts"));
  std::set<std::string> names;
  for (const YamlNode& node : nodes) {
    SIDEBAND_ASSIGN_OR_RETURN(ContextFileSpec context, ReadContext(node, file));
    if (!names.insert(context.name).second) {
      return node.Error(absl::StrCat("context '", context.name, "' is listed twice"));
    }
    vm.contexts.push_back(std::move(context));
  }
  return absl::OkStatus();
}

absl::StatusOr<VmFileSpec> ReadVm(const YamlNode& node, const ChipFile& file) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node.Map({"name", "uuid", "confidential", "counting", "contexts"}));
  VmFileSpec vm;
  SIDEBAND_ASSIGN_OR_RETURN(vm.name, ReadName(map));
  if (vm.name == "vm0") return node.Error("VM 'vm0' is the hypervisor: the name is reserved");
  SIDEBAND_ASSIGN_OR_RETURN(vm.uuid, ReadUuid(map));
  // Decoders of the catalogue reject such a VM.
  if (vm.uuid.is_nil()) return map.Get("uuid")->Error("the UUID of a VM must not be all zeros");
  SIDEBAND_ASSIGN_OR_RETURN(vm.confidential, BoolField(map, "confidential", false));
  SIDEBAND_ASSIGN_OR_RETURN(vm.counting, ReadCounting(map, vm.confidential, file));
  SIDEBAND_RETURN_IF_ERROR(ReadContexts(map, file, vm));
  return vm;
}

// Rejects repeated names and UUIDs, and more VMs or contexts than the mailbox supports.
class VmRegister {
 public:
  absl::Status Add(const YamlNode& node, const VmFileSpec& vm) {
    if (!names_.insert(vm.name).second) return node.Error(absl::StrCat("VM '", vm.name, "' is listed twice"));
    if (!uuids_.insert(vm.uuid).second) return node.Error(absl::StrCat("UUID ", vm.uuid.ToString(), " is used twice"));
    contexts_ += vm.contexts.size();
    if (names_.size() > mailbox::kVmsMax) return node.Error(absl::StrCat("more than ", mailbox::kVmsMax, " VMs"));
    if (contexts_ <= mailbox::kContextsMax) return absl::OkStatus();
    return node.Error(absl::StrCat("more than ", mailbox::kContextsMax, " contexts"));
  }

 private:
  std::set<std::string> names_;
  std::set<Uuid> uuids_;
  size_t contexts_ = 0;
};

absl::Status CheckNobodyHasMemory(const ChipFile& file) {
  for (const VmFileSpec& vm : file.vms) {
    for (const ContextFileSpec& context : vm.contexts) {
      if (context.memory_mib == 0) continue;
      return LineError(file.path, context.line,
                       absl::StrCat("context '", context.name, "' has 'memory_mib', but key 'memory' is missing"));
    }
  }
  return absl::OkStatus();
}

uint64_t MibOfAll(const ChipFile& file) {
  uint64_t sum = 0;
  for (const VmFileSpec& vm : file.vms) {
    for (const ContextFileSpec& context : vm.contexts) sum += context.memory_mib;
  }
  return sum;
}

}  // namespace

absl::StatusOr<WorkloadFileSpec> ReadWorkload(const YamlMap& map) {
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode phases, map.Get("phases"));
  SIDEBAND_ASSIGN_OR_RETURN(const auto nodes, phases.List());
  if (nodes.empty()) return phases.Error("a workload has one phase at least");
  WorkloadFileSpec workload{.line = phases.line()};
  SIDEBAND_ASSIGN_OR_RETURN(workload.seed, UintField(map, "seed", 0, {0, UINT64_MAX}));
  SIDEBAND_ASSIGN_OR_RETURN(const double vary, NumberField(map, "vary", 0, {0, kVaryMax}));
  workload.vary_per_mille = static_cast<uint32_t>(std::lround(vary * 1000));
  for (const YamlNode& node : nodes) {
    SIDEBAND_ASSIGN_OR_RETURN(workload.phases.emplace_back(), ReadPhase(node));
  }
  return workload;
}

absl::Status ReadVms(const YamlMap& root, ChipFile& file) {
  SIDEBAND_ASSIGN_OR_RETURN(const auto nodes, root.ListOrEmpty("vms"));
  VmRegister known;
  for (const YamlNode& node : nodes) {
    SIDEBAND_ASSIGN_OR_RETURN(VmFileSpec vm, ReadVm(node, file));
    SIDEBAND_RETURN_IF_ERROR(known.Add(node, vm));
    file.vms.push_back(std::move(vm));
  }
  return absl::OkStatus();
}

absl::Status ReadMemory(const YamlMap& root, ChipFile& file) {
  const auto node = root.Find("memory");
  if (!node) return CheckNobodyHasMemory(file);
  SIDEBAND_ASSIGN_OR_RETURN(const YamlMap map, node->Map({"total_mib", "reserved_mib"}));
  SIDEBAND_ASSIGN_OR_RETURN(const YamlNode total_node, map.Get("total_mib"));
  SIDEBAND_ASSIGN_OR_RETURN(const uint64_t total, UintValue(total_node, "total_mib", {1, kMemoryMibMax}));
  MemoryFileSpec memory = {.total_mib = static_cast<uint32_t>(total)};
  SIDEBAND_RETURN_IF_ERROR(Uint32Field(map, "reserved_mib", {0, total}, memory.reserved_mib));
  const uint64_t needed = memory.reserved_mib + MibOfAll(file);
  if (needed > total) {
    return total_node.Error(absl::StrCat("total_mib is ", total, ", but the reserve and the contexts need ", needed));
  }
  file.memory = memory;
  return absl::OkStatus();
}

}  // namespace sideband::mcu
