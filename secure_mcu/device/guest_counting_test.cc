// SPDX-License-Identifier: Apache-2.0
//
// The registers of a page by which a VM's supervisor chooses what is counted (registers.md, "What is counted"), on a
// device with exits.
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "absl/strings/str_replace.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/guest_registers.h"

namespace sideband::mcu {
namespace {

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
