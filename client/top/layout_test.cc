// SPDX-License-Identifier: Apache-2.0
#include "client/top/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "absl/strings/str_join.h"
#include "client/cli/table.h"
#include "client/top/a_site.h"

namespace sideband::client::top {
namespace {

using testing::HasSubstr;

std::string TextOf(const Line& line) {
  std::string text;
  for (const Span& span : line) text += span.text;
  return text;
}

class LayoutTest : public testing::Test {
 protected:
  std::vector<std::string> Lines(const TerminalSize& size, bool is_unicode = true) {
    rows_ = BuildRows(model_, view_.options(), kNow);
    view_.Settle(rows_, PageOf(size));
    const Frame frame{.view = view_,
                      .rows = rows_,
                      .peer = "h:1",
                      .connection = connection_,
                      .event = ChosenEvent(model_, view_.options()),
                      .time = "22:13:20 UTC",
                      .is_unicode = is_unicode};
    std::vector<std::string> lines;
    for (const Line& line : Lay(frame, size)) {
      lines.push_back(TextOf(line));
      EXPECT_LE(DisplayWidth(lines.back()), size.columns) << lines.back();
    }
    EXPECT_LE(lines.size(), size.rows);
    return lines;
  }
  void Press(const std::string& text) {
    view_.Press({.text = text}, {.rows = rows_, .events = model_.events(), .page = 20});
  }

  Model model_ = ASite();
  View view_;
  std::vector<Row> rows_;
  std::string connection_;
};

TEST_F(LayoutTest, TheSmallestScreen) {
  const std::vector<std::string> lines = Lines({.rows = 24, .columns = 80});
  ASSERT_EQ(lines.size(), 24u);
  EXPECT_EQ(lines[0], "sideband top  h:1  by name                                          22:13:20 UTC");
  EXPECT_EQ(lines[1], "NAME                     STATE        READS UTIL sm_active_cycles      MINUTE   ");
  EXPECT_EQ(lines[2], "▾ gpu0                   fresh 0.0s         ██▌·······  25.0%  5.00G/s         ▃");
  EXPECT_EQ(lines[4], "  ▾ vm1                  active             █████·····  50.0%  2.00G/s         ▅");
  EXPECT_EQ(lines[10].substr(0, 15), "    vm3        ");
  EXPECT_THAT(lines[11], HasSubstr("  gpu1                   away"));
  EXPECT_EQ(lines[22].substr(0, 30), "gpu0: fresh, 0.0s old, every 1");
  EXPECT_THAT(lines[23], HasSubstr("q quit  ? help"));
}

TEST_F(LayoutTest, AsciiIsEnough) {
  for (const std::string& line : Lines({.rows = 24, .columns = 80}, false)) {
    for (const char byte : line) EXPECT_TRUE(byte >= ' ' && byte <= '~') << line;
  }
  EXPECT_EQ(Lines({.rows = 24, .columns = 80}, false)[4],
            "  - vm1                  active             #####.....  50.0%  2.00G/s         =");
}

TEST_F(LayoutTest, AllSizes) {
  for (size_t columns : {80, 81, 100, 120, 200, 400}) {
    for (size_t rows : {24, 25, 60}) {
      EXPECT_EQ(Lines({.rows = rows, .columns = columns}).size(), rows);
      EXPECT_EQ(DisplayWidth(Lines({.rows = rows, .columns = columns})[0]), columns);
    }
  }
  for (const TerminalSize& size : {TerminalSize{23, 80}, {24, 79}, {1, 1}, {2, 30}}) {
    const std::vector<std::string> lines = Lines(size);
    ASSERT_EQ(lines.size(), 1u) << "one line";
  }
  EXPECT_EQ(Lines({.rows = 10, .columns = 79})[0], "79 x 10 is too small: sideband top needs 80 x 24 (q quits)");
}

TEST_F(LayoutTest, ThePageBeginsAtTheFirstRow) {
  const TerminalSize small{.rows = 24, .columns = 80};
  v1::Snapshot snapshot = SnapshotOf(0.5);
  for (int vm = 0; vm < 40; ++vm) {
    snapshot.mutable_scopes()->Add()->mutable_scope()->set_vm("x" + std::to_string(100 + vm));
  }
  model_.Apply(snapshot, kNow);
  for (int i = 0; i < 40; ++i) {
    Lines(small);
    Press("j");
  }
  EXPECT_THAT(absl::StrJoin(Lines(small), "\n"), HasSubstr(rows_[view_.cursor()].name));
  EXPECT_GT(view_.first(), 0u);
}

TEST_F(LayoutTest, TheStatusLineSaysTheMostUrgent) {
  const TerminalSize size{.rows = 24, .columns = 80};
  connection_ = "h:1: gone; connecting again";
  EXPECT_THAT(Lines(size)[22], HasSubstr("connecting again"));
  Press("/");
  Press("v");
  EXPECT_THAT(Lines(size)[22], HasSubstr("filter: v_"));
  EXPECT_THAT(Lines(size)[0], HasSubstr("filter v"));
  for (int i = 0; i < 3; ++i) Press("z");
  EXPECT_THAT(Lines(size)[2], HasSubstr("Nothing matches the filter"));
  model_ = Model();
  view_ = View();
  EXPECT_THAT(Lines(size)[2], HasSubstr("There is no device"));
}

TEST_F(LayoutTest, PauseAndHelpAreSaid) {
  const TerminalSize size{.rows = 24, .columns = 80};
  Press("p");
  EXPECT_THAT(Lines(size)[0], HasSubstr("PAUSED at 22:13:20 UTC"));
  Press("?");
  const std::string help = absl::StrJoin(Lines(size), "\n");
  EXPECT_THAT(help, HasSubstr("any key: back"));
  EXPECT_THAT(help, HasSubstr("from 0 to their maximum")) << "all of it fits the smallest screen";
}

TEST_F(LayoutTest, ABoardWithoutCountersHasNoReads) {
  v1::ListDevicesResponse devices = TwoDevices();
  devices.mutable_devices(1)->set_state(v1::Device::STATE_FRESH);
  devices.mutable_devices(1)->add_kinds(v1::Device::KIND_BOARD);
  model_.Apply(devices, kNow);
  EXPECT_THAT(Lines({.rows = 24, .columns = 80})[11], testing::ContainsRegex("^  gpu1 +fresh +-  "));
}

TEST_F(LayoutTest, ARoundOfABatchIsPlainText) {
  rows_ = BuildRows(model_, {}, kNow);
  Frame frame{.view = view_, .rows = rows_, .peer = "h:1", .event = "sm_active_cycles", .time = "22:13:20 UTC"};
  EXPECT_EQ(BatchText(frame, {.cut = false}),
            "sideband top  h:1  22:13:20 UTC  sm_active_cycles\n"
            "NAME       STATE       READS   UTIL     RATE\n"
            "gpu0       fresh 0.0s      -  25.0%  5.00G/s\n"
            "  vm1      active          -  50.0%  2.00G/s\n"
            "    eval   idle            -  12.5%  1.00G/s\n"
            "    train  active          -  50.0%  1.50G/s\n"
            "  vm2      active          -  25.0%  3.00G/s\n"
            "  vm3      sealed          -      -        -\n"
            "gpu1       away            -      -        -\n");
  frame.connection = "h:1: gone;\nconnecting again";
  EXPECT_THAT(BatchText(frame, {}), HasSubstr("sm_active_cycles\nh:1: gone;\\x0aconnecting again\nNAME "));
  frame.event = "a\x1b[2J";
  EXPECT_THAT(BatchText(frame, {}), HasSubstr("UTC  a\\x1b[2J\nh:1: gone")) << "the daemon chooses the name";
}

TEST_F(LayoutTest, ARoundOfSeveralHostsHasAColumn) {
  rows_ = BuildRows({HostModel{"a:1", model_}, HostModel{"b:1", {}}}, {}, kNow);
  const Frame frame{.view = view_, .rows = rows_, .peer = "2 daemons", .event = "x", .time = "22:13:20 UTC"};
  const std::string text = BatchText(frame, {.cut = false});
  EXPECT_THAT(text, HasSubstr("\nHOST  NAME       STATE "));
  EXPECT_THAT(text, HasSubstr("\na:1   gpu0       fresh 0.0s "));
  EXPECT_THAT(text, HasSubstr("\na:1     vm1      active "));
  EXPECT_THAT(text, testing::Not(HasSubstr("connected"))) << "the column says it";
}

TEST(BarTest, Bars) {
  EXPECT_EQ(BarText(0, 4, true), "····");
  EXPECT_EQ(BarText(1, 4, true), "████");
  EXPECT_EQ(BarText(7, 4, true), "████");
  EXPECT_EQ(BarText(0.5 + 1.0 / 32, 4, true), "██▏·");
  EXPECT_EQ(BarText(0.5, 4, false), "##..");
}

TEST(SparkTest, Sparks) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(SparkText({0.9, 0, 0.5, 1, kUnknown}, true, 4, true), "▁▅█ ");
  EXPECT_EQ(SparkText({0, 5, 10}, false, 5, true), "▁▅█  ");
  EXPECT_EQ(SparkText({0, 0}, false, 2, true), "▁▁");
  EXPECT_EQ(SparkText({0, 0.5, 1}, true, 3, false), "_=#");
  EXPECT_EQ(SparkText({}, true, 3, true), "   ");
}

}  // namespace
}  // namespace sideband::client::top
