// SPDX-License-Identifier: Apache-2.0
//
// The guest's algorithms against the chip's registers, with switches and rivals at random accesses: an accepted reading
// is of the reader's own last request (R5) and of one instant (R2), in order (R4), and every reader ends (R6)
// (registers.md, "Laws").
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <random>
#include <tuple>

#include "client/lib/register_counters.h"
#include "secure_mcu/chip/live_counts.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/guest_registers.h"
#include "secure_mcu/pipeline/guest_gate.h"

namespace sideband {
namespace {

using client::GetCounters;
using client::GetCountersShared;
using client::HpcManager;
using client::Reader;
using client::Reading;
using client::ReadOptions;
using client::RegisterPage;

constexpr uint32_t kEvents = 100;

// The origin of a count, which the count encodes.
struct Truth {
  bool is_readers;
  uint16_t event;
  uint64_t cycle;
  bool operator==(const Truth&) const = default;
};
uint64_t Encode(const Truth& truth) {
  return uint64_t{truth.is_readers} << 63 | uint64_t{truth.event} << 48 | truth.cycle;
}
Truth Decode(uint64_t count) {
  return {(count >> 63) != 0, static_cast<uint16_t>(count >> 48 & 0x7FFF), count & 0xFFFF'FFFF'FFFF};
}

// The reader's page of slice 0. Before any of its accesses the reader may be switched out; its rival then uses the same
// registers as it likes.
class SwitchedPage final : public RegisterPage {
 public:
  SwitchedPage(mcu::HpcTiming timing, double switch_rate, uint64_t seed)
      : path_({.slices = 1, .events = kEvents, .timing = timing},
              [this](size_t, mcu::HpcManagerId, std::span<const uint16_t> events, std::span<uint64_t> counts) {
                for (size_t i = 0; i < events.size(); ++i) counts[i] = Encode({is_readers_, events[i], now_});
              }),
        switch_(switch_rate),
        random_(seed) {
    SwitchTo(/*reader=*/true);
  }

  absl::Status Perform(std::span<hpc::PageAccess> accesses) override {
    for (hpc::PageAccess& access : accesses) {
      if (switch_(random_)) LetRivalRun();
      if (IsTrigger(access)) last_trigger_ = now_;
      PerformOne(access);
      ++accesses_;
    }
    return absl::OkStatus();
  }

  uint64_t last_trigger() const { return last_trigger_; }
  uint64_t accesses() const { return accesses_; }

 private:
  static bool IsTrigger(const hpc::PageAccess& access) {
    return access.kind == hpc::AccessKind::kWrite && access.offset == hpc::kHpccOffset &&
           (access.value & hpc::kHpccTrigger) != 0;
  }

  uint64_t Below(uint64_t end) { return random_() % end; }

  void Advance(uint64_t cycles) {
    const uint64_t end = now_ + cycles;
    while (path_.NextStop() <= end) {
      now_ = path_.NextStop();
      path_.RunTo(now_);
    }
    now_ = end;
  }

  void PerformOne(hpc::PageAccess& access) {
    const auto place = mcu::HpcPlaceOf(access);
    ASSERT_TRUE(place);
    if (access.kind == hpc::AccessKind::kRead) {
      access.value = path_.Read(0, place->which, now_, place->half);
    } else {
      path_.Write(0, place->which, access.value, mcu::HpcPrivilege::kUser, now_, place->half);
    }
    Advance(1 + Below(8));
  }

  void SwitchTo(bool reader) {
    is_readers_ = reader;
    path_.Switch(0, {.vm = true, .context = true, .useren = true}, now_);
  }

  void LetRivalRun() {
    SwitchTo(/*reader=*/false);
    for (uint64_t left = Below(6); left > 0; --left) {
      const auto offset = static_cast<uint16_t>(8 * Below(3));
      hpc::PageAccess access = Below(3) == 0 ? hpc::ReadOf(offset, 8) : hpc::WriteOf(offset, 8, random_() & 0xFFF);
      if (Below(2) == 0) access.value |= hpc::kHpccTrigger;
      PerformOne(access);
    }
    SwitchTo(/*reader=*/true);
    Advance(Below(30));
  }

  bool is_readers_ = true;
  uint64_t now_ = 0, last_trigger_ = 0, accesses_ = 0;
  mcu::HpcReadPath path_;
  std::bernoulli_distribution switch_;
  std::mt19937_64 random_;
};

// The counts of the bitmap's events, of the reader, all of one cycle after its last trigger.
void CheckReading(const Reading& reading, HpcManager manager, uint64_t bitmap, const ReadOptions& options,
                  uint64_t last_trigger) {
  std::vector<Truth> expected;
  const uint64_t cycle = reading.values.empty() ? last_trigger : Decode(reading.values[0]).cycle;
  EXPECT_GE(cycle, last_trigger);
  for (uint16_t bit = 0; bit < hpc::kCountersPerManager; ++bit) {
    const auto event = static_cast<uint16_t>(manager.extend * hpc::kCountersPerManager + bit);
    if ((bitmap >> bit & 1) != 0) expected.push_back({true, event, cycle});
  }
  std::vector<Truth> seen;
  for (const uint64_t value : reading.values) seen.push_back(Decode(value));
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(reading.stamp.has_value(), options.stamp);
  if (options.stamp && !reading.values.empty()) {
    EXPECT_EQ(reading.stamp, cycle);
  }
}

class SwitchedReaderTest : public testing::TestWithParam<std::tuple<bool, Reader, uint8_t>> {
 protected:
  void ReadOften(mcu::HpcTiming timing, double switch_rate) {
    SwitchedPage page(timing, switch_rate, /*seed=*/17);
    for (int i = 0; i < 400; ++i) ReadOnce(page);
  }

  void ReadOnce(SwitchedPage& page) {
    const auto [is_shared, reader, access_bytes] = GetParam();
    const ReadOptions options{
        .access_bytes = access_bytes, .stamp = random_() % 2 == 0, .reader = reader, .is_user = random_() % 2 == 0};
    const HpcManager manager{.module = 0, .extend = static_cast<uint8_t>(random_() % 2)};
    const uint64_t bitmap = random_() & random_() & 0xF'FFFF'FFFF;
    const auto get = is_shared ? GetCountersShared : GetCounters;
    const uint64_t accesses_before = page.accesses();
    const auto reading = get(page, manager, bitmap, options);
    EXPECT_LT(page.accesses() - accesses_before, 20'000u);
    if (reading.ok()) {
      ++accepted_;
      return CheckReading(*reading, manager, bitmap, options, page.last_trigger());
    }
    ++failed_;
    EXPECT_EQ(reading.status().code(), is_shared ? absl::StatusCode::kUnavailable : absl::StatusCode::kAborted);
  }

  std::mt19937_64 random_{5};
  int accepted_ = 0, failed_ = 0;
};

INSTANTIATE_TEST_SUITE_P(All, SwitchedReaderTest,
                         testing::Combine(testing::Bool(),
                                          testing::Values(Reader::kPatient, Reader::kEager, Reader::kOptimistic),
                                          testing::Values(uint8_t{8}, uint8_t{4})));

TEST_P(SwitchedReaderTest, WithoutSwitchesEveryReadingIsAccepted) {
  ReadOften({}, 0);
  ReadOften({.hop_cycles = 40, .lookup_cycles = 16}, 0);
  EXPECT_EQ(failed_, 0);
}

TEST_P(SwitchedReaderTest, AnAcceptedReadingIsTheReadersOwn) {
  ReadOften({}, 0.003);
  ReadOften({}, 0.03);
  ReadOften({.hop_cycles = 40, .lookup_cycles = 16}, 0.003);
  EXPECT_GT(accepted_, 300);
  if (!std::get<0>(GetParam())) {
    EXPECT_GT(failed_, 30);
  }
}

TEST_P(SwitchedReaderTest, EveryReaderEnds) {
  ReadOften({}, 0.4);
  EXPECT_GT(failed_, 200);
}

// --- Threads of one VM ----------------------------------------------------------------------------------------------

// A context that is never switched out: its resident cycles are the reference cycle.
constexpr char kPageChip[] = R"(
device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 1000000}
units: [{name: sm, events: [sm_active_cycles]}]
vms:
  - name: vm1
    uuid: 11111111-0000-4000-8000-000000000001
    counting: {useren: true}
    contexts: [{name: job, seed: 1, phases: [{kind: gemm, time: 2ms}]}]
gap: 0s
)";
constexpr uint64_t kResidentCycles = 0b10;

// The page of the job, while other connections, to it and to the VM's page, do as they like.
class ContendedPage final : public RegisterPage {
 public:
  ContendedPage() {
    const std::string path = testing::TempDir() + "register_read.yaml";
    std::ofstream(path) << kPageChip;
    device_ = *mcu::LiveDevice::Create(*mcu::LoadChipFile(path), 42, [this] { return elapsed_; });
    registers_ = std::make_unique<mcu::GuestRegisters>(*device_);
  }

  // Repeats from the first access that was not performed, like a SocketPage.
  absl::Status Perform(std::span<hpc::PageAccess> accesses) override {
    while (!accesses.empty()) {
      size_t performed = accesses.size();
      for (size_t i = 0; i < accesses.size(); ++i) {
        const auto value = Access(kJobPage, /*thread=*/1, accesses[i]);
        if (!value && i < performed) performed = i;
        if (value && accesses[i].kind == hpc::AccessKind::kRead) accesses[i].value = *value;
        if (random_() % 4 == 0) LetRivalAsk();
      }
      accesses = accesses.subspan(performed);
      if (!accesses.empty()) elapsed_ += absl::Microseconds(200);
    }
    return absl::OkStatus();
  }

 private:
  static constexpr size_t kVmPage = 0, kJobPage = 1;

  std::optional<uint64_t> Access(size_t page, uint64_t thread, const hpc::PageAccess& access) {
    elapsed_ += absl::Microseconds(1 + random_() % 20);
    return registers_->Access(page, thread, access);
  }

  void LetRivalAsk() {
    const auto offset = static_cast<uint16_t>(8 * (random_() % 3));
    const uint64_t value = random_() & (hpc::kHpccTrigger | kResidentCycles);
    // Writes of the supervisor must leave the user its right.
    Access(random_() % 2 == 0 ? kVmPage : kJobPage, 2 + random_() % 2,
           random_() % 2 == 0 ? hpc::ReadOf(offset, 8) : hpc::WriteOf(offset, 8, value | hpc::kHpccUseren));
  }

  absl::Duration elapsed_ = absl::Milliseconds(1);
  std::mt19937_64 random_{3};
  std::unique_ptr<mcu::LiveDevice> device_;
  std::unique_ptr<mcu::GuestRegisters> registers_;
};

TEST(ContendedReaderTest, AnAcceptedReadingIsTheReadersOwn) {
  ContendedPage page;
  int accepted = 0;
  for (int i = 0; i < 500; ++i) {
    const auto reading =
        GetCountersShared(page, {}, kResidentCycles, {.stamp = true, .reader = static_cast<Reader>(i % 3)});
    if (!reading.ok()) {
      EXPECT_EQ(reading.status().code(), absl::StatusCode::kUnavailable) << reading.status();
      continue;
    }
    ++accepted;
    EXPECT_EQ(reading->values, std::vector<uint64_t>{*reading->stamp});
  }
  EXPECT_GT(accepted, 400);
}

}  // namespace
}  // namespace sideband
