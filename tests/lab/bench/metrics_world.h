// SPDX-License-Identifier: Apache-2.0
//
// A host with a configurable number of series: one device, and tenants with one VM each, with contexts and events.
//   MetricsWorld world({.tenants = 1, .contexts = 1400, .events = 64});
//   world.Publish();
//   world.reader.Devices(world.CallerOf(0));
#ifndef SIDEBAND_TESTS_LAB_BENCH_METRICS_WORLD_H_
#define SIDEBAND_TESTS_LAB_BENCH_METRICS_WORLD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "daemon/audit/audit_sink.h"
#include "daemon/authz/policy.h"
#include "daemon/base/clock.h"
#include "daemon/snapshot/store.h"
#include "daemon/snapshot/topology.h"
#include "daemon/view/reader.h"

namespace sideband::bench {

struct MetricsSize {
  size_t tenants = 1;   // each with one VM
  size_t contexts = 1;  // of each VM, at most 16384 in all
  size_t events = 1;    // at most 4096
  // Whether the events have capacities and rates. The last event, resident_cycles, has none.
  bool utilisations = false;
  // Whether all events but the last are multiplexed in two sets. Not with `utilisations`.
  bool rotating = false;

  // Series visible to each tenant: its VM's row and those of its contexts.
  size_t series_per_tenant() const {
    const size_t further = (utilisations ? 1 : 0) + (rotating ? 4 : 0);  // of all events but the last
    return (contexts + 1) * (events + further * (events - 1));
  }
};

// It is as thread-safe as its parts; Publish must be called by one thread.
class MetricsWorld {
 public:
  // `audit` must outlive the world; nullptr: nothing is audited.
  explicit MetricsWorld(const MetricsSize& size, daemon::AuditSink* audit = nullptr);

  // Publishes a new snapshot: all counts increase by some millions, each by a different amount.
  void Publish();
  daemon::Credentials CredentialsOf(size_t tenant) const;
  daemon::Caller CallerOf(size_t tenant) const { return *reader.Identify(CredentialsOf(tenant)); }
  std::shared_ptr<const daemon::Topology> topology() const { return topology_; }

 private:
  const daemon::SystemClock clock_;
  const MetricsSize size_;
  // Estimates of twice, four times what was counted.
  void Estimate();

  const std::shared_ptr<const daemon::Topology> topology_;
  mailbox::Snapshot data_;
  daemon::NullAuditSink null_audit_;
  uint64_t publication_ = 0;

 public:
  daemon::Store store;
  daemon::PolicyHolder policy;
  daemon::Reader reader;
};

// The policy of a world with so many tenants, as text.
std::string PolicyText(size_t tenants);

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_LAB_BENCH_METRICS_WORLD_H_
