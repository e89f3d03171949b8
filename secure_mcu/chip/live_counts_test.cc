// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/chip/live_counts.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/mailbox/catalog.h"
#include "secure_mcu/chip/chip.h"
#include "secure_mcu/chip/clocked_chip.h"
#include "sim/workload/synthetic_slice.h"

namespace sideband::mcu {
namespace {

constexpr uint32_t kSlices = 2;
constexpr uint32_t kPathEvents = 100;
constexpr HpcResident kWithContext{.vm = true, .context = true, .useren = true};

// Live counts that tell manager, event and cycle.
uint64_t CountAt(HpcManagerId manager, uint16_t event, uint64_t cycle) {
  return uint64_t{manager.module} << 32 | uint64_t{event} << 16 | cycle;
}

class Path {
 public:
  explicit Path(HpcTiming timing = {})
      : path_({.slices = kSlices, .events = kPathEvents, .timing = timing},
              [this](size_t, HpcManagerId manager, std::span<const uint16_t> events, std::span<uint64_t> counts) {
                for (size_t i = 0; i < events.size(); ++i) counts[i] += CountAt(manager, events[i], now_);
              }) {}

  HpcReadPath* operator->() { return &path_; }

  void AdvanceTo(uint64_t cycle) {
    while (path_.NextStop() <= cycle) {
      now_ = path_.NextStop();
      path_.RunTo(now_);
    }
    now_ = cycle;
  }
  void Write(size_t client, HpcRegister which, uint64_t value, HpcPrivilege privilege = HpcPrivilege::kUser) {
    path_.Write(client, which, value, privilege, now_);
    AdvanceTo(now_ + 1);
  }
  uint64_t Read(size_t client, HpcRegister which) {
    const uint64_t value = path_.Read(client, which, now_);
    AdvanceTo(now_ + 1);
    return value;
  }
  void Start(size_t client, HpcManagerId manager, uint64_t bitmap, HpcPrivilege privilege = HpcPrivilege::kUser,
             uint64_t more = hpc::kHpccUseren) {
    Write(client, HpcRegister::kHpcm, bitmap, privilege);
    Write(client, HpcRegister::kHpcc,
          uint64_t{manager.module} << hpc::kHpccModuleLsb | uint64_t{manager.extend} << hpc::kHpccExtendLsb |
              hpc::kHpccTrigger | more,
          privilege);
  }
  uint64_t now() const { return now_; }

 private:
  uint64_t now_ = 0;
  HpcReadPath path_;
};

// Values of a request, with the cycle of each read; refused requests have none.
struct Seen {
  std::vector<uint64_t> words;
  bool operator==(const Seen&) const = default;
};

// Everything that a program sees from the trigger until trigger is 0 again, and then the FIFO.
Seen Transcript(Path& path, size_t client, HpcManagerId manager, uint64_t bitmap, HpcPrivilege privilege) {
  Seen seen;
  path.Start(client, manager, bitmap, privilege);
  for (int i = 0; i < 200; ++i) {
    const uint64_t hpcc = path.Read(client, HpcRegister::kHpcc);
    seen.words.push_back(hpcc & ~(hpc::kHpccExtend | hpc::kHpccModule));  // what the program wrote itself
    if ((hpcc & hpc::kHpccTrigger) == 0) break;
  }
  seen.words.push_back(path.Read(client, HpcRegister::kHpcm));
  for (int i = 0; i < 3; ++i) seen.words.push_back(path.Read(client, HpcRegister::kHpcr));
  return seen;
}

TEST(HpcReadPathTest, ReadsTheOwnContextAtTheCycleOfTheGrant) {
  Path path;
  path->Switch(1, kWithContext, 0);
  path.Start(1, {.module = 1, .extend = 1}, 0b101);  // triggered at cycle 1
  path.AdvanceTo(100);
  EXPECT_EQ(path.Read(1, HpcRegister::kHpcr), CountAt({1, 1}, 64, 1 + hpc::kHopCycles));
  EXPECT_EQ(path.Read(1, HpcRegister::kHpcr), CountAt({1, 1}, 66, 1 + hpc::kHopCycles));
  EXPECT_NE(path.Read(1, HpcRegister::kHpcc) & hpc::kHpccEmpty, 0u);
}

TEST(HpcReadPathTest, ValuesArriveOneByOne) {
  Path path({.hop_cycles = 2, .lookup_cycles = 3});
  path->Switch(0, kWithContext, 0);
  path.Start(0, {}, 0b11);
  // Triggered at cycle 1, granted at 3; the values are pushed in cycles 8 and 11.
  std::vector<uint64_t> bits;
  for (uint64_t cycle = 2; cycle <= 13; ++cycle) bits.push_back(path.Read(0, HpcRegister::kHpcm));
  EXPECT_EQ(bits, (std::vector<uint64_t>{0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 3, 3}));
}

TEST(HpcReadPathTest, TheVmIsForSupervisors) {
  Path path;
  path->Switch(0, kWithContext, 0);
  path.Start(0, {.module = hpc::kModuleVm}, 1);
  EXPECT_NE(path.Read(0, HpcRegister::kHpcc) & hpc::kHpccRefused, 0u);
  path.Start(0, {.module = hpc::kModuleVm}, 1, HpcPrivilege::kSupervisor);
  path.AdvanceTo(100);
  EXPECT_EQ(path.Read(0, HpcRegister::kHpcr) >> 32, hpc::kModuleVm);
}

TEST(HpcReadPathTest, WhatNoSliceCountsIsRefusedAsWhatDoesNotExist) {
  const auto refused = [](uint64_t bitmap) {
    HpcReadPath path({.slices = 1, .events = 4, .of_residents = {0b0101}},
                     [](size_t, HpcManagerId, std::span<const uint16_t>, std::span<uint64_t>) {});
    path.Switch(0, kWithContext, 0);
    path.Write(0, HpcRegister::kHpcm, bitmap, HpcPrivilege::kUser, 1);
    path.Write(0, HpcRegister::kHpcc, hpc::kHpccTrigger, HpcPrivilege::kUser, 2);
    return path.Read(0, HpcRegister::kHpcc, 3);
  };
  EXPECT_EQ(refused(0b0101) & hpc::kHpccRefused, 0u);
  EXPECT_NE(refused(0b0010) & hpc::kHpccRefused, 0u);
  EXPECT_EQ(refused(0b0111), refused(0b1'0101)) << "an event that does not exist";
}

TEST(HpcReadPathTest, DeniedAndAbsentLookTheSame) {
  const auto transcript = [](HpcManagerId manager, uint64_t bitmap) {
    Path path;
    path->Switch(0, kWithContext, 0);
    path->Switch(1, kWithContext, 0);
    return Transcript(path, 0, manager, bitmap, HpcPrivilege::kUser);
  };
  const Seen absent = transcript({.module = 2000, .extend = 63}, 1);
  EXPECT_NE(absent.words.front() & hpc::kHpccRefused, 0u);
  EXPECT_EQ(transcript({.module = 1}, 1), absent);                   // another slice
  EXPECT_EQ(transcript({.module = hpc::kModuleVm}, 1), absent);      // the VM, for a user
  EXPECT_EQ(transcript({.module = hpc::kModuleVm + 1}, 1), absent);  // another VM
  EXPECT_EQ(transcript({.module = hpc::kModuleDevice}, 1), absent);  // the device
  EXPECT_EQ(transcript({.module = 0, .extend = 2}, 1), absent);      // events that do not exist
  EXPECT_NE(transcript({.module = 0, .extend = 1}, 1), absent);
}

TEST(HpcReadPathTest, OneEventThatDoesNotExistRefusesTheRequest) {
  Path path;
  path->Switch(0, kWithContext, 0);
  path.Start(0, {.extend = 1}, uint64_t{1} << 36 | 1);  // event 100
  EXPECT_NE(path.Read(0, HpcRegister::kHpcc) & hpc::kHpccRefused, 0u);
  path.Start(0, {.extend = 1}, uint64_t{1} << 35 | 1);
  EXPECT_EQ(path.Read(0, HpcRegister::kHpcc) & hpc::kHpccRefused, 0u);
}

TEST(HpcReadPathTest, NobodyReadsAnIdleSlice) {
  Path path;
  path->Switch(0, {}, 0);
  path.Start(0, {}, 1, HpcPrivilege::kSupervisor);
  EXPECT_NE(path.Read(0, HpcRegister::kHpcc) & hpc::kHpccRefused, 0u);
}

TEST(HpcReadPathTest, AVmWithoutAContextHasNoContextToRead) {
  Path path;
  path->Switch(0, {.vm = true, .useren = true}, 0);
  path.Start(0, {.module = hpc::kModuleContext}, 1, HpcPrivilege::kSupervisor);
  EXPECT_NE(path.Read(0, HpcRegister::kHpcc) & hpc::kHpccRefused, 0u);
  path.Start(0, {.module = hpc::kModuleVm}, 1, HpcPrivilege::kSupervisor);
  EXPECT_EQ(path.Read(0, HpcRegister::kHpcc) & hpc::kHpccRefused, 0u);
}

// Whatever was done before a switch, the next resident sees the same, at the same cycles.
TEST(HpcReadPathTest, NothingOfThePreviousResidentIsSeen) {
  const auto next_resident = [](uint32_t seed) {
    Path path({.hop_cycles = 3, .lookup_cycles = 5});
    path->Switch(0, kWithContext, 0);
    std::mt19937 random(seed);
    for (int i = 0; seed > 0 && i < 100; ++i) {
      const uint64_t value = random() | uint64_t{random()} << 32;
      const HpcManagerId own{.module = static_cast<uint16_t>(random() % 2 == 0 ? 0 : 64), .extend = 0};
      if (random() % 3 == 0) path.Start(0, own, value, HpcPrivilege::kSupervisor);
      if (random() % 3 == 0) path.Write(0, HpcRegister::kHpcc, value & ~hpc::kHpccTrigger, HpcPrivilege::kSupervisor);
      if (random() % 3 == 0) path.Read(0, HpcRegister::kHpcr);
    }
    path.AdvanceTo(1000);
    if (seed > 0) {
      for (int i = 0; i < 2; ++i) {
        path.Start(0, {}, ~uint64_t{0});
        path.Write(0, HpcRegister::kHpcc, 0, HpcPrivilege::kSupervisor);  // two tags are taken
      }
    }
    path.AdvanceTo(1010);
    path->Switch(0, kWithContext, 1010);
    Seen seen{{path.Read(0, HpcRegister::kHpcc), path.Read(0, HpcRegister::kHpcm)}};
    for (int i = 0; i < 2; ++i) seen.words.push_back(path->Read(0, HpcRegister::kHpcr, 1013, HpcHalf::kHigh));
    const Seen request = Transcript(path, 0, {}, 0b111, HpcPrivilege::kUser);
    seen.words.insert(seen.words.end(), request.words.begin(), request.words.end());
    return seen;
  };
  const Seen fresh = next_resident(0);
  EXPECT_EQ(fresh.words[0], hpc::kHpccInterrupted | hpc::kHpccEmpty | hpc::kHpccUseren);
  for (uint32_t seed = 1; seed < 200; ++seed) ASSERT_EQ(next_resident(seed), fresh) << seed;
}

TEST(HpcReadPathTest, OtherSlicesDoNotDelay) {
  const auto transcript = [](bool flood) {
    Path path({.hop_cycles = 2, .lookup_cycles = 4});
    path->Switch(0, kWithContext, 0);
    path->Switch(1, kWithContext, 0);
    for (int i = 0; i < 4; ++i) {
      const HpcPrivilege supervisor = HpcPrivilege::kSupervisor;
      if (flood) path->Write(1, HpcRegister::kHpcc, hpc::kHpccUseren, supervisor, path.now());
      if (flood) path->Write(1, HpcRegister::kHpcm, ~uint64_t{0}, supervisor, path.now());
      const uint64_t own = uint64_t{1} << hpc::kHpccModuleLsb | hpc::kHpccTrigger | hpc::kHpccUseren;
      if (flood) path->Write(1, HpcRegister::kHpcc, own, supervisor, path.now());
    }
    return Transcript(path, 0, {}, ~uint64_t{0}, HpcPrivilege::kUser);
  };
  EXPECT_EQ(transcript(true), transcript(false));
}

TEST(HpcReadPathTest, WithoutRequestsNothingIsDue) {
  Path path;
  path->Switch(0, kWithContext, 0);
  path.Write(0, HpcRegister::kHpcm, 1);
  path.Read(0, HpcRegister::kHpcr);
  EXPECT_EQ(path->NextStop(), kNoCycle);
}

constexpr uint64_t kBegin = 1000;
constexpr uint64_t kStart = 123'457;

sim::Workload MakeWorkload() {
  std::vector<std::string> names;
  for (uint32_t event = 0; event < mailbox::kEventsMax; ++event) names.push_back(absl::StrCat("event_", event));
  return sim::Workload::Create({.phases = {{sim::PhaseKind::kGemm, 20'000}, {sim::PhaseKind::kAttention, 9'000}},
                                .seed = 7,
                                .wire_events = std::move(names)})
      .value();
}

// Wire n is event n.
PipelineConfig LargestConfig() {
  PipelineConfig config{.slices = 1, .events = mailbox::kEventsMax, .clock_hz = 1'000'000'000};
  config.trigger_period = config.commit_period = config.hypervisor_commit_period = 10'000;
  std::vector<CounterInput> inputs(mailbox::kEventsMax);
  for (uint32_t wire = 0; wire < mailbox::kEventsMax; ++wire) {
    inputs[wire] = {.wire = wire, .meaning = {static_cast<uint16_t>(wire), 0}};
  }
  config.ccus = Pack("slice0", 0, inputs, {});
  return config;
}

// The counters of a manager, with the cycle at which they were taken before them.
std::vector<uint64_t> ReadManager(Chip& chip, uint8_t extend) {
  const auto write = [&](HpcRegister which, uint64_t value) {
    chip.live().hpc().Write(0, which, value, HpcPrivilege::kUser, chip.now());
  };
  write(HpcRegister::kHpcm, ~uint64_t{0});
  write(HpcRegister::kHpcc, uint64_t{extend} << hpc::kHpccExtendLsb | hpc::kHpccStamp | hpc::kHpccTrigger);
  chip.AdvanceTo(chip.now() + 2 * hpc::kHopCycles + hpc::kCountersPerManager * hpc::kLookupCycles + 2);
  std::vector<uint64_t> words(1 + hpc::kCountersPerManager);
  for (uint64_t& word : words) word = chip.live().hpc().Read(0, HpcRegister::kHpcr, chip.now());
  return words;
}

TEST(LiveCountsTest, EveryEventOfTheLargestCatalogueIsExactInOnePassOfItsManagers) {
  const auto chip = Chip::Create(LargestConfig()).value();
  sim::SyntheticSlice wires;
  ASSERT_TRUE(wires.Add("vm", "context", MakeWorkload()).ok());
  chip->Attach(0, wires);
  chip->Attach(kDeviceChannel, wires);
  const BlockId vm = chip->memory().Create(1, mailbox::kNoContext), context = chip->memory().Create(1, 0);
  chip->guests().vm_control(vm).useren = true;
  chip->AdvanceTo(kBegin);
  wires.SwitchIn("vm", "context", kBegin);
  chip->SwitchTo(0, Binding{vm, context});
  chip->AdvanceTo(kStart);

  const sim::Workload truth = MakeWorkload();
  for (uint8_t extend = 0; extend < mailbox::kEventsMax / hpc::kCountersPerManager; ++extend) {
    const std::vector<uint64_t> words = ReadManager(*chip, extend);
    for (uint32_t counter = 0; counter < hpc::kCountersPerManager; ++counter) {
      const sim::WireId wire = hpc::kCountersPerManager * extend + counter;
      ASSERT_EQ(words[1 + counter], truth.CumulativeCount(wire, words[0] - kBegin)) << "event " << wire;
    }
  }
}

// All wires of one collection unit are one event, so that its counter saturates soon: no trigger empties it.
PipelineConfig SaturatingConfig() {
  PipelineConfig config{.slices = 1, .events = 1};
  config.trigger_period = config.commit_period = config.hypervisor_commit_period = 0;
  config.ccus = Pack("slice0", 0, std::vector<CounterInput>(kCcuUlcsMax * kUlcCountersMax), {});
  config.ccus[0].threshold = 0;
  return config;
}

uint16_t FlagsOfLiveBlock(Chip& chip, BlockId block) {
  chip.live().RequestBlock(block);
  while (chip.live().hpc().NextStop() != kNoCycle) chip.AdvanceTo(chip.live().hpc().NextStop());
  return chip.live().TakeBlock().value().flags;
}

TEST(LiveCountsTest, ALiveBlockIsFlaggedAsSoonAsACountOnItsWayIsLost) {
  const auto chip = Chip::Create(SaturatingConfig()).value();
  const AllOnes wires;
  chip->Attach(0, wires);
  const BlockId vm = chip->memory().Create(1, mailbox::kNoContext),
                other = chip->memory().Create(2, mailbox::kNoContext);
  chip->SwitchTo(0, Binding{vm, std::nullopt});
  constexpr uint64_t kGain = kCcuUlcsMax * kUlcCountersMax;
  chip->AdvanceTo(kCcuCounterMax / kGain);
  EXPECT_EQ(FlagsOfLiveBlock(*chip, vm), 0);
  chip->AdvanceTo(kCcuCounterMax / kGain + 2 * kUlcHistoryCycles);
  EXPECT_EQ(chip->memory().header(vm).flags, 0) << "nothing is committed yet";
  for (const BlockId block : {vm, BlockId{0}}) EXPECT_EQ(FlagsOfLiveBlock(*chip, block), mailbox::kFlagOverflow);
  EXPECT_EQ(FlagsOfLiveBlock(*chip, other), 0);
}

}  // namespace

}  // namespace sideband::mcu
