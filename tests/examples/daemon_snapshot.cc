// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <span>

#include "daemon/http/site.h"
#include "daemon/mailbox/check_against.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/fake_topology.h"
#include "daemon/snapshot/publication_thread.h"
#include "daemon/snapshot/ratio.h"
#include "daemon/snapshot/store.h"
#include "daemon/snapshot/topology.h"

namespace sideband::daemon {
namespace {

void Render(const DeviceSnapshot& snapshot);

void UseFakeTopology() {
  //@ daemon/snapshot/fake_topology.h
}

void UsePublicationThread(Store& store, Site& site) {
  //@ daemon/snapshot/publication_thread.h
}

void UseRatio(const DeviceInfo& device, const Topology& topology, std::span<const double> rates_of_row) {
  //@ daemon/snapshot/ratio.h
}

void UseStore(Store& store, std::shared_ptr<const DeviceSnapshot> snapshot) {
  //@ daemon/snapshot/store.h
}

}  // namespace
}  // namespace sideband::daemon
