// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/family_names.h"

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace sideband::daemon {
namespace {

// Those of exposition.cc and daemon/metrics/; //tests/lint:metrics_test compares.
constexpr absl::string_view kOwnStems[] = {
    "audit_entries",
    "audit_lost",
    "block_flags",
    "build_info",
    "bus_transfers",
    "collect_confidentiality_refused",
    "collect_duration_seconds",
    "collect_errors",
    "config_last_reload_successful",
    "connections_refused",
    "conservation_ok",
    "descriptors_exhausted",
    "device_clock_hertz",
    "device_complete",
    "device_info",
    "device_up",
    "event_info",
    "grpc_connections",
    "grpc_requests",
    "grpc_streams",
    "history_bytes",
    "history_max_bytes",
    "history_span_seconds",
    "http_connections",
    "http_request_duration_seconds",
    "http_requests",
    "pipeline_commit_wait_cycles",
    "pipeline_mmu_faults",
    "pipeline_stall_cycles",
    "pipeline_switch_cycles",
    "pipeline_switches",
    "pipeline_trigger_overruns",
    "ratios_over_one",
    "render_duration_seconds",
    "sample_age_seconds",
    "sealed_records",
    "snapshots",
    "tls_certificate_not_after_seconds",
    "tls_last_reload_successful",
    "tls_reloads",
    "vm_info",
};

// Reserves the stem and the name that OpenMetrics derives from it. Returns false if either is in use.
bool Take(absl::flat_hash_set<std::string>& taken, const std::string& stem) {
  const std::string created = absl::StrCat(stem, "_created");
  if (taken.contains(stem) || taken.contains(created)) return false;
  taken.insert({stem, created});
  return true;
}

// The daemon's own names, including the sample names of histograms.
absl::flat_hash_set<std::string> OwnNames() {
  absl::flat_hash_set<std::string> names;
  for (const absl::string_view stem : kOwnStems) {
    for (const absl::string_view suffix : {"", "_bucket", "_count", "_created", "_sum"}) {
      names.insert(absl::StrCat(stem, suffix));
    }
  }
  return names;
}

}  // namespace

std::vector<std::string> FamilyNames(const std::vector<mailbox::EventInfo>& events,
                                     const std::vector<RatioSpec>& ratios) {
  absl::flat_hash_set<std::string> taken = OwnNames();
  for (const RatioSpec& ratio : ratios) taken.insert(absl::StrCat(ratio.name, "_ratio"));
  std::vector<std::string> names;
  for (const mailbox::EventInfo& event : events) {
    std::string stem(absl::StripSuffix(event.name, "_total"));
    while (!Take(taken, stem)) stem = absl::StrCat("event_", stem);
    names.push_back(absl::StrCat("sideband_", stem, "_total"));
  }
  return names;
}

}  // namespace sideband::daemon
