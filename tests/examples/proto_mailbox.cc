// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/clocks/affine_strip.h"
#include "proto/clocks/clock_limits.h"
#include "proto/clocks/clock_strip.h"
#include "proto/clocks/mailbox_clocks.h"
#include "proto/clocks/test_clock.h"
#include "proto/mailbox/blocks.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/capability.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/clocks.h"
#include "proto/mailbox/counting.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/memory_links.h"
#include "proto/mailbox/peek.h"
#include "proto/mailbox/random_snapshots.h"
#include "proto/mailbox/rotation.h"
#include "proto/mailbox/rotation_file.h"
#include "proto/mailbox/rotation_section.h"
#include "proto/mailbox/sections.h"
#include "proto/mailbox/services.h"
#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/stream.h"
#include "proto/mailbox/word.h"

namespace sideband::mailbox {
namespace {

void Add(size_t block, size_t to);

void UseBlockFamily(const Snapshot& snapshot) {
  //@ proto/mailbox/blocks.h
}

void UseBoardItems(uint32_t bits) {
  const auto Print = [](const char*) {};
  //@ proto/mailbox/board_items.h
}

void UseCapability(uint32_t dword) {
  //@ proto/mailbox/capability.h
}

void Use(uint64_t counter);

absl::Status UsePeek(size_t event, uint64_t boot, uint64_t count) {
  //@ proto/mailbox/peek.h
  return absl::OkStatus();
}

void UseRandomSnapshots(uint64_t seed) {
  //@ proto/mailbox/random_snapshots.h
}

absl::Status UseSections(ByteSpan events, ByteWriter& out, ByteSpan bytes) {
  //@ proto/mailbox/sections.h
  return absl::OkStatus();
}

void Use(const BlockHeader& block, std::span<const uint64_t> counters);

absl::Status UseSnapshot(const Snapshot& snapshot, const Catalog& catalog, std::unique_ptr<Snapshot>& base,
                         size_t blocks, size_t counters) {
  //@ proto/mailbox/snapshot.h
  return absl::OkStatus();
}

absl::Status UseStream(uint64_t boot, ByteSpan payload) {
  //@ proto/mailbox/stream.h
  return absl::OkStatus();
}

void UseWord(uint32_t status_register) {
  //@ proto/mailbox/word.h
}

void Send(const ConfigWrite& write);
void Count(size_t event);

absl::Status UseCounting(const CountingConfig& actual, CountingConfig& config, const ConfigWrite& write,
                         uint64_t boot_id, const Catalog& catalog, size_t event) {
  //@ proto/mailbox/counting.h
  return absl::OkStatus();
}

void UseRotation(const Catalog& catalog, const Snapshot& snapshot, size_t block, size_t event,
                 std::optional<size_t> group) {
  //@ proto/mailbox/rotation.h
}

absl::Status UseRotationSection(const Snapshot* base, const std::set<uint16_t>& whole, ByteSpan bits, ByteWriter& out,
                                Snapshot& snapshot) {
  //@ proto/mailbox/rotation_section.h
  return absl::OkStatus();
}

void AddPacket(size_t domain, uint64_t reference_cycle, const TimelineClock& clock);

void UseClocks(const Timeline& timeline, size_t domains) {
  //@ proto/mailbox/clocks.h
}

}  // namespace
}  // namespace sideband::mailbox

namespace sideband::clocks {
namespace {

void RestartNumbers();
void Publish(Instant middle, Ticks half_width);
void Publish(uint64_t lower, uint64_t upper);

absl::Status UseClockLimits() {
  //@ proto/clocks/clock_limits.h
  return absl::OkStatus();
}

void UseAffineStrip(const std::vector<StripBar>& bars) {
  //@ proto/clocks/affine_strip.h
}

absl::Status UseClockStrip(const ClockLimits& limits, const ClockPacket& packet, Instant start, Instant end) {
  //@ proto/clocks/clock_strip.h
  return absl::OkStatus();
}

void UseTestClock(const InstantRange& range) {
  //@ proto/clocks/test_clock.h
}

absl::Status UseMailboxClocks(const mailbox::ClockDomain& domain, const mailbox::TimelineEntry& entry) {
  //@ proto/clocks/mailbox_clocks.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::clocks

namespace sideband {
namespace {

absl::Status UseRotationFile(const std::vector<std::string>& names, uint64_t clock_hz, double threshold) {
  //@ proto/mailbox/rotation_file.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband
