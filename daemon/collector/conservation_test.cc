// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/conservation.h"

#include <gtest/gtest.h>

#include "daemon/snapshot/fake_topology.h"

namespace sideband::daemon {
namespace {

class ConservationTest : public testing::Test {
 protected:
  bool Check() const { return CheckConservation(topology_, raw_); }
  uint64_t& Counter(size_t block, size_t event) { return raw_.counters[block * raw_.counters_per_block + event]; }
  void ClearFlags() {
    for (auto& block : raw_.blocks) block.flags = 0;
  }

  const Topology topology_{SomeCatalog(/*with_secret=*/true), 77};
  mailbox::Snapshot raw_ = SomeSnapshot();
};

// Counts of the first event: device 1111, VMs 11 and 1100, their contexts 10 and 1000.
TEST_F(ConservationTest, AWholeMayHaveMoreThanItsParts) {
  ClearFlags();
  EXPECT_TRUE(Check());
}

TEST_F(ConservationTest, AVmHasNoLessThanItsContexts) {
  ClearFlags();
  Counter(2, 0) = 11;
  EXPECT_TRUE(Check());
  Counter(2, 0) = 12;
  EXPECT_FALSE(Check());
}

TEST_F(ConservationTest, TheDeviceHasNoLessThanItsVms) {
  ClearFlags();
  Counter(0, 0) = 1111;
  EXPECT_TRUE(Check());
  Counter(0, 0) = 1110;
  EXPECT_FALSE(Check());
}

TEST_F(ConservationTest, HostsArePartsOfTheDevice) {
  ClearFlags();
  raw_.blocks.push_back({.vm = 0, .context = 3});
  raw_.counters.insert(raw_.counters.end(), {9, 0});
  Counter(0, 0) = 1120;
  EXPECT_TRUE(Check());
  Counter(5, 0) = 10;
  EXPECT_FALSE(Check());
  raw_.blocks[5].flags = mailbox::kFlagOverflow;
  EXPECT_TRUE(Check());
}

TEST_F(ConservationTest, APrivateVmIsNoPartOfTheDevice) {
  ClearFlags();
  Counter(0, 0) = 11;
  EXPECT_FALSE(Check());
  const Topology with_private(CatalogWithPrivateVm(), 77);
  EXPECT_TRUE(CheckConservation(with_private, raw_));
  Counter(0, 0) = 10;
  EXPECT_FALSE(CheckConservation(with_private, raw_)) << "less than the open VM";
  Counter(0, 0) = 11;
  Counter(4, 0) = 1101;
  EXPECT_FALSE(CheckConservation(with_private, raw_)) << "it has no less than its contexts";
}

TEST_F(ConservationTest, DeviceEventsAreNobodysPart) {
  ClearFlags();
  Counter(0, 1) = 0;
  Counter(1, 1) = 5;
  EXPECT_TRUE(Check());
}

TEST_F(ConservationTest, AFlagExcuses) {
  ClearFlags();
  Counter(2, 0) = 12;
  raw_.blocks[1].flags = mailbox::kFlagOverflow;
  EXPECT_TRUE(Check());
  raw_.blocks[1].flags = 0;
  raw_.blocks[2].flags = mailbox::kFlagMmuFault;
  EXPECT_TRUE(Check());
}

}  // namespace
}  // namespace sideband::daemon
