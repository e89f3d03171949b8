// SPDX-License-Identifier: Apache-2.0
//
// A guest's own program controls what is counted (client/lib/register_counters.h), on the microcontroller's pages: with
// exits of the VM, and with other programs of the VM between any two accesses.
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "client/lib/register_counters.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/guest_registers.h"

namespace sideband::client {
namespace {

constexpr char kGateChip[] = R"(
device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 1000000}
units: [{name: sm, events: [a, b]}]
gate_groups: [{name: one, events: [a]}, {name: two, events: [b]}]
host: {exit_every: 1ms, exit_time: 100us, phases: [{kind: copy, time: 1ms}]}
vms:
  - name: vm1
    uuid: 11111111-0000-4000-8000-000000000001
    counting: {guest_load: true, guest_store: true}
    contexts:
      - {name: first, seed: 1, phases: [{kind: gemm, time: 2ms}]}
      - {name: second, seed: 2, phases: [{kind: gemm, time: 2ms}]}
quantum: 5ms
gap: 0s
)";
constexpr size_t kVmPage = 0, kFirstPage = 1;
constexpr mcu::BlockId kVm = 1, kFirst = 2, kSecond = 3;

// A page of the VM. With rivals, another program of it asks at one access in eight, and names contexts of its own.
class GuestPage final : public RegisterPage {
 public:
  GuestPage(size_t page, bool has_rivals) : page_(page), has_rivals_(has_rivals) {
    const std::string path = testing::TempDir() + "gate.yaml";
    std::ofstream(path) << kGateChip;
    device_ = *mcu::LiveDevice::Create(*mcu::LoadChipFile(path), 42, [this] { return elapsed_; });
    registers_ = std::make_unique<mcu::GuestRegisters>(*device_);
  }
  mcu::Chip& chip() { return device_->chip(); }

  // Repeats from the first access that was not performed, like a SocketPage.
  absl::Status Perform(std::span<hpc::PageAccess> accesses) override {
    while (!accesses.empty()) {
      const auto value = Access(page_, /*thread=*/1, accesses.front());
      if (value && accesses.front().kind == hpc::AccessKind::kRead) accesses.front().value = *value;
      accesses = accesses.subspan(value ? 1 : 0);
      if (has_rivals_ && random_() % 8 == 0) LetRivalAsk();
    }
    return absl::OkStatus();
  }

 private:
  std::optional<uint64_t> Access(size_t page, uint64_t thread, const hpc::PageAccess& access) {
    elapsed_ += absl::Microseconds(1 + random_() % 40);
    return registers_->Access(page, thread, access);
  }
  void LetRivalAsk() { Access(kVmPage, 2, hpc::WriteOf(hpc::kGateContextOffset, 8, random_() % 2)); }

  const size_t page_;
  const bool has_rivals_;
  absl::Duration elapsed_ = absl::Milliseconds(1);
  std::mt19937_64 random_{3};
  std::unique_ptr<mcu::LiveDevice> device_;
  std::unique_ptr<mcu::GuestRegisters> registers_;
};

TEST(GateConformanceTest, AValueIsReadAsItWasWritten) {
  GuestPage page(kVmPage, /*has_rivals=*/true);
  for (uint64_t vector = 0; vector < 50; ++vector) {
    const GateValue value{.master = vector % 3 != 0, .vector_enable = vector % 2 != 0, .vector = vector};
    ASSERT_TRUE(WriteGate(page, value).ok());
    EXPECT_EQ(*ReadGate(page), value) << "trapped: kept over exits and switches";
    EXPECT_EQ(page.chip().guests().vm_control(kVm).guest_value,
              (mailbox::GateValue{value.master, value.vector_enable, value.vector}));
  }
}

TEST(GateConformanceTest, AControlBlockIsThatOfTheContextThatWasNamed) {
  GuestPage page(kVmPage, /*has_rivals=*/true);
  int written = 0;
  for (uint64_t i = 0; i < 200; ++i) {
    mailbox::ContextControl before[] = {page.chip().guests().context_control(kFirst),
                                        page.chip().guests().context_control(kSecond)};
    const auto context = static_cast<uint16_t>(i % 2);
    const ContextGate control{.value = {.vector = i}, .load = i % 3 == 0};
    const absl::Status status = WriteContextGate(page, context, control);
    if (status.ok()) {
      ++written;
      before[context] = {.value = {.vector = i}, .load = i % 3 == 0};
      EXPECT_EQ(*ReadContextGate(page, context), control);
    } else {
      EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
      before[context] = page.chip().guests().context_control(context == 0 ? kFirst : kSecond);
    }
    EXPECT_EQ(page.chip().guests().context_control(kFirst), before[0]);
    EXPECT_EQ(page.chip().guests().context_control(kSecond), before[1])
        << "no other context's, whoever came in between";
  }
  EXPECT_GT(written, 100);
}

TEST(GateConformanceTest, AUsersPageHasNoSuchRegisters) {
  GuestPage page(kFirstPage, /*has_rivals=*/false);
  EXPECT_EQ(ReadGate(page).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(WriteGate(page, {.master = false}).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(page.chip().guests().vm_control(kVm).guest_value, mailbox::GateValue());
}

TEST(GateConformanceTest, AContextThatTheVmHasNot) {
  GuestPage page(kVmPage, /*has_rivals=*/false);
  EXPECT_EQ(WriteContextGate(page, 2, {}).code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace sideband::client
