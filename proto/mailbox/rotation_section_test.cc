// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/rotation_section.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "proto/mailbox/catalog.h"
#include "proto/mailbox/random_snapshots.h"
#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/stream.h"

namespace sideband::mailbox {
namespace {

Bytes Encoded(const Snapshot& snapshot, const Snapshot* base, const VmIds& whole) {
  return EncodeSnapshotStream(snapshot, base, whole, Framing::kSections);
}

// The device, a VM and a context with four counters, of which the last three rotate in two sets.
Snapshot SnapshotWithRotation() {
  Snapshot snapshot{.boot_id = 42, .snapshot_id = 7, .counters_per_block = 4};
  snapshot.blocks = {{.vm = 0}, {.vm = 1}, {.vm = 1, .context = 0}};
  snapshot.layout = {.events = {{1, kNoGateGroup}, {2, kNoGateGroup}, {3, kNoGateGroup}},
                     .plans = {{.number = 0, .sets_of = {1, 2, 3}}}};
  for (size_t i = 0; i < 3; ++i) {
    snapshot.rotation.push_back({.parts = {{.plan = 0, .enabled = {1000}, .running = {400, 600}}},
                                 .events = {{250, 700, 12}, {330, 600, 9}, {500, 500, 0}}});
    for (const uint64_t count : {1000, 100, 200, 500}) snapshot.counters.push_back(count);
  }
  return snapshot;
}

TEST(RotationSectionTest, AnySequenceComesBack) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    RandomSnapshots device(seed, /*with_rotation=*/true);
    Snapshot base = AsBase(device.Next(), device.whole());
    for (int i = 0; i < 12; ++i) {
      const Snapshot next = device.Next();
      const Snapshot* const of = seed % 7 == 0 && i % 4 == 0 ? nullptr : &base;
      const auto read = DecodeSnapshotStream(Encoded(next, of, device.whole()), of);
      ASSERT_TRUE(read.ok()) << "seed " << seed << ": " << read.status();
      ASSERT_EQ(*read, next) << "seed " << seed;
      if (i % 3 == 0) base = AsBase(next, device.whole());
    }
  }
}

TEST(RotationSectionTest, TheLengthOfAConfidentialVmSaysNothing) {
  const VmIds whole = {kHypervisorVm, 1};
  const Snapshot base = AsBase(SnapshotWithRotation(), whole);
  Snapshot quiet = SnapshotWithRotation(), busy = SnapshotWithRotation();
  for (BlockRotation& numbers : busy.rotation) {
    numbers.parts[0].enabled[0] = ~uint64_t{0} / 3;
    for (EventEstimate& event : numbers.events) event = {~uint64_t{0} / 5, kUnknownNumber, kUnknownNumber};
  }
  EXPECT_EQ(Encoded(busy, &base, whole).size(), Encoded(quiet, &base, whole).size());
  EXPECT_EQ(*DecodeSnapshotStream(Encoded(busy, &base, whole), &base), busy);
  for (const BlockRotation& numbers : base.rotation) EXPECT_EQ(numbers, BlockRotation{}) << "a base forgets them";
}

TEST(RotationSectionTest, VersionOneHasNoPlaceForThem) {
  const Snapshot small = SnapshotWithRotation();
  const auto read = DecodeSnapshotStream(EncodeSnapshotStream(small, nullptr, {}), nullptr);
  EXPECT_TRUE(read->rotation.empty());
  EXPECT_EQ(read->counters, small.counters);
}

TEST(RotationSectionTest, TheFlagIsOfVersionTwo) {
  Snapshot small = SnapshotWithRotation();
  small.blocks[2].flags = kFlagRotationInconsistent | kFlagEstimated;
  EXPECT_EQ(DecodeSnapshotStream(Encoded(small, nullptr, {}), nullptr)->blocks, small.blocks);
  EXPECT_EQ(DecodeSnapshotStream(EncodeSnapshotStream(small, nullptr, {}), nullptr)->blocks[2].flags, kFlagEstimated);
}

TEST(RotationSectionTest, UnchangedNumbersCostABit) {
  const Snapshot base = SnapshotWithRotation();
  Snapshot without = base;
  without.rotation.clear();
  EXPECT_EQ(Encoded(base, &base, {}).size(), Encoded(without, &base, {}).size() + 8 + 1);
}

// A later snapshot in which the context has run on; its VM and the device have gained the same.
Snapshot Later(Snapshot snapshot, size_t first, size_t last) {
  ++snapshot.snapshot_id;
  for (size_t block = first; block <= last; ++block) {
    BlockRotation& numbers = snapshot.rotation[block];
    numbers.parts[0].enabled[0] += 123'456;
    numbers.parts[0].running[0] += 61'000, numbers.parts[0].running[1] += 62'000;
    numbers.events[0].estimate += 77'777, numbers.events[0].upper += 99'999;
  }
  return snapshot;
}

TEST(RotationSectionTest, WhatAddsUpDoesNotTravel) {
  const Snapshot base = SnapshotWithRotation();
  const size_t alone = Encoded(Later(base, 2, 2), &base, {}).size();
  const Bytes all = Encoded(Later(base, 0, 2), &base, {});
  // For VM and device: unchanged before, now three bits and four rows of a choice, a form and a width or two.
  EXPECT_LE(all.size(), alone + 2 * 4);
  EXPECT_EQ(*DecodeSnapshotStream(all, &base), Later(base, 0, 2));
}

TEST(RotationSectionTest, GatesThatAreAlwaysOpenCostLittle) {
  const auto with_groups = [](Snapshot snapshot) {
    for (BlockRotation& numbers : snapshot.rotation) {
      RotationPart& part = numbers.parts[0];
      const std::vector<uint64_t> running = part.running;
      part.enabled.assign(9, part.enabled[0]);
      part.running.clear();
      for (const uint64_t cycles : running) part.running.insert(part.running.end(), 9, cycles);
    }
    return snapshot;
  };
  const Snapshot base = SnapshotWithRotation(), base_of_groups = with_groups(base);
  const Snapshot next = Later(base, 0, 2), next_of_groups = with_groups(next);
  const Bytes stream = Encoded(next_of_groups, &base_of_groups, {});
  // Three blocks of eight columns, each a choice, a form and a width of 0.
  EXPECT_LE(stream.size(), Encoded(next, &base, {}).size() + 3 * 8 * 6 / 8 + 1);
  EXPECT_EQ(*DecodeSnapshotStream(stream, &base_of_groups), next_of_groups);
}

TEST(RotationSectionTest, OtherSizesThanTheLayoutsAreRefused) {
  const Snapshot right = SnapshotWithRotation();
  const auto refusal = [](const Snapshot& snapshot) {
    return std::string(DecodeSnapshotStream(Encoded(snapshot, nullptr, {}), nullptr).status().message());
  };
  const auto spoilt = [&](const std::function<void(Snapshot&)>& spoil) {
    Snapshot snapshot = right;
    spoil(snapshot);
    return refusal(snapshot);
  };
  EXPECT_EQ(refusal(right), "");
  EXPECT_EQ(spoilt([](Snapshot& s) { s.layout.events[2].event = 2; }), "snapshot: rotation: events do not ascend");
  EXPECT_EQ(spoilt([](Snapshot& s) { s.layout.events[0].gate_group = 64; }),
            "snapshot: rotation: a gate group does not exist");
  EXPECT_EQ(spoilt([](Snapshot& s) { s.layout.plans.push_back(s.layout.plans[0]); }),
            "snapshot: rotation: plans do not ascend");
  EXPECT_EQ(spoilt([](Snapshot& s) { s.rotation[1].parts.push_back(s.rotation[1].parts[0]); }),
            "snapshot: rotation: parts do not ascend");
  EXPECT_EQ(spoilt([](Snapshot& s) { s.rotation[1].parts[0].running.resize(65); }),
            "snapshot: rotation: too many counter sets");
}

// A frame around the section of the small snapshot, with that section's bits in place.
Bytes SectionsStream(const Snapshot& base, ByteSpan payload) {
  return EncodeStream({.kind = StreamKind::kSnapshot,
                       .framing = Framing::kSections,
                       .boot_id = base.boot_id,
                       .base_id = base.snapshot_id},
                      payload);
}

TEST(RotationSectionTest, WhateverTheBitsSayNothingBreaks) {
  std::mt19937_64 random(1);
  const Snapshot base = SnapshotWithRotation();
  Snapshot next = base;
  for (BlockRotation& numbers : next.rotation) numbers.parts[0].enabled[0] += 77, numbers.events[1].estimate += 12345;
  Snapshot other = next;
  other.layout.plans[0].number = 3;
  other.rotation[1].parts[0].plan = 3;
  for (const Snapshot& right : {next, other}) {
    const Bytes stream = Encoded(right, &base, {});
    const Bytes payload(stream.begin() + kStreamHeaderBytes, stream.end() - kStreamCrcBytes);
    int refused = 0;
    for (int i = 0; i < 20'000; ++i) {
      Bytes spoiled = payload;
      for (int flips = 1 + static_cast<int>(random() % 8); flips > 0; --flips) {
        spoiled[kSnapshotFixedBytes + random() % (spoiled.size() - kSnapshotFixedBytes)] ^= 1 << random() % 8;
      }
      const auto read = DecodeSnapshotStream(SectionsStream(base, spoiled), &base);
      if (!read.ok()) {
        ++refused;
        // A flip of the section's type makes it clocks or bookmarks, whose errors are DATA_LOSS.
        EXPECT_TRUE(absl::IsInvalidArgument(read.status()) || absl::IsDataLoss(read.status())) << read.status();
        continue;
      }
      EXPECT_TRUE(read->rotation.empty() || read->rotation.size() == read->blocks.size());
    }
    EXPECT_GT(refused, 5000);
  }
}

// A device with 8 VMs of 8 contexts and 46 events, of which 40 rotate: one context in eight runs for a second of
// 1 GHz between two snapshots.
class SteadyDevice {
 public:
  SteadyDevice(uint64_t seed, size_t sets) : random_(seed), sets_(sets) {
    now_.boot_id = 1;
    now_.counters_per_block = kEvents;
    now_.blocks.push_back({.vm = kHypervisorVm, .context = kNoContext});
    for (uint16_t vm = 1; vm <= kVms; ++vm) {
      now_.blocks.push_back({.vm = vm, .context = kNoContext});
      for (uint16_t context = 0; context < kContexts; ++context) now_.blocks.push_back({.vm = vm, .context = context});
    }
    RotationLayout::Plan plan;
    for (uint16_t i = 0; i < kRotated; ++i) {
      now_.layout.events.push_back({static_cast<uint16_t>(kEvents - kRotated + i), kNoGateGroup});
      plan.sets_of.push_back(uint64_t{1} << i % sets);
    }
    now_.layout.plans.push_back(plan);
    now_.rotation.resize(now_.blocks.size());
    for (BlockRotation& numbers : now_.rotation) {
      numbers.parts = {{.plan = 0, .enabled = {0}, .running = std::vector<uint64_t>(sets)}};
      numbers.events.resize(kRotated);
    }
    now_.counters.resize(now_.blocks.size() * kEvents);
    variances_.assign(now_.blocks.size(), std::vector<double>(kRotated));
    for (auto& rates : rates_of_) {
      for (size_t e = 0; e < kEvents; ++e) rates.push_back(std::pow(10, -4 * Uniform()));
    }
  }

  // All contexts have run `warm` times before.
  Snapshot Next(bool all) {
    ++now_.snapshot_id;
    now_.trigger_id += 15'258;
    now_.reference_time_ns += 1'000'000'000;
    for (size_t vm = 0; vm < kVms; ++vm) {
      for (size_t context = 0; context < kContexts; ++context) {
        if (all || context == turn_ % kContexts) Run(vm, context);
      }
    }
    for (BlockHeader& block : now_.blocks) {
      block.trigger_id = now_.trigger_id, block.reference_time_ns = now_.reference_time_ns;
      block.state = BlockState::kActive;
      block.flags = kFlagEstimated;
    }
    if (!all) ++turn_;
    return now_;
  }

 private:
  static constexpr size_t kVms = 8, kContexts = 8, kEvents = 46, kRotated = 40;
  static constexpr uint64_t kSlot = 200'000;

  double Uniform() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  double Noise(double by) { return std::normal_distribution<double>(0, by)(random_); }

  void Run(size_t vm, size_t context) {
    const size_t place = 2 + vm * (kContexts + 1) + context;
    // Own time: a context shares its slice with others.
    const auto cycles = static_cast<uint64_t>(125e6 * (1 + Noise(0.05)));
    std::vector<uint64_t> running(sets_);
    for (uint64_t& cycles_of : running) {
      cycles_of = static_cast<uint64_t>(static_cast<double>(cycles) / static_cast<double>(sets_)) / kSlot * kSlot;
    }
    running[random_() % sets_] += cycles - running[0] * sets_;
    for (const size_t block : {size_t{0}, 1 + vm * (kContexts + 1), place}) {
      RotationPart& part = now_.rotation[block].parts[0];
      part.enabled[0] += cycles;
      for (size_t set = 0; set < sets_; ++set) part.running[set] += running[set];
      now_.blocks[block].sequence += 4;
    }
    for (size_t event = 0; event < kEvents; ++event) Count(vm, place, event, cycles, running);
  }

  void Count(size_t vm, size_t place, size_t event, uint64_t cycles, const std::vector<uint64_t>& running) {
    const bool rotates = event >= kEvents - kRotated;
    const size_t entry = event - (kEvents - kRotated);
    const uint64_t time = rotates ? running[entry % sets_] : cycles;
    const double rate = rates_of_[place % 4][event] * (1 + Noise(0.03));
    const auto counted = static_cast<uint64_t>(rate * static_cast<double>(time));
    const double spread = std::pow(10, -3 + Uniform());  // 0.1 to 1 %
    const auto estimate = static_cast<uint64_t>(static_cast<double>(counted) * static_cast<double>(cycles) /
                                                static_cast<double>(time) * (1 + Noise(spread)));
    const double variance = std::pow(0.003 * static_cast<double>(estimate), 2) * (1 + Noise(0.1));
    for (const size_t block : {size_t{0}, 1 + vm * (kContexts + 1), place}) {
      now_.counters[block * kEvents + event] += counted;
      if (!rotates) continue;
      EventEstimate& numbers = now_.rotation[block].events[entry];
      variances_[block][entry] += variance;
      numbers.estimate += estimate;
      numbers.upper += counted + (cycles - time);  // a gain of one per cycle
      numbers.deviation = static_cast<uint64_t>(std::ceil(std::sqrt(variances_[block][entry])));
    }
  }

  std::mt19937_64 random_;
  const size_t sets_;
  size_t turn_ = 0;
  std::vector<double> rates_of_[4];
  std::vector<std::vector<double>> variances_;
  Snapshot now_;
};

uint64_t BitTimes(const Snapshot& snapshot, const Snapshot& base) {
  return CostOfSnapshot(Encoded(snapshot, &base, {}).size(), 255).bit_times;
}

TEST(RotationSectionTest, ASteadySnapshotCostsAtMostTwiceAsMuch) {
  for (const size_t sets : {4, 5, 8}) {
    SteadyDevice device(sets, sets);
    Snapshot base;
    for (int i = 0; i < 20; ++i) base = device.Next(/*all=*/true);
    uint64_t with = 0, without = 0;
    for (int i = 0; i < 16; ++i) {
      const Snapshot next = device.Next(/*all=*/false);
      Snapshot bare = next, bare_base = base;
      bare.rotation.clear(), bare.layout = {};
      bare_base.rotation.clear(), bare_base.layout = {};
      with += BitTimes(next, base);
      without += BitTimes(bare, bare_base);
      base = next;
    }
    const double ratio = static_cast<double>(with) / static_cast<double>(without);
    RecordProperty(std::to_string(sets) + " sets", std::to_string(ratio));
    EXPECT_LE(ratio, 2.2) << sets << " sets";
  }
}

}  // namespace
}  // namespace sideband::mailbox
