// SPDX-License-Identifier: Apache-2.0
#include "daemon/mailbox/snapshot_reader.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/base/pausing_clock.h"
#include "daemon/mailbox/fake_mailbox.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/mailbox/register_port.h"
#include "daemon/snapshot/fake_topology.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/extension.h"
#include "proto/mailbox/word.h"

namespace sideband::daemon {
namespace {

using absl::StatusCode;
using mailbox::CommandWord;
using mailbox::Opcode;

// One VM with two contexts, and ten events.
mailbox::Catalog CatalogOfTenEvents(bool confidential, bool is_private = false) {
  mailbox::Catalog catalog;
  for (int i = 0; i < 10; ++i) catalog.events.push_back({.name = "event_" + std::to_string(i)});
  catalog.vms = {{.id = 1, .name = "vm1", .confidential = confidential, .is_private = is_private}};
  catalog.contexts = {{.vm = 1, .id = 0, .name = "a"}, {.vm = 1, .id = 1, .name = "b"}};
  return catalog;
}

TEST(BusBudgetTest, LeastIsLatchAndOneWindow) {
  const BusBudget budget = BudgetOf(Topology(CatalogOfTenEvents(false), 1), 100'000, 255);
  // The stream has 53 bytes; the registers take 2 writes and 3 reads.
  EXPECT_EQ(budget.least, absl::Microseconds(10) * (9 * (2 * 8 + 3 * 9 + 53 + 5) + 2 * 2 + 3 * 3 + 3));
  EXPECT_GT(budget.most, 2 * budget.least);
}

TEST(BusBudgetTest, ConfidentialBlocksAlwaysTravel) {
  const BusBudget open = BudgetOf(Topology(CatalogOfTenEvents(false), 1), 100'000, 255);
  const BusBudget confidential = BudgetOf(Topology(CatalogOfTenEvents(true), 1), 100'000, 255);
  EXPECT_GT(confidential.least, open.least + absl::Milliseconds(30)) << "four blocks of 98 bytes";
  EXPECT_EQ(confidential.most, open.most);
  const BusBudget is_private = BudgetOf(Topology(CatalogOfTenEvents(true, true), 1), 100'000, 255);
  EXPECT_LT(is_private.least, confidential.least) << "without the device's block";
  EXPECT_GT(is_private.least, open.least + absl::Milliseconds(20));
}

TEST(BusBudgetTest, HostBlocksAreBlocksLikeOthers) {
  mailbox::Catalog catalog = CatalogOfTenEvents(true);
  const BusBudget before = BudgetOf(Topology(catalog, 1), 100'000, 255);
  catalog.slices = {{0, "slice0"}};
  catalog.host_blocks = {{.slice = 0, .generation = 1}};
  const BusBudget budget = BudgetOf(Topology(catalog, 1), 100'000, 255);
  EXPECT_GT(budget.most, before.most);
  EXPECT_LT(budget.least, before.least + absl::Milliseconds(1)) << "it is not always written whole";
}

TEST(BusBudgetTest, AFasterBusTakesLessAndNarrowWindowsTakeMore) {
  const Topology topology(CatalogOfTenEvents(false), 1);
  EXPECT_EQ(BudgetOf(topology, 400'000, 255).most, BudgetOf(topology, 100'000, 255).most / 4);
  EXPECT_GT(BudgetOf(topology, 100'000, 32).most, BudgetOf(topology, 100'000, 255).most);
}

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

constexpr CommandWord kOtherLatch = {.opcode = Opcode::kLatch, .arg2 = 255, .execute = true};

class SnapshotReaderTest : public testing::Test {
 protected:
  size_t Count(Opcode opcode) const { return device_.CommandsOf(opcode).size(); }
  // The id of the snapshot that the newest LATCH names; 0: none.
  uint32_t NewestBase() const { return device_.CommandsOf(Opcode::kLatch).back().data; }

  // Spoils the streams of the next `times` snapshots in a way that no window shows.
  void SpoilLatches(int times) {
    device_.spoil = [this, times](Bytes& stream) mutable {
      if (device_.commands.back().word.opcode == Opcode::kLatch && times-- > 0) stream.back() ^= 1;
    };
  }
  void ExpectTaken(const absl::StatusOr<TakenSnapshot>& taken) {
    ASSERT_TRUE(taken.ok()) << taken.status();
    EXPECT_EQ(taken->raw.blocks, device_.next.blocks);
    EXPECT_EQ(taken->raw.counters, device_.next.counters);
    EXPECT_EQ(taken->raw.boot_id, device_.next.boot_id);
    EXPECT_EQ(taken->topology->catalog(), device_.catalog);
  }

  FakeClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  FakeMailbox device_;
  std::map<std::string, int> outcomes_;
  RegisterPort port_{device_, FakeMailbox::kAddress,
                     [this](absl::string_view outcome) { ++outcomes_[std::string(outcome)]; }};
  MailboxSession session_{port_, [](absl::Duration) {}};
  SnapshotReader reader_{session_, clock_};
};

TEST_F(SnapshotReaderTest, TheFirstSnapshotIsCompleteAndComesWithItsCatalogue) {
  ExpectTaken(reader_.Take());
  EXPECT_EQ(NewestBase(), 0u);
  EXPECT_EQ(device_.commands[0].word.opcode, Opcode::kDiscover);
  EXPECT_EQ(Count(Opcode::kCatalog), 1u);
}

TEST_F(SnapshotReaderTest, OnlyAnAcknowledgedSnapshotIsABase) {
  ExpectTaken(reader_.Take());
  ExpectTaken(reader_.Take());
  EXPECT_EQ(NewestBase(), 0u) << "the first was not acknowledged";
  ASSERT_TRUE(reader_.Acknowledge().ok());
  ++device_.next.counters[0];
  ExpectTaken(reader_.Take());
  EXPECT_EQ(NewestBase(), 2u);
  ++device_.next.counters[1];
  ExpectTaken(reader_.Take());
  EXPECT_EQ(NewestBase(), 2u) << "the third was not acknowledged; the second still is";
}

TEST_F(SnapshotReaderTest, ARelativeSnapshotIsShorter) {
  std::vector<size_t> sizes;
  device_.spoil = [&](Bytes& stream) { sizes.push_back(stream.size()); };
  ExpectTaken(reader_.Take());
  ASSERT_TRUE(reader_.Acknowledge().ok());
  ExpectTaken(reader_.Take());
  ASSERT_EQ(sizes.size(), 3u) << "snapshot, catalogue, snapshot";
  EXPECT_LT(sizes[2], sizes[0]);
}

TEST_F(SnapshotReaderTest, TheExtensionIsCheckedOnce) {
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(reader_.Take().ok());
  EXPECT_EQ(Count(Opcode::kDiscover), 1u);
}

TEST_F(SnapshotReaderTest, TheCatalogueIsReadWhenItHasChanged) {
  const auto first = reader_.Take();
  const auto second = reader_.Take();
  EXPECT_EQ(Count(Opcode::kCatalog), 1u);
  EXPECT_EQ(first->topology, second->topology) << "shared";
  device_.catalog.vms[0].name = "renamed";
  ExpectTaken(reader_.Take());
  EXPECT_EQ(Count(Opcode::kCatalog), 2u);
  device_.Restart(10);
  ExpectTaken(reader_.Take());
  EXPECT_EQ(Count(Opcode::kCatalog), 3u) << "the catalogue of another boot is another one, even with the same hash";
}

TEST_F(SnapshotReaderTest, ARetiredBlockIsAcknowledgedAtOnce) {
  const struct {
    mailbox::BlockState state;
    size_t acknowledgements;
  } kRows[] = {
      {mailbox::BlockState::kActive, 0},  // the next LATCH acknowledges it
      {mailbox::BlockState::kIdle, 0},
      {mailbox::BlockState::kRetired, 1},  // the device may free the block
  };
  for (const auto& row : kRows) {
    device_.commands.clear();
    device_.next.blocks[4].state = row.state;
    const auto taken = reader_.Take();
    ExpectTaken(taken);
    ASSERT_TRUE(reader_.Acknowledge().ok());
    ASSERT_EQ(Count(Opcode::kAck), row.acknowledgements);
    for (const auto& ack : device_.CommandsOf(Opcode::kAck)) EXPECT_EQ(ack.data, taken->raw.snapshot_id);
  }
}

TEST_F(SnapshotReaderTest, ThereMustBeASnapshotToAcknowledge) {
  EXPECT_EQ(reader_.Acknowledge().code(), StatusCode::kFailedPrecondition);
  ASSERT_TRUE(reader_.Take().ok());
  EXPECT_TRUE(reader_.Acknowledge().ok());
  EXPECT_EQ(reader_.Acknowledge().code(), StatusCode::kFailedPrecondition) << "once each";
}

TEST_F(SnapshotReaderTest, AFailedTakeLeavesNothingToAcknowledge) {
  ASSERT_TRUE(reader_.Take().ok());
  device_.is_present = false;
  ASSERT_FALSE(reader_.Take().ok());
  EXPECT_EQ(reader_.Acknowledge().code(), StatusCode::kFailedPrecondition);
}

TEST_F(SnapshotReaderTest, AnAcknowledgementAfterAnotherControllersLatchIsAbortedAndHarmless) {
  device_.next.blocks[4].state = mailbox::BlockState::kRetired;
  ExpectTaken(reader_.Take());
  device_.RunElsewhere({kOtherLatch});
  EXPECT_EQ(reader_.Acknowledge().code(), StatusCode::kAborted);
  ExpectTaken(reader_.Take());
}

TEST_F(SnapshotReaderTest, ABaseThatTheDeviceHasLostIsNoObstacle) {
  ExpectTaken(reader_.Take());
  ASSERT_TRUE(reader_.Acknowledge().ok());
  device_.RunElsewhere({kOtherLatch});
  ExpectTaken(reader_.Take());
  ASSERT_TRUE(reader_.Acknowledge().ok());
  ExpectTaken(reader_.Take());
  EXPECT_EQ(NewestBase(), 3u);
}

TEST_F(SnapshotReaderTest, ARestartedDeviceIsFollowed) {
  ExpectTaken(reader_.Take());
  ASSERT_TRUE(reader_.Acknowledge().ok());
  device_.Restart(10);
  device_.next.counters.assign(device_.next.counters.size(), 0);
  ExpectTaken(reader_.Take());
}

TEST_F(SnapshotReaderTest, ABaseWithoutConfidentialCountsIsEnough) {
  device_.catalog = SomeCatalog(/*with_secret=*/true);
  for (int i = 0; i < 3; ++i) {
    for (uint64_t& counter : device_.next.counters) ++counter;
    ExpectTaken(reader_.Take());
    ASSERT_TRUE(reader_.Acknowledge().ok());
  }
  EXPECT_EQ(NewestBase(), 2u);
}

TEST_F(SnapshotReaderTest, ASupersededSnapshotIsLatchedAgain) {
  // So narrow that the stream takes several commands; the second READ finds another snapshot.
  device_.window_bytes = 2;
  ExpectTaken(reader_.Take());
  ASSERT_TRUE(reader_.Acknowledge().ok());
  for (uint64_t& counter : device_.next.counters) counter += 1'000'000;
  device_.commands.clear();
  device_.before = [this, done = false](const smbus::Transfer& transfer) mutable {
    if (!IsWindow(transfer) || std::exchange(done, true)) return;
    device_.RunElsewhere({{.opcode = Opcode::kLatch, .arg2 = 2}});
  };
  ExpectTaken(reader_.Take());
  EXPECT_EQ(Count(Opcode::kLatch), 2u);
  EXPECT_EQ(NewestBase(), 0u) << "the base may be lost, so the second LATCH requests a complete snapshot";
}

TEST_F(SnapshotReaderTest, TheLatchesForOneSnapshotAreBounded) {
  for (const int spoiled : {SnapshotReader::kLatchesMax - 1, SnapshotReader::kLatchesMax}) {
    device_.commands.clear();
    SpoilLatches(spoiled);
    const auto taken = reader_.Take();
    EXPECT_EQ(taken.status().code(), spoiled < SnapshotReader::kLatchesMax ? StatusCode::kOk : StatusCode::kDataLoss);
    EXPECT_EQ(Count(Opcode::kLatch), size_t{SnapshotReader::kLatchesMax});
  }
}

TEST_F(SnapshotReaderTest, ACutStreamIsLatchedAgain) {
  device_.spoil = [this](Bytes& stream) {
    if (Count(Opcode::kLatch) == 1) stream.pop_back();
  };
  ExpectTaken(reader_.Take());
  EXPECT_EQ(Count(Opcode::kLatch), 2u);
  EXPECT_GT(outcomes_["bad_length"], 0);
}

TEST_F(SnapshotReaderTest, ADamagedCatalogueIsReadAgainWithAnotherLatch) {
  device_.spoil = [this](Bytes& stream) {
    if (device_.commands.back().word.opcode == Opcode::kCatalog && Count(Opcode::kCatalog) == 1) stream[40] ^= 1;
  };
  ExpectTaken(reader_.Take());
  EXPECT_EQ(Count(Opcode::kCatalog), 2u);
  EXPECT_EQ(Count(Opcode::kLatch), 2u);
}

TEST_F(SnapshotReaderTest, ACatalogueThatChangesAfterTheLatchIsFollowed) {
  device_.before = [this](const smbus::Transfer& transfer) {
    if (IsWindow(transfer) && Count(Opcode::kLatch) == 1) device_.catalog.vms[0].name = "renamed";
  };
  const auto taken = reader_.Take();
  ExpectTaken(taken);
  EXPECT_EQ(taken->topology->catalog().vms[0].name, "renamed");
  EXPECT_EQ(Count(Opcode::kLatch), 2u);
  EXPECT_EQ(Count(Opcode::kCatalog), 1u) << "the first one read is the new one already";
}

TEST_F(SnapshotReaderTest, ACatalogueThatChangesAfterEachLatchIsAborted) {
  // With each command: before the LATCH, and again before the catalogue is read.
  device_.before = [this](const smbus::Transfer& transfer) {
    if (IsWriteOf(transfer, mailbox::kCommandRegister)) device_.catalog.vms[0].name += "x";
  };
  EXPECT_EQ(reader_.Take().status().code(), StatusCode::kAborted);
  EXPECT_EQ(Count(Opcode::kLatch), size_t{SnapshotReader::kLatchesMax});
}

TEST_F(SnapshotReaderTest, ASnapshotThatContradictsItsCatalogueIsRejected) {
  device_.next.blocks[4].context = 7;
  EXPECT_EQ(reader_.Take().status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Count(Opcode::kLatch), size_t{SnapshotReader::kLatchesMax});
  device_.next = SomeSnapshot();
  ExpectTaken(reader_.Take());
}

TEST_F(SnapshotReaderTest, AContradictionAfterAnotherControllersCommandIsInterference) {
  device_.spoil = [](Bytes& stream) { stream.back() ^= 1; };
  device_.after = [this](const smbus::Transfer& transfer, FakeMailbox::Result&) {
    if (IsWindow(transfer)) device_.RunElsewhere({{.opcode = Opcode::kGetTemp}});
  };
  EXPECT_EQ(reader_.Take().status().code(), StatusCode::kAborted);
  EXPECT_EQ(outcomes_["interference"], SnapshotReader::kLatchesMax);
}

TEST_F(SnapshotReaderTest, SomeErrorsAreNotWorthAnotherLatch) {
  using mailbox::MailboxStatus;
  const struct {
    MailboxStatus status;
    size_t latches;
  } kRows[] = {
      {MailboxStatus::kErrNotSupported, 1},  // UNIMPLEMENTED
      {MailboxStatus::kErrMisc, 1},          // INTERNAL
      {MailboxStatus::kNull, 1},             // DEADLINE_EXCEEDED: busy for too long
      {MailboxStatus::kErrAgain, 3},         // ABORTED
      {MailboxStatus::kErrData, 3},          // INVALID_ARGUMENT
      {MailboxStatus::kErrBusy, 3},          // UNAVAILABLE
  };
  for (const auto& row : kRows) {
    device_.commands.clear();
    device_.answer = [&](const FakeMailbox::Command& command) -> std::optional<FakeMailbox::Reply> {
      if (command.word.opcode != Opcode::kLatch) return std::nullopt;
      return FakeMailbox::Reply{.status = row.status};
    };
    EXPECT_FALSE(reader_.Take().ok());
    EXPECT_EQ(Count(Opcode::kLatch), row.latches) << static_cast<int>(row.status);
  }
}

TEST_F(SnapshotReaderTest, AfterAnErrorItStartsFromTheBeginning) {
  ExpectTaken(reader_.Take());
  ASSERT_TRUE(reader_.Acknowledge().ok());
  device_.is_present = false;
  EXPECT_EQ(reader_.Take().status().code(), StatusCode::kUnavailable);
  device_.is_present = true;
  ExpectTaken(reader_.Take());
  EXPECT_EQ(Count(Opcode::kDiscover), 2u) << "another device may be at the address";
  EXPECT_EQ(NewestBase(), 0u);
}

TEST_F(SnapshotReaderTest, TheTimeOfASnapshotIsHalfWayThroughItsLatch) {
  const absl::Time start = clock_.Now();
  const absl::Duration steady = clock_.Steady();
  // Each command takes 10 ms: DISCOVER, LATCH, CATALOG. The windows take time after the latch.
  device_.after = [this](const smbus::Transfer& transfer, FakeMailbox::Result&) {
    if (IsWindow(transfer) || IsWriteOf(transfer, mailbox::kCommandRegister)) clock_.Advance(absl::Milliseconds(10));
  };
  const auto taken = reader_.Take();
  ExpectTaken(taken);
  EXPECT_EQ(taken->steady_time, steady + absl::Milliseconds(10));
  EXPECT_EQ(taken->latched.time, start + absl::Milliseconds(15));
  EXPECT_EQ(taken->latched.error, absl::Milliseconds(5));
}

TEST_F(SnapshotReaderTest, TheLatchIsWithinTheErrorWhereverTheThreadPauses) {
  absl::Time latched;
  device_.before = [&](const smbus::Transfer& transfer) {
    if (!IsWriteOf(transfer, mailbox::kCommandRegister)) return;
    clock_.Advance(absl::Microseconds(100));
    if (device_.CommandsOf(Opcode::kLatch).empty()) latched = clock_.Now();
    clock_.Advance(absl::Microseconds(50));
  };
  int at = 0, readings = 0;
  do {
    device_.commands.clear();
    const PausingClock clock(clock_, [&](int reading) { return absl::Milliseconds(reading == at ? 10 : 0); });
    const auto taken = SnapshotReader(session_, clock).Take();
    ExpectTaken(taken);
    EXPECT_LE(absl::AbsDuration(taken->latched.time - latched), taken->latched.error) << "paused at " << at;
    readings = clock.readings();
  } while (++at < readings);
  EXPECT_GE(readings, 10);
}

TEST_F(SnapshotReaderTest, AWallClockThatIsSetDuringTheLatchCountsFromThen) {
  ASSERT_TRUE(reader_.Take().ok());
  for (const absl::Duration step : {absl::Hours(1), -absl::Hours(2)}) {
    const absl::Time before = clock_.Now();
    device_.after = [&](const smbus::Transfer& transfer, FakeMailbox::Result&) {
      if (IsWriteOf(transfer, mailbox::kCommandRegister)) clock_.Step(step);
    };
    const auto taken = reader_.Take();
    ExpectTaken(taken);
    EXPECT_EQ(taken->latched.time, before + step);
    EXPECT_EQ(taken->latched.error, absl::ZeroDuration()) << "by the monotonic clock";
  }
}

}  // namespace
}  // namespace sideband::daemon
