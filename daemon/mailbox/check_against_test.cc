// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/check_against.h"

#include <gtest/gtest.h>

#include "daemon/snapshot/fake_topology.h"
#include "proto/mailbox/catalog.h"

namespace sideband::daemon {
namespace {

TEST(CheckAgainstTest, AcceptsItsOwnTopologyOnly) {
  const Topology topology(SomeCatalog(true), 77);
  EXPECT_TRUE(CheckAgainst(topology, SomeSnapshot()).ok());
  const struct {
    const char* why;
    void (*spoil)(mailbox::Snapshot&);
  } kCases[] = {
      {"a VM missing",
       [](mailbox::Snapshot& s) {
         s.blocks.pop_back();
         s.counters.resize(s.counters.size() - s.counters_per_block);
       }},
      {"another catalogue", [](mailbox::Snapshot& s) { s.catalog_hash = 78; }},
      {"another number of counters", [](mailbox::Snapshot& s) { s.counters_per_block = 1; }},
      {"no block", [](mailbox::Snapshot& s) { s.blocks.clear(); }},
      {"the device is not first", [](mailbox::Snapshot& s) { std::swap(s.blocks[0], s.blocks[1]); }},
      {"unknown VM", [](mailbox::Snapshot& s) { s.blocks[3].vm = 9; }},
      {"unknown context", [](mailbox::Snapshot& s) { s.blocks[4].context = 9; }},
      {"a context of the hypervisor", [](mailbox::Snapshot& s) { s.blocks[4].vm = 0; }},
  };
  for (const auto& test : kCases) {
    mailbox::Snapshot snapshot = SomeSnapshot();
    test.spoil(snapshot);
    EXPECT_EQ(CheckAgainst(topology, snapshot).code(), absl::StatusCode::kInvalidArgument) << test.why;
  }
}

mailbox::Snapshot WithoutSecretVm() {
  mailbox::Snapshot snapshot = SomeSnapshot();
  snapshot.blocks.resize(3);
  snapshot.counters.resize(3 * snapshot.counters_per_block);
  return snapshot;
}

TEST(CheckAgainstTest, ADeviceThatSealsHasNoBlocksOfConfidentialVms) {
  const Topology topology(SomeCatalog(true), 77);
  mailbox::Snapshot snapshot = WithoutSecretVm();
  EXPECT_TRUE(CheckAgainst(topology, snapshot).ok()) << "its guest has exchanged no keys";
  snapshot.sealed = {{.vm = kSecretVm, .record = {1}}};
  EXPECT_TRUE(CheckAgainst(topology, snapshot).ok());
  snapshot.sealed[0].vm = kOpenVm;
  EXPECT_FALSE(CheckAgainst(topology, snapshot).ok()) << "a record of an open VM";
  snapshot.sealed[0].vm = 9;
  EXPECT_FALSE(CheckAgainst(topology, snapshot).ok()) << "a record of an unknown VM";
  snapshot = SomeSnapshot();
  snapshot.sealed = {{.vm = kSecretVm, .record = {1}}};
  EXPECT_FALSE(CheckAgainst(topology, snapshot).ok()) << "a record beside the blocks";
}

TEST(CheckAgainstTest, NoOtherBlocksMayBeAbsent) {
  EXPECT_FALSE(CheckAgainst(Topology(SomeCatalog(false), 77), WithoutSecretVm()).ok());
  mailbox::Snapshot snapshot = WithoutSecretVm();
  snapshot.blocks.pop_back();
  snapshot.counters.resize(4);
  EXPECT_FALSE(CheckAgainst(Topology(SomeCatalog(true), 77), snapshot).ok());
}

TEST(CheckAgainstTest, HostBlocksAreThoseOfTheCatalogue) {
  mailbox::Catalog catalog = SomeCatalog(true);
  catalog.slices = {{3, "slice3"}};
  catalog.host_blocks = {{.slice = 3, .generation = 1}};
  const Topology topology(catalog, 77);
  EXPECT_FALSE(CheckAgainst(topology, SomeSnapshot()).ok()) << "it lacks one";
  mailbox::Snapshot snapshot = SomeSnapshot();
  snapshot.blocks.push_back({.vm = 0, .context = 3});
  snapshot.counters.resize(snapshot.blocks.size() * snapshot.counters_per_block);
  EXPECT_TRUE(CheckAgainst(topology, snapshot).ok());
  std::swap(snapshot.blocks[0], snapshot.blocks[5]);
  EXPECT_FALSE(CheckAgainst(topology, snapshot).ok()) << "the device is not first";
  std::swap(snapshot.blocks[0], snapshot.blocks[5]);
  snapshot.blocks[5].context = 4;
  EXPECT_FALSE(CheckAgainst(topology, snapshot).ok()) << "of another slice";
}

TEST(CheckAgainstTest, RotationIsThatOfTheCatalogue) {
  mailbox::Catalog catalog = SomeCatalog(true);
  catalog.events[1].details.counting = mailbox::Counting::kRotated;
  const Topology topology(catalog, 77);
  mailbox::Snapshot snapshot = SomeSnapshot();
  snapshot.rotation.resize(snapshot.blocks.size());
  EXPECT_FALSE(CheckAgainst(topology, snapshot).ok()) << "numbers of no events";
  snapshot.layout = mailbox::LayoutOf(catalog);
  EXPECT_TRUE(CheckAgainst(topology, snapshot).ok());
  snapshot.layout.events[0].event = 0;
  EXPECT_FALSE(CheckAgainst(topology, snapshot).ok()) << "of another event";
}

TEST(CheckAgainstTest, ClocksAreThoseOfTheDomains) {
  mailbox::Catalog catalog = SomeCatalog(true);
  mailbox::Snapshot snapshot = SomeSnapshot();
  snapshot.clocks.resize(2);
  EXPECT_FALSE(CheckAgainst(Topology(catalog, 77), snapshot).ok()) << "of no domains";
  catalog.clock_domains.resize(2);
  EXPECT_TRUE(CheckAgainst(Topology(catalog, 77), snapshot).ok());
  snapshot.clocks.pop_back();
  EXPECT_FALSE(CheckAgainst(Topology(catalog, 77), snapshot).ok());
  snapshot.clocks.clear();
  EXPECT_TRUE(CheckAgainst(Topology(catalog, 77), snapshot).ok());
}

}  // namespace
}  // namespace sideband::daemon
