// SPDX-License-Identifier: Apache-2.0
//
// Who is counted on an emulated device: gate groups, exits and entries (virtual-counters.md, laws V3, V4, V5, V12). The
// truth is the plan of exits, and devices without any. Also the registers of a page by which
// a VM's supervisor chooses what is counted (registers.md, "What is counted").
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "proto/mailbox/catalog.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/guest_registers.h"
#include "secure_mcu/device/live_device.h"

namespace sideband::mcu {
namespace {

// A cycle a microsecond. vm1 has slice 0 for itself, vm2 slice 1.
constexpr char kCountingChip[] = R"(
device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 1000000}
slices: 2
units:
  - name: sm
    count: 3
    events: [sm_active_cycles, {name: host_sm_active_cycles, of: sm_active_cycles}, {name: any_sm_active_cycles, of: sm_active_cycles}]
GATES
vms:
  - name: vm1
    uuid: 11111111-0000-4000-8000-000000000001
    counting: {VM1}
    contexts: [{name: a, slice: 0, seed: 1, phases: [{kind: gemm, time: 2ms}, {kind: copy, time: 700us}]}]
  - name: vm2
    uuid: 22222222-0000-4000-8000-000000000002
    counting: {VM2}
    contexts: [{name: a, slice: 1, seed: 3, phases: [{kind: gemm, time: 1ms}]}]
quantum: 3ms
gap: 0s
)";

constexpr char kTwoGates[] = R"(
gate_groups:
  - {name: guest, events: [sm_active_cycles]}
  - {name: host, events: [host_sm_active_cycles], guest: false, host: true}
)";
constexpr char kExits[] = R"(
host: {exit_every: 1ms, exit_time: 100us, seed: 9, phases: [{kind: attention, time: 333us}]}
)";

using Pair = std::pair<uint64_t, uint64_t>;
// The counts of a VM by event.
using Counts = std::map<std::string, uint64_t>;

class CountingTest : public testing::Test {
 protected:
  void Start(const std::string& gates, const std::string& vm1 = "", const std::string& vm2 = "") {
    StartChip(absl::StrReplaceAll(kCountingChip, {{"GATES", gates}, {"VM1", vm1}, {"VM2", vm2}}));
  }
  void StartChip(const std::string& chip) {
    const std::string path = testing::TempDir() + "counting.yaml";
    std::ofstream(path) << chip;
    elapsed_ = absl::ZeroDuration();
    device_ = *LiveDevice::Create(*LoadChipFile(path), 42, [this] { return elapsed_; });
  }
  Counts CountsAt(uint64_t cycle, uint16_t vm = 1) {
    elapsed_ = absl::Microseconds(static_cast<int64_t>(cycle));
    const mailbox::Snapshot snapshot = device_->Latch();
    Counts counts;
    for (size_t block = 0; block < snapshot.blocks.size(); ++block) {
      if (snapshot.blocks[block].vm != vm || snapshot.blocks[block].context != mailbox::kNoContext) continue;
      const auto counters = snapshot.Counters(block);
      for (size_t i = 0; i < counters.size(); ++i) counts[device_->catalog().events[i].name] = counters[i];
    }
    return counts;
  }

  absl::Duration elapsed_;
  std::unique_ptr<LiveDevice> device_;
};

// The hypervisor runs in the first 100 cycles of each 1000, from 1000 on.
uint64_t HostCycles(uint64_t cycle) {
  return cycle < 1000 ? 0 : (cycle / 1000 - 1) * 100 + std::min<uint64_t>(100, cycle % 1000);
}

TEST_F(CountingTest, CoverageIsTheTimeThatThePlanGave) {
  Start(absl::StrCat(kTwoGates, kExits));
  for (const uint64_t cycle : {500, 1000, 1037, 1100, 10'050, 54'321}) {
    Counts counts = CountsAt(cycle);
    EXPECT_EQ(counts["resident_cycles"], cycle);
    EXPECT_EQ(counts["group_host_running_cycles"], HostCycles(cycle)) << cycle;
    EXPECT_EQ(counts["group_guest_running_cycles"], cycle - HostCycles(cycle)) << cycle;
  }
}

// V4
TEST_F(CountingTest, GuestAndHostAddUpToBoth) {
  Start(absl::StrCat(kTwoGates, kExits));
  for (const uint64_t cycle : {999, 1050, 7777, 100'000}) {
    Counts counts = CountsAt(cycle);
    EXPECT_EQ(counts["sm_active_cycles"] + counts["host_sm_active_cycles"], counts["any_sm_active_cycles"]) << cycle;
    EXPECT_EQ(counts["host_sm_active_cycles"] > 0, cycle > 1000) << cycle;
  }
}

// V3
TEST_F(CountingTest, TheHostsWorkIsHiddenFromTheGuest) {
  for (const uint64_t cycle : {1'234, 40'099, 123'456}) {
    Start(absl::StrCat(kTwoGates, kExits));
    Counts disturbed = CountsAt(cycle);
    Start(kTwoGates);
    Counts alone = CountsAt(cycle - HostCycles(cycle));
    EXPECT_EQ(disturbed["sm_active_cycles"], alone["sm_active_cycles"]) << cycle;
    EXPECT_EQ(alone["host_sm_active_cycles"], 0u);
  }
}

TEST_F(CountingTest, WithoutGroupsTheHostsWorkIsItsResidents) {
  Start(kExits);
  Counts counts = CountsAt(50'000);
  EXPECT_EQ(counts["sm_active_cycles"], counts["any_sm_active_cycles"]);
  Start(absl::StrCat(kTwoGates, kExits));
  EXPECT_EQ(CountsAt(50'000)["any_sm_active_cycles"], counts["any_sm_active_cycles"]);
}

// V5
TEST_F(CountingTest, AnIdentifierCountsInTheVmsThatNameIt) {
  constexpr char kIdentified[] = R"(
gate_groups:
  - {name: seven, events: [sm_active_cycles], identifier: 7}
  - {name: all, events: [host_sm_active_cycles]}
)";
  const auto running = [&](const std::string& vm1, const std::string& vm2) {
    Start(kIdentified, vm1, vm2);
    Counts of_vm1 = CountsAt(5000, 1), of_vm2 = CountsAt(5000, 2);
    EXPECT_EQ(of_vm1["group_all_running_cycles"], 5000u);
    EXPECT_EQ(of_vm2["group_all_running_cycles"], 5000u);
    return Pair(of_vm1["group_seven_running_cycles"], of_vm2["group_seven_running_cycles"]);
  };
  EXPECT_EQ(running("ids: [7]", "ids: [8, 9]"), Pair(5000, 0));
  EXPECT_EQ(running("ids: [7]", "ids: [8, 7]"), Pair(5000, 5000));
  EXPECT_EQ(running("ids: []", ""), Pair(0, 5000)) << "matching is off where no ids are listed";
}

TEST_F(CountingTest, WhatTheOperatorDoesNotAllowIsClosed) {
  Start(kTwoGates, "allowed: [host]", "allowed: [], pinned: [guest]");
  EXPECT_EQ(CountsAt(5000, 1)["sm_active_cycles"], 0u);
  EXPECT_GT(CountsAt(5000, 2)["sm_active_cycles"], 0u);
}

// --- Selections
// -------------------------------------------------------------------------------------------------------

// Two VMs by turns on one slice. Each unit has sources for nine counters.
constexpr char kShared[] = R"(
device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 1000000}
pipeline: {trigger_period: 100, commit_period: 1000}
units:
  - name: sm
    count: 5
    COUNTERS
    events: [tlb_hits, tlb_misses, {name: tlb_latency, bits: 7, count: prescaled}, {name: tensor_ops, bits: 3}, tensor_active_cycles]
  - {name: l2, events: [l2_reads]}
gate_groups:
  - {name: tlb, events: [tlb_hits, tlb_misses, tlb_latency]}
  - {name: tensor, events: [tensor_ops, tensor_active_cycles]}
SELECTIONS
vms:
  - name: vm1
    uuid: 11111111-0000-4000-8000-000000000001
    VM1
    contexts: [{name: a, slice: 0, seed: 1, phases: [{kind: gemm, time: 2ms}, {kind: copy, time: 700us}]}]
  - name: vm2
    uuid: 22222222-0000-4000-8000-000000000002
    VM2
    contexts: [{name: a, slice: 0, seed: 3, phases: [{kind: attention, time: 1ms}]}]
quantum: 3ms
gap: 100us
)";

std::string Switched() {
  return absl::StrReplaceAll(kShared, {{"COUNTERS", "counters: 5"},
                                       {"SELECTIONS",
                                        "selections: [{name: tensor, events: [tensor_ops, tensor_active_cycles]},\n"
                                        "             {name: tlb, events: [tlb_hits, tlb_misses, tlb_latency]}]"},
                                       {"VM1", "counting: {selection: tlb}"},
                                       {"VM2", ""}});
}

std::string WithEnoughCounters() {
  return absl::StrReplaceAll(kShared, {{"COUNTERS", ""}, {"SELECTIONS", ""}, {"VM1", ""}, {"VM2", ""}});
}

constexpr const char* kTlb[] = {"tlb_hits", "tlb_misses", "tlb_latency"};
constexpr const char* kTensorEvents[] = {"tensor_ops", "tensor_active_cycles"};

// V12: the same counters of a slice count TLB events of one VM and tensor events of the other, exactly.
TEST_F(CountingTest, EachVmCountsItsOwnEventsOnTheSameCounters) {
  for (const uint64_t cycle : {2999, 3000, 4711, 60'000}) {
    StartChip(WithEnoughCounters());
    Counts all1 = CountsAt(cycle, 1), all2 = CountsAt(cycle, 2);
    StartChip(Switched());
    Counts of_vm1 = CountsAt(cycle, 1), of_vm2 = CountsAt(cycle, 2);
    for (const char* event : kTlb) {
      EXPECT_EQ(of_vm1[event], all1[event]) << event;
      EXPECT_GT(of_vm1[event], 0u) << event;
      EXPECT_EQ(of_vm2[event], 0u) << event;
    }
    for (const char* event : kTensorEvents) {
      EXPECT_EQ(of_vm2[event], all2[event]) << event;
      EXPECT_EQ(of_vm2[event] > 0, cycle > 4000) << event;
      EXPECT_EQ(of_vm1[event], 0u) << event;
    }
    EXPECT_EQ(of_vm1["l2_reads"], all1["l2_reads"]) << "always counted";
    EXPECT_EQ(of_vm2["l2_reads"], all2["l2_reads"]);
    EXPECT_EQ(of_vm1["group_tlb_running_cycles"], of_vm1["resident_cycles"]);
    EXPECT_EQ(of_vm1["group_tensor_running_cycles"], 0u);
    EXPECT_EQ(of_vm2["group_tensor_running_cycles"], of_vm2["resident_cycles"]);
    EXPECT_EQ(of_vm2["group_tlb_running_cycles"], 0u);
    EXPECT_EQ(of_vm1["resident_cycles"], all1["resident_cycles"]);
  }
}

TEST_F(CountingTest, APeekIsWhatALatchIs) {
  StartChip(Switched());
  elapsed_ = absl::Microseconds(10'234);
  for (const uint16_t vm : {uint16_t{0}, uint16_t{1}, uint16_t{2}}) {
    const auto live = device_->PeekBlock(vm, mailbox::kNoContext);
    ASSERT_TRUE(live);
    EXPECT_EQ(live->flags, 0);
    const Counts latched = CountsAt(live->reference_cycle, vm);
    for (size_t event = 0; event < live->counters.size(); ++event) {
      const std::string& name = device_->catalog().events[event].name;
      EXPECT_EQ(live->counters[event], latched.at(name)) << name;
    }
  }
}

// V8: a commit turns the select registers of residents, and moves no count.
TEST_F(CountingTest, ACommitChangesWhatResidentsCount) {
  StartChip(WithEnoughCounters());
  Counts all_then = CountsAt(1234), all = CountsAt(2987);
  StartChip(Switched());
  Counts then = CountsAt(1234);
  mailbox::CountingConfig config = device_->GetConfig();
  std::swap(config.selections[0], config.selections[1]);
  ASSERT_TRUE(device_->CheckConfig(config).ok());
  device_->ApplyConfig(config);
  Counts now = CountsAt(2987);
  EXPECT_EQ(now["tlb_hits"], all_then["tlb_hits"]);
  EXPECT_EQ(now["tensor_ops"], all["tensor_ops"] - all_then["tensor_ops"]);
  EXPECT_EQ(now["l2_reads"], all["l2_reads"]);
  EXPECT_EQ(now["group_tlb_running_cycles"], then["resident_cycles"]);
  EXPECT_EQ(now["group_tensor_running_cycles"], now["resident_cycles"] - then["resident_cycles"]);
  config.selections[0].assign(1, 1);
  EXPECT_FALSE(device_->CheckConfig(config).ok()) << "half a group";
}

TEST_F(CountingTest, TheCatalogueTellsWhatIsSelectable) {
  StartChip(Switched());
  const mailbox::Catalog& catalog = device_->catalog();
  EXPECT_EQ(catalog.selections, (std::vector<mailbox::SelectionInfo>{{"tensor"}, {"tlb"}}));
  for (const mailbox::EventInfo& event : catalog.events) {
    const bool is_selectable = event.name.starts_with("tlb") || event.name.starts_with("tensor");
    EXPECT_EQ(event.details.selectable, is_selectable) << event.name;
  }
  EXPECT_EQ(*mailbox::DecodeCatalogSections(mailbox::EncodeCatalogSections(catalog)), catalog);
  StartChip(WithEnoughCounters());
  EXPECT_TRUE(device_->catalog().selections.empty());
}

// At 1 MHz a cycle is a microsecond. Slice 0: a job of vm1 and one of vm2, by turns of 10 ms; the hypervisor runs for
// the first 100 us of each millisecond.
constexpr char kGuestCountingChip[] = R"(
device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 1000000}
units: [{name: sm, events: [a, b, c, {name: of_host, of: a}]}]
gate_groups:
  - {name: one, events: [a]}
  - {name: two, events: [b], identifier: 7}
  - {name: three, events: [c]}
  - {name: host, events: [of_host], guest: false, host: true}
host: {exit_every: 1ms, exit_time: 100us, phases: [{kind: copy, time: 1ms}]}
vms:
  - name: vm1
    uuid: 11111111-0000-4000-8000-000000000001
    counting: {guest_access: ACCESS, ids: [7, 8], allowed: [one, two], pinned: [two], host_load: true, host_value: [host]}
    contexts: [{name: job, seed: 1, phases: [{kind: gemm, time: 2ms}]}]
  - name: vm2
    uuid: 22222222-0000-4000-8000-000000000002
    contexts: [{name: job, seed: 3, phases: [{kind: gemm, time: 2ms}]}]
quantum: 10ms
gap: 0s
)";

constexpr uint32_t kGateOffsets[] = {
    hpc::kGateVectorOffset,  hpc::kGateControlOffset,       hpc::kGateSelectionOffset,     hpc::kGateIdsOffset,
    hpc::kGateContextOffset, hpc::kGateContextVectorOffset, hpc::kGateContextControlOffset};

class GuestCountingTest : public testing::TestWithParam<const char*> {
 protected:
  enum Page : size_t { kVm1, kVm1Job, kVm2, kVm2Job };
  static constexpr uint64_t kThread = 1;
  static constexpr uint64_t kPinned = 0b0010, kAllowed = 0b0011, kHost = 0b1000;

  void SetUp() override { Start(kGuestCountingChip); }

  void Start(const std::string& chip) {
    registers_.reset();
    const std::string path = testing::TempDir() + "guest_counting.yaml";
    std::ofstream(path) << absl::StrReplaceAll(chip, {{"ACCESS", GetParam()}});
    device_ = *LiveDevice::Create(*LoadChipFile(path), 42, [this] { return elapsed_; });
    registers_ = std::make_unique<GuestRegisters>(*device_);
    AdvanceTo(500);
  }

  void AdvanceTo(int64_t cycle) {
    elapsed_ = absl::Microseconds(cycle);
    device_->CatchUp();
  }
  std::optional<uint64_t> Access(Page page, const hpc::PageAccess& access) {
    const auto value = registers_->Access(page, kThread, access);
    registers_->EndThread(kThread);  // what another page does is another program's
    return value;
  }
  std::optional<uint64_t> Read(Page page, uint32_t offset) {
    return Access(page, hpc::ReadOf(static_cast<uint16_t>(offset), 8));
  }
  bool Write(Page page, uint32_t offset, uint64_t value) {
    return Access(page, hpc::WriteOf(static_cast<uint16_t>(offset), 8, value)).has_value();
  }
  uint64_t Open() { return device_->chip().guests().gate(0).Open(); }

  absl::Duration elapsed_;
  std::unique_ptr<LiveDevice> device_;
  std::unique_ptr<GuestRegisters> registers_;
};

INSTANTIATE_TEST_SUITE_P(Access, GuestCountingTest, testing::Values("trap", "allow"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(GuestCountingTest, ASupervisorChoosesAmongTheGroupsOfItsVm) {
  EXPECT_EQ(Open(), kAllowed);
  EXPECT_TRUE(Write(kVm1, hpc::kGateVectorOffset, 0b1101));
  EXPECT_TRUE(Write(kVm1, hpc::kGateControlOffset, hpc::kGateControlMaster | hpc::kGateControlVectorEnable));
  EXPECT_EQ(Read(kVm1, hpc::kGateVectorOffset), 0b1101u) << "as written";
  EXPECT_EQ(Open(), kAllowed) << "group 2 is not allowed, group 1 is pinned";
  EXPECT_TRUE(Write(kVm1, hpc::kGateVectorOffset, 0));
  EXPECT_EQ(Open(), kPinned);
  EXPECT_TRUE(Write(kVm1, hpc::kGateIdsOffset, 0));
  EXPECT_EQ(Open(), kPinned) << "its identifier stays";
}

// Every register, as a user and as a supervisor, whole and by halves.
TEST_P(GuestCountingTest, AUsersPageHasNoneOfThem) {
  const VmControl before = device_->chip().guests().vm_control(1);
  const uint64_t exits = device_->chip().stats().exits;
  for (const uint32_t offset : kGateOffsets) {
    for (const uint32_t half : {0u, 4u}) {
      const auto at = static_cast<uint16_t>(offset + half);
      EXPECT_TRUE(Access(kVm1Job, hpc::WriteOf(at, 4, 0)));
      EXPECT_EQ(Access(kVm1Job, hpc::ReadOf(at, 4)), 0u) << at;
    }
    EXPECT_TRUE(Write(kVm1Job, offset, ~uint64_t{0}));
    EXPECT_EQ(Read(kVm1Job, offset), 0u) << offset;
  }
  EXPECT_EQ(device_->chip().guests().vm_control(1), before);
  EXPECT_EQ(device_->chip().guests().gate(0).value(), GateValue());
  EXPECT_EQ(device_->chip().stats().exits, exits) << "nor an exit";
}

TEST_P(GuestCountingTest, ASupervisorHasThemWholeAndByHalves) {
  EXPECT_TRUE(Access(kVm1, hpc::WriteOf(hpc::kGateVectorOffset, 4, 0xF00000005)));
  EXPECT_TRUE(Access(kVm1, hpc::WriteOf(hpc::kGateVectorOffset + 4, 4, 6)));
  EXPECT_EQ(Read(kVm1, hpc::kGateVectorOffset), 0x6'0000'0005u);
  EXPECT_EQ(Access(kVm1, hpc::ReadOf(hpc::kGateVectorOffset + 4, 4)), 6u);
  EXPECT_EQ(Access(kVm1, hpc::ReadOf(hpc::kGateVectorOffset, 4)), 5u);
  EXPECT_EQ(Read(kVm1, hpc::kGateIdsOffset), 7u | 8u << 16);
  EXPECT_TRUE(Access(kVm1, hpc::WriteOf(hpc::kGateIdsOffset, 4, 7)));
  EXPECT_EQ(Read(kVm1, hpc::kGateIdsOffset), 7u);
  EXPECT_TRUE(Write(kVm1, hpc::kGateSelectionOffset, 1));
  EXPECT_EQ(Read(kVm1, hpc::kGateSelectionOffset), 0u) << "the device has no selections";
  for (const uint32_t offset : {0x38u, 0x78u, 0x80u}) {
    EXPECT_TRUE(Write(kVm1, offset, ~uint64_t{0}));
    EXPECT_EQ(Read(kVm1, offset), 0u) << "no register";
  }
}

// Three events for two counters; `two` is pinned.
TEST_P(GuestCountingTest, ItsSelection) {
  elapsed_ = {};
  Start(absl::StrReplaceAll(kGuestCountingChip,
                            {{"units: [{name: sm,", "extension: 2\nunits: [{name: sm, counters: 3,"}}) +
        "selections: [{name: ab, events: [a, b]}, {name: bc, events: [b, c]}, {name: ac, events: [a, c]}]\n");
  for (const uint64_t refused : {uint64_t{2}, uint64_t{3}, ~uint64_t{0}}) {
    EXPECT_TRUE(Write(kVm1, hpc::kGateSelectionOffset, refused));
    EXPECT_EQ(Read(kVm1, hpc::kGateSelectionOffset), 0u) << refused;
  }
  EXPECT_TRUE(Write(kVm1, hpc::kGateSelectionOffset, 1));
  EXPECT_EQ(Read(kVm1, hpc::kGateSelectionOffset), 1u);
  EXPECT_EQ(device_->chip().guests().vm_control(1).selection, 1);
  EXPECT_EQ(device_->chip().guests().vm_control(3).selection, 0) << "of another VM";
}

TEST_P(GuestCountingTest, AContextsControlBlock) {
  // One thread, as a kernel that is not switched between the accesses.
  const auto access = [&](uint32_t offset, uint64_t value) {
    EXPECT_TRUE(registers_->Access(kVm1, kThread, hpc::WriteOf(static_cast<uint16_t>(offset), 8, value)));
  };
  access(hpc::kGateContextOffset, 0);
  access(hpc::kGateContextVectorOffset, 0b10);
  access(hpc::kGateContextControlOffset,
         hpc::kGateContextControlMaster | hpc::kGateContextControlVectorEnable | hpc::kGateContextControlLoad);
  const ContextControl& control = device_->chip().guests().context_control(2);
  EXPECT_EQ(control, (ContextControl{.value = {.vector_enable = true, .vector = 0b10}, .load = true}));
  registers_->EndThread(kThread);
  EXPECT_EQ(Read(kVm1, hpc::kGateContextOffset), 0xFFFFu) << "another thread's choice is its own";
  AdvanceTo(20'500);  // vm2 had the slice in between
  EXPECT_EQ(Open(), kPinned) << "not what the context's own value closes";
}

TEST_P(GuestCountingTest, InAnExitTheGuestExecutesNothing) {
  AdvanceTo(1'050);
  EXPECT_FALSE(Write(kVm1, hpc::kGateVectorOffset, 0b1111));
  EXPECT_FALSE(Read(kVm1, hpc::kGateVectorOffset));
  EXPECT_FALSE(Read(kVm1Job, hpc::kHpccOffset));
  EXPECT_EQ(Open(), kHost);
  AdvanceTo(1'100);
  EXPECT_EQ(Read(kVm1, hpc::kGateVectorOffset), 0b1000u) << "host_load without guest_load: it stays";
}

TEST_P(GuestCountingTest, NothingReachesAnotherVm) {
  const VmControl other = device_->chip().guests().vm_control(3);
  for (const uint32_t offset : kGateOffsets) EXPECT_TRUE(Write(kVm1, offset, 0));
  AdvanceTo(10'500);
  EXPECT_FALSE(Read(kVm1, hpc::kGateVectorOffset)) << "it does not run";
  EXPECT_EQ(Open(), 0b0111u);
  EXPECT_EQ(device_->chip().guests().vm_control(3), other);
  EXPECT_EQ(Read(kVm2, hpc::kGateControlOffset), hpc::kGateControlMaster);
  EXPECT_EQ(Read(kVm2, hpc::kGateContextOffset), 0xFFFFu);
}

// V11, over exits and switches: whatever is written, the open groups are among the allowed ones, with the pinned one.
TEST_P(GuestCountingTest, NoWritesOpenWhatIsNotAllowedOrCloseWhatIsPinned) {
  std::mt19937_64 random(5);
  uint64_t written = 0;
  int64_t cycle = 500;
  for (int step = 0; step < 4000; ++step) {
    AdvanceTo(cycle += static_cast<int64_t>(random() % 40));
    const uint8_t size = random() % 2 == 0 ? 8 : 4;
    const auto offset = static_cast<uint16_t>(hpc::kGateVectorOffset + random() % (0x40 / size) * size);
    const uint64_t value = random() % 2 == 0 ? random() : random() % 16;
    if (Access(kVm1, hpc::WriteOf(offset, size, value))) ++written;
    const auto& resident = device_->chip().resident(0);
    if (!device_->chip().guests().RunsGuest(0)) {
      ASSERT_EQ(Open(), kHost) << "vm1's host_value, and of vm2 the initial one, which enables all";
    } else if (resident->vm == 1) {
      ASSERT_EQ(Open() & ~kAllowed, 0u) << "step " << step;
      ASSERT_EQ(Open() & kPinned, kPinned) << "step " << step;
    } else {
      ASSERT_EQ(Open(), 0b0111u) << "vm2's, step " << step;
    }
  }
  EXPECT_GT(written, 1000u);
}

}  // namespace

}  // namespace sideband::mcu
