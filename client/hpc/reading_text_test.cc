// SPDX-License-Identifier: Apache-2.0
#include "client/hpc/reading_text.h"

#include <gtest/gtest.h>

namespace sideband::client {
namespace {

const std::vector<hpc::ListedEvent> kEvents = {{0, "busy_cycles"}, {70, "l2_miss"}};

TEST(ReadingTextTest, ATableAndWhatHasBeenAddedSince) {
  ReadingText text(kEvents);
  EXPECT_EQ(text.Table({.counts = {1'000'000, 7}, .stamps = {}}, {}),
            "EVENT            COUNT\n"
            "busy_cycles  1,000,000\n"
            "l2_miss              7\n");
  EXPECT_EQ(text.Table({.counts = {1'000'500, 3}, .stamps = {2000, 2010}}, {}),
            "\n"
            "EVENT            COUNT  CHANGE  CYCLE\n"
            "busy_cycles  1,000,500     500  2,000\n"
            "l2_miss              3      -4  2,010\n");
}

TEST(ReadingTextTest, Json) {
  ReadingText text(kEvents);
  EXPECT_EQ(text.JsonLine({.counts = {~uint64_t{0}, 7}, .stamps = {5, 5}}),
            R"({"events":[{"event":"busy_cycles","id":0,"count":"18446744073709551615","cycle":"5"},)"
            R"({"event":"l2_miss","id":70,"count":"7","cycle":"5"}]})"
            "\n");
  EXPECT_EQ(text.JsonLine({.counts = {0, 10}, .stamps = {}}),
            R"({"events":[{"event":"busy_cycles","id":0,"count":"0","change":"-18446744073709551615"},)"
            R"({"event":"l2_miss","id":70,"count":"10","change":"3"}]})"
            "\n");
  EXPECT_EQ(ReadingText({{3, "a"}}).JsonLine({.counts = {1}, .stamps = {}}),
            R"({"events":[{"event":"a","id":3,"count":"1"}]})"
            "\n");
}

}  // namespace
}  // namespace sideband::client
