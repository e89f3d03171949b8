// SPDX-License-Identifier: Apache-2.0
//
// A caller's views of a device's topologies, past ones too, for as long as one question is being answered. What is
// asked for again and again, the newest topology's, is in the reader's cache instead.
//   TopologyViews views(caller);
//   const View& view = views.Of(layout.topology);
#ifndef SIDEBAND_DAEMON_API_TOPOLOGY_VIEWS_H_
#define SIDEBAND_DAEMON_API_TOPOLOGY_VIEWS_H_

#include <memory>

#include "absl/container/flat_hash_map.h"
#include "daemon/api/reader.h"
#include "daemon/authz/view.h"

namespace sideband::daemon {

// Not thread-safe. The caller must outlive it.
class TopologyViews {
 public:
  explicit TopologyViews(const Caller& caller) : caller_(caller) {}

  // Each topology is shown under the policy now in force, by its own ids: those of another topology may mean others.
  std::shared_ptr<const View> Of(const std::shared_ptr<const Topology>& topology) {
    std::shared_ptr<const View>& view = views_[topology.get()];
    if (view == nullptr) view = std::make_shared<View>(*caller_.policy.policy, caller_.principal, topology);
    return view;
  }

 private:
  const Caller& caller_;
  // A view keeps its topology, so that an address stays that topology's. Shared with VisibleDevices.
  absl::flat_hash_map<const Topology*, std::shared_ptr<const View>> views_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_API_TOPOLOGY_VIEWS_H_
