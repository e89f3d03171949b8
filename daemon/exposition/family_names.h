// SPDX-License-Identifier: Apache-2.0
//
// Maps events to the names of metric families.
//   FamilyNames(catalog.events, device.ratios)[i]   // "sideband_dram_bytes_total"
#ifndef SIDEBAND_DAEMON_EXPOSITION_FAMILY_NAMES_H_
#define SIDEBAND_DAEMON_EXPOSITION_FAMILY_NAMES_H_

#include <string>
#include <vector>

#include "daemon/snapshot/ratio.h"
#include "proto/mailbox/catalog.h"

namespace sideband::daemon {

// Returns one distinct name per event: sideband_EVENT_total. An EVENT that ends in _total is not extended. The prefix
// "event_" is inserted before a name that is used by an earlier event, a ratio or the daemon itself, and before a name
// that OpenMetrics could confuse with another family's _created. Event names are chosen by the device, and a repeated
// family would invalidate the whole scrape.
std::vector<std::string> FamilyNames(const std::vector<mailbox::EventInfo>& events,
                                     const std::vector<RatioSpec>& ratios);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_FAMILY_NAMES_H_
