// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/device_collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "daemon/authz/policy.h"
#include "daemon/base/pausing_clock.h"
#include "daemon/collector/creation_times.h"
#include "daemon/collector/fake_context.h"
#include "daemon/mailbox/fake_mailbox.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/mailbox/register_port.h"
#include "daemon/mailbox/snapshot_reader.h"
#include "daemon/snapshot/fake_topology.h"
#include "daemon/snapshot/topology.h"
#include "proto/mailbox/clocks.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/word.h"

namespace sideband::daemon {
namespace {

using absl::StatusCode;
using mailbox::MailboxStatus;
using mailbox::Opcode;
using testing::AnyOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// A device on its bus, and the session that reads it.
struct Line {
  FakeMailbox device;
  RegisterPort port{device, FakeMailbox::kAddress, [](absl::string_view) {}};
  MailboxSession session{port, [](absl::Duration) {}};
};

class DeviceCollectorTest : public testing::Test {
 protected:
  DeviceCollectorTest() { std::filesystem::create_directories(folder_); }
  ~DeviceCollectorTest() override { std::filesystem::remove_all(folder_); }

  // A daemon that has just started, with a sealing key for the secret VM or without keys.
  void Start(bool with_key = false) {
    collector_.reset();
    const std::string key_file = folder_ + "/vm.key";
    std::filesystem::remove(key_file);
    std::ofstream(key_file) << std::string(64, '7') << "\n";
    std::filesystem::permissions(key_file, std::filesystem::perms::owner_read);
    fakes_.LoadKeys(with_key ? std::vector<VmKeyFile>{{kSecretVmUuid, key_file}} : std::vector<VmKeyFile>{});
    collector_.emplace(0, line_.session, fakes_.Get(fakes_.clock, creation_file_));
  }
  void StartWithSecretVm(bool with_key = false) {
    device_.catalog = SomeCatalog(/*with_secret=*/true);
    Start(with_key);
  }
  void GrantSeal() {
    fakes_.policy.Replace(*Policy::Parse(absl::StrCat("version: 1\ntenants:\n  - name: a\n"
                                                      "    identities: ['spiffe://example.org/a']\n    vms: [{uuid: ",
                                                      kSecretVmUuid.ToString(), ", rights: [read, seal]}]\n"),
                                         "policy.yaml"));
  }
  // A second has passed, in which the device has counted: the device 111, the open VM and its context 1, the secret VM
  // and its context 100, always of the first event; and 50 of the device-scope event.
  void CountOn() {
    const uint64_t gained[] = {111, 50, 1, 0, 1, 0, 100, 0, 100, 0};
    for (size_t i = 0; i < std::size(gained); ++i) device_.next.counters[i] += gained[i];
    device_.next.reference_time_ns += 1'000'000'000;
    fakes_.clock.Advance(absl::Seconds(1));
  }
  std::shared_ptr<const DeviceSnapshot> Collect() {
    const absl::Status status = collector_->CollectOnce();
    EXPECT_TRUE(status.ok()) << status;
    return fakes_.store.Newest(0);
  }
  std::shared_ptr<const DeviceSnapshot> CountOnAndCollect() {
    CountOn();
    return Collect();
  }
  void SetInfo(DeviceInfo info) { fakes_.store.SetDevices({{0, std::make_shared<const DeviceInfo>(std::move(info))}}); }
  // The device answers each command with this opcode with the status only.
  void Answer(Opcode opcode, MailboxStatus status) {
    device_.answer = [=](const FakeMailbox::Command& command) -> std::optional<FakeMailbox::Reply> {
      if (command.word.opcode != opcode) return std::nullopt;
      return FakeMailbox::Reply{.status = status};
    };
  }
  std::string CreatedPath() const { return folder_ + "/created-" + device_.catalog.device.ToString(); }

  const std::string folder_ = testing::TempDir() + "device_collector_test";
  const CreationFile saved_{folder_};
  const CreationFile* creation_file_ = nullptr;
  FakeContext fakes_;
  Line line_;
  FakeMailbox& device_ = line_.device;
  std::optional<DeviceCollector> collector_;
};

TEST_F(DeviceCollectorTest, PublishesWhatTheDeviceHas) {
  Start();
  for (uint64_t i = 1; i <= 3; ++i) {
    const auto snapshot = CountOnAndCollect();
    ASSERT_NE(snapshot, nullptr);
    EXPECT_EQ(snapshot->publication, i);
    EXPECT_EQ(snapshot->data.snapshot_id, i);
    EXPECT_EQ(snapshot->data.blocks, device_.next.blocks);
    EXPECT_EQ(snapshot->data.counters, device_.next.counters);
    EXPECT_EQ(snapshot->topology->catalog(), device_.catalog);
    EXPECT_EQ(snapshot->host_time, fakes_.clock.Now());
    EXPECT_EQ(snapshot->steady_time, fakes_.clock.Steady());
    EXPECT_FALSE(snapshot->device_scope_withheld);
    EXPECT_TRUE(snapshot->sealed.empty());
  }
  EXPECT_TRUE(fakes_.HasMetric("sideband_snapshots_total{device=\"gpu0\"} 3"));
  EXPECT_TRUE(fakes_.HasMetric("sideband_collect_confidentiality_refused_total{device=\"gpu0\"} 0"));
  EXPECT_TRUE(fakes_.audit.Entries(AuditKind::kDevice).empty());
}

TEST_F(DeviceCollectorTest, APublishedSnapshotIsAcknowledgedByTheNextLatch) {
  Start();
  Collect();
  Collect();
  EXPECT_EQ(device_.CommandsOf(Opcode::kLatch).back().data, 1u);
}

TEST_F(DeviceCollectorTest, NothingOfAConfidentialVmIsPublished) {
  StartWithSecretVm();
  for (uint64_t gained = 0; gained < 3; ++gained) {
    const auto snapshot = gained == 0 ? Collect() : CountOnAndCollect();
    ASSERT_EQ(snapshot->data.blocks.size(), 3u) << "the device, the open VM, its context";
    for (const mailbox::BlockHeader& block : snapshot->data.blocks) EXPECT_NE(block.vm, kSecretVm);
    EXPECT_THAT(snapshot->data.counters, ElementsAre(gained, 0, 11 + gained, 0, 10 + gained, 0))
        << "the device's row counts on with the open VM only";
    EXPECT_EQ(snapshot->data.blocks[0].flags, mailbox::kFlagConfidentialExcluded) << "not the secret VM's overflow";
    EXPECT_EQ(snapshot->data.blocks[0].generation, 1'700'000'000u) << "when this run of the daemon began the row";
    EXPECT_TRUE(snapshot->device_scope_withheld);
    EXPECT_FALSE(snapshot->IsShown(0, 1)) << "an event of the whole device";
  }
}

// The device's block counts the open VM and more, as with time without a context; nothing of the secret VM.
TEST_F(DeviceCollectorTest, BesideAPrivateVmTheDevicesRowIsItsOwnBlock) {
  device_.version = mailbox::ExtensionVersion::kTwo;
  Start();
  EXPECT_EQ(Collect()->data.Counters(0)[0], 1111u);
  device_.catalog = CatalogWithPrivateVm();
  ++device_.catalog.vms[1].generation;
  device_.next.blocks[3].generation = 1;
  for (uint64_t gained = 1; gained < 4; ++gained) {
    const auto snapshot = CountOnAndCollect();
    EXPECT_THAT(snapshot->data.counters, ElementsAre(1111 + 111 * gained, 999, 11 + gained, 0, 10 + gained, 0));
    EXPECT_EQ(snapshot->data.blocks[0].flags, mailbox::kFlagOverflow | mailbox::kFlagConfidentialExcluded);
    EXPECT_EQ(snapshot->data.blocks[0].generation, device_.next.blocks[0].generation);
    EXPECT_FALSE(snapshot->IsShown(0, 1)) << "an event of the whole device";
    EXPECT_FALSE(snapshot->device_row_is_sum);
  }
  Start();  // the daemon again
  EXPECT_EQ(CountOnAndCollect()->data.Counters(0)[0], 1111u + 4 * 111) << "goes on, too";
}

TEST_F(DeviceCollectorTest, BesideOneThatIsNotPrivateTheDevicesRowIsASumUntilARestart) {
  device_.version = mailbox::ExtensionVersion::kTwo;
  device_.catalog = CatalogWithPrivateVm();
  Start();
  EXPECT_EQ(Collect()->data.Counters(0)[0], 1111u);
  device_.catalog.vms[1].is_private = false;
  EXPECT_EQ(CountOnAndCollect()->data.Counters(0)[0], 1112u);
  device_.catalog = CatalogWithPrivateVm();
  EXPECT_EQ(CountOnAndCollect()->data.Counters(0)[0], 1113u) << "the device changes its word again";
  device_.Restart(10);
  EXPECT_EQ(CountOnAndCollect()->data.Counters(0)[0], 1111u + 3 * 111);
}

TEST_F(DeviceCollectorTest, SoItIsBesideAnOpenVmOnWhichSealIsGranted) {
  device_.version = mailbox::ExtensionVersion::kTwo;
  Start();
  EXPECT_EQ(Collect()->data.Counters(0)[0], 1111u);
  GrantSeal();
  EXPECT_EQ(CountOnAndCollect()->data.Counters(0)[0], 1112u) << "the device counts it in its block";
  EXPECT_TRUE(fakes_.store.Newest(0)->device_row_is_sum);
}

TEST_F(DeviceCollectorTest, TheFirstDeviceRowOfABootIsTheSumOfTheShownVms) {
  creation_file_ = &saved_;
  StartWithSecretVm();
  device_.next.reference_time_ns = 10'000'000'000;
  const auto first = Collect();
  EXPECT_EQ(first->data.Counters(0)[0], 11u);
  EXPECT_EQ(first->created[0], first->booted);
  EXPECT_EQ(first->booted, fakes_.clock.Now() - absl::Seconds(10));
  CountOn();
  // A daemon that has published nothing yet.
  FakeContext later;
  later.clock.Advance(absl::Seconds(1));
  ASSERT_TRUE(DeviceCollector(0, line_.session, later.Get(later.clock, &saved_)).CollectOnce().ok());
  const auto restarted = later.store.Newest(0);
  EXPECT_EQ(restarted->data.Counters(0)[0], 0u) << "an earlier run may have published more";
  EXPECT_EQ(restarted->created[0], later.clock.Now());
  EXPECT_EQ(restarted->booted, first->booted);
}

TEST_F(DeviceCollectorTest, ARowBesideADamagedFileStartsAtZero) {
  creation_file_ = &saved_;
  std::ofstream(CreatedPath()) << "damaged\n";
  StartWithSecretVm();
  EXPECT_EQ(Collect()->data.Counters(0)[0], 0u);
}

TEST_F(DeviceCollectorTest, ConfidentialityStaysUntilTheDeviceRestarts) {
  StartWithSecretVm();
  Collect();
  device_.catalog = SomeCatalog(/*with_secret=*/false);
  EXPECT_EQ(CountOnAndCollect()->data.blocks.size(), 3u);
  EXPECT_TRUE(fakes_.HasMetric("sideband_collect_confidentiality_refused_total{device=\"gpu0\"} 1"));
  device_.Restart(10);
  const auto snapshot = CountOnAndCollect();
  EXPECT_EQ(snapshot->data.blocks.size(), 5u);
  EXPECT_FALSE(snapshot->device_scope_withheld);
}

TEST_F(DeviceCollectorTest, AConfidentialVmWithAKeyIsSealed) {
  for (const bool with_key : {false, true}) {
    StartWithSecretVm(with_key);
    const auto snapshot = Collect();
    ASSERT_EQ(snapshot->sealed.size(), with_key ? 1u : 0u);
    EXPECT_EQ(fakes_.HasMetric("sideband_sealed_records_total{device=\"gpu0\"} 1"), with_key);
    EXPECT_EQ(fakes_.HasMetric(absl::StrCat("sideband_sealing_budget_used_ratio{device=\"gpu0\",uuid=\"",
                                            kSecretVmUuid.ToString(), "\"} 2.3283064365386963e-10")),
              with_key)
        << "1 of 2^32";
    EXPECT_EQ(snapshot->data.blocks.size(), 3u) << "removed, sealed or not";
    for (const SealedVmRecord& record : snapshot->sealed) EXPECT_EQ(record.vm, kSecretVmUuid);
  }
}

TEST_F(DeviceCollectorTest, AReportThatContradictsTheDaemonIsRefused) {
  const struct {
    const char* reason;
    bool with_key, with_grant;
  } kRows[] = {{"it has a sealing key", true, false}, {"the policy grants `seal` on it", false, true}};
  for (const auto& row : kRows) {
    fakes_.policy.Replace(*Policy::Parse("version: 1\n", "policy.yaml"));
    fakes_.audit.Clear();
    if (row.with_grant) GrantSeal();
    Start(row.with_key);
    const auto snapshot = Collect();
    EXPECT_EQ(snapshot->data.blocks.size(), 3u) << row.reason;
    EXPECT_TRUE(snapshot->topology->FindVm(kSecretVm)->confidential);
    EXPECT_EQ(snapshot->sealed.size(), row.with_key ? 1u : 0u);
    const auto entries = fakes_.audit.Entries(AuditKind::kDevice);
    ASSERT_EQ(entries.size(), 1u);
    EXPECT_THAT(entries[0].reason, HasSubstr(row.reason));
    EXPECT_EQ(entries[0].resource, "device gpu0, VM " + kSecretVmUuid.ToString());
    EXPECT_EQ(entries[0].decision, AuditDecision::kDeny);
    EXPECT_EQ(entries[0].policy_version, fakes_.policy.Current().version);
  }
}

TEST_F(DeviceCollectorTest, ARefusalIsAuditedOncePerBootAndCountedEachTime) {
  Start(/*with_key=*/true);
  for (int i = 0; i < 3; ++i) CountOnAndCollect();
  EXPECT_EQ(fakes_.audit.Entries(AuditKind::kDevice).size(), 1u);
  EXPECT_TRUE(fakes_.HasMetric("sideband_collect_confidentiality_refused_total{device=\"gpu0\"} 3"));
  device_.Restart(10);
  CountOnAndCollect();
  EXPECT_EQ(fakes_.audit.Entries(AuditKind::kDevice).size(), 2u);
}

TEST_F(DeviceCollectorTest, ASnapshotThatCannotBeSealedIsNotPublished) {
  StartWithSecretVm(/*with_key=*/true);
  fakes_.has_random = false;
  EXPECT_EQ(collector_->CollectOnce().code(), StatusCode::kInternal);
  EXPECT_EQ(fakes_.store.Newest(0), nullptr);
  EXPECT_TRUE(fakes_.HasMetric("sideband_collect_errors_total{code=\"INTERNAL\",device=\"gpu0\"} 1"));
  fakes_.has_random = true;
  EXPECT_NE(Collect(), nullptr);
}

TEST_F(DeviceCollectorTest, RatesAreKnownFromTheSecondSnapshotOn) {
  Start();
  const auto first = Collect();
  ASSERT_EQ(first->rates.size(), first->data.counters.size());
  for (const double rate : first->rates) EXPECT_TRUE(std::isnan(rate));
  EXPECT_THAT(CountOnAndCollect()->rates, ElementsAre(111, 50, 1, 0, 1, 0, 100, 0, 100, 0));
}

TEST_F(DeviceCollectorTest, RatesAreThoseOfThePublishedRows) {
  StartWithSecretVm();
  Collect();
  EXPECT_THAT(CountOnAndCollect()->rates, ElementsAre(1, 0, 1, 0, 1, 0)) << "not the secret VM's 100";
}

// A change by one tenant must not be seen in the rates of others.
TEST_F(DeviceCollectorTest, RatesGoOnWhereTheCatalogueOnlyTellsMore) {
  Start();
  const auto first = Collect();
  device_.catalog.vms[0].name = "another name";
  const auto second = CountOnAndCollect();
  EXPECT_NE(first->topology, second->topology);
  EXPECT_THAT(second->rates, ElementsAre(111, 50, 1, 0, 1, 0, 100, 0, 100, 0));
}

TEST_F(DeviceCollectorTest, ThereIsNoRateAcrossARestart) {
  Start();
  Collect();
  device_.Restart(10);
  for (const double rate : CountOnAndCollect()->rates) EXPECT_TRUE(std::isnan(rate));
}

TEST_F(DeviceCollectorTest, BlocksAreCreatedAtTheBootOrAfterThePreviousSnapshot) {
  Start();
  device_.next.reference_time_ns = 10'000'000'000;
  const absl::Time start = fakes_.clock.Now();
  EXPECT_THAT(Collect()->created, Each(start - absl::Seconds(10)));
  device_.catalog.contexts.push_back({.vm = kSecretVm, .id = 1, .name = "d"});
  device_.next.blocks.push_back({.vm = kSecretVm, .context = 1});
  device_.next.counters.insert(device_.next.counters.end(), 2, 0);
  const auto snapshot = CountOnAndCollect();
  ASSERT_EQ(snapshot->created.size(), 6u);
  EXPECT_EQ(snapshot->created[4], start - absl::Seconds(10)) << "keeps its time";
  EXPECT_EQ(snapshot->created[5], start) << "it did not exist in the snapshot before";
}

TEST_F(DeviceCollectorTest, ADeviceRowWithoutConfidentialVmsIsCreatedWithItsFirstSnapshot) {
  StartWithSecretVm();
  device_.next.reference_time_ns = 10'000'000'000;
  const absl::Time start = fakes_.clock.Now();
  EXPECT_THAT(Collect()->created, ElementsAre(start, start - absl::Seconds(10), start - absl::Seconds(10)));
  EXPECT_EQ(CountOnAndCollect()->created[0], start);
}

TEST_F(DeviceCollectorTest, CreatedTimesAreKeptAcrossRestartsOfTheDaemon) {
  for (const bool with_file : {false, true}) {
    creation_file_ = with_file ? &saved_ : nullptr;
    Start();
    const auto before = Collect()->created;
    // The wall clock is set, so that a new estimate would differ.
    fakes_.clock.Step(absl::Hours(1));
    Start();
    EXPECT_EQ(CountOnAndCollect()->created == before, with_file);
  }
}

TEST_F(DeviceCollectorTest, CreatedTimesAreSavedOnlyWhenTheyChange) {
  creation_file_ = &saved_;
  Start();
  Collect();
  ASSERT_TRUE(std::filesystem::remove(CreatedPath()));
  CountOnAndCollect();
  EXPECT_FALSE(std::filesystem::exists(CreatedPath()));
  device_.Restart(10);
  CountOnAndCollect();
  EXPECT_EQ(saved_.Load(device_.catalog.device)->boot_id, 10u);
}

TEST_F(DeviceCollectorTest, ADamagedFileOfCreatedTimesIsReplaced) {
  creation_file_ = &saved_;
  std::ofstream(CreatedPath()) << "damaged\n";
  Start();
  EXPECT_NE(Collect(), nullptr);
  EXPECT_EQ(saved_.Load(device_.catalog.device)->boot_id, device_.next.boot_id);
}

TEST_F(DeviceCollectorTest, AFileThatCannotBeWrittenDoesNotStopTheCollection) {
  const std::string missing = folder_ + "/missing";
  std::filesystem::remove_all(missing);
  const CreationFile nowhere(missing);
  creation_file_ = &nowhere;
  Start();
  EXPECT_NE(Collect(), nullptr);
  EXPECT_EQ(CountOnAndCollect()->publication, 2u);
  std::filesystem::create_directory(missing);
  EXPECT_NE(CountOnAndCollect(), nullptr);
  EXPECT_TRUE(nowhere.Load(device_.catalog.device).ok()) << "once it can be";
}

TEST_F(DeviceCollectorTest, AnIntervalThatTheBusCannotCarryIsRejected) {
  const absl::Duration least = BudgetOf(Topology(device_.catalog, 1), 100'000, 255).least;
  const struct {
    absl::Duration interval;
    uint32_t bus_hz;
    StatusCode code;
  } kRows[] = {
      {least - absl::Nanoseconds(1), 100'000, StatusCode::kFailedPrecondition},
      {least, 100'000, StatusCode::kOk},
      {least - absl::Nanoseconds(1), 400'000, StatusCode::kOk},  // a faster bus
      {absl::Nanoseconds(1), 0, StatusCode::kOk},                // a bus without a speed
  };
  for (const auto& row : kRows) {
    SetInfo({.name = "gpu0", .interval = row.interval, .bus_hz = row.bus_hz});
    Start();
    const auto before = fakes_.store.Newest(0);
    EXPECT_EQ(collector_->CollectOnce().code(), row.code) << row.interval;
    EXPECT_EQ(fakes_.store.Newest(0) != before, row.code == StatusCode::kOk);
  }
}

TEST_F(DeviceCollectorTest, AnAdapterWithShortBlocksNeedsALongerInterval) {
  device_.catalog = SomeCatalog(/*with_secret=*/true);
  const absl::Duration least = BudgetOf(Topology(device_.catalog, 1), 100'000, 255).least;
  SetInfo({.name = "gpu0", .interval = least, .bus_hz = 100'000});
  Start();
  EXPECT_TRUE(collector_->CollectOnce().ok());
  device_.window_bytes = 32;
  EXPECT_EQ(collector_->CollectOnce().code(), StatusCode::kFailedPrecondition);
}

// Two devices that report one UUID.
class SharedUuidTest : public DeviceCollectorTest {
 protected:
  SharedUuidTest() {
    const auto info = [](const char* name) {
      return std::make_shared<const DeviceInfo>(DeviceInfo{.name = name, .interval = absl::Seconds(1)});
    };
    fakes_.store.SetDevices({{0, info("gpu0")}, {1, info("gpu1")}});
    Start();
    other_.emplace(1, other_line_.session, fakes_.Get(fakes_.clock));
  }
  Line other_line_;
  std::optional<DeviceCollector> other_;
};

TEST_F(SharedUuidTest, TheDeviceThatHadTheUuidFirstKeepsItWhileItIsFresh) {
  ASSERT_TRUE(other_->CollectOnce().ok());
  const absl::Status rejected = collector_->CollectOnce();
  EXPECT_EQ(rejected.code(), StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(rejected.message()), HasSubstr("as device gpu1 does"));
  EXPECT_EQ(fakes_.store.Newest(0), nullptr);
  EXPECT_TRUE(fakes_.HasMetric("sideband_collect_errors_total{code=\"ALREADY_EXISTS\",device=\"gpu0\"} 1"));
  fakes_.clock.Advance(DeviceInfo::kFreshIntervals * absl::Seconds(1));
  EXPECT_EQ(collector_->CollectOnce().code(), StatusCode::kAlreadyExists) << "still fresh";
  fakes_.clock.Advance(absl::Nanoseconds(1));
  EXPECT_TRUE(collector_->CollectOnce().ok()) << "the device may have been moved here";
  EXPECT_EQ(other_->CollectOnce().code(), StatusCode::kAlreadyExists);
}

TEST_F(SharedUuidTest, IfBothHaveTheUuidTheLowerIdKeepsIt) {
  ASSERT_TRUE(collector_->CollectOnce().ok());
  fakes_.store.Publish(1, fakes_.store.Newest(0));
  EXPECT_TRUE(collector_->CollectOnce().ok());
  EXPECT_EQ(other_->CollectOnce().code(), StatusCode::kAlreadyExists);
}

TEST_F(SharedUuidTest, DevicesWithTheirOwnUuidsDoNotMeet) {
  other_line_.device.catalog.device = *Uuid::Parse("6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10");
  EXPECT_TRUE(other_->CollectOnce().ok());
  EXPECT_TRUE(collector_->CollectOnce().ok());
  EXPECT_TRUE(other_->CollectOnce().ok());
}

TEST_F(DeviceCollectorTest, AnErrorIsCountedByItsCodeAndNothingIsPublished) {
  const struct {
    const char* code;
    std::function<void(FakeMailbox&)> disturb;
  } kRows[] = {
      {"UNAVAILABLE", [](FakeMailbox& device) { device.is_present = false; }},
      {"DATA_LOSS", [](FakeMailbox& device) { device.spoil = [](Bytes& stream) { stream.back() ^= 1; }; }},
      {"INVALID_ARGUMENT", [](FakeMailbox& device) { device.next.blocks[4].context = 7; }},
      {"DEADLINE_EXCEEDED", [](FakeMailbox& device) { device.busy_polls = 1000; }},
  };
  for (const auto& row : kRows) {
    FakeContext fakes;
    Line line;
    DeviceCollector collector(0, line.session, fakes.Get(fakes.clock));
    ASSERT_TRUE(collector.CollectOnce().ok());
    const auto before = fakes.store.Newest(0);
    row.disturb(line.device);
    EXPECT_EQ(absl::StatusCodeToString(collector.CollectOnce().code()), row.code);
    EXPECT_EQ(fakes.store.Newest(0), before) << row.code;
    EXPECT_TRUE(
        fakes.HasMetric(absl::StrCat("sideband_collect_errors_total{code=\"", row.code, "\",device=\"gpu0\"} 1")));
    EXPECT_TRUE(fakes.HasMetric("sideband_snapshots_total{device=\"gpu0\"} 1"));
    EXPECT_TRUE(fakes.HasMetric("sideband_collect_duration_seconds_count{device=\"gpu0\"} 2")) << "errors take time";
  }
}

TEST_F(DeviceCollectorTest, TheDurationOfACollectionIsMeasured) {
  Start();
  device_.before = [this, done = false](const smbus::Transfer&) mutable {
    if (!std::exchange(done, true)) fakes_.clock.Advance(absl::Milliseconds(250));
  };
  Collect();
  EXPECT_TRUE(fakes_.HasMetric("sideband_collect_duration_seconds_sum{device=\"gpu0\"} 0.25"));
}

TEST_F(DeviceCollectorTest, TheErrorOfTheTimeIsHalfOfTheLatch) {
  Start();
  device_.after = [this](const smbus::Transfer& transfer, FakeMailbox::Result&) {
    const bool is_latch = IsWriteOf(transfer, mailbox::kCommandRegister) && !device_.CommandsOf(Opcode::kLatch).empty();
    if (is_latch) fakes_.clock.Advance(absl::Milliseconds(10));
  };
  EXPECT_EQ(Collect()->host_time_error, absl::Milliseconds(5));
}

// By the fit, which short exchanges make close, and by the exchange where that is closer.
TEST_F(DeviceCollectorTest, TheLatchIsWithinTheErrorWhereverTheThreadPauses) {
  Start();
  const absl::Time booted = fakes_.clock.Now();
  absl::Time latched;
  absl::Duration half;
  device_.before = [&](const smbus::Transfer& transfer) {
    if (!IsWriteOf(transfer, mailbox::kCommandRegister)) return;
    fakes_.clock.Advance(half);
    if (device_.CommandsOf(Opcode::kLatch).empty()) latched = fakes_.clock.Now();
    device_.next.reference_time_ns = static_cast<uint64_t>(absl::ToInt64Nanoseconds(latched - booted));
    fakes_.clock.Advance(half);
  };
  int at = 0, readings = 0;
  const PausingClock clock(fakes_.clock, [&](int) { return absl::Milliseconds(readings++ == at ? 10 : 0); });
  DeviceCollector collector(0, line_.session, fakes_.Get(clock));
  absl::Duration least = absl::InfiniteDuration();
  do {
    readings = 0;
    half = absl::Microseconds(at % 2 == 0 ? 5 : 500);
    device_.commands.clear();
    fakes_.clock.Advance(absl::Milliseconds(100));
    ASSERT_TRUE(collector.CollectOnce().ok());
    const auto snapshot = fakes_.store.Newest(0);
    EXPECT_LE(absl::AbsDuration(snapshot->host_time - latched), snapshot->host_time_error) << "paused at " << at;
    if (at % 2 == 1) least = std::min(least, snapshot->host_time_error);
  } while (++at < readings);
  EXPECT_GE(at, 10);
  EXPECT_LT(least, absl::Microseconds(400)) << "the fit is closer than the exchange";
}

TEST_F(DeviceCollectorTest, AReferenceClockBeyondItsLimitsIsFlaggedAndNeverPlacedWrongly) {
  Start();
  const absl::Time booted = fakes_.clock.Now();
  absl::Time latched;
  absl::Duration half;
  device_.before = [&](const smbus::Transfer& transfer) {
    if (!IsWriteOf(transfer, mailbox::kCommandRegister) || !device_.CommandsOf(Opcode::kLatch).empty()) return;
    fakes_.clock.Advance(half);
    latched = fakes_.clock.Now();
    device_.next.reference_time_ns = static_cast<uint64_t>(absl::ToDoubleNanoseconds(latched - booted) * 1.0005);
    fakes_.clock.Advance(half);
  };
  for (int i = 0; i < 60; ++i) {
    half = absl::Microseconds(i % 7 == 0 ? 10 : 400);
    device_.commands.clear();
    fakes_.clock.Advance(absl::Seconds(1));
    const auto snapshot = Collect();
    EXPECT_LE(absl::AbsDuration(snapshot->host_time - latched), snapshot->host_time_error) << i;
    EXPECT_TRUE(i > 0 || !snapshot->reference_is_unsound);
  }
  const auto snapshot = fakes_.store.Newest(0);
  EXPECT_TRUE(snapshot->reference_is_unsound);
  ASSERT_TRUE(snapshot->reference_rate.has_value());
  EXPECT_GT(snapshot->reference_rate->lower_ppm, 400);
}

TEST_F(DeviceCollectorTest, AfterAnErrorTheNextCollectionWorks) {
  Start();
  Collect();
  device_.is_present = false;
  EXPECT_EQ(collector_->CollectOnce().code(), StatusCode::kUnavailable);
  device_.is_present = true;
  const auto snapshot = CountOnAndCollect();
  EXPECT_EQ(snapshot->publication, 2u);
  EXPECT_EQ(snapshot->rates[0], 111) << "since the last published one";
}

TEST_F(DeviceCollectorTest, OnlyAnAcknowledgementThatWasSupersededIsNoError) {
  device_.next.blocks[4].state = mailbox::BlockState::kRetired;
  const struct {
    MailboxStatus status;
    StatusCode code;
  } kRows[] = {{MailboxStatus::kErrAgain, StatusCode::kOk},  // another controller has latched since
               {MailboxStatus::kErrMisc, StatusCode::kInternal}};
  for (const auto& row : kRows) {
    Start();
    const auto before = fakes_.store.Newest(0);
    Answer(Opcode::kAck, row.status);
    EXPECT_EQ(collector_->CollectOnce().code(), row.code);
    EXPECT_NE(fakes_.store.Newest(0), before) << "published in any case";
  }
}

TEST_F(DeviceCollectorTest, WhetherASnapshotAddsUpIsAMetric) {
  for (mailbox::BlockHeader& block : device_.next.blocks) block.flags = 0;
  Start();
  Collect();
  EXPECT_TRUE(fakes_.HasMetric("sideband_conservation_ok{device=\"gpu0\"} 1"));
  device_.next.counters[4] = 12;  // the context has more than its VM
  EXPECT_NE(Collect(), nullptr) << "published nevertheless";
  EXPECT_TRUE(fakes_.HasMetric("sideband_conservation_ok{device=\"gpu0\"} 0"));
}

TEST_F(DeviceCollectorTest, ThePipelinesStatisticsAreMetrics) {
  device_.version = mailbox::ExtensionVersion::kTwo;
  device_.next.statistics = mailbox::PipelineStatistics{.stall_cycles = 3, .switches = 40};
  Start();
  Collect();
  EXPECT_TRUE(fakes_.HasMetric("sideband_pipeline_switches_total{device=\"gpu0\"} 40"));
  // Later snapshots have statistics if their number is a multiple of sixteen.
  device_.next.statistics =
      mailbox::PipelineStatistics{.stall_cycles = 3, .switches = 50, .rotation_inconsistencies = 2};
  for (int i = 0; i < 15; ++i) Collect();
  EXPECT_TRUE(fakes_.HasMetric("sideband_pipeline_switches_total{device=\"gpu0\"} 50"));
  EXPECT_TRUE(fakes_.HasMetric("sideband_pipeline_stall_cycles_total{device=\"gpu0\"} 3"));
  EXPECT_TRUE(fakes_.HasMetric("sideband_pipeline_rotation_inconsistencies_total{device=\"gpu0\"} 2"));
}

TEST_F(DeviceCollectorTest, AConfidentialVmsCountsAreCheckedBeforeTheyAreRemoved) {
  for (mailbox::BlockHeader& block : device_.next.blocks) block.flags = 0;
  StartWithSecretVm();
  device_.next.counters[8] = 1101;
  Collect();
  EXPECT_TRUE(fakes_.HasMetric("sideband_conservation_ok{device=\"gpu0\"} 0"));
}

TEST_F(DeviceCollectorTest, ARatioOverOneIsCountedForEachOfItsRows) {
  device_.catalog.events.push_back({.name = "hit_cycles"});
  device_.next.counters_per_block = 3;
  SetInfo({.name = "gpu0",
           .interval = absl::Seconds(1),
           .ratios = {{.name = "hit", .numerator = {"hit_cycles"}, .denominator = {"busy_cycles"}}}});
  device_.next.counters.assign(15, 0);
  Start();
  Collect();
  device_.next.reference_time_ns += 1'000'000'000;
  // In two rows as many hits as cycles, which is no error, in two rows one more, in one nothing.
  device_.next.counters = {100, 0, 100, 10, 0, 10, 10, 0, 11, 90, 0, 91, 0, 0, 0};
  Collect();
  EXPECT_TRUE(fakes_.HasMetric("sideband_ratios_over_one_total{device=\"gpu0\"} 2"));
}

// One busy cycle in each of the second's 100, on the only slice.
TEST_F(DeviceCollectorTest, ACountAboveItsCapacityIsCountedForEachRow) {
  device_.catalog.reference_clock_hz = 100;
  device_.catalog.events[0].details.slices = {{.capacity_q32 = uint64_t{1} << 32, .gain_q32 = uint64_t{1} << 32}};
  device_.version = mailbox::ExtensionVersion::kTwo;
  device_.next.counters.assign(10, 0);
  Start();
  Collect();
  device_.next.reference_time_ns += 1'000'000'000;
  // The device 300, the VMs 100 and 200.
  device_.next.counters = {300, 0, 100, 0, 100, 0, 200, 0, 200, 0};
  Collect();
  EXPECT_TRUE(fakes_.HasMetric("sideband_ratios_over_one_total{device=\"gpu0\"} 2"));
}

TEST_F(DeviceCollectorTest, AReloadedDeviceInfoIsUsedFromTheNextCollectionOn) {
  Start();
  Collect();
  SetInfo({.name = "renamed", .interval = absl::Nanoseconds(1), .bus_hz = 100'000});
  EXPECT_EQ(collector_->CollectOnce().code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(fakes_.HasMetric("sideband_collect_errors_total{code=\"FAILED_PRECONDITION\",device=\"renamed\"} 1"));
}

class ClockedCollectorTest : public DeviceCollectorTest {
 protected:
  ClockedCollectorTest() {
    device_.version = mailbox::ExtensionVersion::kTwo;
    device_.features = mailbox::kClocksFeature;
    device_.catalog.reference_clock_hz = 1'000'000'000;
    device_.catalog.clock_domains = {{.name = "sm",
                                      .nominal_hz = 500'000'000,
                                      .period_min = 131'000,
                                      .period_max = 131'100,
                                      .bar_high = 10 << mailbox::kInstantFractionBits,
                                      .announces = true}};
    device_.next.clocks = {mailbox::ClockReading{.local_clock = 7}};
    Start();
  }
  size_t Asked(mailbox::TriggerStep step) const {
    const auto commands = device_.CommandsOf(Opcode::kTrigger);
    return static_cast<size_t>(std::ranges::count_if(
        commands, [&](const auto& command) { return command.word.arg1 == static_cast<uint8_t>(step); }));
  }
};

TEST_F(ClockedCollectorTest, TheFitsOfADeviceWithAGridAreRead) {
  Collect();
  EXPECT_EQ(Asked(mailbox::TriggerStep::kHulls), 0u);
  SetInfo({.name = "gpu0", .interval = absl::Seconds(1), .clocks = {.trigger_hz = 1000}});
  Collect();
  EXPECT_EQ(Asked(mailbox::TriggerStep::kHulls), 1u);
}

TEST_F(ClockedCollectorTest, ABusWithoutTimeForFitsIsSparedThem) {
  SetInfo({.name = "gpu0", .interval = absl::Seconds(1), .bus_hz = 10'000, .clocks = {.trigger_hz = 1000}});
  Collect();
  EXPECT_EQ(Asked(mailbox::TriggerStep::kHulls), 1u);
  SetInfo({.name = "gpu0", .interval = absl::Milliseconds(590), .bus_hz = 10'000, .clocks = {.trigger_hz = 1000}});
  Collect();
  EXPECT_EQ(Asked(mailbox::TriggerStep::kHulls), 1u);
}

TEST_F(ClockedCollectorTest, FitsThatCannotBeReadCostNothingElse) {
  SetInfo({.name = "gpu0", .interval = absl::Seconds(1), .clocks = {.trigger_hz = 1000}});
  Answer(Opcode::kTrigger, MailboxStatus::kErrMisc);
  const auto snapshot = Collect();
  ASSERT_NE(snapshot, nullptr);
  ASSERT_EQ(snapshot->clocks.size(), 1u);
  EXPECT_TRUE(snapshot->clocks[0].error_bound_s.has_value());
}

TEST_F(ClockedCollectorTest, TheDriverOfALineSendsAPulseForEachSnapshot) {
  LineBook lines;
  CollectorContext context = fakes_.Get(fakes_.clock);
  context.lines = &lines;
  collector_.emplace(0, line_.session, context);
  SetInfo({.name = "gpu0", .interval = absl::Seconds(1), .clocks = {.line = {.name = "rack", .drives = true}}});
  for (int i = 0; i < 3; ++i) CountOnAndCollect();
  EXPECT_EQ(Asked(mailbox::TriggerStep::kOnce), 3u);
}

TEST_F(DeviceCollectorTest, ADeviceThatWasRemovedIsNotPublished) {
  Start();
  Collect();
  fakes_.store.SetDevices({});
  EXPECT_TRUE(collector_->CollectOnce().ok());
  EXPECT_EQ(fakes_.store.Newest(0), nullptr);
}

}  // namespace
}  // namespace sideband::daemon
