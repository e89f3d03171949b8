// SPDX-License-Identifier: Apache-2.0
//
// The policy's rules a second time, for tests. They do not decide on single questions, but enumerate everything that a
// policy grants. They share no code with Decide().
//   const PolicySpec spec = {.operators = {{"spiffe://example.org/ops"}}};
//   const auto policy = Policy::Parse(ToYaml(spec), "p.yaml");
//   const std::set<Cell> granted = Granted(spec, universe);
#ifndef SIDEBAND_DAEMON_VIEW_REFERENCE_POLICY_H_
#define SIDEBAND_DAEMON_VIEW_REFERENCE_POLICY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "daemon/authz/decision.h"
#include "daemon/snapshot/topology.h"

namespace sideband::daemon {

using Names = std::vector<std::string>;

struct GrantSpec {
  uint8_t vm = 0;                 // its number in the universe
  std::optional<Names> contexts;  // as in the policy file; nullopt: without the key
  std::optional<Names> events;    // may have "@group"
  std::optional<Names> rights;
};

struct PartitionSpec {
  uint8_t partition = 0;        // of the only device, kReferenceDevice
  std::optional<Names> events;  // names of metrics, or "@group"
};

struct TenantSpec {
  Names identities;
  std::vector<GrantSpec> vms;
  std::vector<PartitionSpec> partitions;
};

struct PolicySpec {
  std::vector<Names> operators;  // the identities of each
  std::vector<Names> auditors;
  std::vector<TenantSpec> tenants;
  std::map<std::string, Names> event_groups;
};

std::string ToYaml(const PolicySpec& spec);

// All objects of a test. The VMs are 1 to confidential.size().
struct Universe {
  std::vector<bool> confidential;  // of VM 1, 2, …
  Names contexts;                  // each VM has all of them
  Names events;                    // of contexts, and of the device
  Names device_events;             // of the device alone
  Names metrics;                   // of partitions
  uint8_t partitions = 0;          // 0, 1, …

  Names all_events() const;
};

inline constexpr char kReferenceDevice[] = "gpu0";

Uuid VmUuid(uint8_t number);

// Identity, kind of resource, VM (0: no VM) or partition, context, event or metric, right.
using Cell = std::tuple<std::string, Resource::Kind, uint8_t, std::string, std::string, Right>;

std::set<Cell> Granted(const PolicySpec& spec, const Universe& universe);

// The universe as a device. VM n has the id n, and contexts with the ids 0, 1, …; each context name is given to two
// contexts.
std::shared_ptr<const Topology> DeviceOf(const Universe& universe);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_REFERENCE_POLICY_H_
