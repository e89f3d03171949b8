// SPDX-License-Identifier: Apache-2.0
//
// A host of any number of series: one device, some tenants with a VM each, contexts and events enough.
//   MetricsWorld world({.tenants = 1, .contexts = 1400, .events = 64});
//   world.Publish();
//   world.reader.Devices(world.CallerOf(0));
#ifndef SIDEBAND_TESTS_BENCH_METRICS_WORLD_H_
#define SIDEBAND_TESTS_BENCH_METRICS_WORLD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "daemon/api/reader.h"
#include "daemon/audit/audit_sink.h"
#include "daemon/authz/policy_holder.h"
#include "daemon/base/clock.h"
#include "daemon/model/topology.h"
#include "daemon/store/store.h"

namespace sideband::bench {

struct MetricsSize {
  size_t tenants = 1;   // each with one VM
  size_t contexts = 1;  // of each VM, at most 16384 in all
  size_t events = 1;    // at most 4096

  // What each tenant sees: its VM's row and those of its contexts.
  size_t series_per_tenant() const { return (contexts + 1) * events; }
};

// Thread-safe as its parts are; Publish is for one thread.
class MetricsWorld {
 public:
  explicit MetricsWorld(const MetricsSize& size);

  // All counts move on by some millions, each by another.
  void Publish();
  daemon::Credentials CredentialsOf(size_t tenant) const;
  daemon::Caller CallerOf(size_t tenant) const { return *reader.Identify(CredentialsOf(tenant)); }
  std::shared_ptr<const daemon::Topology> topology() const { return topology_; }

 private:
  const daemon::SystemClock clock_;
  const std::shared_ptr<const daemon::Topology> topology_;
  mailbox::Snapshot data_;
  daemon::NullAuditSink audit_;
  uint64_t publication_ = 0;

 public:
  daemon::Store store;
  daemon::PolicyHolder policy;
  daemon::Reader reader;
};

// The policy of such a world, as text.
std::string PolicyText(size_t tenants);

}  // namespace sideband::bench

#endif  // SIDEBAND_TESTS_BENCH_METRICS_WORLD_H_
