// SPDX-License-Identifier: Apache-2.0
//
// Units that slices share: each request is counted for the slice that made it and the context that is resident there
// (laws V1, V4 and V7 of virtual-counters.md). The truth is counted cycle by cycle from the workloads and the plan of
// turns.
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/live_device.h"
#include "sim/workload/workload.h"

namespace sideband::mcu {
namespace {

using mailbox::kHypervisorVm;
using mailbox::kNoContext;

// A cycle a microsecond. Slice 0 has contexts of vm1 and vm2 by turns, slice 1 one of vm2.
constexpr char kSharedUnitsChip[] = R"(
device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 1000000}
slices: 2
units:
  - {name: sm, events: [sm_active_cycles]}
SHARED
  - name: l2
    count: 2
    period: 64
    counter_bits: 7
    lanes: 4
    events: [l2_hit_cycles, {name: host_l2_hit_cycles, of: l2_hit_cycles}, {name: any_l2_hit_cycles, of: l2_hit_cycles}, {name: l2_bytes, bits: 3}]
gate_groups:
  - {name: guest, events: [l2_hit_cycles]}
  - {name: host, events: [host_l2_hit_cycles], guest: false, host: true}
host: {exit_every: 1ms, exit_time: 100us, seed: 9, phases: [{kind: attention, time: 333us}]}
vms:
  - name: vm1
    uuid: 11111111-0000-4000-8000-000000000001
    contexts: [{name: a, slice: 0, seed: 1, phases: [{kind: gemm, time: 2ms}, {kind: copy, time: 700us}]}]
  - name: vm2
    uuid: 11111111-0000-4000-8000-000000000002
    confidential: CONFIDENTIAL
    contexts:
      - {name: b, slice: 0, seed: 2, phases: [{kind: copy, time: 1100us}]}
      - {name: c, slice: 1, seed: 3, phases: [{kind: attention, time: 900us}]}
quantum: 1500us
gap: 300us
)";

using Scope = std::pair<uint16_t, uint16_t>;
using Counts = std::map<std::string, uint64_t>;  // by event
constexpr Scope kDeviceScope = {kHypervisorVm, kNoContext}, kVm1Scope = {1, kNoContext}, kVm2Scope = {2, kNoContext};

// The counts of the shared unit, from the text of kSharedUnitsChip alone.
class Truth {
 public:
  std::map<Scope, Counts> CountTo(uint64_t cycles) {
    for (; now_ < cycles; ++now_) {
      for (uint16_t slice = 0; slice < 2; ++slice) CountCycle(slice);
    }
    return blocks_;
  }

 private:
  struct Worker {
    sim::Workload workload;
    uint64_t own_cycles = 0;
  };
  struct Place {
    Scope context;  // whose VM has a block, too
    Worker worker;
  };

  // The wires of a slice: sm.0, then of each l2 a hit and three digits.
  static Worker Make(uint64_t seed, std::vector<sim::PhaseSpec> phases) {
    std::vector<std::string> wires = {"sm_active_cycles"};
    for (int unit = 0; unit < 2; ++unit)
      wires.insert(wires.end(), {"l2_hit_cycles", "l2_bytes", "l2_bytes", "l2_bytes"});
    return {*sim::Workload::Create({.phases = std::move(phases), .seed = seed, .wire_events = wires})};
  }

  // A turn that begins in the cycle of an exit makes it.
  void CountCycle(uint16_t slice) {
    std::vector<Place>& places = places_[slice];
    const bool is_resident = now_ % 1800 < 1500;
    Place& place = places[now_ / 1800 % places.size()];
    const bool is_host = !is_resident || (now_ >= 1000 && now_ % 1000 < 100);
    Worker& worker = is_host ? hosts_[slice] : place.worker;
    const Counts gain = Gain(worker.workload, worker.own_cycles++, is_host);
    Add(gain, blocks_[kDeviceScope]);
    if (!is_resident) return Add(gain, blocks_[{kHypervisorVm, slice}]);
    Add(gain, blocks_[place.context]);
    Add(gain, blocks_[{place.context.first, kNoContext}]);
  }

  static Counts Gain(const sim::Workload& workload, uint64_t own_cycle, bool is_host) {
    Counts gain;
    for (sim::WireId first : {1u, 5u}) {
      const uint64_t hit = workload.Bit(first, own_cycle) ? 1 : 0;
      gain["any_l2_hit_cycles"] += hit;
      gain[is_host ? "host_l2_hit_cycles" : "l2_hit_cycles"] += hit;
      for (uint32_t digit = 0; digit < 3; ++digit) {
        gain["l2_bytes"] += uint64_t{workload.Bit(first + 1 + digit, own_cycle)} << digit;
      }
    }
    return gain;
  }

  static void Add(const Counts& gain, Counts& to) {
    for (const auto& [event, count] : gain) to[event] += count;
  }

  static constexpr auto kGemm = sim::PhaseKind::kGemm;
  static constexpr auto kCopy = sim::PhaseKind::kCopy;
  static constexpr auto kAttention = sim::PhaseKind::kAttention;
  uint64_t now_ = 0;
  std::array<std::vector<Place>, 2> places_ = {
      std::vector<Place>{{{1, 0}, Make(1, {{kGemm, 2000}, {kCopy, 700}})}, {{2, 0}, Make(2, {{kCopy, 1100}})}},
      std::vector<Place>{{{2, 1}, Make(3, {{kAttention, 900}})}}};
  std::array<Worker, 2> hosts_ = {Make(9, {{kAttention, 333}}), Make(9, {{kAttention, 333}})};
  std::map<Scope, Counts> blocks_;
};

class SharedUnitsTest : public testing::Test {
 protected:
  void Start(const std::string& key = "shared_units:", const std::string& confidential = "false") {
    const std::string path = testing::TempDir() + "shared_units.yaml";
    std::ofstream(path) << absl::StrReplaceAll(kSharedUnitsChip, {{"SHARED", key}, {"CONFIDENTIAL", confidential}});
    const auto file = LoadChipFile(path);
    ASSERT_TRUE(file.ok()) << file.status();
    elapsed_ = absl::ZeroDuration();
    device_ = *LiveDevice::Create(*file, 42, [this] { return elapsed_; });
  }
  std::map<Scope, Counts> CountsAt(uint64_t cycle) {
    elapsed_ = absl::Microseconds(static_cast<int64_t>(cycle));
    const mailbox::Snapshot snapshot = device_->Latch();
    std::map<Scope, Counts> blocks;
    for (size_t block = 0; block < snapshot.blocks.size(); ++block) {
      EXPECT_EQ(snapshot.blocks[block].flags, 0);
      Counts& counts = blocks[{snapshot.blocks[block].vm, snapshot.blocks[block].context}];
      const auto counters = snapshot.Counters(block);
      for (size_t i = 0; i < counters.size(); ++i) counts[device_->catalog().events[i].name] = counters[i];
    }
    return blocks;
  }

  absl::Duration elapsed_;
  std::unique_ptr<LiveDevice> device_;
};

TEST_F(SharedUnitsTest, ARequestIsCountedForTheResidentOfItsSlice) {
  Start();
  Truth truth;
  for (const uint64_t cycle : {1, 1000, 1050, 1500, 1799, 1800, 1801, 3300, 9'999, 54'321}) {
    auto blocks = CountsAt(cycle);
    ASSERT_EQ(blocks.size(), 8u);
    for (auto& [scope, expected] : truth.CountTo(cycle)) {
      for (const auto& [event, count] : expected) {
        EXPECT_EQ(blocks[scope][event], count)
            << event << " of " << scope.first << "/" << scope.second << ", " << cycle;
      }
    }
  }
}

// V4 and V7, from the blocks alone.
TEST_F(SharedUnitsTest, ModesContextsAndVmsAddUp) {
  Start();
  auto blocks = CountsAt(43'210);
  for (const auto& [event, count] : blocks[kDeviceScope]) {
    const uint64_t of_hosts = blocks[{kHypervisorVm, 0}][event] + blocks[{kHypervisorVm, 1}][event];
    EXPECT_EQ(count, blocks[kVm1Scope][event] + blocks[kVm2Scope][event] + of_hosts) << event;
    const uint64_t of_vm2 = blocks[{2, 0}][event] + blocks[{2, 1}][event];
    EXPECT_EQ(blocks[kVm2Scope][event], of_vm2) << event;
  }
  for (const auto& [scope, counts] : blocks) {
    EXPECT_EQ(counts.at("any_l2_hit_cycles"), counts.at("l2_hit_cycles") + counts.at("host_l2_hit_cycles"));
  }
  EXPECT_GT(blocks[kVm1Scope]["host_l2_hit_cycles"], 0u);
  EXPECT_GT(blocks[kVm2Scope]["l2_bytes"], 0u);
}

// A slice counts of a shared unit as much as it would of one of its own: sharing moves no count.
TEST_F(SharedUnitsTest, CountsAreThoseOfUnitsOfTheSlices) {
  Start();
  const auto shared = CountsAt(12'345);
  Start("");
  EXPECT_EQ(CountsAt(12'345), shared);
}

// A confidential VM's requests are in no sum with others, as with a unit of the device's scope they would be.
TEST_F(SharedUnitsTest, APrivateVmIsNotInTheDevicesBlock) {
  Start("shared_units:", "true");
  Truth truth;
  auto blocks = CountsAt(23'456);
  auto expected = truth.CountTo(23'456);
  for (const std::string event : {"l2_hit_cycles", "any_l2_hit_cycles", "l2_bytes"}) {
    const uint64_t of_hosts = blocks[{kHypervisorVm, 0}][event] + blocks[{kHypervisorVm, 1}][event];
    EXPECT_EQ(blocks[kDeviceScope][event], expected[kVm1Scope][event] + of_hosts) << event;
    EXPECT_EQ(blocks[kVm2Scope][event], expected[kVm2Scope][event]) << event;
  }
}

TEST_F(SharedUnitsTest, APeekIsWhatALatchWouldBe) {
  Start();
  for (const int us : {1500, 3000, 20'001}) {
    elapsed_ = absl::Microseconds(us);
    const auto peeked = device_->PeekBlock(2, 1);
    ASSERT_TRUE(peeked.has_value());
    auto latched = CountsAt(peeked->reference_cycle)[{2, 1}];
    for (size_t i = 0; i < peeked->counters.size(); ++i) {
      EXPECT_EQ(peeked->counters[i], latched[device_->catalog().events[i].name]) << us;
    }
  }
}

TEST_F(SharedUnitsTest, TheCatalogueTellsThatTheUnitIsShared) {
  Start();
  const mailbox::EventInfo& hits = device_->catalog().events[1];
  EXPECT_EQ(hits.name, "l2_hit_cycles");
  EXPECT_EQ(hits.scope, mailbox::EventScope::kContext);
  EXPECT_EQ(
      hits.description,
      "Cycles in which an access to the L2 cache hit. Of a unit that slices share, for the slice of each request.");
}

// A recorded trace of 100 cycles, repeated: in each cycle the L2 serves a request, of slice 1 if the cycle is odd. The
// first three of a residency on slice 0 are those of the context before, which come late.
class RecordedTest : public SharedUnitsTest {
 protected:
  void Start(const std::string& confidential = "") {
    std::string trace =
        "$scope module t $end $var wire 1 ! clk $end $var wire 1 s slice $end $var wire 2 c ctx $end $upscope $end\n"
        "$enddefinitions $end\n";
    for (int cycle = 0; cycle < 100; ++cycle) {
      const bool is_late = cycle % 50 < 3;
      const bool is_second = (cycle < 50) == is_late;
      trace += "#" + std::to_string(10 * cycle) + " 0! " + std::to_string(cycle % 2) + "s b" +
               (cycle % 2 == 1 ? "11"
                : is_second    ? "10"
                               : "01") +
               " c #" + std::to_string(10 * cycle + 5) + " 1!\n";
    }
    Write("T.vcd", trace);
    Write("S.json", R"({"clock": "t.clk", "events": [{"name": "l2_requests", "signal": "t.clk", "op": "low",
      "requester": {"slice": "t.slice", "context": "t.ctx"}}]})");
    Write("C.csv", "start_cycle,end_cycle,vm,context,slice,tag\n0,50,vm1,a,0,1\n50,100,vm2,b,0,2\n0,90,vm2,c,1,3\n");
    const std::string path = Write("chip.yaml", R"(
device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 1000000}
slices: 2
waveform: {trace: shared_T.vcd, signals: shared_S.json, schedule: shared_C.csv}
vms:
  - {name: vm1, uuid: 11111111-0000-4000-8000-000000000001, contexts: [{name: a}]}
  - {name: vm2, uuid: 11111111-0000-4000-8000-000000000002, )" +
                                                    confidential +
                                                    R"(contexts: [{name: b}, {name: c, slice: 1}]}
)");
    const auto file = LoadChipFile(path);
    ASSERT_TRUE(file.ok()) << file.status();
    auto device = LiveDevice::Create(*file, 42, [this] { return elapsed_; });
    ASSERT_TRUE(device.ok()) << device.status();
    device_ = *std::move(device);
  }

 private:
  static std::string Write(const std::string& name, const std::string& text) {
    const std::string path = testing::TempDir() + "shared_" + name;
    std::ofstream(path) << text;
    return path;
  }
};

TEST_F(RecordedTest, EachTurnOfTheTraceCountsTheSame) {
  Start();
  for (const uint64_t turns : {1, 2, 7}) {
    auto blocks = CountsAt(100 * turns);
    EXPECT_EQ((blocks[{1, 0}]["l2_requests"]), 23 * turns) << "even cycles from 4 to 48";
    EXPECT_EQ((blocks[{2, 0}]["l2_requests"]), 23 * turns) << "even cycles from 54 to 98";
    EXPECT_EQ((blocks[{2, 1}]["l2_requests"]), 45 * turns) << "odd cycles below 90";
    EXPECT_EQ(blocks[kVm2Scope]["l2_requests"], 68 * turns);
    EXPECT_EQ(blocks[kDeviceScope]["l2_requests"], 91 * turns);
    EXPECT_EQ(blocks[kDeviceScope]["unattributed_l2_requests"], 9 * turns) << "late ones, and with nobody on slice 1";
    EXPECT_EQ(blocks[kVm2Scope]["unattributed_l2_requests"], 0u);
  }
  const auto& events = device_->catalog().events;
  EXPECT_EQ(events[0].description,
            "Number of l2 requests. Of a unit that slices share, for the slice of each request.");
  EXPECT_EQ(events[1].scope, mailbox::EventScope::kDevice);
}

TEST_F(RecordedTest, NoRequestOfAPrivateVmIsInTheDevicesBlock) {
  Start("confidential: true, ");
  for (const uint64_t turns : {1, 3}) {
    auto blocks = CountsAt(100 * turns);
    EXPECT_EQ((blocks[{1, 0}]["l2_requests"]), 23 * turns);
    EXPECT_EQ(blocks[kDeviceScope]["l2_requests"], 23 * turns);
    EXPECT_EQ(blocks[kDeviceScope]["unattributed_l2_requests"], 2 * turns) << "the late ones of vm1 alone";
  }
}

}  // namespace
}  // namespace sideband::mcu
