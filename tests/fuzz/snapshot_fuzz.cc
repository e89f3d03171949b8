// SPDX-License-Identifier: Apache-2.0
//
// A snapshot's stream from a hostile device. A decoded snapshot survives encoding.
//   Input: a first byte, then the stream. If bit 0 is set, the rest is a payload, which gets a frame with a correct
//   CRC; if bit 1 is set, that frame names the held snapshot as its base.
#include <optional>

#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/stream.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/simulation/hostile_device.h"

namespace sideband::fuzz {
namespace {

using mailbox::Snapshot;

constexpr uint8_t kPayload = 1 << 0;
constexpr uint8_t kRelative = 1 << 1;

// The snapshot that the controller holds.
const Snapshot& Base() {
  static const auto* const base = new Snapshot(mailbox::AsBase(
      tests::HostileDevice::ExampleSnapshot(), mailbox::VmsWrittenWhole(tests::HostileDevice::ExampleCatalog())));
  return *base;
}

Bytes StreamOf(ByteSpan input) {
  if (input.empty()) return {};
  const ByteSpan rest = input.subspan(1);
  if ((input[0] & kPayload) == 0) return Bytes(rest.begin(), rest.end());
  return mailbox::EncodeStream({.kind = mailbox::StreamKind::kSnapshot,
                                .framing = mailbox::Framing::kDelta,
                                .boot_id = Base().boot_id,
                                .snapshot_id = Base().snapshot_id + 1,
                                .base_id = (input[0] & kRelative) != 0 ? Base().snapshot_id : 0},
                               rest);
}

// Adds the snapshot as a complete stream, and as a payload for a frame.
void AddSeeds(const Snapshot& snapshot, const Snapshot* base, const mailbox::VmIds& confidential,
              std::vector<Bytes>& seeds) {
  const Bytes stream = mailbox::EncodeSnapshotStream(snapshot, base, confidential);
  for (const mailbox::Framing framing : {mailbox::Framing::kDelta, mailbox::Framing::kSections}) {
    seeds.push_back(mailbox::EncodeSnapshotStream(snapshot, base, confidential, framing));
    seeds.back().insert(seeds.back().begin(), 0);
  }
  seeds.emplace_back(stream.begin() + mailbox::kStreamHeaderBytes - 1, stream.end() - mailbox::kStreamCrcBytes);
  seeds.back()[0] = base == nullptr ? kPayload : kPayload | kRelative;
}

Snapshot WithClocks(Snapshot snapshot) {
  snapshot.clocks = {mailbox::ClockReading{.local_clock = 2'000'000, .arrival = 40}, std::nullopt,
                     mailbox::ClockReading{.local_clock = 7, .horizon_lag = 3, .changes = 1}};
  return snapshot;
}

Snapshot WithBookmarks(Snapshot snapshot) {
  for (uint64_t number = 1; number <= 2; ++number) {
    mailbox::ServedBookmark& served = snapshot.bookmarks.emplace_back(
        mailbox::ServedBookmark{.number = number, .bookmark = 17, .asked_ns = 5 * number, .served_ns = 6 * number});
    served.counters.resize(snapshot.counters_per_block, 3 * number);
  }
  return snapshot;
}

Snapshot WithRotation(Snapshot snapshot) {
  snapshot.layout = {.events = {{0, mailbox::kNoGateGroup}}, .plans = {{.number = 0, .sets_of = {1}}}};
  const mailbox::BlockRotation numbers = {.parts = {{.plan = 0, .enabled = {1000}, .running = {400, 600}}},
                                          .events = {{250, 700, 12}}};
  snapshot.rotation.assign(snapshot.blocks.size(), numbers);
  return snapshot;
}

std::vector<Bytes> Seeds() {
  std::vector<Bytes> seeds;
  AddSeeds({}, nullptr, {}, seeds);
  Snapshot snapshot = tests::HostileDevice::ExampleSnapshot();
  snapshot.statistics.emplace();
  AddSeeds(snapshot, nullptr, {}, seeds);
  AddSeeds(snapshot, nullptr, {2}, seeds);
  AddSeeds(snapshot, &Base(), {}, seeds);
  AddSeeds(WithClocks(snapshot), &Base(), {}, seeds);
  AddSeeds(WithBookmarks(snapshot), nullptr, {}, seeds);
  AddSeeds(WithBookmarks(snapshot), &Base(), {}, seeds);
  AddSeeds(WithRotation(snapshot), nullptr, {2}, seeds);
  AddSeeds(WithRotation(snapshot), &Base(), {}, seeds);
  for (uint64_t& counter : snapshot.counters) counter = 3 * counter + 1;
  snapshot.blocks.pop_back();
  snapshot.blocks[1].state = mailbox::BlockState::kRetired;
  snapshot.blocks[1].flags = mailbox::kFlagOverflow;
  snapshot.counters.resize(snapshot.blocks.size() * snapshot.counters_per_block);
  AddSeeds(snapshot, &Base(), {}, seeds);
  AddSeeds(snapshot, &Base(), {2}, seeds);
  return seeds;
}

int RunInput(const uint8_t* data, size_t size) {
  const auto snapshot = mailbox::DecodeSnapshotStream(fuzz::StreamOf({data, size}), &fuzz::Base());
  if (!snapshot.ok()) return 0;
  for (const mailbox::Snapshot* const base : {static_cast<const mailbox::Snapshot*>(nullptr), &fuzz::Base()}) {
    if (base != nullptr && base->counters_per_block != snapshot->counters_per_block) continue;
    const Bytes stream = mailbox::EncodeSnapshotStream(*snapshot, base, {}, mailbox::Framing::kSections);
    const auto again = mailbox::DecodeSnapshotStream(stream, base);
    mailbox::Snapshot expected = *snapshot;
    // Most relative snapshots lack the statistics.
    if (again.ok() && !again->statistics) expected.statistics.reset();
    // Decoding a relative snapshot fails if its base is of another boot.
    FUZZ_CHECK(again.ok() ? *again == expected : base != nullptr && snapshot->boot_id != base->boot_id);
  }
  return 0;
}

FUZZ_TARGET(snapshot_fuzz);

}  // namespace
}  // namespace sideband::fuzz
