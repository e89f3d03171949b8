// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/live_device.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "secure_mcu/chip_file/chip_file.h"

namespace sideband::mcu {
namespace {

using mailbox::EventScope;
using mailbox::SliceRate;

TEST(EventGainsTest, AreTheWiresOfEachSlice) {
  PipelineConfig config{.slices = 3, .events = 3};
  const CounterInput first{.wire = 0, .meaning = {0, 0}}, second{.wire = 1, .meaning = {1, 0}};
  config.ccus = {{.channel = 0, .ulcs = {{.inputs = {first, second}}, {.inputs = {first}}}},
                 {.channel = 0, .ulcs = {{.inputs = {first}}}},
                 {.channel = 2, .ulcs = {{.inputs = {first}}}},
                 {.channel = kDeviceChannel, .ulcs = {{.inputs = {{.wire = 0, .meaning = {2, 0}}}}}}};
  const EventGains gains(config);
  EXPECT_EQ(gains.PerCycle(0, 0b001), 3);
  EXPECT_EQ(gains.PerCycle(0, 0b010), 0) << "none on slice 1";
  EXPECT_EQ(gains.PerCycle(0, 0b101), 4);
  EXPECT_EQ(gains.PerCycle(0, kEverySlice), 4);
  EXPECT_EQ(gains.PerCycle(1, kEverySlice), 1);
  EXPECT_EQ(gains.PerCycle(2, 0b111), 0) << "the device's units are on no slice";
  EXPECT_EQ(gains.PerCycle(2, kEverySlice), 1);
  EXPECT_EQ(gains.PerCycle(0, 0), 0);
}

TEST(EventGainsTest, NumbersAreWorthWhatTheyCanBe) {
  PipelineConfig config{.slices = 1, .events = 4};
  std::vector<CounterInput> inputs = NumberInputs(0, 4, 0, /*prescaled=*/false);
  for (const uint32_t digits : {3u, 8u}) {
    const auto more = NumberInputs(10, digits, digits == 3 ? 1 : 2, /*prescaled=*/true);
    inputs.insert(inputs.end(), more.begin(), more.end());
  }
  inputs.push_back({.wire = 30, .meaning = {3, 0}, .masked = true});
  config.ccus = {{.channel = 0, .ulcs = {{.inputs = inputs}}}};
  const EventGains gains(config);
  EXPECT_EQ(gains.PerCycle(0, 1), 15);
  EXPECT_EQ(gains.PerCycle(1, 1), 7.0 / 32);
  EXPECT_EQ(gains.PerCycle(2, 1), 255.0 / 32);
  EXPECT_EQ(gains.PerCycle(3, 1), 0) << "masked";
}

using Rates = std::vector<SliceRate>;

constexpr uint64_t kOne = uint64_t{1} << 32;

TEST(EventGainsTest, TheCatalogueHasOneRateWhereAllSlicesAreEqual) {
  PipelineConfig config{.slices = 2, .events = 4};
  const CounterInput everywhere{.meaning = {0, 0}}, on_one{.meaning = {1, 0}}, of_device{.meaning = {2, 0}};
  config.ccus = {{.channel = 0, .ulcs = {{.inputs = {everywhere, on_one}}}},
                 {.channel = 1, .ulcs = {{.inputs = {everywhere}}}},
                 {.channel = kDeviceChannel, .ulcs = {{.inputs = {of_device}}, {.inputs = {of_device}}}}};
  const EventGains gains(config);
  EXPECT_EQ(gains.DetailsOf(0, EventScope::kContext).slices, (Rates{{kOne, kOne}}));
  EXPECT_EQ(gains.DetailsOf(1, EventScope::kContext).slices, (Rates{{kOne, kOne}, {0, 0}}));
  EXPECT_EQ(gains.DetailsOf(2, EventScope::kDevice).slices, (Rates{{2 * kOne, 2 * kOne}}));
  EXPECT_EQ(gains.DetailsOf(3, EventScope::kContext).slices, Rates{}) << "without wires";
}

TEST(EventGainsTest, AWireOfAnotherClockHasAGainAndNoCapacity) {
  PipelineConfig config{.slices = 1, .events = 1};
  config.ccus = {{.channel = 0, .ulcs = {{.domain = 1, .inputs = {{.meaning = {0, 0}}}}}}};
  EXPECT_EQ(EventGains(config).DetailsOf(0, EventScope::kContext).slices, (Rates{{0, kOne}}));
}

TEST(EventGainsTest, AGainBeyondTheFormatIsUnknown) {
  for (const uint32_t digits : {20u, 21u, 32u}) {
    PipelineConfig config{.slices = 1, .events = 1};
    const std::vector<CounterInput> inputs = NumberInputs(0, digits, 0, /*prescaled=*/false);
    config.ccus = {{.channel = 0, .ulcs = {{.inputs = inputs}, {.inputs = inputs}}}};
    const Rates rates = EventGains(config).DetailsOf(0, EventScope::kContext).slices;
    ASSERT_EQ(rates.size(), 1u);
    EXPECT_EQ(rates[0].gain_q32, 0u) << digits << " digits on two units are more than 2^20";
    EXPECT_LE(rates[0].capacity_q32, mailbox::kRateQ32Max);
  }
}

constexpr char kSynthetic[] = R"(
device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 1000000}
slices: 2
units: [{name: sm, count: 3, events: [sm_active_cycles]}]
device_units: [{name: pcie, events: [pcie_tx_cycles]}]
device_workload: {phases: [{kind: copy, time: 1ms}]}
vms:
  - name: vm1
    uuid: 11111111-0000-4000-8000-000000000001
    contexts:
      - {name: a, slice: 0, seed: 1, phases: [{kind: gemm, time: 2ms}]}
      - {name: b, slice: 0, seed: 2, phases: [{kind: attention, time: 1ms}]}
  - name: vm2
    uuid: 22222222-0000-4000-8000-000000000002
    contexts: [{name: a, slice: 1, seed: 3, phases: [{kind: gemm, time: 1ms}]}]
quantum: 1ms
gap: 100us
power: {event_pj: {sm_active_cycles: 7}}
)";

class LiveDeviceTest : public testing::Test {
 protected:
  static std::string Write(const std::string& name, const std::string& text) {
    const std::string path = testing::TempDir() + name;
    std::ofstream(path) << text;
    return path;
  }
  std::unique_ptr<LiveDevice> Create(const std::string& chip) {
    auto device = LiveDevice::Create(*LoadChipFile(Write("chip.yaml", chip)), 42, [this] { return elapsed_; });
    EXPECT_TRUE(device.ok()) << device.status();
    return *std::move(device);
  }
  // The counters of every block by scope.
  static std::map<std::pair<int, int>, std::vector<uint64_t>> Blocks(const mailbox::Snapshot& snapshot) {
    std::map<std::pair<int, int>, std::vector<uint64_t>> blocks;
    for (size_t i = 0; i < snapshot.blocks.size(); ++i) {
      const auto counters = snapshot.Counters(i);
      blocks[{snapshot.blocks[i].vm, snapshot.blocks[i].context}] = {counters.begin(), counters.end()};
    }
    return blocks;
  }

  absl::Duration elapsed_;
};

TEST_F(LiveDeviceTest, TheCatalogueNamesEverything) {
  const auto device = Create(kSynthetic);
  const mailbox::Catalog& catalog = device->catalog();
  ASSERT_EQ(catalog.events.size(), 3u);
  EXPECT_EQ(catalog.events[2].name, "resident_cycles");
  EXPECT_EQ(catalog.events[1].name, "pcie_tx_cycles");
  EXPECT_EQ(catalog.events[1].scope, mailbox::EventScope::kDevice);
  EXPECT_EQ(catalog.vms[0].slice, 0);
  EXPECT_EQ(catalog.contexts.size(), 3u);
  EXPECT_EQ(catalog.contexts[2].vm, 2);
  EXPECT_EQ(device->power().event_pj, (std::vector<double>{7, 0, 0}));
  EXPECT_TRUE(mailbox::DecodeCatalog(mailbox::EncodeCatalog(catalog)).ok());
}

TEST_F(LiveDeviceTest, EveryLatchObeysAdditivity) {
  const auto device = Create(kSynthetic);
  uint64_t last = 0;
  for (const int us : {1, 1000, 1050, 2500, 100'000, 100'001}) {
    elapsed_ = absl::Microseconds(us);
    auto blocks = Blocks(device->Latch());
    ASSERT_EQ(blocks.size(), 6u);
    const uint64_t vm1 = blocks[{1, mailbox::kNoContext}][0], vm2 = blocks[{2, mailbox::kNoContext}][0];
    EXPECT_EQ(vm1, (blocks[{1, 0}][0]) + (blocks[{1, 1}][0]));
    EXPECT_EQ(vm2, (blocks[{2, 0}][0]));
    EXPECT_EQ(vm1 + vm2, (blocks[{0, mailbox::kNoContext}][0]));
    EXPECT_EQ((blocks[{1, mailbox::kNoContext}][1]), 0u) << "device scope is nobody's";
    EXPECT_GE(vm1 + vm2, last);
    last = vm1 + vm2;
  }
  EXPECT_GT(last, 0u);
}

TEST_F(LiveDeviceTest, ReferenceTimeIsTheElapsedTime) {
  const auto device = Create(kSynthetic);
  elapsed_ = absl::Milliseconds(1234);
  EXPECT_EQ(device->Latch().reference_time_ns, 1'234'000'000u);
}

constexpr char kMortal[] = R"(
device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 1000000}
units: [{name: sm, events: [sm_active_cycles]}]
vms:
  - name: vm1
    uuid: 11111111-0000-4000-8000-000000000001
    contexts:
      - {name: job, lifetime: 10ms, seed: 1, phases: [{kind: gemm, time: 2ms}]}
      - {name: once, lifetime: 25ms, restart: false, seed: 2, phases: [{kind: gemm, time: 2ms}]}
      - {name: service, seed: 3, phases: [{kind: gemm, time: 2ms}]}
quantum: 1ms
gap: 0s
)";

TEST_F(LiveDeviceTest, AnEndedContextKeepsItsBlockUntilItsFinalCountsAreAcknowledged) {
  const auto device = Create(kMortal);
  elapsed_ = absl::Microseconds(8500);
  EXPECT_EQ(device->Latch().blocks[2].state, mailbox::BlockState::kIdle) << "its turn is over";
  device->Acknowledge();
  elapsed_ = absl::Milliseconds(12);
  const mailbox::Snapshot ended = device->Latch();
  EXPECT_EQ(ended.blocks[2].state, mailbox::BlockState::kRetired);
  EXPECT_GT(ended.Counters(2)[0], 0u);
  elapsed_ = absl::Milliseconds(20);
  const mailbox::Snapshot later = device->Latch();
  EXPECT_EQ(later.blocks[2], ended.blocks[2]) << "not acknowledged yet";
  EXPECT_EQ(later.Counters(2)[0], ended.Counters(2)[0]);
  EXPECT_EQ(device->catalog_version(), 0u);

  device->Acknowledge();
  EXPECT_EQ(device->catalog().contexts[0].generation, 2u);
  EXPECT_NE(device->catalog_version(), 0u);
  elapsed_ = absl::Milliseconds(24);
  const mailbox::Snapshot successor = device->Latch();
  EXPECT_EQ(successor.blocks[2].generation, 2u);
  EXPECT_NE(successor.blocks[2].state, mailbox::BlockState::kRetired);
  EXPECT_LT(successor.Counters(2)[0], 4001u) << "counted anew";
}

TEST_F(LiveDeviceTest, AContextThatDoesNotComeBackIsReleased) {
  const auto device = Create(kMortal);
  elapsed_ = absl::Milliseconds(30);
  EXPECT_EQ(device->Latch().blocks[3].state, mailbox::BlockState::kRetired);
  device->Acknowledge();
  const mailbox::Snapshot snapshot = device->Latch();
  ASSERT_EQ(snapshot.blocks.size(), 4u);
  EXPECT_EQ(snapshot.blocks[3].context, 2);
  ASSERT_EQ(device->catalog().contexts.size(), 2u);
  EXPECT_EQ(device->catalog().contexts[1].name, "service");
  device->Acknowledge();
  const uint64_t version = device->catalog_version();
  device->Latch();
  device->Acknowledge();
  EXPECT_EQ(device->catalog_version(), version) << "nothing has changed since";
  EXPECT_TRUE(mailbox::DecodeCatalog(mailbox::EncodeCatalog(device->catalog())).ok());
}

TEST_F(LiveDeviceTest, WhatEndsAfterTheLatchIsNotAcknowledgedByIt) {
  const auto device = Create(kMortal);
  elapsed_ = absl::Milliseconds(9);
  device->Latch();
  elapsed_ = absl::Milliseconds(12);
  device->Observe();  // publishing a guest's view in between changes nothing
  device->Acknowledge();
  EXPECT_EQ(device->Latch().blocks[2].state, mailbox::BlockState::kRetired);
  EXPECT_EQ(device->catalog().contexts[0].generation, 1u);
}

TEST_F(LiveDeviceTest, EveryBlockCanBeSeenAsItsCommitsLeftIt) {
  const auto device = Create(kSynthetic);
  elapsed_ = absl::Milliseconds(50);
  const mailbox::Snapshot snapshot = device->Latch();
  for (size_t i = 0; i < snapshot.blocks.size(); ++i) {
    const auto block = device->BlockCounters(snapshot.blocks[i].vm, snapshot.blocks[i].context);
    ASSERT_TRUE(block.has_value()) << i;
    EXPECT_EQ(block->counters[0], snapshot.Counters(i)[0]);
    EXPECT_EQ(block->generation, snapshot.blocks[i].generation);
    EXPECT_EQ(block->reference_time_ns, snapshot.reference_time_ns) << "a latch commits";
  }
  EXPECT_EQ(device->BlockCounters(1, mailbox::kNoContext)->slices, 0b01u);
  EXPECT_EQ(device->BlockCounters(2, 0)->slices, 0b10u);
  for (const auto& [vm, context] : {std::pair(3, 0), std::pair(3, 0xFFFF), std::pair(0, 0), std::pair(1, 2),
                                    std::pair(2, 1), std::pair(0xFFFF, 0xFFFF)}) {
    EXPECT_FALSE(device->BlockCounters(static_cast<uint16_t>(vm), static_cast<uint16_t>(context))) << vm << context;
  }
}

TEST_F(LiveDeviceTest, WithoutATriggerBlocksAreAsOldAsTheirCommits) {
  const auto device = Create(kSynthetic);
  elapsed_ = absl::Milliseconds(600);
  device->DeviceCounters();
  EXPECT_EQ(device->BlockCounters(0, mailbox::kNoContext)->reference_time_ns, 524'288'000u) << "two commit periods";
  EXPECT_EQ(device->BlockCounters(1, 0)->reference_time_ns, 599'500'000u) << "when its slice was last switched";
}

TEST_F(LiveDeviceTest, ABlockIsSeenUntilItIsReleased) {
  const auto device = Create(kMortal);
  elapsed_ = absl::Milliseconds(30);
  EXPECT_EQ(device->Latch().blocks[3].state, mailbox::BlockState::kRetired);
  EXPECT_TRUE(device->BlockCounters(1, 1).has_value());
  device->Acknowledge();
  EXPECT_FALSE(device->BlockCounters(1, 1).has_value());
  EXPECT_EQ(device->BlockCounters(1, 0)->generation, 2u);
}

TEST_F(LiveDeviceTest, APeekIsWhatALatchAtTheSameCycleHas) {
  const auto device = Create(kSynthetic);
  elapsed_ = absl::Microseconds(50'370);  // within a residency
  const size_t scopes = device->Latch().blocks.size();
  ASSERT_EQ(scopes, 6u);
  for (size_t i = 0; i < scopes; ++i) {
    // The latch is at the cycle of the peek: the clock stands still.
    const mailbox::BlockHeader scope = device->Latch().blocks[i];
    const auto live = device->PeekBlock(scope.vm, scope.context);
    const mailbox::Snapshot snapshot = device->Latch();
    ASSERT_TRUE(live.has_value()) << i;
    const auto latched = snapshot.Counters(i);
    EXPECT_EQ(live->counters, std::vector<uint64_t>(latched.begin(), latched.end())) << i;
    EXPECT_EQ(live->generation, snapshot.blocks[i].generation);
    EXPECT_EQ(live->flags, snapshot.blocks[i].flags);
    EXPECT_EQ(live->reference_time_ns, snapshot.reference_time_ns);
  }
  for (const auto& [vm, context] : {std::pair(0, 0), std::pair(0, 1), std::pair(1, 2), std::pair(3, 0xFFFF)}) {
    EXPECT_FALSE(device->PeekBlock(static_cast<uint16_t>(vm), static_cast<uint16_t>(context))) << vm << context;
  }
}

TEST_F(LiveDeviceTest, PeeksLeaveNoTrace) {
  const auto peeked = Create(kSynthetic), other = Create(kSynthetic);
  for (int us = 0; us < 20'000; us += 613) {
    elapsed_ = absl::Microseconds(us);
    peeked->PeekBlock(1, us % 2 == 0 ? 0 : mailbox::kNoContext);
    other->CatchUp();
  }
  elapsed_ = absl::Microseconds(20'000);
  EXPECT_EQ(peeked->Latch(), other->Latch());
}

TEST_F(LiveDeviceTest, TriggersMoveNoCount) {
  const auto triggered = Create(kSynthetic), other = Create(kSynthetic);
  ASSERT_TRUE(triggered->SetTriggerGrid(1000).ok());
  uint32_t last = 0;
  for (int us = 0; us < 20'000; us += 613) {
    elapsed_ = absl::Microseconds(us);
    const uint32_t id = triggered->Trigger();
    EXPECT_GT(id, last);
    last = id;
    other->CatchUp();
  }
  EXPECT_EQ(Blocks(triggered->Latch()), Blocks(other->Latch()));
}

TEST_F(LiveDeviceTest, AGridIsNoDenserThanTheEmulatorCanFollow) {
  const auto device = Create(kSynthetic);
  const uint64_t least = device->catalog().reference_clock_hz / 100'000;
  EXPECT_TRUE(device->SetTriggerGrid(least).ok());
  EXPECT_EQ(device->SetTriggerGrid(least - 1).message(),
            absl::StrCat("a period of ", least - 1, " cycles is shorter than ", least));
  EXPECT_TRUE(device->SetTriggerGrid(0).ok());
}

TEST_F(LiveDeviceTest, APeekIsUpToDateAndEndsWithItsBlock) {
  const auto device = Create(kMortal);
  elapsed_ = absl::Milliseconds(30);
  device->Latch();
  elapsed_ = absl::Milliseconds(31);
  const uint64_t peeked_ns = device->PeekBlock(1, 0)->reference_time_ns;
  EXPECT_GT(peeked_ns, 31'000'000u);
  EXPECT_LT(peeked_ns, 31'010'000u) << "a few cycles after the question";
  EXPECT_TRUE(device->PeekBlock(1, 1).has_value());
  device->Acknowledge();
  EXPECT_FALSE(device->PeekBlock(1, 1).has_value());
  EXPECT_EQ(device->PeekBlock(1, 0)->generation, 2u);
}

TEST_F(LiveDeviceTest, MemoryIsUsedByWhoLives) {
  std::string chip = std::string(kMortal) + "memory: {total_mib: 4096, reserved_mib: 96}\n";
  chip.replace(chip.find("name: once,"), 11, "name: once, memory_mib: 1000,");
  chip.replace(chip.find("name: service,"), 14, "name: service, memory_mib: 2000,");
  const auto device = Create(chip);
  EXPECT_EQ(device->identity().memory_mib, 4096u);
  EXPECT_EQ(device->GetMemoryUse()->reserved_mib, 96u);
  EXPECT_EQ(device->GetMemoryUse()->used_mib, 3000u);
  elapsed_ = absl::Milliseconds(30);
  EXPECT_EQ(device->GetMemoryUse()->used_mib, 2000u);
  EXPECT_FALSE(Create(kMortal)->GetMemoryUse().has_value());
  EXPECT_FALSE(Create(kMortal)->identity().memory_mib.has_value());

  chip.replace(chip.find("    uuid: 1"), 0, "    confidential: true\n");
  EXPECT_EQ(Create(chip)->GetMemoryUse()->used_mib, 0u) << "how much a confidential VM uses is not told";
}

TEST_F(LiveDeviceTest, ItsCatalogueIsOneOfVersionTwo) {
  const auto device = Create(kSynthetic);
  const auto catalog = mailbox::DecodeCatalogSections(mailbox::EncodeCatalogSections(device->catalog()));
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  EXPECT_EQ(*catalog, device->catalog());
}

TEST_F(LiveDeviceTest, ResidentCyclesAreTheTimeOnTheSlices) {
  const auto device = Create(kSynthetic);
  elapsed_ = absl::Milliseconds(110);  // of turns of 1 ms and gaps of 100 us
  auto blocks = Blocks(device->Latch());
  const auto resident = [&](int vm, int context) { return blocks[{vm, context}].back(); };
  const uint64_t cycles = device->catalog().reference_clock_hz * 110 / 1000;
  EXPECT_EQ(resident(1, mailbox::kNoContext), resident(1, 0) + resident(1, 1));
  EXPECT_EQ(resident(2, mailbox::kNoContext), resident(2, 0));
  EXPECT_NEAR(static_cast<double>(resident(2, 0)), static_cast<double>(cycles) / 1.1,
              0.02 * static_cast<double>(cycles));
  EXPECT_NEAR(static_cast<double>(resident(1, 0)), static_cast<double>(resident(1, 1)),
              0.02 * static_cast<double>(cycles));
  EXPECT_LE(resident(mailbox::kHypervisorVm, mailbox::kNoContext), 2 * cycles);
}

TEST_F(LiveDeviceTest, AWaveformIsRepeated) {
  Write("t.vcd",
        "$scope module T $end\n$var wire 1 ! clk $end\n$var wire 1 \" busy $end\n$upscope $end\n$enddefinitions $end\n"
        "#0\n0!\n1\"\n#1\n1!\n#2\n0!\n#3\n1!\n#4\n0!\n#5\n1!\n#6\n0!\n#7\n1!\n");
  Write("s.json",
        "{\"clock\": \"T.clk\", \"events\": [{\"name\": \"busy_cycles\", \"signal\": \"T.busy\", \"op\": \"high\"}]}");
  Write("c.csv", "start_cycle,end_cycle,vm,context\n1,3,vm1,a\n");
  const auto device = Create(R"(
device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 1000}
waveform: {trace: t.vcd, signals: s.json, schedule: c.csv}
vms: [{name: vm1, uuid: 11111111-0000-4000-8000-000000000001, contexts: [{name: a}]}]
)");
  EXPECT_EQ(device->warning(), "");
  elapsed_ = absl::Milliseconds(4 * 5 + 2);  // five turns of four cycles, and two cycles
  auto blocks = Blocks(device->Latch());
  // The signal is high in each of the eleven cycles in which the context is resident.
  EXPECT_EQ((blocks[{1, 0}]), (std::vector<uint64_t>{11, 11}));
  EXPECT_EQ((blocks[{0, mailbox::kNoContext}]), (std::vector<uint64_t>{11, 11}));
}

TEST_F(LiveDeviceTest, AWaveformThatRepeatsTooOftenIsWarnedOf) {
  const std::string trace = Write("t.vcd",
                                  "$scope module T $end\n$var wire 1 ! clk $end\n$upscope $end\n$enddefinitions $end\n"
                                  "#0\n0!\n#1\n1!\n#2\n0!\n#3\n1!\n");
  Write("s.json", "{\"clock\": \"T.clk\", \"events\": [{\"name\": \"c\", \"signal\": \"T.clk\", \"op\": \"low\"}]}");
  Write("c.csv", "start_cycle,end_cycle,vm,context\n0,1,vm1,a\n");
  const auto warning = [this](uint64_t clock_hz) {
    return Create(absl::StrCat("device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: ", clock_hz, "}",
                               R"(
waveform: {trace: t.vcd, signals: s.json, schedule: c.csv}
vms: [{name: vm1, uuid: 11111111-0000-4000-8000-000000000001, contexts: [{name: a}]}]
)"))
        ->warning();
  };
  EXPECT_EQ(warning(40'000), "");
  EXPECT_EQ(warning(1'000'000), trace +
                                    ": its 2 cycles repeat 500000 times a second with 1 residency, which may be too "
                                    "often for this machine: lengthen it or lower clock_hz");
}

TEST_F(LiveDeviceTest, AScheduledVmThatTheChipFileDoesNotKnowIsRefused) {
  Write("t.vcd", "$scope module T $end\n$var wire 1 ! clk $end\n$upscope $end\n$enddefinitions $end\n#0\n0!\n#1\n1!\n");
  Write("s.json", "{\"clock\": \"T.clk\", \"events\": [{\"name\": \"c\", \"signal\": \"T.clk\", \"op\": \"high\"}]}");
  const std::string schedule = Write("c.csv", "start_cycle,end_cycle,vm,context\n0,1,vm9,a\n");
  const std::string chip = Write("chip.yaml", R"(
device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10}
waveform: {trace: t.vcd, signals: s.json, schedule: c.csv}
)");
  const auto device = LiveDevice::Create(*LoadChipFile(chip), 1, [] { return absl::ZeroDuration(); });
  EXPECT_EQ(std::string(device.status().message()), schedule + ":2: VM 'vm9' is not in " + chip);
}

}  // namespace

}  // namespace sideband::mcu
