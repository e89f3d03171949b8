// SPDX-License-Identifier: Apache-2.0
#include "daemon/listen/connection_table.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

size_t FilesOf(const ConnectionBudget& budget) {
  return budget.http + budget.http_handshakes + 3 * budget.grpc + budget.grpc_handshakes;
}

TEST(BudgetConnectionsTest, ALargeLimitGivesTheDefaults) {
  const ConnectionBudget budget = BudgetConnections(65536, 8);
  EXPECT_EQ(budget.http, 512u);
  EXPECT_EQ(budget.http_handshakes, 128u);
  EXPECT_EQ(budget.grpc, 512u);
  EXPECT_EQ(budget.grpc_handshakes, 128u);
  EXPECT_EQ(budget.per_identity, 64u);
}

TEST(BudgetConnectionsTest, ASmallLimitIsNeverExceeded) {
  for (size_t files = 64; files < 4096; ++files) {
    EXPECT_LE(FilesOf(BudgetConnections(files, 1)) + 30, files) << files;
    EXPECT_LE(BudgetConnections(files, 1).per_identity * 2, BudgetConnections(files, 1).http) << files;
  }
}

TEST(BudgetConnectionsTest, ATinyLimitLeavesAFew) {
  EXPECT_EQ(BudgetConnections(0, 256).http, 4u);
  EXPECT_EQ(BudgetConnections(0, 256).per_identity, 2u);
}

class ConnectionTableTest : public testing::Test {
 protected:
  ConnectionTable::Verdict Enter(ConnectionTable::Id id, const std::string& identity) {
    EXPECT_FALSE(table_.Add(id).evicted);
    return table_.Admit(id, {.name = identity});
  }
  ConnectionTable::Verdict EnterFrom(ConnectionTable::Id id, const std::string& address) {
    EXPECT_FALSE(table_.Add(id).evicted);
    return table_.Admit(id, {.name = address, .is_address = true});
  }

  ConnectionTable table_{{.handshakes_max = 2, .known_max = 4, .per_identity_max = 3}};
};

TEST_F(ConnectionTableTest, TheOldestHandshakeMakesRoom) {
  EXPECT_FALSE(table_.Add(1).evicted);
  EXPECT_FALSE(table_.Add(2).evicted);
  EXPECT_EQ(table_.Add(3).evicted, 1u);
  EXPECT_EQ(table_.handshakes(), 2u);
  EXPECT_FALSE(table_.Admit(1, {.name = "a"}).admitted) << "too late";
  EXPECT_TRUE(table_.Admit(3, {.name = "a"}).admitted);
}

TEST_F(ConnectionTableTest, WhoSpeaksStaysBeforeWhoIsSilent) {
  table_.Add(1);
  table_.SetSpeaking(1);
  table_.SetSpeaking(99);  // long gone
  for (int i = 2; i < 50; ++i) table_.Add(i);
  EXPECT_TRUE(table_.Admit(1, {.name = "a"}).admitted);
  table_.Add(60);
  table_.SetSpeaking(49);
  table_.SetSpeaking(60);
  EXPECT_EQ(table_.Add(61).evicted, 49u) << "the oldest, where all speak";
}

TEST_F(ConnectionTableTest, HandshakesTakeNoPlacesOfThoseWhoAreKnown) {
  for (int i = 1; i <= 3; ++i) Enter(i, "a");
  for (int i = 10; i < 50; ++i) table_.Add(i);
  EXPECT_EQ(table_.known(), 3u);
  EXPECT_EQ(table_.handshakes(), 2u);
}

TEST_F(ConnectionTableTest, TheLongestIdleOfAllMakesRoom) {
  Enter(1, "a");
  Enter(2, "a");
  Enter(3, "b");
  Enter(4, "b");
  table_.SetBusy(1, true);
  table_.SetBusy(1, false);
  const auto verdict = Enter(5, "c");
  EXPECT_TRUE(verdict.admitted);
  EXPECT_EQ(verdict.evicted, 2u) << "1 has been at work since";
  EXPECT_EQ(table_.known(), 4u);
}

TEST_F(ConnectionTableTest, AnIdentityBeyondItsShareMakesRoomAmongItsOwn) {
  Enter(1, "quiet");
  for (int i = 2; i <= 4; ++i) Enter(i, "greedy");
  EXPECT_EQ(Enter(5, "greedy").evicted, 2u);
  EXPECT_EQ(Enter(6, "greedy").evicted, 3u);
}

TEST_F(ConnectionTableTest, WhereAllAreBusyTheNewOneGoes) {
  for (int i = 1; i <= 3; ++i) {
    Enter(i, "greedy");
    table_.SetBusy(i, true);
  }
  const auto verdict = Enter(4, "greedy");
  EXPECT_FALSE(verdict.admitted);
  EXPECT_FALSE(verdict.evicted);
  EXPECT_EQ(table_.known(), 3u);
  EXPECT_TRUE(Enter(5, "other").admitted) << "it is greedy's share only that is used up";
}

TEST_F(ConnectionTableTest, WhoLeavesLeavesAPlace) {
  for (int i = 1; i <= 3; ++i) Enter(i, "a");
  table_.Remove(2);
  table_.Remove(2);
  EXPECT_FALSE(Enter(4, "a").evicted);
  table_.SetBusy(99, true);  // long gone
  EXPECT_EQ(table_.known(), 3u);
}

TEST_F(ConnectionTableTest, WhoHasShownNothingMakesRoomFirst) {
  Enter(1, "scraper");
  EnterFrom(2, "10.0.0.1");
  EnterFrom(3, "10.0.0.2");
  Enter(4, "scraper");
  EXPECT_EQ(Enter(5, "other").evicted, 2u);
  EXPECT_EQ(EnterFrom(6, "10.0.0.3").evicted, 3u);
  EXPECT_EQ(EnterFrom(7, "10.0.0.3").evicted, 6u);
  table_.SetBusy(7, true);
  const auto verdict = EnterFrom(8, "10.0.0.4");
  EXPECT_EQ(verdict.evicted, 7u) << "nobody costs somebody a place, however busy the others keep";
  EXPECT_TRUE(verdict.evicted_is_busy);
  EXPECT_EQ(Enter(9, "third").evicted, 8u);
  EXPECT_EQ(Enter(10, "fourth").evicted, 1u) << "where all are somebody's, the longest idle";
}

TEST_F(ConnectionTableTest, WhatIsArrivingIsEvictedAfterWhatIsIdle) {
  for (int i = 1; i <= 4; ++i) Enter(i, absl::StrCat("tenant", i));
  table_.SetArriving(1);
  EXPECT_EQ(Enter(5, "other").evicted, 2u) << "1 has been there for longer, but is not idle";
  for (const int i : {3, 4, 5}) table_.SetArriving(i);
  EXPECT_EQ(Enter(6, "more").evicted, 1u) << "where nothing is idle, the one that takes longest";
  for (const int i : {3, 4, 5, 6}) table_.SetBusy(i, true);
  EXPECT_FALSE(Enter(7, "last").admitted) << "what is being answered stays";
}

TEST_F(ConnectionTableTest, AnAnswerEndsTheArrival) {
  for (int i = 1; i <= 4; ++i) Enter(i, absl::StrCat("tenant", i));
  table_.SetArriving(1);
  table_.SetBusy(1, true);
  table_.SetBusy(1, false);
  for (const int i : {2, 3, 4}) table_.SetArriving(i);
  EXPECT_EQ(Enter(5, "other").evicted, 1u);
}

TEST_F(ConnectionTableTest, TheLongestIdleIsTakenOut) {
  EXPECT_FALSE(table_.TakeLongestIdle());
  for (int i = 1; i <= 3; ++i) Enter(i, absl::StrCat("tenant", i));
  table_.SetBusy(1, true);
  EXPECT_EQ(table_.TakeLongestIdle(), 2u);
  table_.Add(9);
  EXPECT_EQ(table_.TakeLongestIdle(), 9u) << "who has not said a word comes first";
  EXPECT_EQ(table_.TakeLongestIdle(), 3u);
  EXPECT_FALSE(table_.TakeLongestIdle()) << "1 is busy";
}

TEST_F(ConnectionTableTest, AnAddressHasItsShareOnly) {
  EnterFrom(1, "10.0.0.2");
  for (int i = 2; i <= 4; ++i) EnterFrom(i, "10.0.0.1");
  EXPECT_EQ(EnterFrom(5, "10.0.0.1").evicted, 2u);
  EXPECT_EQ(EnterFrom(6, "10.0.0.1").evicted, 3u);
}

TEST_F(ConnectionTableTest, AnAddressHasAlwaysRoomForWhoMayShowAToken) {
  for (int i = 1; i <= 3; ++i) {
    EnterFrom(i, "10.0.0.1");
    table_.SetBusy(i, true);
  }
  const auto verdict = EnterFrom(4, "10.0.0.1");
  EXPECT_EQ(verdict.evicted, 1u) << "all have shown nothing, this one for longest";
  EXPECT_TRUE(verdict.evicted_is_busy);
  EXPECT_FALSE(table_.Recount(4, {.name = "scraper"}).evicted);
  table_.SetBusy(4, true);
  EnterFrom(5, "10.0.0.1");
  table_.SetBusy(5, true);
  table_.SetBusy(2, false);
  table_.SetBusy(2, true);
  EXPECT_EQ(EnterFrom(6, "10.0.0.1").evicted, 2u) << "not 4, which has shown a token; work makes nobody younger";
}

TEST_F(ConnectionTableTest, WhoeverOfAnAddressIsOlderMakesRoom) {
  for (int i = 1; i <= 3; ++i) {
    EnterFrom(i, "10.0.0.1");
    table_.SetBusy(i, true);
  }
  EnterFrom(4, "10.0.0.2");
  table_.SetBusy(1, false);
  EXPECT_EQ(table_.TakeOlderOfAddress(3), 2u) << "1 has no stream to give";
  EXPECT_FALSE(table_.TakeOlderOfAddress(3)) << "it is the first that has one itself";
  table_.Recount(3, {.name = "scraper"});
  EXPECT_FALSE(table_.TakeOlderOfAddress(3)) << "it is somebody's";
  EXPECT_FALSE(table_.TakeOlderOfAddress(99)) << "long gone";
  EXPECT_EQ(table_.known(), 3u);
}

TEST_F(ConnectionTableTest, AnIdentityAndAnAddressOfOneNameAreTwo) {
  Enter(1, "x");
  for (int i = 2; i <= 3; ++i) EnterFrom(i, "x");
  EXPECT_FALSE(EnterFrom(4, "x").evicted);
}

TEST_F(ConnectionTableTest, ARequestMakesAConnectionSomebodys) {
  for (int i = 1; i <= 3; ++i) {
    EnterFrom(i, "10.0.0.1");
    const auto verdict = table_.Recount(i, {.name = "scraper"});
    EXPECT_TRUE(verdict.admitted && !verdict.evicted) << i;
  }
  EXPECT_FALSE(EnterFrom(4, "10.0.0.1").evicted) << "the address has its places back";
  EXPECT_EQ(table_.Recount(4, {.name = "scraper"}).evicted, 1u);
  EXPECT_EQ(table_.known(), 3u);
  EnterFrom(5, "10.0.0.1");
  EXPECT_EQ(EnterFrom(6, "10.0.0.2").evicted, 5u) << "who is somebody stays";
  for (const int i : {2, 3, 4}) table_.SetBusy(i, true);
  EXPECT_FALSE(table_.Recount(6, {.name = "scraper"}).admitted) << "nobody who is at work makes room";
  EXPECT_FALSE(table_.Recount(99, {.name = "scraper"}).admitted) << "long gone";
  EXPECT_EQ(table_.known(), 3u);
}

std::string GroupOf(const char* address) { return AddressGroup(boost::asio::ip::make_address(address)); }

TEST(AddressGroupTest, AnIpv4AddressIsItsOwn) {
  EXPECT_EQ(GroupOf("192.0.2.1"), "192.0.2.1");
  EXPECT_NE(GroupOf("192.0.2.2"), GroupOf("192.0.2.1"));
  EXPECT_EQ(GroupOf("::ffff:192.0.2.1"), "192.0.2.1");
}

TEST(AddressGroupTest, AnIpv6NetworkIsOne) {
  EXPECT_EQ(GroupOf("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(GroupOf("2001:db8:1:2::"), GroupOf("2001:db8:1:2:ffff:ffff:ffff:ffff"));
  EXPECT_NE(GroupOf("2001:db8:1:3::"), GroupOf("2001:db8:1:2::"));
  EXPECT_EQ(GroupOf("fe80::1%2"), "fe80::/64") << "whatever interface it came by";
}

}  // namespace

}  // namespace sideband::daemon
