// SPDX-License-Identifier: Apache-2.0
//
// A VM's opened record in Prometheus' text format, with the names, labels and HELP that the daemon's exposition gives
// the rows of a VM that is not confidential (docs/metrics.md).
//   out += GuestExposition(record.content.snapshot(), names, {"dram_*"});
// Families are sorted by name. Absent are those that records have no data for: utilisations, configured ratios, gate
// coverage, and what is the device's.
#ifndef SIDEBAND_CLIENT_EXPORT_GUEST_EXPOSITION_H_
#define SIDEBAND_CLIENT_EXPORT_GUEST_EXPOSITION_H_

#include <string>
#include <vector>

#include "proto/mailbox/catalog.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

// From the daemon, which the guest need not trust: they label and describe, and change no number.
struct GuestNames {
  std::string device;
  std::string vm;
  std::vector<mailbox::EventInfo> events;  // name, unit and description; those that are unknown have no unit
};

// Only events of which the name matches one of the patterns (names.h); no pattern: all. An event whose name no
// metric can have is left out. Of two contexts of one name the second is "NAME 2"; the daemon says the context's ID.
std::string GuestExposition(const v1::Snapshot& snapshot, const GuestNames& names,
                            const std::vector<std::string>& event_patterns);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_EXPORT_GUEST_EXPOSITION_H_
