// SPDX-License-Identifier: Apache-2.0
//
// What of its view a scrape asks for.
#ifndef SIDEBAND_DAEMON_EXPOSITION_SCRAPE_FILTER_H_
#define SIDEBAND_DAEMON_EXPOSITION_SCRAPE_FILTER_H_

#include <set>
#include <string>

namespace sideband::daemon {

struct ScrapeFilter {
  std::set<std::string> events;  // of these alone; empty: of all
  // Rows of the device, of VMs as wholes, of contexts.
  bool devices = true;
  bool vms = true;
  bool contexts = true;

  bool SelectsEvent(const std::string& name) const { return events.empty() || events.contains(name); }
  bool SelectsEverything() const { return events.empty() && devices && vms && contexts; }
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_SCRAPE_FILTER_H_
