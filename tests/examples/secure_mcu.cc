// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <rapidcheck.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "proto/base/yaml.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/counting.h"
#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/word.h"
#include "proto/smbus/bus_frame.h"
#include "proto/smbus/transfer.h"
#include "secure_mcu/chip/chip.h"
#include "secure_mcu/chip/chip_channels.h"
#include "secure_mcu/chip/chip_clocks.h"
#include "secure_mcu/chip/chip_rotation.h"
#include "secure_mcu/chip/chip_units.h"
#include "secure_mcu/chip/clocked_chip.h"
#include "secure_mcu/chip/guest_access.h"
#include "secure_mcu/chip/live_counts.h"
#include "secure_mcu/chip/pipeline_config.h"
#include "secure_mcu/chip/player.h"
#include "secure_mcu/chip/residents.h"
#include "secure_mcu/chip/rotation_life.h"
#include "secure_mcu/chip/rotation_plan.h"
#include "secure_mcu/chip/rotation_rules.h"
#include "secure_mcu/chip/rotation_table.h"
#include "secure_mcu/chip/rotation_turns.h"
#include "secure_mcu/chip/selections.h"
#include "secure_mcu/chip/turn_policy.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/chip_file/chip_file_sections.h"
#include "secure_mcu/chip_file/event_table.h"
#include "secure_mcu/chip_file/unit_plan.h"
#include "secure_mcu/command_line.h"
#include "secure_mcu/describe.h"
#include "secure_mcu/device/event_plan.h"
#include "secure_mcu/device/guest_registers.h"
#include "secure_mcu/device/live_controls.h"
#include "secure_mcu/device/live_device.h"
#include "secure_mcu/device/replay.h"
#include "secure_mcu/device/trigger_line.h"
#include "secure_mcu/device/wiring.h"
#include "secure_mcu/firmware/async_requests.h"
#include "secure_mcu/firmware/board_state.h"
#include "secure_mcu/firmware/board_unit.h"
#include "secure_mcu/firmware/command_handler.h"
#include "secure_mcu/firmware/complement.h"
#include "secure_mcu/firmware/copy_engine.h"
#include "secure_mcu/firmware/device.h"
#include "secure_mcu/firmware/extension_commands.h"
#include "secure_mcu/firmware/fake_gpu.h"
#include "secure_mcu/firmware/firmware.h"
#include "secure_mcu/firmware/mailbox_target.h"
#include "secure_mcu/firmware/memory_links.h"
#include "secure_mcu/firmware/metric_sources.h"
#include "secure_mcu/firmware/performance_monitor.h"
#include "secure_mcu/firmware/scratch_memory.h"
#include "secure_mcu/firmware/system_info.h"
#include "secure_mcu/guest_view/guest_views.h"
#include "secure_mcu/guest_view/layout.h"
#include "secure_mcu/guest_view/reader.h"
#include "secure_mcu/pipeline/clock_packets.h"
#include "secure_mcu/pipeline/counter_collection_unit.h"
#include "secure_mcu/pipeline/counter_gate.h"
#include "secure_mcu/pipeline/event_estimate.h"
#include "secure_mcu/pipeline/guest_gate.h"
#include "secure_mcu/pipeline/hpc_client.h"
#include "secure_mcu/pipeline/hpc_interconnect.h"
#include "secure_mcu/pipeline/memory_blocks.h"
#include "secure_mcu/pipeline/reduction_channel.h"
#include "secure_mcu/pipeline/rotation_order.h"
#include "secure_mcu/pipeline/trigger_block.h"
#include "secure_mcu/pipeline/unit_level_counter.h"
#include "secure_mcu/sealing/device_sealer.h"
#include "secure_mcu/serve/bus_server.h"
#include "secure_mcu/serve/guest_ports.h"
#include "secure_mcu/serve/serve.h"
#include "secure_mcu/serve/served_device.h"
#include "secure_mcu/serve/unix_listener.h"
#include "sim/waveform/schedule.h"
#include "sim/waveform/signal_map.h"
#include "sim/waveform/trace_reader.h"
#include "sim/wires/wire_source.h"

namespace sideband::mcu {
namespace {

constexpr uint64_t kWindowNs = 100'000'000;

void Print(const std::string& warning);
void Retire(size_t tenant);
void Send(ByteSpan stream);
void Use(const MetricSample& begin, const MetricSample& end);

// chip

absl::Status UseChip(const PipelineConfig& config, const sim::WireSource& wires) {
  //@ secure_mcu/chip/chip.h
  return absl::OkStatus();
}

void UseChipUnits(const PipelineConfig& config, const Selections& selections, const Residents& residents,
                  const RecordMover::Route& route, const sim::WireSource& wires, uint32_t trigger_id) {
  //@ secure_mcu/chip/chip_units.h
}

void UseChipChannels(const PipelineConfig& config, const std::shared_ptr<const EventMeanings>& meanings,
                     const Residents& residents, const Record& record, BlockId block) {
  //@ secure_mcu/chip/chip_channels.h
}

void UseChipRotation(ChipRotation& rotation, BlockId block, uint8_t channel, uint64_t now) {
  //@ secure_mcu/chip/chip_rotation.h
}

void UseGuestAccess(GuestAccess& guests, BlockId vm, uint64_t cycle) {
  //@ secure_mcu/chip/guest_access.h
}

void Publish(std::span<const uint64_t> counters);

void UseLiveCounts(Chip& chip, LiveCounts& live, BlockId context, std::span<const uint16_t> events,
                   std::span<uint64_t> sums, const HpcReadPath::Latch& latch, uint64_t cycle) {
  //@ secure_mcu/chip/live_counts.h
}

void UseClockedChip() {
  //@ secure_mcu/chip/clocked_chip.h
}

DomainMonitor::Config MonitorConfig(const DomainRow& row);

absl::Status UseChipClocks(const PipelineConfig& config, std::vector<DomainMonitor>& monitors,
                           std::span<const ClockNetwork::Horizon> horizons) {
  //@ secure_mcu/chip/chip_clocks.h
  return absl::OkStatus();
}

void UsePlayer(const std::unique_ptr<Chip>& chip, const std::vector<sim::WireSource*>& sources,
               const std::vector<sim::Residency>& residencies, const std::vector<Tenant>& tenants) {
  //@ secure_mcu/chip/player.h
}

void UseRotationTable(const PipelineConfig& config, const TurnPlan& plan, size_t i) {
  //@ secure_mcu/chip/rotation_table.h
}

void UseRotationTurns(const PipelineConfig& config, const RotationSeed& seed, const CounterPlan& plan, uint8_t slice,
                      const RotationLeaf& leaf, const RotationInstant& instant, const std::unique_ptr<Chip>& chip_owner,
                      CounterCollectionUnit& ccu, const Reduction& reduction, const std::vector<uint64_t>& pending,
                      std::vector<uint64_t>& gained) {
  Chip& chip = *chip_owner;
  //@ secure_mcu/chip/rotation_turns.h
}

void UseTurnPolicy(const std::vector<IndicatorSample>& run, const mailbox::RotationSettings& settings,
                   const RotationOrder& order, bool closes, const std::vector<double>& needs,
                   const std::function<void(size_t, uint64_t)>& Count) {
  //@ secure_mcu/chip/turn_policy.h
}

void UseRotationLife(const std::shared_ptr<const RotationTable>& table, const RotationOrder& order, uint16_t event,
                     const SlotLengths& lengths, const std::vector<uint64_t>& kCounts, const SlotLengths& open_lengths,
                     const std::vector<uint64_t>& open_counts, const std::function<void(size_t)>& Connect) {
  std::vector<uint64_t> counts = kCounts, add = kCounts;
  //@ secure_mcu/chip/rotation_life.h
}

absl::Status UseRotationRules(const PipelineConfig& config, const mailbox::RotationSettings& settings,
                              const mailbox::Relation& relation) {
  //@ secure_mcu/chip/rotation_rules.h
  return absl::OkStatus();
}

absl::Status UseRotationPlan(const PipelineConfig& config, size_t event) {
  //@ secure_mcu/chip/rotation_plan.h
  return absl::OkStatus();
}

absl::Status UseSelections(const PipelineConfig& config, size_t event, size_t c, CounterCollectionUnit& ccu,
                           UnitLevelCounter& ulc, ReductionChannel& reduction, const Record& record,
                           const std::vector<mailbox::EventSet>& sets) {
  //@ secure_mcu/chip/selections.h
  return absl::OkStatus();
}

// chip_file

absl::Status UseChipFile() {
  //@ secure_mcu/chip_file/chip_file.h
  return absl::OkStatus();
}

absl::Status UseChipFileSelections(const YamlMap& root, ChipFile& file) {
  //@ secure_mcu/chip_file/chip_file_sections.h
  return absl::OkStatus();
}

absl::Status UseUnitPlan(const ChipFile& file, PipelineConfig& config) {
  //@ secure_mcu/chip_file/unit_plan.h
  return absl::OkStatus();
}

// cli

int UseCommandLine(int argc, char** argv) {
  //@ secure_mcu/command_line.h
  return 0;
}

// describe

absl::Status UseDescribe() {
  //@ secure_mcu/describe.h
  return absl::OkStatus();
}

// device

absl::Status UseLiveDevice(const ChipFile& file, uint64_t boot_id, const LiveDevice::Elapsed& elapsed) {
  //@ secure_mcu/device/live_device.h
  return absl::OkStatus();
}

absl::Status UseRotationControls(const std::unique_ptr<Chip>& chip, const std::vector<Tenant>& tenants,
                                 mailbox::Catalog& catalog, const mailbox::RotationSettings& settings,
                                 mailbox::Snapshot& snapshot) {
  //@ secure_mcu/device/live_controls.h
  return absl::OkStatus();
}

absl::Status UseWiring(const ChipFile& file, Player& player, const std::unique_ptr<Chip>& chip) {
  //@ secure_mcu/device/wiring.h
  return absl::OkStatus();
}

void Open(const Tenant& tenant);
void Answer(uint64_t value);
void SwitchThread();

void UseGuestRegisters(LiveDevice& device, uint64_t thread) {
  //@ secure_mcu/device/guest_registers.h
}

// firmware

void UseMailboxTarget(CommandHandler& firmware, const smbus::Transfer& transfer) {
  //@ secure_mcu/firmware/mailbox_target.h
}

void UseAsyncRequests(Device& device, Sensors& sensors, PerformanceMonitor& monitor, ScratchMemory& scratch,
                      LimitRequests& limits) {
  //@ secure_mcu/firmware/async_requests.h
}

void LowerClock();

void UseBoardState(const sim::BoardFault& fault, uint32_t now, uint32_t module_mw) {
  const auto Show = [](const mailbox::DriverEvent&) {};
  //@ secure_mcu/firmware/board_state.h
}

void UseBoardUnit(Device& device, const PowerModel& power, const ChipFile& file) {
  //@ secure_mcu/firmware/board_unit.h
}

mailbox::MailboxStatus UseComplement(const ComplementPolicy& policy, Device& device) {
  const auto Fail = [](mailbox::MailboxStatus status) { return status; };
  //@ secure_mcu/firmware/complement.h
  return mailbox::MailboxStatus::kSuccess;
}

void UseCopyEngine(Device& device) {
  //@ secure_mcu/firmware/copy_engine.h
}

void UseFakeGpu() {
  //@ secure_mcu/firmware/fake_gpu.h
}

absl::Status UseResidentCycles(const ChipFile& file, uint32_t slices, UnitPlan& plan) {
  //@ secure_mcu/chip_file/event_table.h
  return absl::OkStatus();
}

void UseFirmware(Device& device, const PowerModel::Config& power) {
  //@ secure_mcu/firmware/firmware.h
}

void UseMetricSources(const Device& device, uint8_t metric, std::span<const uint64_t> counters, uint64_t& sum) {
  //@ secure_mcu/firmware/metric_sources.h
}

void UsePerformanceMonitor(Device& device) {
  //@ secure_mcu/firmware/performance_monitor.h
}

Reply UseReply(uint8_t arg2) {
  //@ secure_mcu/firmware/command_handler.h
  return {};
}

void UseScratchMemory() {
  const auto Execute = [](const mailbox::CommandWord&, uint32_t) { return Reply{}; };
  //@ secure_mcu/firmware/scratch_memory.h
}

void UseSnapshotCommands(Device& device) {
  //@ secure_mcu/firmware/extension_commands.h
}

void UseSystemInfo(const Device& device, const BoardUnit& board) {
  //@ secure_mcu/firmware/system_info.h
}

void UseLinkInfo(const BoardUnit& board, const LinkTraffic& traffic) {
  //@ secure_mcu/firmware/memory_links.h
}

// guest_view

absl::Status UseGuestViews(uint64_t boot_id, const mailbox::Catalog& catalog, const mailbox::Snapshot& snapshot) {
  //@ secure_mcu/guest_view/guest_views.h
  return absl::OkStatus();
}

void UseLayout(uint64_t boot_id, const mailbox::Catalog& catalog, uint16_t vm, const mailbox::Catalog& of_one_vm,
               std::span<const uint64_t> words, size_t block, size_t event) {
  //@ secure_mcu/guest_view/layout.h
}

absl::Status UseReader() {
  //@ secure_mcu/guest_view/reader.h
  return absl::OkStatus();
}

// pipeline

void UseRotationOrder(const RotationSeed& seed) {
  //@ secure_mcu/pipeline/rotation_order.h
}

void UseEventEstimate() {
  //@ secure_mcu/pipeline/event_estimate.h
}

void UseCounterCollectionUnit(UnitLevelCounter& ulc, uint64_t cycle, const sim::WireSource& wires,
                              ChannelBuffer& buffer) {
  //@ secure_mcu/pipeline/counter_collection_unit.h
}

void UseMemoryBlocks(size_t events, const ReductionChannel& channel, uint64_t reference_time_ns, BlockId vm,
                     const Reduction& reduction, uint64_t time_ns) {
  //@ secure_mcu/pipeline/memory_blocks.h
}

void UseGuestGate(const GuestControls& controls, HpcClient& client, const hpc::PageAccess& access, uint64_t cycle,
                  uint64_t& value) {
  //@ secure_mcu/pipeline/guest_gate.h
}

void SwapBanks(uint32_t trigger_id);

void Send(const TriggerPackets& trigger);

void UseClockPackets(const std::shared_ptr<const sim::DomainClock>& clock, const Scheduler& scheduler,
                     const ClockPacket& packet) {
  //@ secure_mcu/pipeline/clock_packets.h
}

void UseTriggerBlock(uint64_t cycle, size_t row, DomainMonitor& monitor, const DomainMonitor::Trigger& sent) {
  //@ secure_mcu/pipeline/trigger_block.h
}

void UseUnitLevelCounter(const sim::WireSource& wires, std::span<uint64_t> delivered) {
  //@ secure_mcu/pipeline/unit_level_counter.h
}

void UseCounterGate(const sim::WireSource& slice, std::span<uint64_t> sums) {
  //@ secure_mcu/pipeline/counter_gate.h
}

void UseHpcClient(const HpcAnswer& answer, const std::function<void(const HpcRequest&)>& send) {
  //@ secure_mcu/pipeline/hpc_client.h
}

void UseHpcInterconnect(const HpcRequest& request, uint64_t now, HpcClient& client, const HpcGrant& grant,
                        const HpcTiming& timing, const HpcLatch& latch) {
  //@ secure_mcu/pipeline/hpc_interconnect.h
}

// replay

absl::Status UseEventPlan(const sim::SignalMap& map, const std::unique_ptr<sim::TraceReader>& trace, uint32_t slices) {
  //@ secure_mcu/device/event_plan.h
  return absl::OkStatus();
}

bool NextChunk();

absl::Status UseReplay() {
  //@ secure_mcu/device/replay.h
  return absl::OkStatus();
}

// serve

absl::Status UseBusServer(VirtualBus& bus, const BusServer::Elapsed& elapsed, const std::atomic<bool>& stop) {
  //@ secure_mcu/serve/bus_server.h
  return absl::OkStatus();
}

absl::Status UseGuestPorts(const LiveDevice& device, GuestRegisters& registers, const GuestPorts::Elapsed& elapsed,
                           const std::unique_ptr<BusServer>& server) {
  //@ secure_mcu/serve/guest_ports.h
  return absl::OkStatus();
}

absl::Status UseUnixListener() {
  //@ secure_mcu/serve/unix_listener.h
  return absl::OkStatus();
}

absl::Status UseServedDevice(const ChipFile& file, uint64_t id, const LiveDevice::Elapsed& elapsed, VirtualBus& bus,
                             const std::atomic<bool>& stop) {
  //@ secure_mcu/serve/served_device.h
  return absl::OkStatus();
}

void UseTriggerLine(Chip& chip_a, Chip& chip_b, const LineEnd::Advance& advance_a, const LineEnd::Advance& advance_b,
                    mailbox::Snapshot& snapshot) {
  //@ secure_mcu/device/trigger_line.h
}

// sealing

Reply UseBlockSealer(Device& device) {
  const auto Fail = [](mailbox::MailboxStatus status) { return Reply{.status = status}; };
  //@ secure_mcu/firmware/device.h
  return {};
}

void UseDeviceSealer(exchange::SealingRules rules, const exchange::Sha384Digest& measurement, LiveDevice& device) {
  //@ secure_mcu/sealing/device_sealer.h
}

}  // namespace
}  // namespace sideband::mcu
