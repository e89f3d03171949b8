// SPDX-License-Identifier: Apache-2.0
//
// The part of its view that a scrape requests.
#ifndef SIDEBAND_DAEMON_EXPOSITION_SCRAPE_FILTER_H_
#define SIDEBAND_DAEMON_EXPOSITION_SCRAPE_FILTER_H_

#include <set>
#include <string>

#include "daemon/snapshot/level.h"

namespace sideband::daemon {

struct ScrapeFilter {
  std::set<std::string> events;  // only these; empty: all
  // Whether to include rows of devices, of VMs as wholes, and of contexts.
  bool devices = true;
  bool vms = true;
  bool contexts = true;

  bool Selects(Level level) const { return level == Level::kDevice ? devices : level == Level::kVm ? vms : contexts; }
  bool SelectsEvent(const std::string& name) const { return events.empty() || events.contains(name); }
  bool SelectsEverything() const { return events.empty() && devices && vms && contexts; }
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_SCRAPE_FILTER_H_
