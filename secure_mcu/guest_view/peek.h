// SPDX-License-Identifier: Apache-2.0
//
// `sideband-mcu peek-shm`: prints a guest's view as a table or as JSON.
#ifndef SIDEBAND_SECURE_MCU_GUEST_VIEW_PEEK_H_
#define SIDEBAND_SECURE_MCU_GUEST_VIEW_PEEK_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "secure_mcu/guest_view/layout.h"
#include "secure_mcu/guest_view/reader.h"

namespace sideband::mcu {

struct PeekOptions {
  std::string file;
  bool json = false;
  std::optional<absl::Duration> watch;  // repeats at this interval until a stop is requested
  // Waits, and returns false to stop; required with `watch`.
  std::function<bool(absl::Duration)> wait;
  std::function<absl::Status(absl::string_view)> print;
};

// Prints the view, or one view per interval: as a table, or as one line of JSON. Reopens a view that has been replaced.
// Errors are those of GuestViewReader and of `print`.
absl::Status RunPeek(const PeekOptions& options);

// {"device", "boot_id", "vm", "vm_uuid", "trigger_id", "reference_time_ns", "blocks": [{"vm", "context" or null,
// "generation", "state", "trigger_id", "reference_time_ns", "flags", "counters": {event: count}}]} and a line break.
std::string FormatPeekJson(const GuestDirectory& directory, const GuestViewSample& sample);
// One column per block, one row per event.
std::string FormatPeekTable(const GuestDirectory& directory, const GuestViewSample& sample);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_GUEST_VIEW_PEEK_H_
