// SPDX-License-Identifier: Apache-2.0
#include "proto/base/command_entry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sideband::manual {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A program `tool` with global options and `bus trace`, whose --file hides the program's.
class CommandEntryTest : public testing::Test {
 protected:
  CommandEntryTest() {
    app_.add_option("--file", text_, "Which file")->type_name("HOST:FILE");
    app_.add_flag("-v,--verbose", flag_, "More");
    app_.footer("Example:\n  tool bus");
    CLI::App* const bus = app_.add_subcommand("bus", "The bus");
    bus->fallthrough();
    CLI::App* const trace = bus->add_subcommand("trace", "What passes");
    auto* const file = trace->add_option("--file", text_, "Another file")->type_name("FILE")->required();
    trace->add_option("--format", format_, "How")
        ->check(CLI::IsMember({"table", "json"}))
        ->type_name("FORMAT")
        ->capture_default_str()
        ->needs(file);
    trace->add_option("--count", count_, "How many")->check(CLI::Range(1, 9))->type_name("N");
    trace->add_option("--vm", names_, "Which")->take_all()->expected(1)->allow_extra_args(false);
    trace->add_option("--secret", text_, "Hidden")->group("");
    trace->add_option("words", names_, "Words");
    trace->footer("Own");
  }

  const CommandEntry& Trace() const { return described_.commands.at(0).commands.at(0); }
  void SetUp() override { described_ = DescribeCommand(app_); }

  CLI::App app_{"A tool", "tool"};
  std::string text_, format_ = "table";
  std::vector<std::string> names_;
  int count_ = 0;
  bool flag_ = false;
  CommandEntry described_;
};

TEST_F(CommandEntryTest, NamesTellWhereACommandIs) {
  std::vector<std::string> names;
  for (const CommandEntry* command : AllCommandsOf(described_)) names.push_back(command->name);
  EXPECT_THAT(names, ElementsAre("tool", "tool bus", "tool bus trace"));
  EXPECT_EQ(ShortName(Trace()), "trace");
  EXPECT_EQ(ShortName(described_), "tool");
}

TEST_F(CommandEntryTest, OptionsHaveNamesAndValues) {
  ASSERT_EQ(described_.options.size(), 3u);
  EXPECT_THAT(described_.options[0].names, ElementsAre("-h", "--help"));
  EXPECT_EQ(described_.options[0].value, "");
  EXPECT_EQ(described_.options[1].value, "HOST:FILE") << "a colon of its own";
  EXPECT_THAT(described_.options[2].names, ElementsAre("-v", "--verbose"));
  EXPECT_EQ(described_.options[2].value, "") << "a flag";
}

TEST_F(CommandEntryTest, ValidatorsBecomeChoicesAndBounds) {
  const auto& options = Trace().options;
  ASSERT_EQ(options.size(), 5u) << "--secret is hidden";
  EXPECT_TRUE(options[1].is_required);
  EXPECT_EQ(options[2].value, "FORMAT");
  EXPECT_THAT(options[2].choices, ElementsAre("table", "json"));
  EXPECT_EQ(options[2].default_value, "table");
  EXPECT_THAT(options[2].needs, ElementsAre("--file"));
  EXPECT_EQ(options[3].bounds, "1 - 9");
  EXPECT_FALSE(options[3].is_repeatable);
  EXPECT_TRUE(options[4].is_repeatable);
}

TEST_F(CommandEntryTest, ArgumentsHaveNoNames) {
  ASSERT_EQ(Trace().arguments.size(), 1u);
  EXPECT_THAT(Trace().arguments[0].names, IsEmpty());
  EXPECT_EQ(Trace().arguments[0].value, "WORDS");
  EXPECT_TRUE(Trace().arguments[0].is_repeatable);
}

TEST_F(CommandEntryTest, OptionsOfEnclosingCommandsAreInheritedUnlessHidden) {
  ASSERT_EQ(Trace().inherited.size(), 1u);
  EXPECT_THAT(Trace().inherited[0].names, ElementsAre("-v", "--verbose"));
}

TEST_F(CommandEntryTest, AFooterIsTheCommandsOwn) {
  EXPECT_EQ(described_.footer, "Example:\n  tool bus");
  EXPECT_EQ(described_.commands[0].footer, "") << "CLI11's is that of the program";
  EXPECT_EQ(Trace().footer, "Own");
}

using testing::HasSubstr;

CommandEntry MyTool() {
  const OptionEntry config{.names = {"-c", "--config"}, .value = "FILE", .description = "It's [one]: $x"};
  CommandEntry get{.name = "my-tool get",
                   .description = "Get it: now",
                   .options = {{.names = {"--wide"}, .description = "All"},
                               {.names = {"--format"}, .value = "FORMAT", .description = "How", .choices = {"a", "b"}},
                               {.names = {"--vm"}, .value = "NAME", .description = "Which", .is_repeatable = true}},
                   .inherited = {config},
                   .arguments = {{.value = "FOLDER", .description = "Where"}}};
  return {.name = "my-tool", .description = "A tool", .options = {config}, .commands = {get}};
}

// The text of the scripts is tested here; //tests/package:manual_test runs those of our programs in the shells.
TEST(CompletionTest, BashHasARowForEachCommand) {
  const std::string script = BashCompletion(MyTool());
  EXPECT_THAT(script, HasSubstr("    'my-tool')\n      options='-c --config'\n      takes='-c:file --config:file'\n"
                                "      commands='get'\n      argument=''\n      ;;\n"));
  EXPECT_THAT(script, HasSubstr("    'my-tool get')\n      options='--wide --format --vm -c --config'\n"
                                "      takes='--format:a,b --vm:text -c:file --config:file'\n"
                                "      commands=''\n      argument='folder'\n"));
  EXPECT_THAT(script, HasSubstr("complete -F _my_tool my-tool\n"));
}

TEST(CompletionTest, ZshHasAFunctionForEachCommand) {
  const std::string script = ZshCompletion(MyTool());
  EXPECT_THAT(script, testing::StartsWith("#compdef my-tool\n"));
  EXPECT_THAT(script, HasSubstr(R"('(-c --config)--config=[It'\''s \[one\]\: \$x]:FILE:_files' \)"));
  EXPECT_THAT(script, HasSubstr("'get:Get it\\: now'"));
  EXPECT_THAT(script, HasSubstr("get) _my_tool_get ;;"));
  EXPECT_THAT(script, HasSubstr("'(--format)--format=[How]:FORMAT:(a b)'"));
  EXPECT_THAT(script, HasSubstr("'*--vm=[Which]:NAME:'"));
  EXPECT_THAT(script, HasSubstr("':FOLDER:_files -/'"));
}

TEST(CompletionTest, FishHasARowForEachOption) {
  const std::string script = FishCompletion(MyTool());
  EXPECT_THAT(script, HasSubstr("complete -c my-tool -n '__my_tool_is my-tool' -a get -d 'Get it: now'\n"));
  EXPECT_THAT(script, HasSubstr("-n '__my_tool_is my-tool' -s c -l config -r -F -d 'It\\'s [one]: $x'\n"));
  EXPECT_THAT(script, HasSubstr("-n '__my_tool_is my-tool get' -l format -x -a 'a b' -d 'How'\n"));
  EXPECT_THAT(script, HasSubstr("-n '__my_tool_is my-tool get' -l wide -d 'All'\n"));
  EXPECT_THAT(script, HasSubstr("-x -a '(__fish_complete_directories)'\n"));
  EXPECT_THAT(script, HasSubstr("'my-tool get --vm'")) << "of those that take a value";
}

}  // namespace
}  // namespace sideband::manual
