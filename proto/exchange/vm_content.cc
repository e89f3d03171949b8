// SPDX-License-Identifier: Apache-2.0
#include "proto/exchange/vm_content.h"

#include <algorithm>

namespace sideband::exchange {
namespace {

envelope::CountsRow RowOf(const mailbox::Catalog& catalog, const mailbox::BlockHeader& block) {
  envelope::CountsRow row{.context = block.context,
                          .generation = block.generation,
                          .state = static_cast<uint8_t>(block.state),
                          .flags = block.flags};
  const auto is_vm = [&](const mailbox::VmInfo& vm) { return vm.id == block.vm; };
  const auto vm = std::ranges::find_if(catalog.vms, is_vm);
  if (vm != catalog.vms.end()) row.slice = vm->slice;
  const auto is_context = [&](const mailbox::ContextInfo& info) {
    return info.vm == block.vm && info.id == block.context;
  };
  const auto context = std::ranges::find_if(catalog.contexts, is_context);
  if (context == catalog.contexts.end()) return row;
  row.slice = context->slice;
  row.name = context->name;
  return row;
}

}  // namespace

std::vector<size_t> VmEvents(const mailbox::Catalog& catalog) {
  std::vector<size_t> events;
  for (size_t i = 0; i < catalog.events.size(); ++i) {
    const mailbox::EventInfo& event = catalog.events[i];
    if (event.scope != mailbox::EventScope::kDevice && !event.masked) events.push_back(i);
  }
  return events;
}

std::vector<std::string> VmEventNames(const mailbox::Catalog& catalog) {
  std::vector<std::string> names;
  for (const size_t event : VmEvents(catalog)) names.push_back(catalog.events[event].name);
  return names;
}

std::vector<size_t> VmBlocks(const mailbox::Snapshot& snapshot, uint16_t vm) {
  std::vector<size_t> blocks;
  for (size_t i = 0; i < snapshot.blocks.size(); ++i) {
    if (snapshot.blocks[i].vm == vm) blocks.push_back(i);
  }
  return blocks;
}

envelope::SealedCounts VmCounts(const mailbox::Catalog& catalog, const mailbox::Snapshot& snapshot, uint16_t vm) {
  const std::vector<size_t> events = VmEvents(catalog);
  const std::vector<size_t> blocks = VmBlocks(snapshot, vm);
  envelope::SealedCounts counts{.snapshot_id = snapshot.snapshot_id,
                                .trigger_id = snapshot.trigger_id,
                                .events = static_cast<uint16_t>(events.size())};
  counts.counts.reserve(blocks.size() * events.size());
  for (const size_t block : blocks) {
    counts.rows.push_back(RowOf(catalog, snapshot.blocks[block]));
    const auto counters = snapshot.Counters(block);
    for (const size_t event : events) counts.counts.push_back(event < counters.size() ? counters[event] : 0);
  }
  return counts;
}

}  // namespace sideband::exchange
