// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/confidentiality_book.h"

#include <gtest/gtest.h>

#include "daemon/base/clock.h"
#include "daemon/sealing/epoch_source.h"
#include "daemon/snapshot/fake_topology.h"

namespace sideband::daemon {
namespace {

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
