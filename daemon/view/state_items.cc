// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/state_items.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/time/time.h"
#include "daemon/snapshot/message.h"
#include "daemon/view/sensor_queries.h"
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

// The same rows as in SnapshotMessage.
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

void Fill(const mailbox::DriverEvent& event, sideband::v1::DriverMessage& out) {
  out.set_xid(event.xid);
  out.set_sequence(event.sequence);
  SetTime(absl::FromUnixSeconds(event.time_s), *out.mutable_time());
  out.set_text(event.text);
  out.set_text_truncated(event.text_truncated);
  out.set_later_lost(event.later_lost);
}

// kBoardEvents has the events in the order of their numbers, without a gap.
const char* WordOf(mailbox::BoardEvent event) { return mailbox::kBoardEvents[static_cast<size_t>(event)].word; }

// A reader counts each event from its first reading on, 0 before that.
uint64_t ReaderIdOf(const BoardReading& reading) {
  const auto& counts = reading.events.counts;
  return counts.empty() ? 0 : static_cast<uint64_t>(absl::ToUnixNanos(counts.begin()->second.created));
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

BoardEventCursor::Position BoardEventCursor::position() const {
  Position position{.messages = position_ - messages_.size() - lost_, .reader_id = reader_id_};
  for (const auto& [event, count] : seen_) {
    position.raised.resize(static_cast<size_t>(event) + 1);
    const auto waiting = raised_.find(event);
    position.raised.back() = count.value - (waiting == raised_.end() ? 0 : waiting->second);
  }
  return position;
}

bool BoardEventCursor::Resume(const Position& position, const BoardReading& reading) {
  const DriverMessageReading& messages = reading.driver_messages;
  const bool is_held = position.reader_id == ReaderIdOf(reading) && position.messages <= messages.taken &&
                       messages.taken - position.messages <= messages.messages.size();
  if (!is_held) return false;
  is_first_ = false;
  position_ = position.messages;
  for (const auto& [event, count] : reading.events.counts) {
    const auto number = static_cast<size_t>(event);
    const uint64_t taken = number < position.raised.size() ? position.raised[number] : 0;
    seen_[event] = {.value = std::min(taken, count.value), .created = count.created};
  }
  return true;
}

void BoardEventCursor::Follow(const BoardReading& reading) {
  reader_id_ = ReaderIdOf(reading);
  FollowMessages(reading.driver_messages);
  FollowRaised(reading.events);
  is_first_ = false;
}

void BoardEventCursor::FollowMessages(const DriverMessageReading& messages) {
  if (messages.taken < position_) position_ = 0;
  const uint64_t fresh = messages.taken - position_;
  const size_t held = std::min<uint64_t>(fresh, messages.messages.size());
  // The caller has missed nothing before the first time.
  if (!is_first_) lost_ += fresh - held;
  messages_.insert(messages_.end(), messages.messages.end() - static_cast<ptrdiff_t>(held), messages.messages.end());
  position_ = messages.taken;
  for (; messages_.size() > DriverMessageReading::kMessagesMax; messages_.pop_front()) ++lost_;
}

void BoardEventCursor::FollowRaised(const EventReading& events) {
  for (const auto& [event, count] : events.counts) {
    const RunningCount before = std::exchange(seen_[event], count);
    if (is_first_) continue;
    const uint64_t fresh = count.created == before.created ? count.value - before.value : count.value;
    if (fresh > 0) raised_[event] += fresh;
  }
}

std::optional<BoardEventCursor::Message> BoardEventCursor::Next() {
  Message message;
  message.set_device(device_);
  if (lost_ > 0) {
    message.set_messages_lost(std::exchange(lost_, 0));
  } else if (!messages_.empty()) {
    Fill(messages_.front(), *message.mutable_driver_message());
    messages_.pop_front();
  } else if (!raised_.empty()) {
    const auto raised = raised_.extract(raised_.begin());
    message.mutable_raised()->set_name(WordOf(raised.key()));
    message.mutable_raised()->set_count(raised.mapped());
  } else {
    return std::nullopt;
  }
  return message;
}

}  // namespace sideband::daemon
