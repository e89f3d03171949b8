// SPDX-License-Identifier: Apache-2.0
//
// Chip's part of selections: which sources the switched units of a slice count, by its resident's control block.
#include <utility>

#include "secure_mcu/chip/chip.h"

namespace sideband::mcu {

uint8_t Chip::SelectionOf(const std::optional<Binding>& binding) const {
  if (selections_.empty() || !binding) return 0;
  const auto control = vm_controls_.find(binding->vm);
  return control == vm_controls_.end() ? 0 : control->second.selection;
}

uint8_t Chip::SelectOf(uint8_t slice) const {
  return Turns(slice) ? rotation_->select(slice) : SelectionOf(bound_[slice]);
}

// All records of a slice carry its selection, also those of units that are never switched.
void Chip::Select(uint8_t channel, uint8_t select) {
  if (channel != kDeviceChannel) mmu_.BindSelection(channel, select);
  bool is_new = false;
  for (CounterCollectionUnit& ccu : ccus_) {
    if (ccu.config().channel != channel || ccu.select() == select) continue;
    ccu.Select(select);
    is_new = true;
  }
  if (is_new) Connect(channel, select);
}

void Chip::Connect(uint8_t channel, uint8_t select) {
  for (CounterCollectionUnit& ccu : ccus_) {
    const bool is_switched = ccu.config().channel == channel && selections_.IsSwitched(ccu.config().id);
    if (is_switched) ccu.Connect(selections_.MappingOf(select, ccu.config().id));
  }
  for (Unit& unit : units_) {
    if (unit.channel == channel && unit.is_switched)
      unit.ulc.Connect(selections_.SourcesOf(select, unit.ccu, unit.index));
  }
  if (channel != kDeviceChannel) gates_.Select(channel, selections_.OpenGroups(select));
}

void Chip::ConnectAll() {
  if (selections_.empty()) return;
  for (uint8_t slice = 0; slice < config_.slices; ++slice) Connect(slice, mmu_.selection(slice));
}

void Chip::SetSelections(std::vector<mailbox::EventSet> sets) {
  selections_.Set(std::move(sets));
  if (selections_.empty()) return;
  for (uint8_t slice = 0; slice < config_.slices; ++slice) {
    const uint8_t select = SelectOf(slice);
    Select(slice, select);
    Connect(slice, select);
    if (!gates_.empty()) gates_.Show(slice, now_);
  }
}

bool Chip::HasItsSelection(const Record& record) const {
  return record.channel == kDeviceChannel || record.select == mmu_.selection(record.channel);
}

bool Chip::HasItsSelection(const CounterCollectionUnit& ccu) const {
  const uint8_t channel = ccu.config().channel;
  return channel == kDeviceChannel || ccu.select() == mmu_.selection(channel);
}

}  // namespace sideband::mcu
