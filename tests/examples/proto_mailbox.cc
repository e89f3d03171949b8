// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/bit_stream.h"
#include "proto/mailbox/block_bases.h"
#include "proto/mailbox/block_decoder.h"
#include "proto/mailbox/block_encoder.h"
#include "proto/mailbox/block_family.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/bookmark_check.h"
#include "proto/mailbox/bookmark_section.h"
#include "proto/mailbox/bookmarks.h"
#include "proto/mailbox/capability.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/catalog_clocks.h"
#include "proto/mailbox/catalog_items.h"
#include "proto/mailbox/clock_section.h"
#include "proto/mailbox/clocks.h"
#include "proto/mailbox/config_rules.h"
#include "proto/mailbox/config_words.h"
#include "proto/mailbox/counter_groups.h"
#include "proto/mailbox/counter_values.h"
#include "proto/mailbox/counting.h"
#include "proto/mailbox/driver_event.h"
#include "proto/mailbox/echo.h"
#include "proto/mailbox/event_set.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/features.h"
#include "proto/mailbox/gate_controls.h"
#include "proto/mailbox/hull_stream.h"
#include "proto/mailbox/line_section.h"
#include "proto/mailbox/peek.h"
#include "proto/mailbox/random_snapshots.h"
#include "proto/mailbox/registers.h"
#include "proto/mailbox/rotation.h"
#include "proto/mailbox/rotation_items.h"
#include "proto/mailbox/rotation_layout.h"
#include "proto/mailbox/rotation_prediction.h"
#include "proto/mailbox/rotation_section.h"
#include "proto/mailbox/rotation_stream.h"
#include "proto/mailbox/sealed_section.h"
#include "proto/mailbox/second_difference.h"
#include "proto/mailbox/sections.h"
#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/snapshot_cost.h"
#include "proto/mailbox/snapshot_stream.h"
#include "proto/mailbox/stream.h"
#include "proto/mailbox/sys_id.h"
#include "proto/mailbox/timeline_stream.h"
#include "proto/mailbox/word.h"

namespace sideband::mailbox {
namespace {

absl::Status UseBitStream() {
  //@ proto/mailbox/bit_stream.h
  return absl::OkStatus();
}

void UseBlockBases(const Snapshot& snapshot, const Snapshot* base, size_t block, size_t i) {
  //@ proto/mailbox/block_bases.h
}

absl::StatusOr<Snapshot> UseBlockDecoder(ByteSpan payload, size_t blocks, const Snapshot* base, Snapshot head) {
  //@ proto/mailbox/block_decoder.h
}

void UseBlockEncoder(const Snapshot& snapshot, const Snapshot* base, const std::set<uint16_t>& whole, ByteWriter& out) {
  //@ proto/mailbox/block_encoder.h
}

void Add(size_t block, size_t to);

void UseBlockFamily(const Snapshot& snapshot) {
  //@ proto/mailbox/block_family.h
}

void UseBoardItems(uint32_t bits) {
  const auto Print = [](const char*) {};
  //@ proto/mailbox/board_items.h
}

void UseSysId(SysId item) {
  const auto Run = [](Opcode, SysId, uint8_t) {};
  //@ proto/mailbox/sys_id.h
}

absl::Status UseDriverEvent(ByteSpan bytes) {
  //@ proto/mailbox/driver_event.h
  return absl::OkStatus();
}

void UseEcho(const CommandWord& command, const CommandWord& reply) {
  const auto Interference = [] {};
  //@ proto/mailbox/echo.h
}

void UseCapability(uint32_t dword) {
  //@ proto/mailbox/capability.h
}

absl::Status UseCatalogItems(Catalog& catalog, ByteWriter& out, ByteReader& in) {
  //@ proto/mailbox/catalog_items.h
  return absl::OkStatus();
}

void UseCounterGroups(std::span<uint64_t> increments, std::span<const uint64_t> before, BitWriter& out, BitReader& in) {
  //@ proto/mailbox/counter_groups.h
}

void Reject(const char* feature);

void UseFeatures(uint32_t data, uint32_t extended_data, uint32_t opcodes) {
  //@ proto/mailbox/features.h
}

void Use(uint64_t counter);

absl::Status UsePeek(size_t event, uint64_t boot, uint64_t count) {
  //@ proto/mailbox/peek.h
  return absl::OkStatus();
}

void UseRandomSnapshots(uint64_t seed) {
  //@ proto/mailbox/random_snapshots.h
}

void Write(uint8_t command_code, uint32_t word);

void UseRegisters(ByteSpan block, uint32_t word) {
  //@ proto/mailbox/registers.h
}

absl::Status UseSections(ByteSpan events, ByteWriter& out, ByteSpan bytes) {
  //@ proto/mailbox/sections.h
  return absl::OkStatus();
}

void Use(const BlockHeader& block, std::span<const uint64_t> counters);

void UseSnapshot(const Snapshot& snapshot) {
  //@ proto/mailbox/snapshot.h
}

void UseSnapshotCost(size_t blocks, size_t counters) {
  //@ proto/mailbox/snapshot_cost.h
}

absl::Status UseSnapshotStream(const Snapshot& snapshot, const Catalog& catalog, std::unique_ptr<Snapshot>& base) {
  //@ proto/mailbox/snapshot_stream.h
  return absl::OkStatus();
}

absl::Status UseStream(uint64_t boot, ByteSpan payload) {
  //@ proto/mailbox/stream.h
  return absl::OkStatus();
}

void UseWord(uint32_t status_register) {
  //@ proto/mailbox/word.h
}

void UseGateControls() {
  //@ proto/mailbox/gate_controls.h
}

void Send(const ConfigWrite& write);

absl::Status UseCounting(const CountingConfig& actual, CountingConfig& config, const ConfigWrite& write,
                         uint64_t boot_id) {
  //@ proto/mailbox/counting.h
  return absl::OkStatus();
}

void Use(const VmControl& vm);

void UseConfigWords() {
  //@ proto/mailbox/config_words.h
}

void Count(size_t event);

void UseEventSet(const Catalog& catalog, size_t event) {
  //@ proto/mailbox/event_set.h
}

void UseRotation(const Catalog& catalog, const Snapshot& snapshot, size_t block, size_t event,
                 std::optional<size_t> group) {
  //@ proto/mailbox/rotation.h
}

absl::Status UseRotationItems(ByteReader& in, ByteWriter& out, size_t events, RotationPlan& plan) {
  //@ proto/mailbox/rotation_items.h
  return absl::OkStatus();
}

void UseRotationLayout(const Catalog& catalog, size_t i) {
  //@ proto/mailbox/rotation_layout.h
}

void UseRotationPrediction(const Snapshot& snapshot, const Snapshot* base, size_t block, const BlockRotation& numbers) {
  //@ proto/mailbox/rotation_prediction.h
}

absl::Status UseRotationSection(const Snapshot* base, const std::set<uint16_t>& whole, ByteSpan bits, ByteWriter& out,
                                Snapshot& snapshot) {
  //@ proto/mailbox/rotation_section.h
  return absl::OkStatus();
}

absl::Status UseRotationStream(const EventSet& wanted, ByteSpan stream, uint32_t scope, const Catalog& catalog) {
  //@ proto/mailbox/rotation_stream.h
  return absl::OkStatus();
}

void AddPacket(size_t domain, uint64_t reference_cycle, const TimelineClock& clock);

void UseClocks(const Timeline& timeline, size_t domains) {
  //@ proto/mailbox/clocks.h
}

absl::Status UseCatalogClocks(ByteSpan payload, Catalog& catalog, ByteWriter& out) {
  //@ proto/mailbox/catalog_clocks.h
  return absl::OkStatus();
}

absl::Status UseClockSection(ByteSpan bits, const Snapshot* base, Snapshot& snapshot, ByteWriter& out) {
  //@ proto/mailbox/clock_section.h
  return absl::OkStatus();
}

void UseSecondDifference(uint64_t value, BitWriter& stream, BitReader& stream_of_peer) {
  //@ proto/mailbox/second_difference.h
}

absl::Status UseTimelineStream(const Timeline& timeline, uint32_t first, const Catalog& catalog) {
  //@ proto/mailbox/timeline_stream.h
  return absl::OkStatus();
}

absl::Status UseHullStream(const ClockHulls& hulls, uint32_t first, const Catalog& catalog) {
  //@ proto/mailbox/hull_stream.h
  return absl::OkStatus();
}

absl::Status UseConfigRules(const CountingConfig& actual, const CountingConfig& desired) {
  //@ proto/mailbox/config_rules.h
  return absl::OkStatus();
}

void UseBookmarkCheck(uint32_t scope, uint32_t bookmark, CommandWord& command) {
  //@ proto/mailbox/bookmark_check.h
}

absl::Status UseLineSection(const ByteSpan* payload, const Snapshot* base, Snapshot& snapshot, ByteWriter& out) {
  //@ proto/mailbox/line_section.h
  return absl::OkStatus();
}

absl::Status UseBookmarkSection(const Snapshot* base, const std::set<uint16_t>& whole, Snapshot& snapshot,
                                ByteWriter& out) {
  //@ proto/mailbox/bookmark_section.h
  return absl::OkStatus();
}

void Note(const BlockHeader& block, uint32_t bookmark, uint64_t served_ns, const CounterValues& counters);

void UseBookmarks(const Snapshot& snapshot) {
  //@ proto/mailbox/bookmarks.h
}

void UseCounterValues() {
  //@ proto/mailbox/counter_values.h
}

absl::Status UseSealedSection(Snapshot& snapshot, const Bytes& payload, ByteWriter& out, const Snapshot& base) {
  //@ proto/mailbox/sealed_section.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::mailbox
