// SPDX-License-Identifier: Apache-2.0
//
// From events to metric families.
//   FamilyNames(catalog.events, device.ratios)[i]   // "sideband_dram_bytes_total"
#ifndef SIDEBAND_DAEMON_EXPOSITION_FAMILY_NAMES_H_
#define SIDEBAND_DAEMON_EXPOSITION_FAMILY_NAMES_H_

#include <string>
#include <vector>

#include "daemon/model/ratio.h"
#include "proto/mailbox/catalog.h"

namespace sideband::daemon {

// One name per event, all different: sideband_EVENT_total, where an EVENT that ends in _total keeps its one. A name
// that an earlier event, a ratio or the daemon itself has gets "event_" before it, and so does one that OpenMetrics
// could not tell from another's _created: events are the device's choice, and a repeated family would make a whole
// scrape invalid.
std::vector<std::string> FamilyNames(const std::vector<mailbox::EventInfo>& events,
                                     const std::vector<RatioSpec>& ratios);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_FAMILY_NAMES_H_
