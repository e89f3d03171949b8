// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "daemon/http/site.h"
#include "daemon/mailbox/block_peeker.h"
#include "daemon/mailbox/snapshot_reader.h"
#include "daemon/snapshot/capacities.h"
#include "daemon/snapshot/clock_settings.h"
#include "daemon/snapshot/clock_state.h"
#include "daemon/snapshot/complement.h"
#include "daemon/snapshot/coverage.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/fake_rotation.h"
#include "daemon/snapshot/fake_topology.h"
#include "daemon/snapshot/level.h"
#include "daemon/snapshot/live_block.h"
#include "daemon/snapshot/live_reader.h"
#include "daemon/snapshot/publication_thread.h"
#include "daemon/snapshot/ratio.h"
#include "daemon/snapshot/rotation.h"
#include "daemon/snapshot/sealed_by.h"
#include "daemon/snapshot/store.h"
#include "daemon/snapshot/topology.h"
#include "daemon/snapshot/utilisation.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {
namespace {

void Render(const DeviceSnapshot& snapshot);

void Use(uint16_t vm);
void Show(double share);

void UseCapacities(const mailbox::Catalog& catalog, const mailbox::VmInfo& vm, double count, size_t event,
                   double reference_cycles) {
  //@ daemon/snapshot/capacities.h
}

void UseComplement() {
  //@ daemon/snapshot/complement.h
}

void UseCoverage(const mailbox::Catalog& catalog, const mailbox::Snapshot& snapshot, size_t row, size_t event) {
  //@ daemon/snapshot/coverage.h
}

void Show(uint64_t value, uint64_t lower);

void UseRotation(const mailbox::Catalog& catalog, const mailbox::Snapshot& snapshot, size_t row, size_t event) {
  //@ daemon/snapshot/rotation.h
}

void UseFakeRotation() {
  //@ daemon/snapshot/fake_rotation.h
}

void UseLevel(const mailbox::BlockHeader& block) {
  //@ daemon/snapshot/level.h
}

void Use(uint16_t event, uint64_t count);

void UseLiveBlock(BlockPeeker& peeker, const mailbox::BlockHeader& block, uint64_t boot) {
  //@ daemon/snapshot/live_block.h
}

void UseLiveReader(LiveReader& live, size_t device, const PeekQuery& query, const LiveReader::Done& done) {
  //@ daemon/snapshot/live_reader.h
}

void UseUtilisation(const DeviceSnapshot& snapshot, size_t index, size_t event) {
  //@ daemon/snapshot/utilisation.h
}

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

void UseClockSettings() {
  //@ daemon/snapshot/clock_settings.h
}

void Show(const std::string& name, const ClockState& clock);

void UseClockState(const DeviceSnapshot& snapshot, const mailbox::Catalog& catalog) {
  //@ daemon/snapshot/clock_state.h
}

void Require(size_t device);

void UseSealedBy(const DeviceInfo& info, size_t device) {
  //@ daemon/snapshot/sealed_by.h
}

}  // namespace
}  // namespace sideband::daemon
