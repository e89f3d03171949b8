// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/family_names.h"

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace sideband::daemon {

std::vector<std::string> FamilyNames(const std::vector<mailbox::EventInfo>& events) {
  // The stems of the daemon's own counters: daemon/metrics/self_metrics.cc.
  absl::flat_hash_set<std::string> taken = {"audit_entries", "audit_lost",    "bus_transfers",  "collect_errors",
                                            "grpc_requests", "http_requests", "sealed_records", "snapshots"};
  std::vector<std::string> names;
  for (const mailbox::EventInfo& event : events) {
    std::string stem(absl::StripSuffix(event.name, "_total"));
    while (!taken.insert(stem).second) stem = absl::StrCat("event_", stem);
    names.push_back(absl::StrCat("sideband_", stem, "_total"));
  }
  return names;
}

}  // namespace sideband::daemon
