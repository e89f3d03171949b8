// SPDX-License-Identifier: Apache-2.0
//
// The part of its view that a scrape requests.
#ifndef SIDEBAND_DAEMON_EXPOSITION_SCRAPE_FILTER_H_
#define SIDEBAND_DAEMON_EXPOSITION_SCRAPE_FILTER_H_

#include <set>
#include <string>

#include "daemon/snapshot/device_snapshot.h"

namespace sideband::daemon {

struct ScrapeFilter {
  std::set<std::string> events;  // only these; empty: all
  // Whether to include rows of devices, of VMs as wholes, of contexts, and of slices' hosts.
  bool devices = true;
  bool vms = true;
  bool contexts = true;
  bool hosts = true;

  bool Selects(Level level) const {
    const bool selected[] = {devices, vms, contexts, hosts};
    return selected[IndexOf(level)];
  }
  bool SelectsEvent(const std::string& name) const { return events.empty() || events.contains(name); }
  bool SelectsEverything() const { return events.empty() && devices && vms && contexts && hosts; }
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_SCRAPE_FILTER_H_
