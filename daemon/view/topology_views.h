// SPDX-License-Identifier: Apache-2.0
//
// A caller's views of a device's topologies, including past topologies, for the duration of one request. The view of
// the newest topology is requested often and is in the reader's cache instead.
//   TopologyViews views(reader, caller);
//   const std::shared_ptr<const View> view = views.Of(device, layout.topology);
#ifndef SIDEBAND_DAEMON_VIEW_TOPOLOGY_VIEWS_H_
#define SIDEBAND_DAEMON_VIEW_TOPOLOGY_VIEWS_H_

#include <memory>

#include "absl/container/flat_hash_map.h"
#include "daemon/view/reader.h"
#include "daemon/view/view.h"

namespace sideband::daemon {

// Not thread-safe. Its views are audited. The reader and the caller must outlive it.
class TopologyViews {
 public:
  TopologyViews(Reader& reader, const Caller& caller) : reader_(reader), caller_(caller) {}

  // Returns the view under the caller's policy, by the topology's own ids: another topology may use the same ids for
  // other VMs.
  std::shared_ptr<const View> Of(const DeviceInfo& device, const std::shared_ptr<const Topology>& topology) {
    std::shared_ptr<const View>& view = views_[topology.get()];
    if (view == nullptr) view = Make(device, topology);
    return view;
  }

 private:
  std::shared_ptr<const View> Make(const DeviceInfo& device, const std::shared_ptr<const Topology>& topology) {
    DecisionLog decisions;
    auto view = std::make_shared<const View>(*caller_.policy.policy, caller_.principal, topology, &decisions);
    reader_.view_auditor().OnPastView(device, caller_.policy, caller_.principal, decisions);
    return view;
  }

  Reader& reader_;
  const Caller& caller_;
  // A view holds its topology, so that the address is not reused. Shared with VisibleDevices.
  absl::flat_hash_map<const Topology*, std::shared_ptr<const View>> views_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_TOPOLOGY_VIEWS_H_
