// SPDX-License-Identifier: Apache-2.0
//
// The daemon's collector on the microcontroller's firmware and chip: published counts equal the chip's counts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <vector>

#include "client/lib/opener.h"
#include "daemon/audit/fake_audit_sink.h"
#include "daemon/authz/policy.h"
#include "daemon/collector/device_collector.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/sealing/sealer_set.h"
#include "proto/envelope/keys.h"
#include "proto/smbus/bus_name.h"
#include "secure_mcu/device/live_device.h"
#include "secure_mcu/firmware/firmware.h"
#include "secure_mcu/firmware/mailbox_target.h"
#include "sideband/v1/telemetry.pb.h"
#include "sim/bus/faulty_bus.h"
#include "tests/conformance/in_process_bus.h"

namespace sideband::tests {
namespace {

using daemon::DeviceCollector;
using daemon::DeviceSnapshot;

constexpr char kSecretUuid[] = "22222222-0000-4000-8000-000000000002";
constexpr char kCollectedChip[] = R"(
device: {uuid: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, clock_hz: 1000000}
slices: 2
units: [{name: sm, count: 3, events: [sm_active_cycles, tensor_active_cycles]}]
device_units: [{name: pcie, events: [pcie_tx_cycles]}]
device_workload: {phases: [{kind: copy, time: 1ms}]}
vms:
  - name: open
    uuid: 11111111-0000-4000-8000-000000000001
    contexts:
      - {name: a, slice: 0, seed: 1, phases: [{kind: gemm, time: 2ms}]}
      - {name: b, slice: 0, seed: 2, phases: [{kind: attention, time: 1ms}]}
  - name: secret
    uuid: 22222222-0000-4000-8000-000000000002
    confidential: true
    contexts: [{name: c, slice: 1, seed: 3, phases: [{kind: gemm, time: 1ms}]}]
quantum: 1ms
gap: 100us
)";

std::string Write(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

// One transaction in ten is not acknowledged, loses arbitration, times out or has a bit flipped.
sim::FaultPlan SpoiledWire(uint64_t seed) {
  using sim::FaultKind;
  return {.seed = seed,
          .rules = {{.kind = FaultKind::kAddressNack, .probability = 0.02},
                    {.kind = FaultKind::kArbitrationLost, .probability = 0.02},
                    {.kind = FaultKind::kStuckClock, .probability = 0.02},
                    {.kind = FaultKind::kBitFlip, .probability = 0.04}}};
}

// A bus on which another controller polls the same mailbox: before one transaction in four it performs its next step,
// even while a command of the daemon is in progress. Its answers have the vendor id in the place of DISCOVER's version.
class SharedBus final : public smbus::Bus {
 public:
  SharedBus(smbus::Bus& bus, uint32_t seed) : bus_(bus), random_(seed) {}

  smbus::TransferResult Execute(const smbus::Transfer& transfer) override {
    if (random_() % 4 == 0) Step();
    return bus_.Execute(transfer);
  }

  // The other controller's reads, and those that did not return the result of its own command.
  uint64_t answers() const { return answers_; }
  uint64_t wrong_answers() const { return wrong_answers_; }

 private:
  void Step() {
    static const std::vector<smbus::Transfer> kSteps = {
        {{smbus::Message::Write(smbus::kMailboxAddress, {0x5D, 4, 0xEF, 0xBE, 0xAD, 0xDE})}},
        {{smbus::Message::Write(smbus::kMailboxAddress, {0x5C, 4, 0x05, 0x09, 0, 0x80})}},
        {{smbus::Message::Write(smbus::kMailboxAddress, {0x5C}), smbus::Message::Read(smbus::kMailboxAddress, 5)}},
        {{smbus::Message::Write(smbus::kMailboxAddress, {0x5D}), smbus::Message::Read(smbus::kMailboxAddress, 5)}},
        {{smbus::Message::Write(smbus::kMailboxAddress, {0x5C, 4, 0x1F, 0, 0, 0x80})}},  // an opcode that no device has
    };
    const size_t step = next_++ % kSteps.size();
    const smbus::TransferResult result = bus_.Execute(kSteps[step]);
    // Status of GET_SYS_ID's vendor id, and that id.
    if (step == 2) Check(result, {4, 0x05, 0x09, 0, 0x1F});
    if (step == 3) Check(result, {4, 0x53, 0x42, 0, 0});
  }

  void Check(const smbus::TransferResult& result, const Bytes& expected) {
    ++answers_;
    if (result.read.size() != 1 || result.read[0] != expected) ++wrong_answers_;
  }

  smbus::Bus& bus_;
  std::minstd_rand random_;
  size_t next_ = 0;
  uint64_t answers_ = 0;
  uint64_t wrong_answers_ = 0;
};

// The emulated device with its own time, and the daemon's objects for reading it.
class CollectorTest : public testing::Test {
 protected:
  CollectorTest() { PowerOn(/*boot_id=*/1); }
  ~CollectorTest() override { std::filesystem::remove(key_file_); }

  static std::string WriteKey() {
    const std::string path = Write("secret.key", std::string(64, '7') + "\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_read);
    return path;
  }

  // Restarts the device: time and counts begin at zero.
  void PowerOn(uint64_t boot_id, mailbox::ExtensionVersion version = mailbox::ExtensionVersion::kTwo) {
    elapsed_ = absl::ZeroDuration();
    device_ = *mcu::LiveDevice::Create(*mcu::LoadChipFile(Write("chip.yaml", kCollectedChip)), boot_id,
                                       [this] { return elapsed_; });
    firmware_ = std::make_unique<mcu::FirmwarePair>(*device_, mcu::PowerModel(device_->power()),
                                                    mcu::Persona::kSideband, version);
    target_ = std::make_unique<mcu::MailboxTarget>(
        smbus::kMailboxAddress, firmware_->shared(),
        mcu::MailboxTarget::Options{.registers = {}, .own_handler = firmware_->own()});
    bus_.Connect(smbus::kMailboxAddress, *target_);
  }

  absl::Status Collect(DeviceCollector& collector, absl::Duration later = absl::Milliseconds(100)) {
    elapsed_ += later;
    clock_.Advance(later);
    return collector.CollectOnce();
  }

  // Every published row must equal the chip's block, which has not changed since the latch.
  void ExpectRowsAreTheChips(const DeviceSnapshot& snapshot) {
    const mcu::MemoryBlocks& memory = device_->chip().memory();
    for (size_t row = 1; row < snapshot.data.blocks.size(); ++row) {
      const auto& block = snapshot.data.blocks[row];
      for (mcu::BlockId id = 0; id < memory.size(); ++id) {
        if (memory.header(id).vm != block.vm || memory.header(id).context != block.context) continue;
        const auto published = snapshot.data.Counters(row), counted = memory.counters(id);
        ASSERT_TRUE(std::equal(published.begin(), published.end(), counted.begin(), counted.end())) << "row " << row;
      }
    }
  }

  daemon::FakeClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  daemon::EpochSource epochs_{clock_, [] { return uint16_t{5}; }};
  std::unique_ptr<daemon::SelfMetrics> metrics_ = *daemon::SelfMetrics::Create({.version = "test"});
  daemon::Store store_{{{"gpu0", absl::Milliseconds(100)}}};

  absl::Duration elapsed_;
  std::unique_ptr<mcu::LiveDevice> device_;
  std::unique_ptr<mcu::FirmwarePair> firmware_;
  std::unique_ptr<mcu::MailboxTarget> target_;
  mcu::VirtualBus bus_;
  const std::string key_file_ = WriteKey();
  std::unique_ptr<daemon::SealerSet> sealers_ =
      *daemon::SealerSet::Load({{*Uuid::Parse(kSecretUuid), key_file_}}, epochs_);

  InProcessTransport wire_{bus_};
  daemon::RegisterPort port_{wire_, smbus::kMailboxAddress, [](absl::string_view) {}};
  daemon::MailboxSession session_{port_, [](absl::Duration) {}};
  daemon::PolicyHolder policy_{
      *daemon::Policy::Parse("version: 1\n"
                             "tenants:\n"
                             "  - name: other\n"
                             "    identities: ['spiffe://example.org/other']\n"
                             "    vms: [{uuid: 33333333-0000-4000-8000-000000000003}]\n",
                             "policy.yaml")};
  daemon::FakeAuditSink audit_;
  daemon::ConfidentialityBook confidential_{*sealers_, nullptr, policy_};
  const daemon::CollectorContext context_{store_, *sealers_, confidential_, policy_, audit_, *metrics_, clock_};
  DeviceCollector collector_{0, session_, context_};
};

TEST_F(CollectorTest, PublishesWhatTheChipCounted) {
  for (int i = 1; i <= 5; ++i) {
    ASSERT_TRUE(Collect(collector_).ok());
    const auto snapshot = store_.Newest(0);
    EXPECT_EQ(snapshot->publication, uint64_t(i));
    EXPECT_EQ(snapshot->data.boot_id, 1u);
    EXPECT_EQ(snapshot->data.reference_time_ns, uint64_t(i) * 100'000'000);
    ExpectRowsAreTheChips(*snapshot);
  }
}

TEST_F(CollectorTest, NothingOfTheConfidentialVmIsPublished) {
  ASSERT_TRUE(Collect(collector_).ok());
  const auto first = store_.Newest(0);
  ASSERT_TRUE(Collect(collector_).ok());
  const auto snapshot = store_.Newest(0);
  ASSERT_EQ(snapshot->data.blocks.size(), 4u) << "the device, the open VM, its two contexts";
  for (const size_t event : {0, 1}) {
    const auto counted = [&](size_t row) {
      return snapshot->data.Counters(row)[event] - first->data.Counters(row)[event];
    };
    EXPECT_EQ(counted(0), counted(1));
    EXPECT_GT(counted(0), 0u);
    EXPECT_EQ(snapshot->data.Counters(0)[event], snapshot->data.Counters(1)[event]) << "in total, too";
    EXPECT_EQ(snapshot->data.Counters(0)[event], device_->chip().memory().counters(0)[event]) << "as the chip has it";
  }
  EXPECT_FALSE(snapshot->IsShown(0, 2)) << "a device-scope event would tell of both";
}

TEST_F(CollectorTest, TheGuestOpensWhatTheChipCounted) {
  auto key = envelope::LoadStaticKey(key_file_);
  ASSERT_TRUE(key.ok()) << key.status();
  client::Opener opener(*std::move(key), {.vm = *Uuid::Parse(kSecretUuid)});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(Collect(collector_).ok());
    const auto snapshot = store_.Newest(0);
    ASSERT_EQ(snapshot->sealed.size(), 1u);
    const auto opened = opener.Open(*snapshot->sealed[0].record);
    ASSERT_TRUE(opened.ok()) << opened.status();
    v1::SealedContent content;
    ASSERT_TRUE(content.ParseFromArray(opened->content.data(), static_cast<int>(opened->content.size())));
    ASSERT_EQ(content.snapshot().scopes_size(), 2) << "the VM and its context";
    const mcu::MemoryBlocks& memory = device_->chip().memory();
    const auto& vm = content.snapshot().scopes(0);
    EXPECT_EQ(vm.scope().vm(), "secret");
    EXPECT_EQ(vm.counters(0).event(), "sm_active_cycles");
    EXPECT_EQ(vm.counters(0).count(), memory.counters(4)[0]);
    EXPECT_EQ(content.snapshot().scopes(1).counters(0).count(), memory.counters(5)[0]);
  }
}

TEST_F(CollectorTest, ARestartedDeviceIsFollowed) {
  ASSERT_TRUE(Collect(collector_, absl::Seconds(10)).ok());
  const uint64_t before = store_.Newest(0)->data.Counters(1)[0];
  PowerOn(/*boot_id=*/2);
  ASSERT_TRUE(Collect(collector_).ok());
  const auto snapshot = store_.Newest(0);
  EXPECT_EQ(snapshot->data.boot_id, 2u);
  EXPECT_LT(snapshot->data.Counters(1)[0], before);
  EXPECT_TRUE(std::isnan(snapshot->rates[0])) << "no rate across a restart";
  ExpectRowsAreTheChips(*snapshot);
}

TEST_F(CollectorTest, ADeviceThatIsAwayIsAnErrorAndNothingIsPublished) {
  daemon::RegisterPort nobody(wire_, 0x10, [](absl::string_view) {});
  daemon::MailboxSession session(nobody, [](absl::Duration) {});
  DeviceCollector collector(0, session, context_);
  EXPECT_EQ(Collect(collector).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(store_.Newest(0), nullptr);
}

// The same device, configured twice: the second collector never publishes while the first does.
TEST_F(CollectorTest, OneUuidIsOneDevices) {
  daemon::Store store({{"gpu0", absl::Milliseconds(100)}, {"gpu1", absl::Milliseconds(100)}});
  daemon::MailboxSession other_session(port_, [](absl::Duration) {});
  const daemon::CollectorContext context{store, *sealers_, confidential_, policy_, audit_, *metrics_, clock_};
  DeviceCollector first(0, session_, context);
  DeviceCollector second(1, other_session, context);
  ASSERT_TRUE(Collect(second).ok());
  const absl::Status refused = Collect(first);
  EXPECT_EQ(refused.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(refused.message(),
            "reports the UUID 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, as device gpu1 does: one device is configured "
            "twice, or two devices have the same UUID");
  EXPECT_TRUE(Collect(second).ok()) << "who was first goes on";
  EXPECT_EQ(store.Newest(0), nullptr);
  // Once the other device's snapshot is stale, the UUID is accepted here: the device may have been moved.
  clock_.Advance(absl::Seconds(1));
  EXPECT_TRUE(Collect(first).ok());
  EXPECT_EQ(Collect(second).code(), absl::StatusCode::kAlreadyExists);
}

TEST_F(CollectorTest, ASpoiledWireMayDelayButNeverFalsify) {
  constexpr uint32_t kSeeds = 40;
  uint64_t good = 0, faults = 0;
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    sim::FaultyBus spoiled(bus_, SpoiledWire(seed));
    InProcessTransport wire(spoiled);
    daemon::RegisterPort port(wire, smbus::kMailboxAddress, [](absl::string_view) {});
    daemon::MailboxSession session(port, [](absl::Duration) {});
    DeviceCollector collector(0, session, context_);
    for (int i = 0; i < 25; ++i) {
      const auto before = store_.Newest(0);
      if (!Collect(collector).ok()) continue;
      ++good;
      ASSERT_NE(store_.Newest(0), before);
      ExpectRowsAreTheChips(*store_.Newest(0));
    }
    for (size_t kind = 0; kind < sim::kFaultKinds; ++kind) faults += spoiled.count(static_cast<sim::FaultKind>(kind));
  }
  EXPECT_GT(good, 400u) << "retries should carry most snapshots through";
  EXPECT_GT(faults, 500u);
}

TEST_F(CollectorTest, AnotherControllerMayDelayVersionOneButNeverFalsify) {
  PowerOn(/*boot_id=*/1, mailbox::ExtensionVersion::kOne);
  uint64_t interferences = 0, published = 0;
  for (uint32_t seed = 1; seed <= 50; ++seed) {
    SharedBus shared(bus_, seed);
    InProcessTransport wire(shared);
    daemon::RegisterPort port(wire, smbus::kMailboxAddress,
                              [&](absl::string_view outcome) { interferences += outcome == "interference"; });
    daemon::MailboxSession session(port, [](absl::Duration) {});
    DeviceCollector collector(0, session, context_);
    for (int i = 0; i < 20; ++i) {
      const absl::Status status = Collect(collector);
      // Interference must not be reported as a missing extension or as another version of it.
      ASSERT_NE(status.code(), absl::StatusCode::kUnimplemented) << status << ", seed " << seed;
      if (!status.ok()) continue;
      ++published;
      ExpectRowsAreTheChips(*store_.Newest(0));
    }
  }
  EXPECT_GT(interferences, 100u);
  EXPECT_GT(published, 500u);
}

// Each answer to the other controller, too, is that of its own command.
TEST_F(CollectorTest, AnotherControllerAndTheDaemonDoNotMeetAtVersionTwo) {
  uint64_t interferences = 0, answers = 0;
  for (uint32_t seed = 1; seed <= 50; ++seed) {
    SharedBus shared(bus_, seed);
    InProcessTransport wire(shared);
    daemon::RegisterPort port(wire, smbus::kMailboxAddress,
                              [&](absl::string_view outcome) { interferences += outcome == "interference"; });
    daemon::MailboxSession session(port, [](absl::Duration) {});
    DeviceCollector collector(0, session, context_);
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(Collect(collector).ok()) << "seed " << seed;
      ExpectRowsAreTheChips(*store_.Newest(0));
    }
    answers += shared.answers();
    EXPECT_EQ(shared.wrong_answers(), 0u) << "seed " << seed;
  }
  EXPECT_GT(answers, 500u);
  EXPECT_EQ(interferences, 0u);
}

TEST_F(CollectorTest, WithoutAnotherControllerThereIsNoInterference) {
  std::vector<std::string> outcomes;
  daemon::RegisterPort port(wire_, smbus::kMailboxAddress,
                            [&](absl::string_view outcome) { outcomes.emplace_back(outcome); });
  daemon::MailboxSession session(port, [](absl::Duration) {});
  DeviceCollector collector(0, session, context_);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Collect(collector).ok());
  EXPECT_EQ(std::count(outcomes.begin(), outcomes.end(), "ok"), static_cast<int64_t>(outcomes.size()));
}

}  // namespace
}  // namespace sideband::tests
