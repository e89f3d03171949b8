// SPDX-License-Identifier: Apache-2.0
//
// The names of the metric families of events.
//   const std::vector<std::string> names = CounterNames(catalog.events);
//   FamilyName("vm", names[event]);   // "sideband_vm_dram_bytes_total"
#ifndef SIDEBAND_PROTO_EXPOSITION_FAMILY_NAMES_H_
#define SIDEBAND_PROTO_EXPOSITION_FAMILY_NAMES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/mailbox/catalog.h"

namespace sideband {

// One for each event, without "sideband_" and level: "dram_bytes_total". Event names are chosen by the device, and a
// repeated family would invalidate the whole scrape. Therefore "event_" is inserted before a name that is used, at any
// level, by an earlier event or the daemon itself, and "_count" after a name that ends in _ratio, _created or a second
// _total. An event that ends in _total is not extended.
std::vector<std::string> CounterNames(const std::vector<mailbox::EventInfo>& events);

// "tensor_active_ratio": of a configured ratio or a utilisation. No counter has such a name.
std::string RatioName(absl::string_view name);

// "sideband_vm_" and the name.
std::string FamilyName(absl::string_view level, absl::string_view name);

}  // namespace sideband

#endif  // SIDEBAND_PROTO_EXPOSITION_FAMILY_NAMES_H_
