// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/board/board_groups.h"
#include "daemon/board/board_reader.h"
#include "daemon/board/board_reading.h"
#include "daemon/board/board_store.h"
#include "daemon/board/fake_board.h"
#include "daemon/board/group_plans.h"
#include "daemon/board/group_round.h"
#include "daemon/board/sensor_families.h"
#include "daemon/collector/device_clocks.h"
#include "daemon/history/chunk.h"
#include "daemon/history/fake_life.h"
#include "daemon/history/history.h"
#include "daemon/history/sensor_frame.h"
#include "daemon/history/sensor_history.h"
#include "daemon/history/tokens.h"
#include "daemon/redfish/device_resources.h"
#include "daemon/redfish/document.h"
#include "daemon/redfish/public_documents.h"
#include "daemon/redfish/redfish_service.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/store.h"
#include "daemon/view/snapshot_message.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/capability.h"
#include "proto/mailbox/services.h"
#include "proto/mailbox/word.h"

namespace sideband::daemon {
namespace {

using mailbox::AsyncType;
using mailbox::Capability;
using mailbox::CommandWord;
using mailbox::MailboxStatus;
using mailbox::MetricId;
using mailbox::MonitoringAction;
using mailbox::Opcode;
using mailbox::PowerSource;
using sideband::v1::Counter;
using sideband::v1::Device;
using sideband::v1::DeviceSensors;
using sideband::v1::ScopeCounters;
using sideband::v1::Sensor;
using sideband::v1::Snapshot;

void Show(uint32_t dword);
void Show(double value);

void UseBoardGroups(const BoardCapabilities& capabilities, BoardSchedule& schedule, absl::Duration now) {
  //@ daemon/board/board_groups.h
}

std::vector<uint64_t> Costs(BoardGroup group);

void UseGroupRound(BoardPort& port, const BoardTime& now, BoardMemory& memory, BoardReading& draft,
                   const BoardReport& report) {
  //@ daemon/board/group_round.h
}

void UseGroupPlans(GroupRound& round) {
  //@ daemon/board/group_plans.h
}

void WaitUntil(absl::Duration steady_time);

absl::Status UseBoardReader(size_t device, BoardPort& port, BoardStore& boards, const Clock& clock,
                            const BoardReport& log_change) {
  //@ daemon/board/board_reader.h
  return absl::OkStatus();
}

void Show(double watts);

void UseBoardReading(const BoardReading& reading, const BoardTime& now) {
  //@ daemon/board/board_reading.h
}

mailbox::CommandWord ReadStatus();
void RunNext();

void Show(const BoardReading& reading);

void UseBoardStore(size_t device, const BoardReader& reader, BoardStore& boards, BoardListener& history) {
  //@ daemon/board/board_store.h
}

void UseFakeBoard() {
  //@ daemon/board/fake_board.h
}

void Publish(absl::Duration raw, absl::Duration error);

void UseDeviceClocks(const Topology& topology, const mailbox::Snapshot& raw, const DeviceInfo& info,
                     DeviceSnapshot* snapshot, absl::Duration s0, absl::Duration s1, const LatchedPulse& latch) {
  //@ daemon/collector/device_clocks.h
}

void Add(const BoardFamilyRow& row);
void Add(const std::string& name, const std::string& help);

void UseSensorFamilies(const BoardSight& sight, BoardSeries& series) {
  //@ daemon/board/sensor_families.h
}

void Use(absl::Time time, uint64_t count);
void Use(const FrameHeader& header, uint64_t count);
void Use(std::span<const uint64_t> values);
void StartChunk(const Layout& layout);
void Keep(const ChunkView& view);

void UseChunk(const ChunkView& view, size_t row, size_t event, const Layout& layout, const DeviceSnapshot& before,
              const DeviceSnapshot& snapshot, std::span<uint8_t> free_bytes) {
  //@ daemon/history/chunk.h
}

void UseFakeLife(History& history, SensorHistory& sensors) {
  //@ daemon/history/fake_life.h
}

void UseHistory(Store& store, size_t row, size_t event) {
  //@ daemon/history/history.h
}

void UseTokens(std::span<uint8_t> free_bytes, std::span<const uint64_t> before, std::span<const uint64_t> now,
               ByteSpan bytes, std::span<uint64_t> values) {
  //@ daemon/history/tokens.h
}

void Show(const std::string& name);
void Show(const std::string& name, double value);
void Show(absl::Time time, const SensorValue& value);

void UseSensorFrame(const BoardReading& reading, const SensorChunkView& view, const SensorLayout& layout,
                    std::span<const SensorSample> samples, absl::Time time, const SensorFrame& before,
                    BoundedSink& sink) {
  //@ daemon/history/sensor_frame.h
}

void UseSensorHistory(BoardStore& boards, size_t device) {
  //@ daemon/history/sensor_history.h
}

void Show(const nlohmann::json& json);

void UseDeviceResources(const Device& device, const DeviceSensors& sensors) {
  //@ daemon/redfish/device_resources.h
}

absl::Status UseDocument() {
  //@ daemon/redfish/document.h
  return absl::OkStatus();
}

absl::StatusOr<RedfishDocument> UsePublicDocuments(const RedfishTarget& target) {
  //@ daemon/redfish/public_documents.h
  return absl::NotFoundError("");
}

absl::Status UseRedfishService(const SensorQueries& sensors, const Caller& caller) {
  //@ daemon/redfish/redfish_service.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::daemon
