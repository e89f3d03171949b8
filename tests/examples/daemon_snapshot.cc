// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "daemon/http/site.h"
#include "daemon/mailbox/snapshot_reader.h"
#include "daemon/snapshot/coverage.h"
#include "daemon/snapshot/device_clock.h"
#include "daemon/snapshot/device_info.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/fake_topology.h"
#include "daemon/snapshot/live_reader.h"
#include "daemon/snapshot/message.h"
#include "daemon/snapshot/ratio.h"
#include "daemon/snapshot/rotation.h"
#include "daemon/snapshot/store.h"
#include "daemon/snapshot/topology.h"
#include "daemon/snapshot/utilisation.h"
#include "daemon/view/reader.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {
namespace {

void Render(const DeviceSnapshot& snapshot);

void Use(uint16_t vm);
void Show(double share);

void Require(size_t device);

void UseDeviceInfo(const DeviceInfo& info, size_t device) {
  //@ daemon/snapshot/device_info.h
}

void UseCoverage(const mailbox::Catalog& catalog, const mailbox::Snapshot& snapshot, size_t row, size_t event,
                 const mailbox::VmInfo& vm, double count, double reference_cycles) {
  //@ daemon/snapshot/coverage.h
}

void Show(uint64_t value, uint64_t lower);

void UseRotation(const mailbox::Catalog& catalog, const mailbox::Snapshot& snapshot, size_t row, size_t event) {
  //@ daemon/snapshot/rotation.h
}

void UseDeviceSnapshot(const mailbox::BlockHeader& block) {
  //@ daemon/snapshot/device_snapshot.h
}

void UseLiveReader(LiveReader& live, size_t device, const LiveReader::Done& done, const mailbox::BlockHeader& block,
                   uint64_t boot) {
  //@ daemon/snapshot/live_reader.h
}

void UseUtilisation(const DeviceSnapshot& snapshot, size_t index, size_t event) {
  //@ daemon/snapshot/utilisation.h
}

void UseFakeTopology() {
  //@ daemon/snapshot/fake_topology.h
}

void UseRatio(const DeviceInfo& device, const Topology& topology, std::span<const double> rates_of_row) {
  //@ daemon/snapshot/ratio.h
}

void UseStore(Store& store, std::shared_ptr<const DeviceSnapshot> snapshot, Site& site) {
  //@ daemon/snapshot/store.h
}

void Show(const std::string& name, const ClockState& clock);

void UseDeviceClock(const DeviceSnapshot& snapshot, const mailbox::Catalog& catalog) {
  //@ daemon/snapshot/device_clock.h
}

absl::Status UseMessage(sideband::v1::ListScopesResponse& response, const VisibleDevice& device,
                        const Topology& topology, const mailbox::BlockHeader& block, const DeviceSnapshot& snapshot,
                        sideband::v1::HistoryPoint& point, const sideband::v1::GetHistoryRequest& request) {
  //@ daemon/snapshot/message.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::daemon
