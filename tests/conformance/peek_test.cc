// SPDX-License-Identifier: Apache-2.0
//
// The daemon's peeks on the microcontroller's firmware and chip: each accepted answer is what a latch at its cycle
// would have, whatever the wire and other controllers do.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/mailbox/block_peeker.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/mailbox/register_port.h"
#include "daemon/mailbox/snapshot_reader.h"
#include "proto/base/wait_until.h"
#include "proto/mailbox/extension.h"
#include "proto/smbus/bus_name.h"
#include "proto/smbus/transfer.h"
#include "secure_mcu/chip_file/chip_file.h"
#include "secure_mcu/device/live_device.h"
#include "secure_mcu/firmware/firmware.h"
#include "secure_mcu/firmware/mailbox_target.h"
#include "sim/bus/faulty_bus.h"
#include "tests/conformance/in_process_bus.h"

namespace sideband::tests {
namespace {

using daemon::BlockPeeker;
using daemon::PeekedBlock;
using daemon::PeekQuery;

// Three extends: 130 events of a slice, and resident_cycles.
std::string ChipText(bool with_secret, bool is_private) {
  std::string units;
  for (int unit = 0; unit < 5; ++unit) {
    absl::StrAppend(&units, unit == 0 ? "" : ", ", "{name: u", unit, ", events: [");
    for (int event = 0; event < 26; ++event) {
      absl::StrAppend(&units, event == 0 ? "" : ", ", "u", unit, "_e", event, "_cycles");
    }
    units += "]}";
  }
  return absl::StrCat(R"(
device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 1000000}
slices: 2
units: [)",
                      units, R"(]
vms:
  - name: open
    uuid: 11111111-0000-4000-8000-000000000001
    contexts:
      - {name: a, slice: 0, seed: 1, phases: [{kind: gemm, time: 2ms}]}
      - {name: b, slice: 0, seed: 2, phases: [{kind: attention, time: 1ms}]}
  - name: other
    uuid: 22222222-0000-4000-8000-000000000002
    confidential: )",
                      with_secret ? "true" : "false", "\n    counting: {private: ", is_private ? "true" : "false", R"(}
    contexts: [{name: c, slice: 1, seed: 3, phases: [{kind: gemm, time: 1ms}]}]
quantum: 1ms
gap: 100us
)");
}

// A controller of its own.
struct PeekController {
  PeekController(smbus::Bus& bus, const daemon::Clock& clock, size_t block_bytes_max = smbus::kBlockBytesMax)
      : wire(bus, block_bytes_max), reader(session, clock), peeker(session, clock, [this] { ++retries; }) {}

  InProcessTransport wire;
  daemon::RegisterPort port{wire, smbus::kMailboxAddress, [](absl::string_view) {}};
  daemon::MailboxSession session{port, [](absl::Duration) {}};
  daemon::SnapshotReader reader;
  int retries = 0;
  BlockPeeker peeker;
};

class PeekTest : public testing::Test {
 protected:
  void PowerOn(bool with_secret, bool is_private = false) {
    const std::string path = testing::TempDir() + "peek.yaml";
    std::ofstream(path) << ChipText(with_secret, is_private);
    file_ = *mcu::LoadChipFile(path);
    device_ = *mcu::LiveDevice::Create(*file_, /*boot_id=*/1, [this] { return elapsed_; });
    truth_ = *mcu::LiveDevice::Create(*file_, /*boot_id=*/1, [this] { return truth_elapsed_; });
    firmware_.emplace(*device_, mcu::PowerModel(device_->power()), mcu::Persona::kSideband, file_->extension);
    target_.emplace(smbus::kMailboxAddress, firmware_->shared(),
                    mcu::MailboxTarget::Options{.registers = {}, .own_handler = firmware_->own()});
    bus_.Connect(smbus::kMailboxAddress, *target_);
  }

  // Compares with a device that is latched at the same time. Times must not go back.
  void ExpectTrue(const PeekQuery& query, const PeekedBlock& peeked) {
    truth_elapsed_ = absl::Nanoseconds(peeked.reference_time_ns);
    const mailbox::Snapshot snapshot = truth_->Latch();
    ASSERT_EQ(snapshot.reference_time_ns, peeked.reference_time_ns);
    for (size_t block = 0; block < snapshot.blocks.size(); ++block) {
      if (snapshot.blocks[block].vm != query.vm || snapshot.blocks[block].context != query.context) continue;
      EXPECT_EQ(peeked.flags, snapshot.blocks[block].flags);
      for (size_t i = 0; i < query.events.size(); ++i) {
        EXPECT_EQ(peeked.counters[i], snapshot.Counters(block)[query.events[i]]) << query.events[i];
      }
      return;
    }
    ADD_FAILURE() << "no such block";
  }
  // Asks for random events of a random block.
  PeekQuery RandomQuery() {
    static constexpr std::pair<uint16_t, uint16_t> kScopes[] = {
        {0, mailbox::kNoContext}, {1, mailbox::kNoContext}, {1, 0}, {1, 1}, {2, 0}};
    const auto [vm, context] = kScopes[random_() % std::size(kScopes)];
    PeekQuery query{.vm = vm, .context = context, .boot_id = 1, .generation = 1};
    const uint32_t density = 1 + random_() % 20;
    for (uint16_t event = 0; event < 131 && query.events.size() < mailbox::kPeekCountersMax; ++event) {
      if (random_() % density == 0) query.events.push_back(event);
    }
    if (query.events.empty()) query.events = {130};
    return query;
  }

  std::optional<mcu::ChipFile> file_;
  absl::Duration elapsed_, truth_elapsed_;
  std::unique_ptr<mcu::LiveDevice> device_, truth_;
  std::optional<mcu::FirmwarePair> firmware_;
  std::optional<mcu::MailboxTarget> target_;
  mcu::VirtualBus bus_;
  BusyBus busy_{bus_, elapsed_};
  daemon::FakeClock clock_{absl::UnixEpoch()};
  std::minstd_rand random_{1};
};

TEST_F(PeekTest, EveryAnswerIsExactAndOfOneInstant) {
  PowerOn(/*with_secret=*/false);
  for (const size_t block_bytes_max : {size_t{smbus::kBlockBytesMax}, size_t{32}}) {
    PeekController controller(busy_, clock_, block_bytes_max);
    ASSERT_TRUE(controller.session.CheckExtension().ok());
    for (int i = 0; i < 60; ++i) {
      const PeekQuery query = RandomQuery();
      const auto peeked = controller.peeker.Peek(query);
      ASSERT_TRUE(peeked.ok()) << peeked.status();
      ExpectTrue(query, *peeked);
    }
    EXPECT_EQ(controller.retries, 0);
  }
}

TEST_F(PeekTest, ASpoiledWireFalsifiesNothing) {
  PowerOn(/*with_secret=*/false);
  sim::FaultPlan plan{.seed = 7};
  for (const sim::FaultKind kind : {sim::FaultKind::kAddressNack, sim::FaultKind::kArbitrationLost,
                                    sim::FaultKind::kStuckClock, sim::FaultKind::kBitFlip}) {
    plan.rules.push_back({.kind = kind, .probability = 0.03});
  }
  sim::FaultyBus faulty(busy_, plan);
  PeekController controller(faulty, clock_);
  WaitUntil([&] { return controller.session.CheckExtension().ok(); }, "the extension on a spoiled wire");
  int answers = 0;
  for (int i = 0; i < 200; ++i) {
    const PeekQuery query = RandomQuery();
    const auto peeked = controller.peeker.Peek(query);
    if (!peeked.ok()) continue;
    ++answers;
    ExpectTrue(query, *peeked);
  }
  EXPECT_GT(answers, 150);
}

// Both controllers peek and latch; the second one within the first one's peeks.
TEST_F(PeekTest, ControllersGetAnswersToTheirOwnQuestions) {
  PowerOn(/*with_secret=*/false);
  PeekController first(busy_, clock_), second(bus_, clock_);
  ASSERT_TRUE(first.session.CheckExtension().ok());
  ASSERT_TRUE(second.session.CheckExtension().ok());
  int answers = 0, answers_of_second = 0;
  busy_.meanwhile = [&] {
    if (random_() % 10 != 0) return;
    if (random_() % 4 == 0) {
      EXPECT_TRUE(second.reader.Take().ok());
      return;
    }
    const PeekQuery query = RandomQuery();
    const auto peeked = second.peeker.Peek(query);
    ASSERT_TRUE(peeked.ok()) << peeked.status();
    ++answers_of_second;
  };
  for (int i = 0; i < 200; ++i) {
    const PeekQuery query = RandomQuery();
    const auto peeked = first.peeker.Peek(query);
    if (!peeked.ok()) continue;
    ++answers;
    ExpectTrue(query, *peeked);
  }
  EXPECT_GT(answers, 20);
  EXPECT_GT(answers_of_second, 20);
  EXPECT_GT(first.retries, 20);
}

TEST_F(PeekTest, APeekLeavesTheNextSnapshotAsItIs) {
  PowerOn(/*with_secret=*/false);
  PeekController controller(busy_, clock_);
  for (int i = 0; i < 10; ++i) {
    const auto taken = controller.reader.Take();
    ASSERT_TRUE(taken.ok()) << taken.status();
    ASSERT_TRUE(controller.reader.Acknowledge().ok());
    truth_elapsed_ = absl::Nanoseconds(taken->raw.reference_time_ns);
    EXPECT_EQ(truth_->Latch().counters, taken->raw.counters);
    truth_->Acknowledge();
    ASSERT_TRUE(controller.peeker.Peek(RandomQuery()).ok());
  }
  truth_elapsed_ = elapsed_;
  device_->CatchUp();
  truth_->CatchUp();
  EXPECT_EQ(device_->chip().stats(), truth_->chip().stats()) << "triggers, commits and switches, too";
}

TEST_F(PeekTest, AConfidentialVmIsNotThere) {
  PowerOn(/*with_secret=*/true);
  PeekController controller(busy_, clock_);
  ASSERT_TRUE(controller.session.CheckExtension().ok());
  for (const auto& [vm, context] : {std::pair(2, 0), std::pair(2, 0xFFFF), std::pair(0, 0xFFFF), std::pair(9, 0)}) {
    const PeekQuery query{.vm = static_cast<uint16_t>(vm),
                          .context = static_cast<uint16_t>(context),
                          .boot_id = 1,
                          .generation = 1,
                          .events = {0}};
    EXPECT_EQ(controller.peeker.Peek(query).status().code(), absl::StatusCode::kNotFound) << vm << " " << context;
  }
}

TEST_F(PeekTest, BesideAPrivateVmTheDeviceIsThereAndExact) {
  PowerOn(/*with_secret=*/true, /*is_private=*/true);
  PeekController controller(busy_, clock_);
  ASSERT_TRUE(controller.session.CheckExtension().ok());
  const PeekQuery device{.vm = 0, .context = mailbox::kNoContext, .boot_id = 1, .generation = 1, .events = {0, 129}};
  for (int i = 0; i < 20; ++i) {
    const auto peeked = controller.peeker.Peek(device);
    ASSERT_TRUE(peeked.ok()) << peeked.status();
    ExpectTrue(device, *peeked);
  }
  for (const uint16_t context : {uint16_t{0}, mailbox::kNoContext}) {
    const PeekQuery query{.vm = 2, .context = context, .boot_id = 1, .generation = 1, .events = {0}};
    EXPECT_EQ(controller.peeker.Peek(query).status().code(), absl::StatusCode::kNotFound) << context;
  }
}

// The two answers have the same outcomes, bytes, bit times, and time for which the clock is held.
TEST_F(PeekTest, OnTheWireDeniedIsAbsent) {
  PowerOn(/*with_secret=*/true);
  PeekController controller(busy_, clock_);
  ASSERT_TRUE(controller.session.CheckExtension().ok());
  const auto answered = [&](uint16_t vm, uint16_t context) {
    busy_.results.clear();
    busy_.bit_times.clear();
    const PeekQuery query{.vm = vm, .context = context, .boot_id = 1, .generation = 1, .events = {0}};
    EXPECT_EQ(controller.peeker.Peek(query).status().code(), absl::StatusCode::kNotFound) << vm << " " << context;
    return std::pair(busy_.results, busy_.bit_times);
  };
  for (const uint16_t context : {uint16_t{0}, mailbox::kNoContext}) {
    const auto denied = answered(2, context), absent = answered(9, context);
    EXPECT_FALSE(denied.first.empty());
    EXPECT_TRUE(denied.first == absent.first) << context;
    EXPECT_EQ(denied.second, absent.second) << context;
  }
  EXPECT_TRUE(answered(0, mailbox::kNoContext) == answered(9, mailbox::kNoContext)) << "the device's own block";
}

}  // namespace
}  // namespace sideband::tests
