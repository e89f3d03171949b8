// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/confidentiality.h"

#include <gtest/gtest.h>

#include <memory>

#include "daemon/base/clock.h"
#include "daemon/sealing/sealer_set.h"
#include "daemon/snapshot/fake_topology.h"

namespace sideband::daemon {
namespace {

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

}  // namespace

}  // namespace sideband::daemon
