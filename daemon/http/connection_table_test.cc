// SPDX-License-Identifier: Apache-2.0
#include "daemon/http/connection_table.h"

#include <gtest/gtest.h>

namespace sideband::daemon {
namespace {

class ConnectionTableTest : public testing::Test {
 protected:
  ConnectionTable::Verdict Enter(ConnectionTable::Id id, const std::string& identity) {
    EXPECT_FALSE(table_.Add(id).evicted);
    return table_.Admit(id, identity);
  }

  ConnectionTable table_{{.handshakes_max = 2, .known_max = 4, .per_identity_max = 3}};
};

TEST_F(ConnectionTableTest, TheOldestHandshakeMakesRoom) {
  EXPECT_FALSE(table_.Add(1).evicted);
  EXPECT_FALSE(table_.Add(2).evicted);
  EXPECT_EQ(table_.Add(3).evicted, 1u);
  EXPECT_EQ(table_.handshakes(), 2u);
  EXPECT_FALSE(table_.Admit(1, "a").admitted) << "too late";
  EXPECT_TRUE(table_.Admit(3, "a").admitted);
}

TEST_F(ConnectionTableTest, WhoSpeaksStaysBeforeWhoIsSilent) {
  table_.Add(1);
  table_.SetSpeaking(1);
  table_.SetSpeaking(99);  // long gone
  for (int i = 2; i < 50; ++i) table_.Add(i);
  EXPECT_TRUE(table_.Admit(1, "a").admitted);
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

}  // namespace
}  // namespace sideband::daemon
