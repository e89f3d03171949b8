// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip_file/chip_file_memory.h"

#include "absl/strings/str_cat.h"
#include "proto/base/errors.h"
#include "proto/base/status_macros.h"
#include "secure_mcu/chip_file/chip_file_fields.h"

namespace sideband::mcu {
namespace {

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
