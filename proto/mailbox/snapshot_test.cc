// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/snapshot.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "proto/mailbox/random_snapshots.h"
#include "proto/mailbox/stream.h"

namespace sideband::mailbox {
namespace {

TEST(SnapshotTest, FlagsHaveNames) {
  EXPECT_TRUE(FlagNames(0).empty());
  EXPECT_EQ(FlagNames(kFlagOverflow | kFlagMmuFault), (std::vector<std::string>{"overflow", "mmu_fault"}));
  EXPECT_EQ(FlagNames(kFlagConfidentialExcluded), (std::vector<std::string>{"confidential_excluded"}));
  EXPECT_EQ(FlagNames(kFlagPartial | kFlagRotationInconsistent),
            (std::vector<std::string>{"rotation_inconsistent", "partial"}));
  EXPECT_EQ(FlagNames(kFlagPartial | kFlagEstimated), (std::vector<std::string>{"estimated", "partial"}));
}

constexpr size_t kFrameBytes = kStreamHeaderBytes + kStreamCrcBytes;

BlockHeader Block(uint16_t vm, uint16_t context) { return {.vm = vm, .context = context, .generation = 1}; }

// The device, a VM and its two contexts with 16 counters each, all of them 0.
Snapshot Quiet() {
  Snapshot snapshot{.boot_id = 42, .snapshot_id = 7, .trigger_id = 99, .reference_time_ns = 1000};
  snapshot.counters_per_block = 16;
  snapshot.blocks = {Block(0, kNoContext), Block(1, kNoContext), Block(1, 0), Block(1, 1)};
  for (BlockHeader& block : snapshot.blocks) block.trigger_id = 99, block.reference_time_ns = 1000;
  snapshot.counters.resize(4 * 16);
  return snapshot;
}

// A later snapshot in which a context has counted `count` of each event. Its VM and the device include the counts.
Snapshot Busy(Snapshot snapshot, uint64_t count) {
  ++snapshot.snapshot_id;
  for (const size_t block : {0, 1, 2}) {
    for (size_t c = 0; c < 16; ++c) snapshot.counters[16 * block + c] += count;
  }
  return snapshot;
}

Bytes Payload(ByteSpan stream) { return Bytes(stream.begin() + kStreamHeaderBytes, stream.end() - kStreamCrcBytes); }

// A valid stream frame around `payload`.
Bytes DeltaStream(ByteSpan payload, const Snapshot* base = nullptr) {
  return EncodeStream({.kind = StreamKind::kSnapshot,
                       .framing = Framing::kDelta,
                       .boot_id = base == nullptr ? 0 : base->boot_id,
                       .base_id = base == nullptr ? 0 : base->snapshot_id},
                      payload);
}

TEST(SnapshotStreamTest, WithoutABaseEverythingIsWritten) {
  const Snapshot busy = Busy(Quiet(), 1000);
  EXPECT_EQ(*DecodeSnapshotStream(EncodeSnapshotStream(busy, nullptr, {}), nullptr), busy);
}

TEST(SnapshotStreamTest, AnUnchangedBlockCostsABit) {
  const Snapshot base = Quiet();
  Snapshot next = base;
  next.snapshot_id = 8;
  const Bytes stream = EncodeSnapshotStream(next, &base, {});
  EXPECT_EQ(stream.size(), kFrameBytes + kSnapshotFixedBytes + 1)
      << "a bit for the list, and one for each of four blocks";
  EXPECT_EQ(*DecodeSnapshotStream(stream, &base), next);
}

TEST(SnapshotStreamTest, WhatAddsUpDoesNotTravel) {
  const Snapshot base = Quiet();
  const Snapshot next = Busy(base, 0xFFFF);
  const Bytes stream = EncodeSnapshotStream(next, &base, {});
  // Three blocks of 2 + 2 + 1 + 3 bits and 1 bit for derived increments; one group of 16 counters of 16 bits, two
  // groups of width 0.
  EXPECT_EQ(stream.size(), kFrameBytes + kSnapshotFixedBytes + (2 + 3 * 9 + (3 + 7 + 256) + 2 * (3 + 1) + 7) / 8);
  EXPECT_EQ(*DecodeSnapshotStream(stream, &base), next);
}

constexpr PipelineStatistics kStatistics = {.stall_cycles = 1,
                                            .trigger_overruns = 2,
                                            .commit_wait_cycles = 3,
                                            .mmu_faults = 4,
                                            .switches = 5,
                                            .switch_cycles = ~uint64_t{0}};

TEST(SnapshotStreamTest, SectionsCarryTheSameBlocks) {
  const Snapshot base = Quiet();
  const Snapshot next = Busy(base, 1000);
  for (const Snapshot* const of : {static_cast<const Snapshot*>(nullptr), &base}) {
    const Bytes delta = EncodeSnapshotStream(next, of, {}, Framing::kDelta);
    const Bytes sections = EncodeSnapshotStream(next, of, {}, Framing::kSections);
    EXPECT_EQ(sections.size(), delta.size() + 8) << "the header of the section";
    EXPECT_EQ(*DecodeSnapshotStream(sections, of), next);
  }
}

TEST(SnapshotStreamTest, StatisticsAreInEverySixteenthSnapshotAndInWholeOnes) {
  Snapshot base = Quiet();
  for (uint32_t id = 8; id < 40; ++id) {
    Snapshot next = Busy(base, 1);
    next.snapshot_id = id;
    next.statistics = kStatistics;
    EXPECT_EQ(*DecodeSnapshotStream(EncodeSnapshotStream(next, nullptr, {}, Framing::kSections), nullptr), next);
    const Snapshot read = *DecodeSnapshotStream(EncodeSnapshotStream(next, &base, {}, Framing::kSections), &base);
    EXPECT_EQ(read.statistics.has_value(), id % 16 == 0) << id;
    // Version 1 has no place for them.
    EXPECT_EQ(DecodeSnapshotStream(EncodeSnapshotStream(next, nullptr, {}), nullptr)->statistics, std::nullopt);
  }
}

// A section of their own: a reader that does not know it skips it.
TEST(SnapshotStreamTest, RelationsThatBrokeAreBesideTheStatistics) {
  Snapshot next = Quiet();
  next.statistics = kStatistics;
  const Bytes without = EncodeSnapshotStream(next, nullptr, {}, Framing::kSections);
  next.statistics->rotation_inconsistencies = 0x0102;
  const Bytes stream = EncodeSnapshotStream(next, nullptr, {}, Framing::kSections);
  EXPECT_EQ(*DecodeSnapshotStream(stream, nullptr), next);
  Bytes payload = Payload(stream);
  const Bytes section = {7, 0, 0, 0, 8, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0};
  ASSERT_EQ(stream.size(), without.size() + section.size());
  EXPECT_EQ(Bytes(payload.end() - 16, payload.end()), section);
  const auto refused = [](const Bytes& payload) {
    const Bytes spoiled =
        EncodeStream({.kind = StreamKind::kSnapshot, .framing = Framing::kSections, .boot_id = 42}, payload);
    return std::string(DecodeSnapshotStream(spoiled, nullptr).status().message());
  };
  Bytes longer = payload;
  longer.push_back(0);
  longer[longer.size() - 13] = 9;
  EXPECT_EQ(refused(longer), "snapshot: rotation statistics of a wrong length");
  Bytes alone = payload;
  alone.erase(alone.end() - 16 - 8 - 48, alone.end() - 16);
  EXPECT_EQ(refused(alone), "snapshot: rotation statistics without the pipeline's");
}

TEST(SnapshotStreamTest, TheRevisionIsInEverySnapshotOfVersionTwo) {
  Snapshot base = Quiet();
  base.config_revision = 1;
  Snapshot next = Busy(base, 1);
  next.config_revision = 0x01020304;
  const Bytes stream = EncodeSnapshotStream(next, &base, {}, Framing::kSections);
  EXPECT_EQ(*DecodeSnapshotStream(stream, &base), next);
  EXPECT_EQ(DecodeSnapshotStream(EncodeSnapshotStream(next, &base, {}), &base)->config_revision, std::nullopt);
  Bytes payload = Payload(stream);
  EXPECT_EQ(Bytes(payload.end() - 12, payload.end()), (Bytes{4, 0, 1, 0, 4, 0, 0, 0, 4, 3, 2, 1}));
  payload.push_back(0);
  payload[payload.size() - 9] = 5;
  const Bytes spoiled =
      EncodeStream({.kind = StreamKind::kSnapshot, .framing = Framing::kSections, .boot_id = 42}, payload);
  EXPECT_EQ(DecodeSnapshotStream(spoiled, nullptr).status().message(), "snapshot: a revision of a wrong length");
}

TEST(SnapshotStreamTest, StatisticsOfAWrongLengthAreRefused) {
  Snapshot next = Quiet();
  next.statistics = kStatistics;
  const Bytes stream = EncodeSnapshotStream(next, nullptr, {}, Framing::kSections);
  constexpr size_t kStatisticsBytes = 48;
  for (const size_t size : {0, 47, 49}) {
    Bytes payload = Payload(stream);
    payload.resize(payload.size() - kStatisticsBytes - 4);  // up to the section's length
    ByteWriter out;
    out.Raw(payload);
    out.U32(static_cast<uint32_t>(size));
    out.Raw(Bytes(size));
    const Bytes spoiled =
        EncodeStream({.kind = StreamKind::kSnapshot, .framing = Framing::kSections, .boot_id = 42}, out.written());
    EXPECT_EQ(DecodeSnapshotStream(spoiled, nullptr).status().message(), "snapshot: statistics of a wrong length")
        << size;
  }
}

TEST(SnapshotStreamTest, TheLengthOfAConfidentialVmSaysNothing) {
  Snapshot base = Quiet();
  const VmIds whole = {kHypervisorVm, 1};
  base = AsBase(base, whole);
  const size_t quiet = EncodeSnapshotStream(Busy(base, 0), &base, whole).size();
  const Bytes busy = EncodeSnapshotStream(Busy(base, ~uint64_t{0} / 3), &base, whole);
  EXPECT_EQ(busy.size(), quiet);
  EXPECT_EQ(*DecodeSnapshotStream(busy, &base), Busy(base, ~uint64_t{0} / 3));
}

TEST(SnapshotStreamTest, WrittenWholeAreConfidentialVmsAndTheDeviceUnlessTheyArePrivate) {
  Catalog catalog;
  catalog.vms = {{.id = 1}, {.id = 2, .is_private = true}};
  EXPECT_EQ(VmsWrittenWhole(catalog), VmIds{});
  catalog.vms.push_back({.id = 3, .confidential = true, .is_private = true});
  EXPECT_EQ(VmsWrittenWhole(catalog), VmIds{3});
  catalog.vms.push_back({.id = 4, .confidential = true});
  EXPECT_EQ(VmsWrittenWhole(catalog), (VmIds{kHypervisorVm, 3, 4}));
}

// Adds VM 2, whose counts neither the device's block nor another one includes.
Snapshot WithPrivateVm(Snapshot snapshot, uint64_t count) {
  snapshot.blocks.push_back(Block(2, kNoContext));
  snapshot.blocks.back().trigger_id = 99, snapshot.blocks.back().reference_time_ns = 1000;
  snapshot.counters.insert(snapshot.counters.end(), 16, count);
  return snapshot;
}

TEST(SnapshotStreamTest, TheDevicesIncrementsAreThoseOfItsOtherVms) {
  const VmIds whole = {2};
  for (const Framing framing : {Framing::kDelta, Framing::kSections}) {
    const Snapshot base = AsBase(WithPrivateVm(Quiet(), 12345), whole);
    const Snapshot quiet = WithPrivateVm(Busy(Quiet(), 0xFFFF), 0);
    const Snapshot busy = WithPrivateVm(Busy(Quiet(), 0xFFFF), ~uint64_t{0} / 3);
    const size_t private_block = EncodeSnapshotStream(quiet, &base, whole, framing).size() -
                                 EncodeSnapshotStream(Busy(Quiet(), 0xFFFF), &base, whole, framing).size();
    EXPECT_LE(private_block, (2 + 2 + 16 + 32 + 64 + 32 + 16 * 64) / 8 + 1u + 5 * 8u) << "a whole block, and the list";
    const Bytes stream = EncodeSnapshotStream(busy, &base, whole, framing);
    EXPECT_EQ(stream.size(), EncodeSnapshotStream(quiet, &base, whole, framing).size());
    EXPECT_EQ(*DecodeSnapshotStream(stream, &base), busy);
  }
}

TEST(SnapshotStreamTest, ABaseForgetsConfidentialCounts) {
  const Snapshot busy = Busy(Quiet(), 5);
  const Snapshot base = AsBase(busy, {kHypervisorVm, 1});
  EXPECT_EQ(base.counters, CounterValues(64)) << "and the device's, which include them";
  EXPECT_EQ(base.blocks, busy.blocks);
  EXPECT_EQ(AsBase(busy, {1}).Counters(0)[0], 5u) << "unless it is private";
  EXPECT_EQ(AsBase(busy, {}), busy);
}

// With VM 1 at rest, a later snapshot in which the hypervisor has counted on a slice of its own, and so has the device.
TEST(SnapshotStreamTest, AHostBlockIsAPartOfTheDevice) {
  Snapshot base = Quiet();
  base.blocks.push_back(Block(0, 3));
  base.counters.resize(5 * 16);
  Snapshot next = base;
  ++next.snapshot_id;
  for (size_t c = 0; c < 16; ++c) next.counters[c] = next.counters[4 * 16 + c] = 1000 + 7 * c;
  const Bytes stream = EncodeSnapshotStream(next, &base, {});
  EXPECT_EQ(*DecodeSnapshotStream(stream, &base), next);
  Snapshot alone = next;
  for (size_t c = 0; c < 16; ++c) alone.counters[c] = 0;
  // Sixteen increments of ten bits are those of the parts: the device's header takes a few bits, they take none.
  EXPECT_LE(stream.size(), EncodeSnapshotStream(alone, &base, {}).size() + 4);
}

TEST(SnapshotStreamTest, AHostBlockIsNoSecretBesideAConfidentialVm) {
  Snapshot busy = Busy(Quiet(), 5);
  busy.blocks.push_back(Block(0, 0));
  busy.counters.resize(5 * 16, 9);
  const VmIds whole = {kHypervisorVm, 1};
  const Snapshot base = AsBase(busy, whole);
  EXPECT_EQ(base.Counters(0)[0], 0u) << "the device's own counts are";
  EXPECT_EQ(base.Counters(4)[15], 9u);
  Snapshot next = busy;
  ++next.snapshot_id;
  const Bytes stream = EncodeSnapshotStream(next, &base, whole);
  EXPECT_EQ(*DecodeSnapshotStream(stream, &base), next);
  next.counters[4 * 16] += 1;
  EXPECT_GT(EncodeSnapshotStream(next, &base, whole).size(), stream.size()) << "increments, not written whole";
}

TEST(SnapshotStreamTest, AnySequenceComesBack) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    RandomSnapshots device(seed);
    const Framing framing = seed % 2 == 0 ? Framing::kDelta : Framing::kSections;
    Snapshot base = AsBase(device.Next(), device.whole());
    for (int i = 0; i < 12; ++i) {
      const Snapshot next = device.Next();
      const auto read = DecodeSnapshotStream(EncodeSnapshotStream(next, &base, device.whole(), framing), &base);
      ASSERT_TRUE(read.ok()) << "seed " << seed << ": " << read.status();
      ASSERT_EQ(*read, next) << "seed " << seed;
      if (i % 3 == 0) base = AsBase(next, device.whole());
    }
  }
}

TEST(SnapshotStreamTest, OnlyRelativeToWhatIsHeld) {
  const Snapshot base = Quiet();
  const Bytes stream = EncodeSnapshotStream(Busy(base, 1), &base, {});
  Snapshot other = base;
  other.snapshot_id = 6;
  Snapshot other_boot = base;
  other_boot.boot_id = 43;
  for (const Snapshot* wrong : std::initializer_list<const Snapshot*>{nullptr, &other, &other_boot}) {
    EXPECT_EQ(DecodeSnapshotStream(stream, wrong).status().code(), absl::StatusCode::kDataLoss);
  }
}

TEST(SnapshotStreamTest, EveryShorterAndLongerPayloadIsRefused) {
  const Snapshot base = Quiet();
  for (const Snapshot* relative_to : std::initializer_list<const Snapshot*>{&base, nullptr}) {
    Bytes payload = Payload(EncodeSnapshotStream(Busy(base, 77), relative_to, {}));
    for (size_t size = 0; size < payload.size(); ++size) {
      EXPECT_FALSE(DecodeSnapshotStream(DeltaStream(ByteSpan(payload).first(size), relative_to), relative_to).ok())
          << size;
    }
    payload.push_back(0);
    EXPECT_FALSE(DecodeSnapshotStream(DeltaStream(payload, relative_to), relative_to).ok());
  }
}

TEST(SnapshotStreamTest, HostileNumbersAreRefused) {
  const struct {
    const char* why;
    size_t offset;
    uint8_t value;
  } kCases[] = {
      {"more blocks than bits", 17, 0x40},
      {"many blocks", 17, 0xFF},
      {"many counters", 19, 0xFF},
      {"the blocks of no snapshot", 20, 0x01},  // the list's bit
  };
  for (const auto& test : kCases) {
    Bytes payload = Payload(EncodeSnapshotStream(Quiet(), nullptr, {}));
    payload[test.offset] |= test.value;
    EXPECT_EQ(DecodeSnapshotStream(DeltaStream(payload), nullptr).status().code(), absl::StatusCode::kInvalidArgument)
        << test.why;
  }
}

TEST(SnapshotStreamTest, AScopeTwiceIsRefused) {
  Snapshot snapshot = Quiet();
  snapshot.blocks[3] = snapshot.blocks[2];
  EXPECT_EQ(DecodeSnapshotStream(EncodeSnapshotStream(snapshot, nullptr, {}), nullptr).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(SnapshotStreamTest, ASmallStreamCannotAskForMuchMemory) {
  Bytes payload = Payload(EncodeSnapshotStream(Quiet(), nullptr, {}));
  payload[16] = 0xB8, payload[17] = 0x0B;  // 3000 blocks
  payload[18] = 0x00, payload[19] = 0x10;  // of 4096 counters
  payload.resize(payload.size() + 3000 * 8);
  EXPECT_EQ(DecodeSnapshotStream(DeltaStream(payload), nullptr).status().message(), "snapshot: too large");
}

TEST(SnapshotStreamTest, WhateverThePayloadSaysNothingBreaks) {
  std::mt19937_64 random(1);
  const Snapshot base = Quiet();
  const Bytes right = Payload(EncodeSnapshotStream(Busy(base, 12345), &base, {}));
  for (int i = 0; i < 20'000; ++i) {
    Bytes payload = right;
    for (int flips = 1 + static_cast<int>(random() % 8); flips > 0; --flips) {
      payload[kSnapshotFixedBytes + random() % (payload.size() - kSnapshotFixedBytes)] ^= 1 << random() % 8;
    }
    const auto read = DecodeSnapshotStream(DeltaStream(payload, &base), &base);
    if (!read.ok()) continue;
    EXPECT_EQ(read->counters.size(), read->blocks.size() * read->counters_per_block);
  }
}

TEST(SnapshotStreamTest, ACatalogueIsNoSnapshot) {
  EXPECT_EQ(DecodeSnapshotStream(EncodeStream({.kind = StreamKind::kCatalog}, {}), nullptr).status().code(),
            absl::StatusCode::kInvalidArgument);
}

// The example of stream_format.md.
TEST(SnapshotStreamTest, WorkedExample) {
  Snapshot base{.boot_id = 1, .snapshot_id = 4, .counters_per_block = 2};
  base.blocks = {{.vm = 0, .context = kNoContext}, {.vm = 1, .context = kNoContext}, {.vm = 1, .context = 0}};
  base.counters = {100, 7, 100, 0, 60, 0};
  Snapshot next = base;
  next.snapshot_id = 5;
  next.trigger_id = 9;
  next.reference_time_ns = 1000;
  next.counters = {105, 7, 105, 0, 65, 0};
  for (BlockHeader& block : next.blocks) {
    block = {.vm = block.vm, .context = block.context, .trigger_id = 9, .reference_time_ns = 1000, .sequence = 1};
  }
  const Bytes stream = EncodeSnapshotStream(next, &base, {});
  const Bytes expected = {0x00, 0x00, 0x00, 0x00, 0x09, 0x00, 0x00, 0x00, 0xE8, 0x03, 0x00,
                          0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x00, 0x02, 0x00, 0x0B, 0x81,
                          0xA9, 0x10, 0x98, 0x0A, 0x81, 0x50, 0x28, 0xE4, 0x8E, 0x92, 0x06};
  EXPECT_EQ(Bytes(stream.begin() + kStreamHeaderBytes, stream.end()), expected);
  EXPECT_EQ(*DecodeSnapshotStream(stream, &base), next);
}

TEST(SnapshotCostTest, OneWindowByHand) {
  const SnapshotCost cost = CostOfSnapshot(160, 255);
  EXPECT_EQ(cost.windows, 1u);
  EXPECT_EQ(cost.commands, 1u) << "LATCH";
  EXPECT_EQ(cost.bus_bytes, 2u * 8 + 3 * 9 + 160 + 5);
  EXPECT_EQ(cost.bit_times, 9u * cost.bus_bytes + 2 * 2 + 3 * 3 + 3);
  EXPECT_TRUE(cost.readable);
}

TEST(SnapshotCostTest, ASpanHasSixteenWindows) {
  EXPECT_EQ(CostOfSnapshot(4080, 255).commands, 1u);
  EXPECT_EQ(CostOfSnapshot(4081, 255).commands, 2u);
  EXPECT_EQ(CostOfSnapshot(4081, 255).windows, 17u);
  EXPECT_EQ(CostOfSnapshot(513, 32).commands, 2u);
}

TEST(SnapshotCostTest, NoStreamIsLongerThanTheLongest) {
  for (const auto& [blocks, counters] : {std::pair<size_t, size_t>{1, 1}, {5, 3}, {40, 100}, {3, 64}}) {
    Snapshot snapshot{.trigger_id = 0, .reference_time_ns = 0};
    snapshot.counters_per_block = static_cast<uint32_t>(counters);
    for (uint16_t i = 0; i < blocks; ++i) {
      snapshot.blocks.push_back(
          {.vm = 1, .context = i, .flags = 1, .trigger_id = 1, .reference_time_ns = 1, .sequence = 0x8000'0000});
    }
    snapshot.counters.resize(blocks * counters, ~uint64_t{0});
    snapshot.statistics.emplace();
    EXPECT_EQ(EncodeSnapshotStream(snapshot, nullptr, {}, Framing::kSections).size(),
              SnapshotStreamBytesMax(blocks, counters));
    EXPECT_LE(EncodeSnapshotStream(snapshot, nullptr, {}).size(), SnapshotStreamBytesMax(blocks, counters));
    EXPECT_LE(EncodeSnapshotStream(snapshot, nullptr, {1}, Framing::kSections).size(),
              SnapshotStreamBytesMax(blocks, counters));
  }
}

TEST(SnapshotCostTest, NoStreamIsShorterThanTheShortest) {
  Snapshot snapshot{.snapshot_id = 1};
  snapshot.counters_per_block = 10;
  for (uint16_t vm = 0; vm < 20; ++vm) snapshot.blocks.push_back({.vm = vm});
  snapshot.counters.resize(200);
  EXPECT_EQ(EncodeSnapshotStream(snapshot, &snapshot, {}).size(), SnapshotStreamBytesMin(20, 0, 10));
  EXPECT_EQ(EncodeSnapshotStream(snapshot, &snapshot, {kHypervisorVm, 3, 4}).size(), SnapshotStreamBytesMin(20, 3, 10))
      << "and the device's";
}

// All blocks have numbers of all plans, which are hard to predict.
Snapshot Rotating(uint16_t blocks, const RotationShape& shape) {
  std::mt19937_64 random(1);
  const auto numbers = [&](size_t size) {
    std::vector<uint64_t> drawn(size);
    for (uint64_t& number : drawn) number = random();
    return drawn;
  };
  Snapshot snapshot{.counters_per_block = 100};
  snapshot.counters.resize(blocks * size_t{100}, ~uint64_t{0});
  for (uint16_t event = 0; event < shape.events; ++event) snapshot.layout.events.push_back({event, kNoGateGroup});
  for (uint16_t plan = 0; plan < shape.plans; ++plan) snapshot.layout.plans.push_back({plan, numbers(shape.events)});
  for (uint16_t i = 0; i < blocks; ++i) {
    snapshot.blocks.push_back({.vm = 1, .context = i});
    BlockRotation& block = snapshot.rotation.emplace_back();
    for (uint16_t plan = 0; plan < shape.plans; ++plan) {
      block.parts.push_back({plan, numbers(shape.columns), numbers(shape.columns * (shape.sets / shape.plans))});
    }
    for (size_t event = 0; event < shape.events; ++event) block.events.push_back({random(), random(), random()});
  }
  return snapshot;
}

TEST(SnapshotCostTest, RotationNumbersAreBetweenTheirBounds) {
  for (const RotationShape& shape : {RotationShape{.events = 40, .plans = 1, .sets = 8},
                                     RotationShape{.events = 100, .plans = 3, .sets = 60, .columns = 4},
                                     RotationShape{.events = 1, .plans = 2, .sets = 2, .columns = 65}}) {
    const Snapshot rotating = Rotating(9, shape);
    Snapshot bare = rotating;
    bare.rotation.clear(), bare.layout = {};
    const auto section = [&](const Snapshot* base, const Snapshot* bare_base, const VmIds& whole) {
      return EncodeSnapshotStream(rotating, base, whole, Framing::kSections).size() -
             EncodeSnapshotStream(bare, bare_base, whole, Framing::kSections).size();
    };
    const size_t most = SnapshotStreamBytesMax(9, 100, shape) - SnapshotStreamBytesMax(9, 100);
    EXPECT_LE(section(nullptr, nullptr, {}), most);
    EXPECT_GE(section(nullptr, nullptr, {}), most * 9 / 10);
    EXPECT_LE(section(nullptr, nullptr, {1}), most);
    EXPECT_EQ(section(&rotating, &bare, {}),
              SnapshotStreamBytesMin(9, 0, 100, shape) - SnapshotStreamBytesMin(9, 0, 100));
    EXPECT_EQ(section(&rotating, &bare, {1}),
              SnapshotStreamBytesMin(9, 9, 100, shape) - SnapshotStreamBytesMin(9, 9, 100));
  }
}

TEST(SnapshotCostTest, ClocksAreBetweenTheirBounds) {
  for (const size_t domains : {1, 3, 64}) {
    Snapshot snapshot{.snapshot_id = 1, .clocks = {}};
    snapshot.clocks.assign(domains, ClockReading());
    snapshot.blocks = {{.vm = 0}};
    EXPECT_EQ(EncodeSnapshotStream(snapshot, &snapshot, {}, Framing::kSections).size(),
              SnapshotStreamBytesMin(1, 0, 0, {}, domains) + 8)
        << "the blocks' section";
    constexpr uint64_t kFar = uint64_t{1} << 63;
    const ClockReading far{.local_clock = kFar, .horizon_lag = kFar, .arrival = kFar, .changes = UINT32_MAX};
    snapshot.clocks.assign(domains, far);
    Snapshot bare = snapshot;
    bare.clocks.clear();
    EXPECT_EQ(EncodeSnapshotStream(snapshot, nullptr, {}, Framing::kSections).size() -
                  EncodeSnapshotStream(bare, nullptr, {}, Framing::kSections).size(),
              SnapshotStreamBytesMax(1, 0, {}, domains) - SnapshotStreamBytesMax(1, 0));
  }
}

TEST(SnapshotCostTest, PeeksByHand) {
  constexpr uint64_t kWrite = 9 * 8 + 2, kRead = 9 * 9 + 3;
  EXPECT_EQ(PeekBitTimes(1, 255), 6 * kWrite + 3 * kRead + (9 * (78 + 5) + 3));
  EXPECT_EQ(PeekBitTimes(64, 255), 6 * kWrite + 3 * kRead + (9 * (582 + 3 * 5) + 3 * 3));
  EXPECT_EQ(PeekBitTimes(1, 32), 6 * kWrite + 3 * kRead + (9 * (78 + 3 * 5) + 3 * 3));
}

TEST(SnapshotCostTest, AStreamBeyondTheControllersLimitIsMarked) {
  EXPECT_FALSE(CostOfSnapshot(SnapshotStreamBytesMax(17'000, 4096), 255).readable);
}

}  // namespace
}  // namespace sideband::mailbox
