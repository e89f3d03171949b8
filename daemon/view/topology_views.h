// SPDX-License-Identifier: Apache-2.0
//
// A caller's views of a device's topologies, including past topologies, for the duration of one request. The view of
// the newest topology is requested often and is in the reader's cache instead.
//   TopologyViews views(reader, caller);
//   const std::shared_ptr<const View> view = views.Of(device, layout.topology, chunk.last_steady);
#ifndef SIDEBAND_DAEMON_VIEW_TOPOLOGY_VIEWS_H_
#define SIDEBAND_DAEMON_VIEW_TOPOLOGY_VIEWS_H_

#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/time/time.h"
#include "daemon/view/reader.h"
#include "daemon/view/tenure.h"
#include "daemon/view/view.h"

namespace sideband::daemon {

// Not thread-safe. Its views are audited. The reader and the caller must outlive it.
class TopologyViews {
 public:
  TopologyViews(Reader& reader, const Caller& caller)
      : reader_(reader), caller_(caller), tenures_(reader.TenuresOf(caller)) {}

  // Returns the view under the caller's policy, by the topology's own ids: another topology may use the same ids for
  // other VMs. VMs that were not yet the caller's at that instant of the steady clock are not in it.
  std::shared_ptr<const View> Of(const DeviceInfo& device, const std::shared_ptr<const Topology>& topology,
                                 absl::Duration steady) {
    const std::set<Uuid> foreign = tenures_.ForeignAt(steady);
    std::shared_ptr<const View>& view = views_[{topology.get(), foreign}];
    if (view == nullptr) view = Make(device, topology, foreign);
    return view;
  }
  const VmTenures& tenures() const { return tenures_; }

 private:
  std::shared_ptr<const View> Make(const DeviceInfo& device, const std::shared_ptr<const Topology>& topology,
                                   const std::set<Uuid>& foreign) {
    DecisionLog decisions;
    auto view = std::make_shared<const View>(*caller_.policy.policy, caller_.principal, topology, &decisions, foreign);
    reader_.view_auditor().OnPastView(device, caller_.policy, caller_.principal, decisions);
    return view;
  }

  Reader& reader_;
  const Caller& caller_;
  const VmTenures tenures_;
  // A view holds its topology, so that the address is not reused. Shared with VisibleDevices.
  std::map<std::pair<const Topology*, std::set<Uuid>>, std::shared_ptr<const View>> views_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_TOPOLOGY_VIEWS_H_
