// SPDX-License-Identifier: Apache-2.0
//
// The events of an emulated device, each with one counter in every memory block.
//
//   if (HasResidentCycles(file)) SIDEBAND_RETURN_IF_ERROR(AddResidentCycles(slices, plan.events, plan.ccus));
#ifndef SIDEBAND_SECURE_MCU_CHIP_FILE_EVENT_TABLE_H_
#define SIDEBAND_SECURE_MCU_CHIP_FILE_EVENT_TABLE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/mailbox/catalog.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip_file/chip_file.h"

namespace sideband::mcu {

// The meaning of an event in a sentence, for the catalogue and for everything that shows it.
// A sentence of at most 255 characters. For an event that is not in the table it is made from the name.
std::string EventDescription(const std::string& event);

// Not thread-safe.
class EventTable {
 public:
  // Returns the counter of an event, after adding it if it is new. INVALID_ARGUMENT: the table is full, `name` is not a
  // valid metric name, or the event is already counted in the other scope or the other mode (full or prescaled). An
  // event is masked only if every unit that has it masks it.
  absl::StatusOr<uint16_t> Add(const std::string& name, mailbox::EventScope scope, bool prescaled, bool masked);
  // Says in the event's description that a unit counts it which slices share. Without effect the second time.
  void DescribeAsShared(uint16_t counter);
  std::optional<uint16_t> Find(const std::string& name) const;

  const std::vector<mailbox::EventInfo>& events() const { return events_; }
  std::vector<std::string> names() const;

 private:
  absl::StatusOr<uint16_t> Same(uint16_t counter, const mailbox::EventInfo& event);

  std::vector<mailbox::EventInfo> events_;
  std::map<std::string, uint16_t> index_;
};

// The event that every device of the extension's version 2 has: the time of a slice, attributed like any other count.
// (mailbox.md, "Always counted".) And for each gate group the part of that time in which its gate was open: events
// group_NAME_running_cycles (virtual-counters.md, "Coverage").
bool HasResidentCycles(const ChipFile& file);

// Appends the event, and for each slice a collection unit that counts sim::ClockedSource::kClockWire. INVALID_ARGUMENT
// if the chip has an event of this name, or too many events.
absl::Status AddResidentCycles(uint32_t slices, EventTable& events, std::vector<CcuSpec>& ccus);

// "group_NAME_running_cycles".
std::string RunningCyclesEvent(const std::string& group);

// Appends an event for each group, and for each slice collection units that count the clock behind the groups' gates.
// Errors as above.
absl::Status AddRunningCycles(const std::vector<GateGroupFileSpec>& groups, uint32_t slices, EventTable& events,
                              std::vector<CcuSpec>& ccus);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_CHIP_FILE_EVENT_TABLE_H_
