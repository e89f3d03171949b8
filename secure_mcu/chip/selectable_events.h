// SPDX-License-Identifier: Apache-2.0
//
// The events that the selections of a chip choose among: those of its switched units (UlcSpec::is_switched), which have
// more sources than counters (virtual-counters.md, "Mechanism", 6); and how many counters each event needs.
//   const SelectableEvents selectable(config);
//   SIDEBAND_RETURN_IF_ERROR(selectable.Check(selections));
//   selectable.OpenGroups(selections[1]);    // the gate groups that the selection leaves open
//
//   const CounterNeeds needs(config);
//   Room room = needs.AllCounters();
//   if (Fits(needs.Of(event), room)) Take(needs.Of(event), room);
#ifndef SIDEBAND_SECURE_MCU_CHIP_SELECTABLE_EVENTS_H_
#define SIDEBAND_SECURE_MCU_CHIP_SELECTABLE_EVENTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/mailbox/counting.h"
#include "proto/mailbox/event_set.h"
#include "secure_mcu/chip/pipeline_config.h"

namespace sideband::mcu {

// Switched units that are alike: they have one select register for all.
struct SwitchedKind {
  std::string name;  // of the first
  uint32_t counters = 0;
  std::vector<EventShare> sources;  // those that are not masked, in their order
};
std::vector<SwitchedKind> SwitchedKinds(const CcuSpec& ccu);

// Counters per bank of a collection unit: as many as any selection needs, one per distinct meaning that it can have at
// once.
size_t CcuCounters(const CcuSpec& ccu);

// How an event is called in errors.
using EventNamer = std::function<std::string(size_t)>;
std::string EventNumber(size_t event);

// Immutable, and so thread-safe.
class SelectableEvents {
 public:
  // The configuration is valid but for its selections. With a rotation nothing is selectable.
  explicit SelectableEvents(const PipelineConfig& config);

  bool empty() const { return kinds_.empty(); }
  bool Has(size_t event) const { return mailbox::Includes(events_, event); }

  // INVALID_ARGUMENT names an event that is not of this chip or not selectable, a unit with more events than counters,
  // and a gate group of which only a part is selected.
  absl::Status Check(const mailbox::EventSet& selection, const EventNamer& name = EventNumber) const;
  // The same of all, with their numbers, and of more than kSelectionsMax.
  absl::Status Check(std::span<const mailbox::EventSet> selections) const;

  // Bit g: gate group g has a selected event, or none that is selectable. Any other group is closed while the selection
  // holds: it does not run.
  uint64_t OpenGroups(const mailbox::EventSet& selection) const;

 private:
  absl::Status CheckEvents(const mailbox::EventSet& selection, const EventNamer& name) const;
  absl::Status CheckCounters(const mailbox::EventSet& selection) const;
  absl::Status CheckGroups(const mailbox::EventSet& selection, const EventNamer& name) const;

  size_t size_;                              // events of the chip
  mailbox::EventSet events_;                 // those that are selectable
  std::vector<SwitchedKind> kinds_;          // of all collection units
  std::vector<std::vector<size_t>> groups_;  // per gate group, its selectable events
};

using Need = std::map<size_t, uint32_t>;  // counters by the number of the kind; never 0
using Room = std::vector<uint32_t>;       // free counters of each kind

void Add(const Need& need, Need& sum);
bool Fits(const Need& need, const Room& room);
// The need must fit.
void Take(const Need& need, Room& room);

// How many counters of which switched units each event needs. Units that are alike are one kind (SwitchedKind); those
// of slices and those of the device's scope are all listed.
// Immutable, and so thread-safe.
class CounterNeeds {
 public:
  explicit CounterNeeds(const PipelineConfig& config);

  const std::vector<SwitchedKind>& kinds() const { return kinds_; }
  Room AllCounters() const;
  // Empty for an event that is not of a switched unit, and for one beyond the configuration's.
  const Need& Of(size_t event) const;
  bool Has(size_t event) const { return !Of(event).empty(); }
  Need Of(const mailbox::EventSet& events) const;

 private:
  std::vector<SwitchedKind> kinds_;
  std::vector<Need> needs_;  // per event
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_SELECTABLE_EVENTS_H_
