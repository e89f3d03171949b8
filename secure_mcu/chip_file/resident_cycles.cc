// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip_file/resident_cycles.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/catalog.h"
#include "sim/wires/clocked_source.h"

namespace sideband::mcu {

bool HasResidentCycles(const ChipFile& file) { return file.extension == mailbox::ExtensionVersion::kTwo; }

absl::Status AddResidentCycles(uint32_t slices, EventTable& events, std::vector<CcuSpec>& ccus) {
  if (events.Find(mailbox::kResidentCyclesEvent)) {
    return absl::InvalidArgumentError(
        absl::StrCat("event '", mailbox::kResidentCyclesEvent,
                     "' is counted on every device with extension 2, and cannot be added"));
  }
  SIDEBAND_ASSIGN_OR_RETURN(const uint16_t event,
                            events.Add(mailbox::kResidentCyclesEvent, mailbox::EventScope::kContext,
                                       /*prescaled=*/false, /*masked=*/false));
  for (uint32_t slice = 0; slice < slices; ++slice) {
    // The default threshold, not the chip file's: a low one would be reached all the time by this counter alone.
    CcuSpec ccu{.name = absl::StrCat("slice", slice, ".resident"), .channel = static_cast<uint8_t>(slice)};
    CounterInput input{.wire = sim::ClockedSource::kClockWire};
    input.meaning.event = event;
    ccu.ulcs.push_back({.name = "clock", .inputs = {input}});
    ccus.push_back(std::move(ccu));
  }
  return absl::OkStatus();
}

}  // namespace sideband::mcu
