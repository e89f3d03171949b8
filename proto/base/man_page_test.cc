// SPDX-License-Identifier: Apache-2.0
#include "proto/base/man_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sideband::manual {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(RoffTest, TextIsPrintedAsItStands) {
  const struct {
    std::string text, roff;
  } kCases[] = {
      {"a plain line", "a plain line"},
      {"well-known", "well-known"},
      {"C:\\n", "C:\\en"},
      {".TH\n.SH x.y", "\\&.TH\n\\&.SH x.y"},                 // no requests
      {"'br", "\\(aqbr"},                                     // the other control character
      {"\"`^~'", "\\(dq\\(ga\\(ha\\(ti\\(aq"},                // printed as others otherwise
      {"5f0c… ±", "5f0c\\[u2026] \\[u00B1]"},                 // of three bytes, and of two
      {"\xF0\x9F\x98\x80", "\\[u1F600]"},                     // of four
      {"\xFF|\x80|\xE2\x80|\xC3(|\xE2\x80", "?|?|??|?(|??"},  // none of UTF-8, the last one cut
  };
  for (const auto& [text, roff] : kCases) EXPECT_EQ(RoffText(text), roff) << text;
}

TEST(RoffTest, WordsOfACommandLineKeepTheirMinusSigns) {
  EXPECT_EQ(RoffBold("--dry-run"), "\\fB\\-\\-dry\\-run\\fR");
  EXPECT_EQ(RoffItalic("FILE"), "\\fIFILE\\fR");
  EXPECT_EQ(RoffArgument("a \"b\""), "\"a \\(dqb\\(dq\"");
  EXPECT_EQ(RoffExample("get --vm a\nget -h"), ".EX\nget \\-\\-vm a\nget \\-h\n.EE\n");
}

OptionEntry Help() { return {.names = {"-h", "--help"}, .description = "Print this"}; }

CommandEntry Tool() {
  CommandEntry get{.name = "tool get",
                   .description = "Get it",
                   .footer = "It is got.\nExamples:\n  tool get --vm a\n  tool get b",
                   .options = {Help(),
                               {.names = {"--format"},
                                .value = "FORMAT",
                                .description = "How to print",
                                .choices = {"table", "json"},
                                .default_value = "table",
                                .needs = {"--a", "--b"}},
                               {.names = {"--count"}, .value = "N", .description = "How many.", .bounds = "1 - 9"},
                               {.names = {"--vm"}, .value = "NAME", .description = "Which", .is_repeatable = true}},
                   .arguments = {{.value = "FILE", .description = "What", .is_required = true, .is_repeatable = true}}};
  return {.name = "tool",
          .description = "Gets things: those that are there.",
          .footer = "Examples:\n  tool get",
          .options = {Help()},
          .commands = {get}};
}

std::string Page() {
  return FormatManPage(Tool(), {.section = 8,
                                .release = "tools 1.2-3",
                                .sections = {{"FILES", {{"", "All."}, {"/etc/tool-x", "It."}}}},
                                .see_also = {"a-b(1)", "c(5)"}});
}

TEST(ManPageTest, BeginsWithNameAndPurpose) {
  EXPECT_THAT(Page(), HasSubstr(".TH \"TOOL\" 8 \"\" \"tools 1.2\\-3\" \"Sideband\"\n"));
  EXPECT_THAT(Page(), HasSubstr(".SH \"NAME\"\ntool \\- Gets things\n"));
  EXPECT_THAT(Page(), HasSubstr(".SH \"SYNOPSIS\"\n\\fBtool\\fR [\\fIOPTION\\fR]... \\fICOMMAND\\fR ...\n"));
  EXPECT_THAT(Page(), HasSubstr(".SH \"DESCRIPTION\"\nGets things: those that are there.\n"));
}

TEST(ManPageTest, OptionsSayAllThatTheTableSays) {
  EXPECT_THAT(Page(), HasSubstr(".TP\n\\fB\\-\\-format\\fR \\fBtable\\fR|\\fBjson\\fR\n"
                                "How to print. Default: table. Only with --a and --b.\n"));
  EXPECT_THAT(Page(), HasSubstr(".TP\n\\fB\\-\\-count\\fR \\fIN\\fR\nHow many. Range: 1 - 9.\n"));
  EXPECT_THAT(Page(), HasSubstr(".TP\n\\fB\\-\\-vm\\fR \\fINAME\\fR\nWhich. May be repeated.\n"));
}

TEST(ManPageTest, ACommandHasASectionWithItsSynopsisAndFooter) {
  EXPECT_THAT(Page(), HasSubstr(".SS \"tool get\"\nGet it.\n.PP\n"
                                "\\fBtool get\\fR [\\fIOPTION\\fR]... \\fIFILE\\fR...\n"
                                ".TP\n\\fIFILE\\fR\nWhat. Required.\n.TP\n\\fB\\-\\-format"));
  EXPECT_THAT(Page(),
              HasSubstr(".PP\nIt is got.\n.PP\nExamples:\n.PP\n.RS 4\n.EX\ntool get \\-\\-vm a\ntool get b\n.EE\n"));
}

TEST(ManPageTest, InheritedOptionsAreMentioned) {
  EXPECT_THAT(Page(), Not(HasSubstr("may also follow the command")));
  CommandEntry tool = Tool();
  tool.commands[0].inherited = {Help()};
  EXPECT_THAT(FormatManPage(tool, {}), HasSubstr("The options above may also follow the command.\n"));
}

TEST(ManPageTest, EndsWithItsOwnSections) {
  EXPECT_THAT(
      Page(),
      HasSubstr(".SH \"FILES\"\nAll.\n.TP\n\\fB/etc/tool\\-x\\fR\nIt.\n.SH \"EXAMPLES\"\n.RS 4\n.EX\ntool get\n"));
  EXPECT_THAT(Page(), testing::EndsWith(".SH \"SEE ALSO\"\n\\fBa\\-b\\fR(1),\n\\fBc\\fR(5)\n"));
}

}  // namespace
}  // namespace sideband::manual
