// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "proto/manual/completion.h"
#include "proto/manual/completion_words.h"

namespace sideband::manual {
namespace {

// The same for all programs but for NAME, PROGRAM and the two lists. fish has `--format=json` as one word.
constexpr char kFishFunctions[] = R"(
# Prints the command that the words before the cursor name, such as "sideband bus trace".
function __NAME_command
    set -l words (commandline -opc)
    set -l command PROGRAM
    set -l is_value 0
    for word in $words[2..-1]
        if test $is_value = 1
            set is_value 0
        else if contains -- "$command $word" COMMANDS
            set command "$command $word"
        else if contains -- "$command $word" VALUED
            set is_value 1
        end
    end
    echo $command
end

function __NAME_is
    test (__NAME_command) = "$argv"
end

complete -c PROGRAM -f
)";

std::string Quoted(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

// What completes the value, in fish's own options of `complete`.
std::string FishValue(const OptionEntry& option) {
  switch (KindOf(option)) {
    case ValueKind::kFlag:
      return "";
    case ValueKind::kText:
      return " -x";
    case ValueKind::kFile:
      return " -r -F";
    case ValueKind::kFolder:
      return " -x -a '(__fish_complete_directories)'";
    case ValueKind::kCommand:
      return " -x -a '(__fish_complete_command)'";
    case ValueKind::kChoices:
      return absl::StrCat(" -x -a ", Quoted(absl::StrJoin(option.choices, " ")));
  }
  return "";
}

// "-s h -l help".
std::string FishNames(const OptionEntry& option) {
  std::string names;
  for (absl::string_view name : option.names) {
    const bool is_long = name.size() > 2;
    absl::StrAppend(&names, is_long ? " -l " : " -s ", name.substr(is_long ? 2 : 1));
  }
  return names;
}

// Files are not completed unless a row says so; text needs no row.
std::string ArgumentRow(absl::string_view head, const OptionEntry& argument) {
  const ValueKind kind = KindOf(argument);
  if (kind == ValueKind::kFile) return absl::StrCat(head, " -F\n");
  return kind == ValueKind::kText ? "" : absl::StrCat(head, FishValue(argument), "\n");
}

std::string Rows(const CommandEntry& program, const CommandEntry& command) {
  const std::string head = absl::StrCat("complete -c ", program.name, " -n ",
                                        Quoted(absl::StrCat("__", FunctionName(program.name), "_is ", command.name)));
  std::string rows;
  for (const CommandEntry& inner : command.commands) {
    absl::StrAppend(&rows, head, " -a ", ShortName(inner), " -d ", Quoted(inner.description), "\n");
  }
  for (const OptionEntry& option : AcceptedOptions(command)) {
    absl::StrAppend(&rows, head, FishNames(option), FishValue(option), " -d ", Quoted(option.description), "\n");
  }
  // Only the first: which one the cursor is at is not known.
  if (!command.arguments.empty()) absl::StrAppend(&rows, ArgumentRow(head, command.arguments.front()));
  return rows;
}

std::string CommandNames(const CommandEntry& program) {
  std::vector<std::string> names;
  for (const CommandEntry* command : AllCommandsOf(program)) {
    if (command != &program) names.push_back(Quoted(command->name));
  }
  return absl::StrJoin(names, " ");
}

// "sideband get --vm" of each option that takes a value.
std::string ValuedOptions(const CommandEntry& program) {
  std::vector<std::string> valued;
  for (const CommandEntry* command : AllCommandsOf(program)) {
    for (const OptionEntry& option : AcceptedOptions(*command)) {
      if (option.value.empty()) continue;
      for (const std::string& name : option.names) valued.push_back(Quoted(absl::StrCat(command->name, " ", name)));
    }
  }
  return absl::StrJoin(valued, " ");
}

}  // namespace

std::string FishCompletion(const CommandEntry& program) {
  std::string script =
      absl::StrCat("# Completion of ", program.name, " for fish. Generated from its table of options.\n",
                   absl::StrReplaceAll(kFishFunctions, {{"NAME", FunctionName(program.name)},
                                                        {"PROGRAM", program.name},
                                                        {"COMMANDS", CommandNames(program)},
                                                        {"VALUED", ValuedOptions(program)}}));
  for (const CommandEntry* command : AllCommandsOf(program)) script += Rows(program, *command);
  return script;
}

}  // namespace sideband::manual
