// SPDX-License-Identifier: Apache-2.0
#include "proto/base/command_line.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"

namespace sideband {
namespace {

struct Outcome {
  absl::StatusOr<bool> is_answered;
  std::string printed;
};

// The program has an option, and a subcommand with its own option.
Outcome Parse(std::vector<std::string> arguments) {
  CLI::App app("A program.", "tool");
  std::string text;
  int count = 0;
  app.set_version_flag("--version", "tool 1.2");
  app.add_option("--config", text);
  CLI::App* show = app.add_subcommand("show", "Shows.");
  std::string vm;
  show->add_option("--count", count);
  show->add_option("--vm", vm)->type_name("NAME");
  app.require_subcommand(1);
  Outcome outcome;
  outcome.is_answered = ParseCommandLine(
      app, std::move(arguments),
      [&](absl::string_view printed) {
        outcome.printed = std::string(printed);
        return absl::OkStatus();
      },
      [](const CLI::App&) { return "the help"; });
  return outcome;
}

std::string MessageFor(const std::string& line) {
  const absl::Status status = Parse(absl::StrSplit(line, ' ', absl::SkipEmpty())).is_answered.status();
  EXPECT_TRUE(status.ok() || absl::IsInvalidArgument(status)) << line;
  return std::string(status.message());
}

TEST(CommandLineTest, AnUnknownWordIsNamedWithWhatMayHaveBeenMeant) {
  EXPECT_EQ(MessageFor("--confg x show"), "unknown option '--confg' (did you mean '--config'?); see tool show --help");
  EXPECT_EQ(MessageFor("shwo"), "unknown argument 'shwo' (did you mean 'show'?)");
  EXPECT_EQ(MessageFor("frobnicate"), "unknown argument 'frobnicate' (see tool --help)");
  EXPECT_EQ(MessageFor("--qqq show"), "unknown option '--qqq' (see tool show --help)");
}

TEST(CommandLineTest, TheOptionsOfACommandAreKnownOnceItIsChosen) {
  EXPECT_EQ(MessageFor("show --cuont 1"), "unknown option '--cuont' (did you mean '--count'?); see tool show --help");
  EXPECT_EQ(MessageFor("--cuont 1"), "unknown option '--cuont' (see tool --help)");
}

TEST(CommandLineTest, AnOptionOfACommandComesAfterIt) {
  EXPECT_EQ(MessageFor("--count 1 show"), "option '--count' comes after 'show'");
  EXPECT_EQ(MessageFor("--count=1 show"), "option '--count=1' comes after 'show'");
}

TEST(CommandLineTest, ANameAloneSaysWhichOptionsTakeNames) {
  EXPECT_EQ(MessageFor("show x1"), "unknown argument 'x1': 'show' takes names with --vm");
}

TEST(CommandLineTest, AnOptionIsNoValue) {
  EXPECT_EQ(MessageFor("show --vm --config x"), "--vm has no value: '--config' follows it");
  EXPECT_EQ(MessageFor("show --vm --count"), "--vm has no value: '--count' follows it");
  EXPECT_EQ(MessageFor("--config --count show"), "--config has no value: '--count' follows it");
}

TEST(CommandLineTest, WhatIsMissingOrNoNumberSaysWhereHelpIs) {
  EXPECT_TRUE(MessageFor("show --count many").ends_with(" (see tool show --help)"));
  for (const char* line : {"", "--config"}) {
    EXPECT_TRUE(MessageFor(line).ends_with(" (see tool --help)")) << MessageFor(line);
  }
}

TEST(CommandLineTest, AGoodLineIsNoError) {
  const Outcome outcome = Parse({"--config", "x", "show", "--count", "3"});
  ASSERT_TRUE(outcome.is_answered.ok());
  EXPECT_FALSE(*outcome.is_answered);
  EXPECT_EQ(outcome.printed, "");
}

TEST(CommandLineTest, AnswersHelpAndVersion) {
  EXPECT_TRUE(*Parse({"--version"}).is_answered);
  EXPECT_EQ(Parse({"--version"}).printed, "tool 1.2\n");
  EXPECT_TRUE(*Parse({"--help"}).is_answered);
  EXPECT_EQ(Parse({"show", "--help"}).printed, "the help");
}

}  // namespace
}  // namespace sideband
