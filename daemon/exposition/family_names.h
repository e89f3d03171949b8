// SPDX-License-Identifier: Apache-2.0
//
// The names of the metric families of events.
//   const EventFamilyNames names = NameFamilies(catalog.events, device.ratios);
//   FamilyName(Level::kVm, names.counters[event]);   // "sideband_vm_dram_bytes_total"
#ifndef SIDEBAND_DAEMON_EXPOSITION_FAMILY_NAMES_H_
#define SIDEBAND_DAEMON_EXPOSITION_FAMILY_NAMES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "daemon/snapshot/level.h"
#include "daemon/snapshot/ratio.h"
#include "proto/mailbox/catalog.h"

namespace sideband::daemon {

// Parallel to the events, without "sideband_" and level.
struct EventFamilyNames {
  std::vector<std::string> counters;      // "dram_bytes_total"
  std::vector<std::string> utilisations;  // "tensor_active_ratio"
};

// Event names are chosen by the device, and a repeated family would invalidate the whole scrape. Therefore "event_" is
// inserted before a name that is used, at any level, by an earlier event or the daemon itself, and "_count" after a name
// that ends in _ratio or _created. An event that ends in _total is not extended. A utilisation yields to a configured
// ratio, and to an earlier event's utilisation, of the same name: its name is then empty.
EventFamilyNames NameFamilies(const std::vector<mailbox::EventInfo>& events, const std::vector<RatioSpec>& ratios);

// "sideband_vm_" and the name.
std::string FamilyName(Level level, absl::string_view name);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_FAMILY_NAMES_H_
