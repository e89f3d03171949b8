// SPDX-License-Identifier: Apache-2.0
#include "client/top/view.h"

#include <gtest/gtest.h>

#include "client/top/a_site.h"

namespace sideband::client::top {
namespace {

class ViewTest : public testing::Test {
 protected:
  ViewTest() { Build(); }

  void Build() {
    rows_ = BuildRows(model_, view_.options(), kNow);
    view_.Settle(rows_, kPage);
  }
  Request Press(const Key& key) {
    const std::string event = ChosenEvent(model_, view_.options());
    const Request request = view_.Press(key, {.rows = rows_, .events = model_.events(), .event = event, .page = kPage});
    Build();
    return request;
  }
  Request Type(const std::string& text) { return Press({.text = text}); }
  void Press(Special key) { Press(Key{.special = key}); }
  std::string selected() const { return rows_.empty() ? "" : rows_[view_.cursor()].name; }

  static constexpr size_t kPage = 4;
  Model model_ = ASite();
  View view_;
  std::vector<Row> rows_;
};

TEST_F(ViewTest, TheCursorMovesAndThePageFollows) {
  EXPECT_EQ(selected(), "gpu0");
  Press(Special::kUp);
  EXPECT_EQ(selected(), "gpu0");
  Type("j");
  Press(Special::kDown);
  EXPECT_EQ(selected(), "vm1");
  Press(Special::kPageDown);
  EXPECT_EQ(view_.cursor(), 6u);
  EXPECT_EQ(view_.first(), 3u);
  Press(Special::kEnd);
  EXPECT_EQ(selected(), "gpu1");
  EXPECT_EQ(view_.first(), rows_.size() - kPage);
  Press(Special::kDown);
  EXPECT_EQ(selected(), "gpu1");
  Press(Special::kPageUp);
  Type("k");
  EXPECT_EQ(view_.cursor(), rows_.size() - 1 - kPage - 1);
  Press(Special::kHome);
  EXPECT_EQ(view_.first(), 0u);
}

TEST_F(ViewTest, RowsAreOpenedAndClosed) {
  const size_t all = rows_.size();
  Press(Special::kEnter);
  EXPECT_EQ(rows_.size(), 2u) << "gpu0 is closed";
  Press(Special::kLeft);
  EXPECT_EQ(rows_.size(), 2u);
  Press(Special::kRight);
  EXPECT_EQ(rows_.size(), all);
  Type("l");
  EXPECT_EQ(rows_.size(), all) << "it is open";
  Type("j");
  Type(" ");
  EXPECT_EQ(rows_.size(), all + 2) << "events";
  Type("j");
  Type(" ");
  EXPECT_EQ(rows_.size(), all + 2) << "an event has nothing below";
  Type("h");
  EXPECT_EQ(selected(), "events (2)") << "the row above";
  Type("h");
  EXPECT_EQ(rows_.size(), all);
}

TEST_F(ViewTest, TheCursorStaysOnItsRow) {
  Press(Special::kEnd);
  Press(Special::kUp);
  EXPECT_EQ(selected(), "vm3");
  model_.Apply(SnapshotOf(0.1), kNow);
  v1::Snapshot fewer = SnapshotOf(0.1);
  fewer.mutable_scopes()->DeleteSubrange(2, 2);
  model_.Apply(fewer, kNow);
  Build();
  EXPECT_EQ(selected(), "vm3");
  model_ = Model();
  Build();
  EXPECT_EQ(view_.cursor(), 0u);
  EXPECT_EQ(view_.first(), 0u);
  Press(Special::kDown);
  Press(Special::kEnter);
  Press(Special::kLeft);
  Press(Special::kPageUp);
  Type("e");
  EXPECT_EQ(view_.cursor(), 0u);
}

TEST_F(ViewTest, SortEventAndPause) {
  Type("s");
  EXPECT_EQ(view_.options().sort, Sort::kUtilisation);
  Type("s");
  EXPECT_EQ(view_.options().sort, Sort::kRate);
  Type("s");
  EXPECT_EQ(view_.options().sort, Sort::kName);
  Type("r");
  EXPECT_TRUE(view_.options().is_reversed);
  Type("e");
  EXPECT_EQ(view_.options().event, "dram_read_cycles");
  Type("e");
  EXPECT_EQ(view_.options().event, "sm_active_cycles");
  Type("E");
  EXPECT_EQ(view_.options().event, "dram_read_cycles");
  Type("p");
  EXPECT_TRUE(view_.is_paused());
  Type("p");
  EXPECT_FALSE(view_.is_paused());
}

TEST_F(ViewTest, AFilterIsTyped) {
  Type("/");
  EXPECT_TRUE(view_.is_typing());
  for (const char* text : {"q", "ö", "x"}) EXPECT_EQ(Type(text), Request::kNone) << "no command";
  EXPECT_EQ(view_.options().filter, "qöx");
  Press(Special::kBackspace);
  Press(Special::kBackspace);
  EXPECT_EQ(view_.options().filter, "q");
  Press(Special::kBackspace);
  Press(Special::kBackspace);
  for (const char* text : {"v", "m", "2"}) Type(text);
  Press(Special::kEnter);
  EXPECT_FALSE(view_.is_typing());
  EXPECT_EQ(rows_.size(), 3u);
  Type("/");
  EXPECT_EQ(view_.typed(), "vm2") << "it is edited further";
  Press(Special::kEscape);
  EXPECT_EQ(view_.options().filter, "");
  EXPECT_FALSE(view_.is_typing());
  Type("/");
  for (int i = 0; i < 100; ++i) Type("x");
  EXPECT_EQ(view_.typed().size(), 64u) << "bounded";
  Press(Special::kEnter);
  Press(Special::kEscape);
  EXPECT_EQ(view_.options().filter, "");
}

TEST_F(ViewTest, HelpQuitAndSuspend) {
  Type("?");
  EXPECT_TRUE(view_.is_help());
  EXPECT_EQ(Type("s"), Request::kNone);
  EXPECT_FALSE(view_.is_help());
  EXPECT_EQ(view_.options().sort, Sort::kName) << "the key closed the help only";
  Type("?");
  EXPECT_EQ(Type("q"), Request::kQuit);
  EXPECT_EQ(Type("q"), Request::kQuit);
  EXPECT_EQ(Type("\x1a"), Request::kSuspend);
  EXPECT_EQ(Type("\x0c"), Request::kRedraw);
  Type("/");
  EXPECT_EQ(Type("\x03"), Request::kQuit) << "Ctrl-C, also while typing";
  EXPECT_EQ(Type("\x1c"), Request::kQuit);
  EXPECT_EQ(Type("z"), Request::kNone);
}

}  // namespace
}  // namespace sideband::client::top
