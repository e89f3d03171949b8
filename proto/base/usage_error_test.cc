// SPDX-License-Identifier: Apache-2.0
#include "proto/base/usage_error.h"

#include <gtest/gtest.h>

#include <string>

namespace sideband {
namespace {

// A program with an option, and a command that has one of its own.
std::string MessageFor(const std::string& line) {
  CLI::App app("A program.", "tool");
  std::string text;
  int count = 0;
  app.add_option("--config", text);
  CLI::App* show = app.add_subcommand("show", "Shows.");
  show->add_option("--count", count);
  app.require_subcommand(1);
  try {
    app.parse(line);
  } catch (const CLI::ParseError& error) {
    const absl::Status status = UsageError(app, error);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << line;
    return std::string(status.message());
  }
  return "";
}

TEST(UsageErrorTest, AnUnknownWordIsNamedWithWhatMayHaveBeenMeant) {
  EXPECT_EQ(MessageFor("--confg x show"), "unknown option '--confg' (did you mean '--config'?)");
  EXPECT_EQ(MessageFor("shwo"), "unknown argument 'shwo' (did you mean 'show'?)");
  EXPECT_EQ(MessageFor("--qqq show"), "unknown option '--qqq'");
}

TEST(UsageErrorTest, TheOptionsOfACommandAreKnownOnceItIsChosen) {
  EXPECT_EQ(MessageFor("show --cuont 1"), "unknown option '--cuont' (did you mean '--count'?)");
  EXPECT_EQ(MessageFor("--cuont 1"), "unknown option '--cuont'");
}

TEST(UsageErrorTest, WhatIsMissingOrNoNumberSaysWhereHelpIs) {
  for (const char* line : {"", "--config", "show --count many"}) {
    EXPECT_TRUE(MessageFor(line).ends_with(" (see tool --help)")) << MessageFor(line);
  }
}

TEST(UsageErrorTest, AGoodLineIsNoError) { EXPECT_EQ(MessageFor("--config x show --count 3"), ""); }

}  // namespace
}  // namespace sideband
