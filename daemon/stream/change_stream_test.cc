// SPDX-License-Identifier: Apache-2.0
#include "daemon/stream/change_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

using sideband::v1::StateChange;
using sideband::v1::StateItem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

StateItem Scope(const std::string& vm, int state = 1) {
  StateItem item;
  item.mutable_scope()->mutable_scope()->set_vm(vm);
  item.mutable_scope()->set_state(static_cast<sideband::v1::ScopeCounters::State>(state));
  return item;
}

// "a=1" an item, "-a" one that is gone.
std::vector<std::string> Describe(const StateChange& change) {
  std::vector<std::string> texts;
  for (const StateItem& item : change.items()) {
    const std::string& vm = item.scope().scope().vm();
    texts.push_back(item.gone() ? "-" + vm : absl::StrCat(vm, "=", static_cast<int>(item.scope().state())));
  }
  return texts;
}

class StateTrackerTest : public testing::Test {
 protected:
  std::vector<std::string> Next(const std::vector<StateItem>& present) {
    return Describe(tracker_.Next("gpu0", present));
  }
  std::vector<std::string> Repeat(const std::vector<StateItem>& present) {
    return Describe(tracker_.Repeat("gpu0", present));
  }

  StateTracker tracker_;
};

TEST_F(StateTrackerTest, SendsWhatIsNewWhatChangesAndWhatIsGone) {
  EXPECT_THAT(Next({Scope("a"), Scope("b")}), ElementsAre("a=1", "b=1"));
  EXPECT_THAT(Next({Scope("a"), Scope("b")}), IsEmpty());
  EXPECT_THAT(Next({Scope("b", 2), Scope("a")}), ElementsAre("b=2")) << "the order does not matter";
  EXPECT_THAT(Next({Scope("b", 2), Scope("c")}), ElementsAre("c=1", "-a"));
  EXPECT_THAT(Next({}), ElementsAre("-b", "-c"));
  EXPECT_THAT(Next({}), IsEmpty());
}

TEST_F(StateTrackerTest, ARoundRepeatsWhatWasSentBefore) {
  Next({Scope("a"), Scope("b")});
  EXPECT_THAT(Repeat({Scope("a"), Scope("b")}), IsEmpty()) << "it was sent in this round";
  tracker_.BeginRound();
  EXPECT_THAT(Repeat({Scope("a"), Scope("b", 3), Scope("c")}), ElementsAre("a=1"));
  EXPECT_THAT(Repeat({Scope("a"), Scope("b", 3), Scope("c")}), IsEmpty());
  EXPECT_THAT(Next({Scope("a"), Scope("b", 3), Scope("c")}), ElementsAre("b=3", "c=1")) << "changes are none";
  EXPECT_THAT(Repeat({Scope("a"), Scope("b", 3), Scope("c")}), IsEmpty());
}

TEST_F(StateTrackerTest, WhatIsRepeatedIsBounded) {
  std::vector<StateItem> many;
  for (int i = 0; i < StateTracker::kItemsMax + 5; ++i) many.push_back(Scope(absl::StrCat(i)));
  while (!Next(many).empty()) continue;
  tracker_.BeginRound();
  EXPECT_THAT(Repeat(many), SizeIs(StateTracker::kItemsMax));
  EXPECT_THAT(Repeat(many), SizeIs(5));
  EXPECT_THAT(Repeat(many), IsEmpty());
}

TEST_F(StateTrackerTest, SeveralItemsOfOneIdentityAreAllTracked) {
  EXPECT_THAT(Next({Scope("a", 1), Scope("a", 2)}), ElementsAre("a=1", "a=2"));
  EXPECT_THAT(Next({Scope("a", 1), Scope("a", 2)}), IsEmpty());
  EXPECT_THAT(Next({Scope("a", 1)}), ElementsAre("-a"));
}

TEST_F(StateTrackerTest, AMessageIsBounded) {
  std::vector<StateItem> many;
  for (int i = 0; i < 2 * StateTracker::kItemsMax + 5; ++i) many.push_back(Scope(absl::StrCat(i)));
  EXPECT_THAT(Next(many), SizeIs(StateTracker::kItemsMax));
  std::ranges::reverse(many);
  EXPECT_THAT(Next(many), SizeIs(StateTracker::kItemsMax)) << "also while the items change their order";
  EXPECT_THAT(Next(many), SizeIs(5));
  EXPECT_THAT(Next(many), IsEmpty());
  EXPECT_THAT(Next({}), SizeIs(StateTracker::kItemsMax));
}

TEST_F(StateTrackerTest, TheDigestIsOfWhatWasSent) {
  StateTracker other;
  const uint64_t nothing = tracker_.digest();
  Next({Scope("a"), Scope("b")});
  const uint64_t both = tracker_.digest();
  EXPECT_NE(both, nothing);
  other.Adopt("gpu0", {Scope("b"), Scope("a")});
  EXPECT_EQ(other.digest(), both);
  tracker_.BeginRound();
  Repeat({Scope("a"), Scope("b")});
  EXPECT_EQ(tracker_.digest(), both) << "a round changes nothing";
  Next({Scope("a", 2), Scope("b")});
  EXPECT_NE(tracker_.digest(), both);
  Next({Scope("a"), Scope("b")});
  EXPECT_EQ(tracker_.digest(), both);
  Next({});
  EXPECT_EQ(tracker_.digest(), nothing);
  other.Clear();
  EXPECT_EQ(other.digest(), nothing);
}

}  // namespace

}  // namespace sideband::daemon
