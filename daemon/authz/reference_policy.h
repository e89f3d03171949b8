// SPDX-License-Identifier: Apache-2.0
//
// The policy's rules told a second time, for tests: not as questions that are answered, but as a list of everything
// that a policy grants, written out. It shares no code with Decide().
//   const PolicySpec spec = …;
//   const auto policy = Policy::Parse(ToYaml(spec), "p.yaml");
//   const std::set<Cell> granted = Granted(spec, universe);
#ifndef SIDEBAND_DAEMON_AUTHZ_REFERENCE_POLICY_H_
#define SIDEBAND_DAEMON_AUTHZ_REFERENCE_POLICY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "daemon/authz/decision.h"
#include "daemon/model/topology.h"

namespace sideband::daemon {

using Names = std::vector<std::string>;

struct GrantSpec {
  uint8_t vm = 0;                 // a number of the universe
  std::optional<Names> contexts;  // as the policy file has them; absent: the key is left out
  std::optional<Names> events;    // with "@group" among them
  std::optional<Names> rights;
};

struct TenantSpec {
  Names identities;
  std::vector<GrantSpec> vms;
};

struct PolicySpec {
  std::vector<Names> operators;  // the identities of each
  std::vector<Names> auditors;
  std::vector<TenantSpec> tenants;
  std::map<std::string, Names> event_groups;
};

std::string ToYaml(const PolicySpec& spec);

// All that may be asked about. VMs are 1 to confidential.size().
struct Universe {
  std::vector<bool> confidential;  // of VM 1, 2, …
  Names contexts;                  // each VM has all of them
  Names events;                    // of contexts, and of the device
  Names device_events;             // of the device alone

  Names all_events() const;
};

Uuid VmUuid(uint8_t number);

// Who, kind of resource, VM (0: none), context, event, right.
using Cell = std::tuple<std::string, Resource::Kind, uint8_t, std::string, std::string, Right>;

std::set<Cell> Granted(const PolicySpec& spec, const Universe& universe);

// The universe as a device. The VM n has the id n, and its contexts 0, 1, …; each context's name is there twice, as two
// contexts.
std::shared_ptr<const Topology> DeviceOf(const Universe& universe);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUTHZ_REFERENCE_POLICY_H_
