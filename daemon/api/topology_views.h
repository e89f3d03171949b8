// SPDX-License-Identifier: Apache-2.0
//
// A caller's views of a device's topologies, past ones too, for as long as one question is being answered. What is
// asked for again and again, the newest topology's, is in the reader's cache instead.
//   TopologyViews views(reader, caller);
//   const View& view = views.Of(device, layout.topology);
#ifndef SIDEBAND_DAEMON_API_TOPOLOGY_VIEWS_H_
#define SIDEBAND_DAEMON_API_TOPOLOGY_VIEWS_H_

#include <memory>

#include "absl/container/flat_hash_map.h"
#include "daemon/api/reader.h"
#include "daemon/authz/view.h"

namespace sideband::daemon {

// Not thread-safe. What it shows is told to the audit log. The reader and the caller must outlive it.
class TopologyViews {
 public:
  TopologyViews(Reader& reader, const Caller& caller) : reader_(reader), caller_(caller) {}

  // Each topology is shown under the policy now in force, by its own ids: those of another topology may mean others.
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
  // A view keeps its topology, so that an address stays that topology's. Shared with VisibleDevices.
  absl::flat_hash_map<const Topology*, std::shared_ptr<const View>> views_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_API_TOPOLOGY_VIEWS_H_
