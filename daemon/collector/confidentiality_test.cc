// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/confidentiality.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "daemon/base/clock.h"
#include "daemon/sealing/sealer_set.h"
#include "daemon/snapshot/fake_topology.h"

namespace sideband::daemon {
namespace {

using mailbox::BlockRotation;
using mailbox::kFlagConfidentialExcluded;
using mailbox::kUnknownNumber;
using Counts = mailbox::CounterValues;

constexpr uint64_t kBoot = 9;
const Uuid kOpenUuid = *Uuid::Parse("00000000-0000-0000-0000-000000000001");

std::shared_ptr<const Topology> Says(bool secret, uint32_t generation = 1) {
  mailbox::Catalog catalog = SomeCatalog(secret);
  catalog.vms[1].generation = generation;
  return std::make_shared<const Topology>(std::move(catalog), 77);
}

bool IsConfidential(const Topology& topology, uint16_t vm) { return topology.FindVm(vm)->confidential; }

class ConfidentialityTest : public testing::Test {
 protected:
  // Returns whether the secret VM is confidential in the verdict.
  bool Judged(const std::shared_ptr<const Topology>& said, uint64_t boot_id = kBoot) {
    verdict_ = confidentiality_->Judge(said, boot_id);
    EXPECT_EQ(verdict_.topology->hash(), said->hash());
    return IsConfidential(*verdict_.topology, kSecretVm);
  }

  Uuid required_;
  std::unique_ptr<Confidentiality> confidentiality_ = std::make_unique<Confidentiality>(
      [this](const Uuid& vm) { return vm == required_ ? absl::string_view("it is required") : ""; });
  Confidentiality::Verdict verdict_;
};

TEST_F(ConfidentialityTest, BelievesADeviceThatContradictsNothing) {
  const auto open = Says(false), secret = Says(true);
  EXPECT_FALSE(Judged(open));
  EXPECT_EQ(verdict_.topology, open) << "the very same";
  EXPECT_TRUE(Judged(secret)) << "a VM may become confidential";
  EXPECT_EQ(verdict_.topology, secret);
  EXPECT_EQ(verdict_.refused, 0u);
  EXPECT_TRUE(verdict_.to_report.empty());
}

TEST_F(ConfidentialityTest, WhatIsRequiredIsConfidentialFromThenOn) {
  EXPECT_FALSE(Judged(Says(false)));
  required_ = kSecretVmUuid;
  EXPECT_TRUE(Judged(Says(false)));
  EXPECT_EQ(verdict_.refused, 1u);
  ASSERT_EQ(verdict_.to_report.size(), 1u);
  EXPECT_EQ(verdict_.to_report[0].vm, kSecretVmUuid);
  EXPECT_EQ(verdict_.to_report[0].reason, "it is required");
  EXPECT_TRUE(verdict_.topology->has_had_confidential_vm()) << "the device's row must leave it out";
  EXPECT_FALSE(IsConfidential(*verdict_.topology, kOpenVm));
  required_ = {};
  EXPECT_TRUE(Judged(Says(false))) << "and stays so in this boot";
}

TEST_F(ConfidentialityTest, ADeviceCannotTakeItBackInOneBoot) {
  EXPECT_TRUE(Judged(Says(true)));
  EXPECT_TRUE(Judged(Says(false)));
  EXPECT_EQ(verdict_.refused, 1u);
  EXPECT_EQ(verdict_.to_report.size(), 1u);
  EXPECT_TRUE(Judged(Says(false, /*generation=*/2))) << "nor with a new generation";
  EXPECT_EQ(verdict_.refused, 1u) << "each time is counted";
  EXPECT_TRUE(verdict_.to_report.empty()) << "but reported once";
  EXPECT_FALSE(Judged(Says(false), kBoot + 1)) << "another boot";
  EXPECT_TRUE(Judged(Says(true), kBoot + 1));
  EXPECT_TRUE(Judged(Says(false), kBoot + 1));
  EXPECT_EQ(verdict_.to_report.size(), 1u) << "is reported anew";
}

TEST_F(ConfidentialityTest, AnotherUuidDoesNotMakeItAnotherVm) {
  EXPECT_TRUE(Judged(Says(true)));
  mailbox::Catalog catalog = Says(false)->catalog();
  catalog.vms[1].uuid.bytes[0] = 99;
  EXPECT_TRUE(Judged(std::make_shared<const Topology>(catalog, 78)));
  catalog.vms[1].uuid.bytes[0] = 98;
  catalog.vms[1].generation = 2;
  EXPECT_FALSE(Judged(std::make_shared<const Topology>(catalog, 79))) << "an id that was given to another VM";
}

TEST_F(ConfidentialityTest, TheCorrectedTopologyStaysTheSameForAsLongAsNothingChanges) {
  required_ = kSecretVmUuid;
  const auto said = Says(false);
  Judged(said);
  const auto first = verdict_.topology;
  Judged(said);
  EXPECT_EQ(verdict_.topology, first) << "so that views of it live on";
  Judged(Says(false));
  EXPECT_NE(verdict_.topology, first) << "another catalogue";
  required_ = kOpenUuid;
  Judged(said);
  EXPECT_TRUE(IsConfidential(*verdict_.topology, kOpenVm));
  EXPECT_TRUE(IsConfidential(*verdict_.topology, kSecretVm));
}

std::shared_ptr<const Topology> SaysPrivate(bool is_private, uint32_t generation = 1, bool confidential = true) {
  mailbox::Catalog catalog = CatalogWithPrivateVm();
  catalog.vms[1].is_private = is_private;
  catalog.vms[1].confidential = confidential;
  catalog.vms[1].generation = generation;
  catalog.has_had_confidential_vm = catalog.confidential_vms_were_private = confidential;
  return std::make_shared<const Topology>(std::move(catalog), 77);
}

class PrivateTest : public ConfidentialityTest {
 protected:
  // Returns whether the device's own block may have counts of a confidential VM.
  bool IsMixed(const std::shared_ptr<const Topology>& said, uint64_t boot_id = kBoot) {
    verdict_ = confidentiality_->Judge(said, boot_id);
    EXPECT_TRUE(verdict_.topology->has_had_confidential_vm());
    return verdict_.topology->device_block_has_confidential_counts();
  }
};

TEST_F(PrivateTest, OfAPrivateVmTheDevicesBlockHasNothing) {
  const auto said = SaysPrivate(true);
  EXPECT_FALSE(IsMixed(said));
  EXPECT_EQ(verdict_.topology, said) << "the very same";
  EXPECT_FALSE(IsMixed(SaysPrivate(true, 2))) << "nor of its successor";
  EXPECT_EQ(verdict_.refused, 0u);
}

TEST_F(PrivateTest, OneThatIsNotPrivateMixesTheBlockUntilARestart) {
  EXPECT_FALSE(IsMixed(SaysPrivate(true)));
  EXPECT_TRUE(IsMixed(SaysPrivate(false, 2)));
  const auto said = SaysPrivate(true, 3);
  EXPECT_TRUE(IsMixed(said)) << "its counts remain";
  EXPECT_EQ(IsMixed(said), true);
  const auto corrected = verdict_.topology;
  IsMixed(said);
  EXPECT_EQ(verdict_.topology, corrected) << "so that views of it live on";
  EXPECT_FALSE(IsMixed(said, kBoot + 1)) << "another boot";
  EXPECT_EQ(verdict_.topology, said);
}

TEST_F(PrivateTest, ADeviceCannotChangeItsWordWithinAGeneration) {
  Judged(SaysPrivate(false, 1, /*confidential=*/false));
  EXPECT_TRUE(IsMixed(SaysPrivate(true, 1))) << "it was counted for the device in this generation";
  EXPECT_FALSE(IsMixed(SaysPrivate(true, 1), kBoot + 1));
  Judged(SaysPrivate(false, 1, /*confidential=*/false), kBoot + 2);
  EXPECT_FALSE(IsMixed(SaysPrivate(true, 2), kBoot + 2)) << "what came before was open";
}

TEST_F(PrivateTest, ThePastThatTheDeviceReportsCountsToo) {
  mailbox::Catalog catalog = CatalogWithPrivateVm();
  catalog.confidential_vms_were_private = false;
  EXPECT_TRUE(IsMixed(std::make_shared<const Topology>(catalog, 77)));
  EXPECT_TRUE(IsMixed(SaysPrivate(true))) << "and cannot be taken back";
  catalog.has_had_confidential_vm = false;
  catalog.vms.pop_back();
  catalog.contexts.pop_back();
  EXPECT_TRUE(IsMixed(std::make_shared<const Topology>(catalog, 78)));
}

TEST_F(PrivateTest, AVmThatTheDaemonHoldsForConfidentialMustBePrivateAsWell) {
  required_ = kOpenUuid;
  EXPECT_TRUE(IsMixed(SaysPrivate(true))) << "the open VM is in the device's block";
  EXPECT_TRUE(IsConfidential(*verdict_.topology, kOpenVm));
  mailbox::Catalog catalog = SomeCatalog(false);
  for (mailbox::VmInfo& vm : catalog.vms) vm.is_private = true;
  EXPECT_FALSE(IsMixed(std::make_shared<const Topology>(catalog, 78), kBoot + 1)) << "open, but private";
  EXPECT_TRUE(IsConfidential(*verdict_.topology, kOpenVm));
  EXPECT_EQ(verdict_.refused, 1u);
}

TEST_F(ConfidentialityTest, ADeviceThatInventsConfidentialVmsMakesNothingForget) {
  confidentiality_ =
      std::make_unique<Confidentiality>([](const Uuid&) { return absl::string_view(); }, /*remembered_max=*/3);
  EXPECT_TRUE(Judged(Says(true)));
  for (uint8_t i = 1; i <= 5; ++i) {
    mailbox::Catalog catalog = Says(true)->catalog();
    catalog.vms[1].uuid.bytes[0] = i;
    catalog.vms[1].generation = i;
    Judged(std::make_shared<const Topology>(catalog, 77));
  }
  EXPECT_TRUE(Judged(Says(false)));
  EXPECT_TRUE(IsConfidential(*verdict_.topology, kOpenVm)) << "whatever it says from now on";
}

constexpr uint64_t kFirstBoot = 7;
const Uuid kOther = *Uuid::Parse("00000000-0000-0000-0000-0000000000ff");

// The topology as reported by the device: its second VM is `confidential`, and has_had_confidential_vm is false.
std::shared_ptr<const Topology> Said(bool confidential) {
  return std::make_shared<const Topology>(SomeCatalog(confidential), 1);
}

class ConfidentialityBookTest : public testing::Test {
 protected:
  const FakeClock clock_{absl::UnixEpoch()};
  EpochSource epochs_{clock_, [] { return uint16_t{5}; }};
  const std::unique_ptr<SealerSet> sealers_ = *SealerSet::Load({}, epochs_);
  const PolicyHolder policy_{*Policy::Parse("version: 1\n", "policy.yaml")};
};

TEST_F(ConfidentialityBookTest, AnotherCollectorOfADeviceKnowsWhatTheFirstSaw) {
  ConfidentialityBook book(*sealers_, nullptr, policy_);
  const Uuid device = Said(true)->catalog().device;
  book.Of(device)->Judge(Said(true), kFirstBoot);
  const auto verdict = book.Of(device)->Judge(Said(false), kFirstBoot);
  EXPECT_EQ(verdict.refused, 1u);
  EXPECT_TRUE(verdict.topology->has_had_confidential_vm());
  EXPECT_EQ(book.Of(kOther)->Judge(Said(false), kFirstBoot).refused, 0u) << "another device is another matter";
}

TEST_F(ConfidentialityBookTest, ADeviceThatForgetsItsConfidentialVmsIsCorrected) {
  ConfidentialityBook book(*sealers_, nullptr, policy_);
  const Uuid device = Said(true)->catalog().device;
  book.Of(device)->Judge(Said(true), kFirstBoot);
  mailbox::Catalog none = Said(false)->catalog();
  none.vms.clear();
  none.contexts.clear();
  const auto gone = std::make_shared<const Topology>(std::move(none), 2);
  EXPECT_TRUE(book.Of(device)->Judge(gone, kFirstBoot).topology->has_had_confidential_vm());
  EXPECT_FALSE(book.Of(device)->Judge(gone, kFirstBoot + 1).topology->has_had_confidential_vm());
}

TEST_F(ConfidentialityBookTest, BeyondItsBoundEveryVmIsConfidential) {
  ConfidentialityBook book(*sealers_, nullptr, policy_, /*devices_max=*/1);
  EXPECT_EQ(book.Of(Said(false)->catalog().device)->Judge(Said(false), kFirstBoot).refused, 0u);
  EXPECT_EQ(book.Of(kOther)->Judge(Said(false), kFirstBoot).refused, 2u);
}

constexpr uint32_t kNewGeneration = 1234;
constexpr RowStart kNew = {.generation = kNewGeneration, .is_first_of_boot = false};  // starts at zero

std::shared_ptr<const Topology> SomeTopology(bool with_secret) {
  return std::make_shared<Topology>(SomeCatalog(with_secret), 77);
}

// The secret VM has left the device: its blocks are gone, its counts in the device's block remain.
std::shared_ptr<const Topology> WithoutTheSecretVm(bool has_had = true) {
  mailbox::Catalog catalog = SomeCatalog(/*with_secret=*/true);
  catalog.has_had_confidential_vm = has_had;
  catalog.vms.pop_back();
  catalog.contexts.pop_back();
  return std::make_shared<Topology>(catalog, 77);
}

mailbox::Snapshot SnapshotWithout(size_t last_blocks) {
  mailbox::Snapshot raw = SomeSnapshot();
  raw.blocks.resize(raw.blocks.size() - last_blocks);
  raw.counters.resize(raw.blocks.size() * raw.counters_per_block);
  return raw;
}

// Sets the counts of `busy_cycles` of the device, the open VM and its context.
mailbox::Snapshot Later(mailbox::Snapshot raw, uint64_t device, uint64_t open, uint64_t context) {
  raw.counters[0] = device;
  raw.counters[2] = open;
  raw.counters[4] = context;
  return raw;
}

DeviceSnapshot Published(std::shared_ptr<const Topology> topology, mailbox::Snapshot raw,
                         const DeviceSnapshot* before = nullptr) {
  Redacted redacted = Redact(*topology, std::move(raw), before, kNew);
  DeviceSnapshot snapshot;
  snapshot.topology = std::move(topology);
  snapshot.data = std::move(redacted.shown);
  snapshot.device_scope_withheld = redacted.device_scope_withheld;
  snapshot.device_row_is_sum = redacted.device_row_is_sum;
  return snapshot;
}

TEST(RedactTest, WithoutConfidentialVmsEverythingStays) {
  const Redacted redacted = Redact(*SomeTopology(false), SomeSnapshot(), nullptr, kNew);
  EXPECT_EQ(redacted.shown, SomeSnapshot());
  EXPECT_FALSE(redacted.device_scope_withheld);
  EXPECT_FALSE(redacted.device_row_is_new);
}

TEST(RedactTest, ConfidentialBlocksAndWhatRevealsThemAreGone) {
  const Redacted redacted = Redact(*SomeTopology(true), SomeSnapshot(), nullptr, kNew);
  const mailbox::Snapshot& shown = redacted.shown;
  ASSERT_EQ(shown.blocks.size(), 3u);
  EXPECT_EQ(shown.counters, (Counts{0, 0, 11, 0, 10, 0})) << "the device's row starts here";
  EXPECT_TRUE(redacted.device_row_is_new);
  EXPECT_EQ(shown.blocks[0].generation, kNewGeneration);
  EXPECT_TRUE(redacted.device_scope_withheld);
  EXPECT_EQ(shown.blocks[0].flags, kFlagConfidentialExcluded) << "nor does a flag tell of the other";
  EXPECT_EQ(shown.trigger_id, 5u);
  EXPECT_EQ(shown.boot_id, 9u);
}

TEST(RedactTest, TheFirstRowOfABootIsTheSumOfTheShownVms) {
  const RowStart first = {.generation = kNewGeneration, .is_first_of_boot = true};
  const Redacted redacted = Redact(*SomeTopology(true), SomeSnapshot(), nullptr, first);
  EXPECT_EQ(redacted.shown.counters, (Counts{11, 0, 11, 0, 10, 0}));
  EXPECT_FALSE(redacted.device_row_is_new) << "it was zero when the device booted";
  EXPECT_EQ(redacted.shown.blocks[0].generation, kNewGeneration);
  EXPECT_EQ(redacted.shown.blocks[0].flags, kFlagConfidentialExcluded);
}

// The hypervisor's own work is no tenant's secret: it stays a row, and a part of the device's.
TEST(RedactTest, HostsArePartsOfTheDevicesRow) {
  mailbox::Catalog catalog = SomeCatalog(/*with_secret=*/true);
  catalog.slices = {{3, "slice3"}};
  catalog.host_blocks = {{.slice = 3, .generation = 1}};
  const auto topology = std::make_shared<Topology>(catalog, 77);
  const auto with_host = [](uint64_t open, uint64_t host) {
    mailbox::Snapshot raw = Later(SomeSnapshot(), 9999, open, 10);
    raw.blocks.push_back({.vm = 0, .context = 3});
    raw.counters.insert(raw.counters.end(), {host, 0});
    return raw;
  };
  const RowStart first = {.generation = kNewGeneration, .is_first_of_boot = true};
  EXPECT_EQ(Redact(*topology, with_host(11, 20), nullptr, first).shown.counters, (Counts{31, 0, 11, 0, 10, 0, 20, 0}));
  const DeviceSnapshot before = Published(topology, with_host(11, 20));
  const Redacted next = Redact(*topology, with_host(13, 25), &before, kNew);
  EXPECT_EQ(next.shown.counters, (Counts{7, 0, 13, 0, 10, 0, 25, 0}));
  ASSERT_EQ(next.shown.blocks.size(), 4u);
  EXPECT_EQ(next.shown.blocks[3].context, 3);
}

TEST(RedactTest, TheDevicesRowCountsWhatTheShownVmsCount) {
  const auto topology = SomeTopology(true);
  const DeviceSnapshot first = Published(topology, SomeSnapshot());
  const DeviceSnapshot second = Published(topology, Later(SomeSnapshot(), 9999, 15, 12), &first);
  EXPECT_EQ(second.data.counters, (Counts{4, 0, 15, 0, 12, 0}));
  const Redacted third = Redact(*topology, Later(SomeSnapshot(), 99999, 16, 13), &second, kNew);
  EXPECT_EQ(third.shown.Counters(0)[0], 5u);
  EXPECT_EQ(third.shown.blocks[0].generation, kNewGeneration);
  EXPECT_FALSE(third.device_row_is_new);
}

// The row continues from its previous value: a reader sees no restart, and nothing of the confidential VM.
TEST(RedactTest, TheRowNeverFallsWhenAConfidentialVmComes) {
  const DeviceSnapshot before = Published(SomeTopology(false), SnapshotWithout(2));
  EXPECT_EQ(before.data.Counters(0)[0], 1111u);
  const Redacted with = Redact(*SomeTopology(true), Later(SomeSnapshot(), 5555, 14, 10), &before, kNew);
  EXPECT_EQ(with.shown.Counters(0)[0], 1114u);
  EXPECT_EQ(with.shown.blocks[0].generation, before.data.blocks[0].generation);
  EXPECT_FALSE(with.device_row_is_new);
}

TEST(RedactTest, TheRowNeverFallsWhenAShownVmGoes) {
  const DeviceSnapshot before = Published(SomeTopology(false), SnapshotWithout(2));
  mailbox::Catalog catalog = SomeCatalog(true);
  std::erase_if(catalog.vms, [](const mailbox::VmInfo& vm) { return vm.id == kOpenVm; });
  std::erase_if(catalog.contexts, [](const mailbox::ContextInfo& context) { return context.vm == kOpenVm; });
  mailbox::Snapshot raw = SomeSnapshot();
  raw.blocks.erase(raw.blocks.begin() + 1, raw.blocks.begin() + 3);
  raw.counters.erase(raw.counters.begin() + 2, raw.counters.begin() + 6);
  EXPECT_EQ(Redact(Topology(catalog, 78), std::move(raw), &before, kNew).shown.counters, (Counts{1111, 999}));
}

TEST(RedactTest, AVmThatComesAddsAllItHas) {
  const DeviceSnapshot before = Published(SomeTopology(true), SomeSnapshot());
  mailbox::Snapshot raw = SomeSnapshot();
  raw.blocks[1].generation = 2;
  EXPECT_EQ(Redact(*SomeTopology(true), Later(raw, 0, 7, 7), &before, kNew).shown.Counters(0)[0], 7u);
}

TEST(RedactTest, OfARestartedDeviceEverythingIsNew) {
  const auto topology = SomeTopology(true);
  const DeviceSnapshot before = Published(topology, SomeSnapshot());
  mailbox::Snapshot raw = SomeSnapshot();
  ++raw.boot_id;
  const Redacted restarted = Redact(*topology, Later(raw, 50, 20, 10), &before, kNew);
  EXPECT_EQ(restarted.shown.Counters(0)[0], 20u);
  EXPECT_FALSE(restarted.device_row_is_new);
}

TEST(RedactTest, OtherEventsStartTheRowAnew) {
  const DeviceSnapshot before = Published(SomeTopology(true), SomeSnapshot());
  mailbox::Catalog catalog = SomeCatalog(true);
  catalog.events[0].name = "idle_cycles";
  const RowStart first = {.generation = kNewGeneration, .is_first_of_boot = true};
  const Redacted other = Redact(Topology(catalog, 78), SomeSnapshot(), &before, first);
  EXPECT_TRUE(other.device_row_is_new);
  EXPECT_EQ(other.shown.Counters(0)[0], 0u);
}

// Also if the daemon was started after the VM had left.
TEST(RedactTest, AVmThatIsGoneStaysHidden) {
  const auto gone = WithoutTheSecretVm();
  const Redacted alone = Redact(*gone, SnapshotWithout(2), nullptr, kNew);
  EXPECT_EQ(alone.shown.counters, (Counts{0, 0, 11, 0, 10, 0}));
  EXPECT_TRUE(alone.device_scope_withheld);
  const DeviceSnapshot before = Published(SomeTopology(true), SomeSnapshot());
  EXPECT_EQ(Redact(*gone, SnapshotWithout(2), &before, kNew).shown.Counters(0)[0], 0u)
      << "nobody who is shown has counted";
}

TEST(RedactTest, ADeviceCannotTakeBackThatThereWasOne) {
  const DeviceSnapshot before = Published(SomeTopology(true), SomeSnapshot());
  const auto forgetful = WithoutTheSecretVm(/*has_had=*/false);
  EXPECT_TRUE(Redact(*forgetful, SnapshotWithout(2), &before, kNew).device_scope_withheld);
  mailbox::Snapshot restarted = SnapshotWithout(2);
  ++restarted.boot_id;
  EXPECT_FALSE(Redact(*forgetful, std::move(restarted), &before, kNew).device_scope_withheld);
}

// No sum or difference of published numbers may yield a confidential count.
TEST(RedactTest, WhatIsPublishedDoesNotDependOnWhatIsConfidential) {
  const auto topology = SomeTopology(true);
  mailbox::Snapshot other = SomeSnapshot();
  other.counters = {7011, 123, 11, 0, 10, 0, 7000, 0, 7000, 0};
  for (const size_t block : {0, 3, 4}) {
    other.blocks[block].state = mailbox::BlockState::kActive;
    other.blocks[block].flags = mailbox::kFlagMmuFault;
    other.blocks[block].sequence = 99;
    other.blocks[block].trigger_id = 4;
    other.blocks[block].reference_time_ns = 5;
  }
  const DeviceSnapshot before = Published(SomeTopology(false), SnapshotWithout(2));
  EXPECT_EQ(Redact(*topology, SomeSnapshot(), &before, kNew).shown,
            Redact(*topology, std::move(other), &before, kNew).shown);
}

std::shared_ptr<const Topology> WithPrivateVm() { return std::make_shared<Topology>(CatalogWithPrivateVm(), 77); }

TEST(RedactPrivateTest, TheDevicesOwnBlockIsItsRow) {
  const Redacted redacted = Redact(*WithPrivateVm(), SomeSnapshot(), nullptr, kNew);
  const mailbox::Snapshot& shown = redacted.shown;
  EXPECT_EQ(shown.counters, (Counts{1111, 0, 11, 0, 10, 0})) << "but for the event of the device";
  mailbox::BlockHeader expected = SomeSnapshot().blocks[0];
  expected.flags |= kFlagConfidentialExcluded;
  EXPECT_EQ(shown.blocks[0], expected);
  EXPECT_EQ(shown.blocks.size(), 3u);
  EXPECT_FALSE(redacted.device_row_is_new);
  EXPECT_FALSE(redacted.device_row_is_sum);
  EXPECT_TRUE(redacted.device_scope_withheld);
}

// Also what a VM has counted between its last snapshot and its end.
TEST(RedactPrivateTest, TheRowGoesOnWhenAPrivateVmComes) {
  const DeviceSnapshot before = Published(SomeTopology(false), SnapshotWithout(2));
  const Redacted with = Redact(*WithPrivateVm(), Later(SomeSnapshot(), 5555, 14, 10), &before, kNew);
  EXPECT_EQ(with.shown.Counters(0)[0], 5555u);
  EXPECT_EQ(with.shown.Counters(0)[1], 999u) << "of the device, as it was";
  EXPECT_EQ(with.shown.blocks[0].generation, before.data.blocks[0].generation);
}

TEST(RedactPrivateTest, TheDeviceScopeIsWithheldUntilARestart) {
  const DeviceSnapshot before = Published(WithPrivateVm(), SomeSnapshot());
  mailbox::Catalog catalog = CatalogWithPrivateVm();
  catalog.vms.pop_back();
  catalog.contexts.pop_back();
  const Redacted gone = Redact(Topology(catalog, 78), SnapshotWithout(2), &before, kNew);
  EXPECT_TRUE(gone.device_scope_withheld);
  EXPECT_FALSE(gone.device_row_is_sum);
  EXPECT_EQ(gone.shown.counters, (Counts{1111, 0, 11, 0, 10, 0}));
  mailbox::Snapshot restarted = SnapshotWithout(2);
  ++restarted.boot_id;
  catalog.has_had_confidential_vm = catalog.confidential_vms_were_private = false;
  EXPECT_EQ(Redact(Topology(catalog, 79), std::move(restarted), &before, kNew).shown.counters,
            (Counts{1111, 999, 11, 0, 10, 0}));
}

TEST(RedactPrivateTest, BesideOneThatIsNotPrivateTheRowIsASum) {
  mailbox::Catalog catalog = CatalogWithPrivateVm();
  const DeviceSnapshot before = Published(WithPrivateVm(), SomeSnapshot());
  catalog.vms[1].is_private = false;
  const DeviceSnapshot sum =
      Published(std::make_shared<Topology>(catalog, 78), Later(SomeSnapshot(), 9999, 15, 12), &before);
  EXPECT_EQ(sum.data.counters, (Counts{1111 + 4, 0, 15, 0, 12, 0}));
  EXPECT_TRUE(sum.device_row_is_sum);
  const Redacted later = Redact(*WithPrivateVm(), Later(SomeSnapshot(), 99999, 16, 12), &sum, kNew);
  EXPECT_TRUE(later.device_row_is_sum) << "its counts remain in the device's block";
  EXPECT_EQ(later.shown.Counters(0)[0], 1111u + 5);
}

// The VM has left, and a daemon that has not seen it starts.
TEST(RedactPrivateTest, WhetherThePastWasPrivateIsTheCataloguesWord) {
  for (const bool were_private : {false, true}) {
    mailbox::Catalog catalog = CatalogWithPrivateVm();
    catalog.vms.pop_back();
    catalog.contexts.pop_back();
    catalog.confidential_vms_were_private = were_private;
    const Redacted redacted = Redact(Topology(catalog, 78), SnapshotWithout(2), nullptr, kNew);
    EXPECT_EQ(redacted.device_row_is_sum, !were_private);
    EXPECT_EQ(redacted.shown.Counters(0)[0], were_private ? 1111u : 0u);
    EXPECT_TRUE(redacted.device_scope_withheld);
  }
}

// With a device that keeps V15, whose block does not depend on the private VM.
TEST(RedactPrivateTest, WhatIsPublishedDoesNotDependOnWhatIsPrivate) {
  mailbox::Snapshot other = SomeSnapshot();
  other.counters[1] = 123;  // the event of the device
  other.counters[6] = other.counters[8] = 7000;
  for (const size_t block : {3, 4}) {
    other.blocks[block].state = mailbox::BlockState::kActive;
    other.blocks[block].flags = mailbox::kFlagMmuFault;
    other.blocks[block].sequence = 99;
  }
  for (const bool with_before : {false, true}) {
    const DeviceSnapshot before = Published(SomeTopology(false), SnapshotWithout(2));
    const DeviceSnapshot* const last = with_before ? &before : nullptr;
    EXPECT_EQ(Redact(*WithPrivateVm(), SomeSnapshot(), last, kNew).shown,
              Redact(*WithPrivateVm(), mailbox::Snapshot(other), last, kNew).shown);
  }
}

TEST(RedactTest, TheRawCountersAreWiped) {
  mailbox::Snapshot raw = SomeSnapshot();
  Redact(*SomeTopology(true), std::move(raw), nullptr, kNew);
  EXPECT_TRUE(std::all_of(raw.counters.begin(), raw.counters.end(), [](uint64_t c) { return c == 0; }));
}

// --- The rules of complement protection (daemon/snapshot/device_info.h)

TEST(RedactTest, AllowedIsTheDevicesOwnBlock) {
  const Redacted redacted = Redact(*SomeTopology(true), SomeSnapshot(), nullptr, kNew, Complement::kAllow);
  const mailbox::Snapshot raw = SomeSnapshot();
  EXPECT_TRUE(std::ranges::equal(redacted.shown.Counters(0), raw.Counters(0))) << "device-scope events, too";
  EXPECT_EQ(redacted.shown.blocks.size(), 3u) << "the confidential VM's own blocks are never shown";
  EXPECT_EQ(redacted.shown.blocks[0].flags & kFlagConfidentialExcluded, 0) << "it has all VMs";
  EXPECT_FALSE(redacted.device_scope_withheld);
  EXPECT_FALSE(redacted.device_row_is_sum);
}

TEST(RedactTest, AllowedBesidePrivateVmsIsWithoutThem) {
  mailbox::Catalog catalog = SomeCatalog(/*with_secret=*/true);
  catalog.vms.back().is_private = true;
  catalog.confidential_vms_were_private = true;
  const Redacted redacted = Redact(Topology(catalog, 77), SomeSnapshot(), nullptr, kNew, Complement::kAllow);
  const mailbox::Snapshot raw = SomeSnapshot();
  EXPECT_TRUE(std::ranges::equal(redacted.shown.Counters(0), raw.Counters(0)));
  EXPECT_NE(redacted.shown.blocks[0].flags & kFlagConfidentialExcluded, 0);
  EXPECT_FALSE(redacted.device_scope_withheld);
}

TEST(RedactTest, AWithheldRowIsMadeAsAnExcludedOne) {
  const Redacted withheld = Redact(*SomeTopology(true), SomeSnapshot(), nullptr, kNew, Complement::kWithhold);
  EXPECT_TRUE(withheld.device_row_withheld);
  EXPECT_EQ(withheld.shown, Redact(*SomeTopology(true), SomeSnapshot(), nullptr, kNew).shown);
  EXPECT_FALSE(Redact(*SomeTopology(false), SomeSnapshot(), nullptr, kNew, Complement::kWithhold).device_row_withheld);
}

// A reload may change the rule. A scraper must not take the row for one of a restarted device.
TEST(RedactTest, TheRowNeverFallsWhenTheRuleChanges) {
  const auto topology = SomeTopology(true);
  DeviceSnapshot before;
  before.topology = topology;
  before.data = Redact(*topology, SomeSnapshot(), nullptr, kNew, Complement::kAllow).shown;
  const uint64_t allowed = before.data.Counters(0)[0];
  const Redacted excluded = Redact(*topology, Later(SomeSnapshot(), 9999, 15, 12), &before, kNew);
  EXPECT_EQ(excluded.shown.Counters(0)[0], allowed + 4);
  EXPECT_TRUE(excluded.device_scope_withheld);
}

const BlockRotation kNone;

class RotationSumTest : public testing::Test {
 protected:
  const Rotation rotation_{RotatingCatalog()};
  const std::vector<uint64_t> counters_ = {1000, 300, 25, 2};
  const BlockRotation numbers_ = SomeNumbers();
};

TEST_F(RotationSumTest, NumbersAddAndSoDoSquaresOfErrors) {
  RotationSum sum(rotation_, kNone, {});
  sum.Add({kNone, {}}, {numbers_, counters_});
  sum.Add({kNone, {}}, {numbers_, counters_});
  ASSERT_EQ(sum.numbers().parts.size(), 1u);
  EXPECT_EQ(sum.numbers().parts[0].enabled, (std::vector<uint64_t>{2000}));
  EXPECT_EQ(sum.numbers().parts[0].running, (std::vector<uint64_t>{1500, 500}));
  EXPECT_EQ(sum.numbers().events[0], (mailbox::EventEstimate{.estimate = 800, .upper = 1100, .deviation = 15}));
  EXPECT_EQ(sum.numbers().events[1].deviation, 549u) << "half of what the bounds leave, 387.5, twice";
  EXPECT_EQ(sum.numbers().events[2].upper, kUnknownNumber);
  EXPECT_EQ(sum.numbers().events[2].deviation, 5u) << "4.2, rounded up";
}

TEST_F(RotationSumTest, OnlyIncrementsCountAndNothingDriftsByRounding) {
  RotationSum first(rotation_, kNone, {});
  first.Add({kNone, {}}, {numbers_, counters_});
  first.Add({kNone, {}}, {numbers_, counters_});
  BlockRotation last = first.numbers();
  std::vector<double> squares = first.squares();
  for (int i = 0; i < 1000; ++i) {
    RotationSum sum(rotation_, last, squares);
    sum.Add({numbers_, counters_}, {numbers_, counters_});
    last = sum.numbers();
    squares = sum.squares();
  }
  EXPECT_EQ(last, first.numbers());
}

TEST_F(RotationSumTest, AFallingNumberAddsNothing) {
  BlockRotation less = numbers_;
  less.events[0].estimate = 1;
  less.parts[0].enabled = {5};
  RotationSum sum(rotation_, numbers_, {});
  sum.Add({numbers_, counters_}, {less, counters_});
  EXPECT_EQ(sum.numbers().events[0].estimate, 400u);
  EXPECT_EQ(sum.numbers().parts[0].enabled[0], 1000u);
}

// The device moves what was enabled under a plan that it forgets; that is no gain.
TEST_F(RotationSumTest, AForgottenPlanCountsOnce) {
  mailbox::Catalog catalog = RotatingCatalog();
  catalog.plans.push_back({.number = 2, .sets = {{0b0110}}});
  BlockRotation before = numbers_;
  before.parts.push_back({.plan = 2, .enabled = {500}, .running = {400}});
  const Rotation with_plan(catalog);
  RotationSum first(with_plan, kNone, {});
  first.Add({kNone, {}}, {before, counters_});
  first.Add({kNone, {}}, {before, counters_});  // of a row that has ended since
  BlockRotation now = numbers_;
  now.parts.push_back({.plan = mailbox::kForgottenPlan, .enabled = {507}});
  RotationSum sum(rotation_, first.numbers(), first.squares());
  sum.Add({before, counters_}, {now, counters_});
  ASSERT_EQ(sum.numbers().parts.size(), 2u) << "the plan's own part is gone";
  EXPECT_EQ(sum.numbers().parts[0].enabled[0], 2000u);
  EXPECT_EQ(sum.numbers().parts[1].plan, mailbox::kForgottenPlan);
  EXPECT_EQ(sum.numbers().parts[1].enabled, (std::vector<uint64_t>{1007})) << "twice 500, and 7 since";
  EXPECT_TRUE(sum.numbers().parts[1].running.empty());
}

TEST_F(RotationSumTest, ASumOfManyForgottenPlansDoesNotGrow) {
  BlockRotation last;
  BlockRotation base;
  for (uint16_t plan = 2; plan < 200; ++plan) {
    mailbox::Catalog catalog = RotatingCatalog();
    catalog.plans.push_back({.number = plan, .sets = {{0b0110}}});
    const Rotation rotation(catalog);
    BlockRotation now;
    now.parts = {{.plan = plan, .enabled = {10}, .running = {10}}};
    if (plan > 2) now.parts.push_back({.plan = mailbox::kForgottenPlan, .enabled = {10u * (plan - 2)}});
    RotationSum sum(rotation, last, {});
    sum.Add({base, counters_}, {now, counters_});
    last = sum.numbers();
    base = now;
    ASSERT_LE(last.parts.size(), 2u);
  }
  EXPECT_EQ(last.parts.back().enabled[0] + last.parts.front().enabled[0], 1980u);
}

// The row that the daemon makes where a confidential VM is on the device and is not private.
TEST_F(RotationSumTest, TheDevicesRowIsTheSumOfTheShownVms) {
  mailbox::Catalog catalog = RotatingCatalog();
  catalog.vms.push_back(
      {.id = 2, .uuid = *Uuid::Parse("00000000-0000-0000-0000-000000000002"), .name = "s", .confidential = true});
  const auto topology = std::make_shared<Topology>(catalog, 77);
  mailbox::Snapshot raw = RotatingData();
  raw.blocks.push_back({.vm = 2});
  raw.rotation.push_back(SomeNumbers());
  raw.counters.insert(raw.counters.end(), counters_.begin(), counters_.end());
  raw.rotation[0].events[0].estimate = 800;  // with the secret
  mailbox::Snapshot later = raw;
  Redacted redacted = Redact(*topology, std::move(raw), nullptr, {.generation = 5, .is_first_of_boot = true});
  ASSERT_EQ(redacted.shown.rotation.size(), 3u);
  EXPECT_EQ(redacted.shown.rotation[0].events[0], SomeNumbers().events[0]);
  EXPECT_EQ(redacted.shown.rotation[0].parts, SomeNumbers().parts);
  DeviceSnapshot before = RotatingSnapshot(topology, std::move(redacted.shown));
  before.device_row_squares = redacted.device_row_squares;
  before.device_row_is_sum = before.device_scope_withheld = true;
  later.rotation[1].events[0] = {.estimate = 450, .upper = 650, .deviation = 20};
  later.rotation[3].events[0].estimate = 999;
  redacted = Redact(*topology, std::move(later), &before, {.generation = 6, .is_first_of_boot = false});
  EXPECT_EQ(redacted.shown.rotation[0].events[0],
            (mailbox::EventEstimate{.estimate = 450, .upper = 650, .deviation = 20}));
}

}  // namespace
}  // namespace sideband::daemon
