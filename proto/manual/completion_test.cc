// SPDX-License-Identifier: Apache-2.0
//
// What the scripts contain; //tests/package:manual_test runs those of our programs in the shells.
#include "proto/manual/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sideband::manual {
namespace {

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
