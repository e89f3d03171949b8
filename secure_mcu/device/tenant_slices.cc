// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/tenant_slices.h"

#include <map>
#include <string>
#include <utility>

namespace sideband::mcu {
namespace {

constexpr SliceSet Only(uint32_t slice) { return SliceSet{1} << slice; }

}  // namespace

std::vector<SliceSet> SlicesOfContexts(const ChipFile& file) {
  std::vector<SliceSet> slices;
  for (const VmFileSpec& vm : file.vms) {
    const size_t own = slices.size();
    slices.push_back(0);
    for (const ContextFileSpec& context : vm.contexts) {
      slices[own] |= Only(context.slice);
      slices.push_back(Only(context.slice));
    }
  }
  return slices;
}

std::vector<SliceSet> SlicesOfSchedule(const ChipFile& file, const std::vector<sim::Residency>& schedule) {
  std::map<std::pair<std::string, std::string>, SliceSet> by_name;  // an empty context stands for the VM
  for (const sim::Residency& residency : schedule) {
    by_name[{residency.vm, residency.context}] |= Only(residency.slice);
    by_name[{residency.vm, ""}] |= Only(residency.slice);
  }
  std::vector<SliceSet> slices;
  for (const VmFileSpec& vm : file.vms) {
    slices.push_back(by_name[{vm.name, ""}]);
    for (const ContextFileSpec& context : vm.contexts) slices.push_back(by_name[{vm.name, context.name}]);
  }
  return slices;
}

}  // namespace sideband::mcu
