// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/state_items.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "daemon/snapshot/message.h"
#include "daemon/view/sensor_message.h"
#include "daemon/view/snapshot_message.h"

namespace sideband::daemon {
namespace {

using mailbox::kNoContext;
using sideband::v1::StateItem;

constexpr char kClocks[] = "sideband_clock_hertz";
const SensorNames& LimitFamilies() {
  static const auto* const names =
      new SensorNames{kClocks, "sideband_power_limit_watts", "sideband_temperature_threshold_celsius"};
  return *names;
}

// A clock's family has its frequency, too.
bool IsMeasurement(const sideband::v1::Sensor& sensor) {
  return sensor.name() == kClocks && std::ranges::any_of(sensor.labels(), [](const auto& label) {
           return label.name() == "kind" && label.value() == "current";
         });
}

// As SnapshotMessage has them.
void AddRows(const VisibleDevice& device, const RowFilter& filter, std::vector<StateItem>& out) {
  const DeviceSnapshot& snapshot = *device.snapshot;
  for (size_t row = 0; row < snapshot.data.blocks.size(); ++row) {
    mailbox::BlockHeader block = snapshot.data.blocks[row];
    const EventSet events = filter.SelectedEvents(*device.view, block.vm, block.context);
    if (std::ranges::find(events, true) == events.end()) continue;
    block.flags = snapshot.FlagsOf(row, events);
    sideband::v1::ScopeCounters header;
    FillScopeHeader(*device.info, *snapshot.topology, block, header);
    sideband::v1::ScopeState& scope = *out.emplace_back().mutable_scope();
    *scope.mutable_scope() = std::move(*header.mutable_scope());
    scope.set_state(header.state());
    *scope.mutable_flags() = std::move(*header.mutable_flags());
  }
}

// Confidential VMs, which have no rows. As ScopeMessages has them.
void AddSealed(const VisibleDevice& device, std::vector<StateItem>& out) {
  const Topology& topology = *device.view->topology();
  for (const mailbox::VmInfo& vm : topology.catalog().vms) {
    if (!vm.confidential || !device.view->SeesVm(vm.id)) continue;
    *out.emplace_back().mutable_scope()->mutable_scope() = ScopeMessage(*device.info, topology, vm.id, kNoContext);
  }
}

}  // namespace

void AddDeviceItems(const VisibleDevice& device, const RowFilter& filter, bool names_rows,
                    std::vector<StateItem>& out) {
  std::vector<StateItem> rows;
  if (device.snapshot != nullptr) {
    AddRows(device, filter, rows);
    if (!names_rows) AddSealed(device, rows);
  }
  if (names_rows && rows.empty()) return;
  *out.emplace_back().mutable_device() = DeviceMessage(device);
  std::ranges::move(rows, std::back_inserter(out));
}

void AddLimitItems(const VisibleBoard& board, absl::Duration steady_now, std::vector<StateItem>& out) {
  sideband::v1::DeviceSensors sensors;
  AddSensors(board, LimitFamilies(), steady_now, sensors);
  for (sideband::v1::Sensor& sensor : *sensors.mutable_sensors()) {
    if (IsMeasurement(sensor)) continue;
    sideband::v1::SensorLimit& limit = *out.emplace_back().mutable_limit();
    limit.set_device(board.device);
    *limit.mutable_sensor() = std::move(sensor);
  }
}

StateItem IdentityOf(const StateItem& item) {
  StateItem identity;
  switch (item.item_case()) {
    case StateItem::kDevice:
      identity.mutable_device()->set_name(item.device().name());
      break;
    case StateItem::kScope:
      *identity.mutable_scope()->mutable_scope() = item.scope().scope();
      break;
    case StateItem::kLimit:
      identity.mutable_limit()->set_device(item.limit().device());
      identity.mutable_limit()->mutable_sensor()->set_name(item.limit().sensor().name());
      *identity.mutable_limit()->mutable_sensor()->mutable_labels() = item.limit().sensor().labels();
      break;
    case StateItem::kMark:
      identity.mutable_mark()->set_mark_id(item.mark().mark_id());
      identity.mutable_mark()->mutable_scope()->set_device(item.mark().scope().device());
      identity.mutable_mark()->mutable_scope()->set_vm(item.mark().scope().vm());
      identity.mutable_mark()->mutable_scope()->set_vm_uuid(item.mark().scope().vm_uuid());
      break;
    case StateItem::kBoardEvent:
    case StateItem::ITEM_NOT_SET:
      break;
  }
  return identity;
}

}  // namespace sideband::daemon
