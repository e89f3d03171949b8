// SPDX-License-Identifier: Apache-2.0
#include "proto/manual/completion.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

namespace sideband::manual {
namespace {

// What completes a value.
enum class ValueKind { kFlag, kText, kFile, kFolder, kCommand, kChoices };

// By the value's name: FILE, FOLDER and COMMAND are completed, all others but choices are the user's own text.
ValueKind KindOf(const OptionEntry& option) {
  if (option.value.empty()) return ValueKind::kFlag;
  if (!option.choices.empty()) return ValueKind::kChoices;
  if (option.value == "FILE") return ValueKind::kFile;
  if (option.value == "FOLDER") return ValueKind::kFolder;
  return option.value == "COMMAND" ? ValueKind::kCommand : ValueKind::kText;
}

// The options that a command accepts, those of the enclosing commands last.
std::vector<OptionEntry> AcceptedOptions(const CommandEntry& command) {
  std::vector<OptionEntry> accepted = command.options;
  accepted.insert(accepted.end(), command.inherited.begin(), command.inherited.end());
  return accepted;
}

// In single quotes, for bash and zsh.
std::string ShellQuoted(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

// The name of a shell function: "sideband bus trace" is sideband_bus_trace, and '-' becomes '_', too.
std::string FunctionName(absl::string_view command) { return absl::StrReplaceAll(command, {{" ", "_"}, {"-", "_"}}); }

// The same for all programs but for NAME. COMP_WORDS has `--format=json` as three words.
constexpr char kBashFunctions[] = R"(
# Sets value to the kind of value that the option $1 takes; empty for a flag.
_NAME_value() {
  local entry
  value=
  for entry in $takes; do
    [[ $entry != "$1:"* ]] || value=${entry#*:}
  done
}

# Fills COMPREPLY with what begins with $2: files and the like, or the words of a list with commas.
_NAME_reply() {
  case $1 in
    text | '') ;;
    file) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
    folder) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
    command) mapfile -t COMPREPLY < <(compgen -c -- "$2") ;;
    *) mapfile -t COMPREPLY < <(compgen -W "${1//,/ }" -- "$2") ;;
  esac
}

_NAME() {
  local current=${COMP_WORDS[COMP_CWORD]} command=PROGRAM value= ended= word i
  local options takes commands argument
  _NAME_table
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $word == = || -n $ended ]]; then
      continue
    elif [[ -n $value ]]; then
      value=
    elif [[ $word == -- ]]; then
      ended=1
    elif [[ $word == -* ]]; then
      _NAME_value "$word"
    elif [[ " $commands " == *" $word "* ]]; then
      command+=" $word"
      _NAME_table
    fi
  done
  [[ $current != = ]] || current=
  if [[ -n $value ]]; then
    _NAME_reply "$value" "$current"
  elif [[ $current == -* && -z $ended ]]; then
    _NAME_reply "${options// /,}" "$current"
  else
    word=${commands:-$argument}
    _NAME_reply "${word// /,}" "$current"
  fi
}

complete -F _NAME PROGRAM
)";

std::string BashKind(const OptionEntry& option) {
  switch (KindOf(option)) {
    case ValueKind::kFlag:
      return "";
    case ValueKind::kText:
      return "text";
    case ValueKind::kFile:
      return "file";
    case ValueKind::kFolder:
      return "folder";
    case ValueKind::kCommand:
      return "command";
    case ValueKind::kChoices:
      return absl::StrJoin(option.choices, ",");
  }
  return "";
}

std::string BashRow(const CommandEntry& command) {
  std::vector<std::string> options, takes, commands;
  for (const OptionEntry& option : AcceptedOptions(command)) {
    for (const std::string& name : option.names) {
      options.push_back(name);
      if (!option.value.empty()) takes.push_back(absl::StrCat(name, ":", BashKind(option)));
    }
  }
  for (const CommandEntry& inner : command.commands) commands.push_back(ShortName(inner));
  const std::string argument = command.arguments.empty() ? "" : BashKind(command.arguments.front());
  return absl::StrCat("    ", ShellQuoted(command.name), ")\n      options=", ShellQuoted(absl::StrJoin(options, " ")),
                      "\n      takes=", ShellQuoted(absl::StrJoin(takes, " ")),
                      "\n      commands=", ShellQuoted(absl::StrJoin(commands, " ")),
                      "\n      argument=", ShellQuoted(argument), "\n      ;;\n");
}

// Text within the brackets of a specification of _arguments, or before its colons.
std::string ZshEscaped(absl::string_view text) {
  return absl::StrReplaceAll(text,
                             {{"\\", "\\\\"}, {"[", "\\["}, {"]", "\\]"}, {":", "\\:"}, {"`", "\\`"}, {"$", "\\$"}});
}

// ":FILE:_files"; empty for a flag.
std::string ZshAction(const OptionEntry& option) {
  const std::string message = absl::StrCat(":", ZshEscaped(option.value), ":");
  switch (KindOf(option)) {
    case ValueKind::kFlag:
      return "";
    case ValueKind::kText:
      return message;
    case ValueKind::kFile:
      return message + "_files";
    case ValueKind::kFolder:
      return message + "_files -/";
    case ValueKind::kCommand:
      return message + "_command_names -e";
    case ValueKind::kChoices:
      return absl::StrCat(message, "(", absl::StrJoin(option.choices, " "), ")");
  }
  return "";
}

// One specification for each name; each excludes the others unless the option may be repeated.
std::string ZshOptionSpecs(const OptionEntry& option) {
  const std::string others = option.is_repeatable ? "*" : absl::StrCat("(", absl::StrJoin(option.names, " "), ")");
  std::string specs;
  for (const std::string& name : option.names) {
    const bool takes_equals = !option.value.empty() && name.size() > 2;
    absl::StrAppend(&specs, " \\\n    ",
                    ShellQuoted(absl::StrCat(others, name, takes_equals ? "=" : "", "[", ZshEscaped(option.description),
                                             "]", ZshAction(option))));
  }
  return specs;
}

std::string ZshArgumentSpecs(const CommandEntry& command) {
  std::string specs;
  for (const OptionEntry& argument : command.arguments) {
    absl::StrAppend(&specs, " \\\n    ",
                    ShellQuoted(absl::StrCat(argument.is_repeatable ? "*" : "", ZshAction(argument))));
  }
  return specs;
}

std::string ZshSpecs(const CommandEntry& command) {
  std::string specs;
  for (const OptionEntry& option : AcceptedOptions(command)) specs += ZshOptionSpecs(option);
  return specs + ZshArgumentSpecs(command);
}

// Completes the name of an inner command, or what follows it by the inner command's function.
std::string InnerCommands(const CommandEntry& command) {
  std::string names, calls;
  for (const CommandEntry& inner : command.commands) {
    const std::string name = ShortName(inner);
    absl::StrAppend(&names, "\n        ", ShellQuoted(absl::StrCat(name, ":", ZshEscaped(inner.description))));
    absl::StrAppend(&calls, "        ", name, ") _", FunctionName(inner.name), " ;;\n");
  }
  return absl::StrCat("  case $state in\n    command)\n      commands=(", names,
                      ")\n      _describe command commands\n", "      ;;\n    rest)\n      case $line[1] in\n", calls,
                      "      esac\n      ;;\n  esac\n");
}

std::string ZshFunction(const CommandEntry& command) {
  const std::string head = absl::StrCat("_", FunctionName(command.name), "() {\n");
  if (command.commands.empty()) return absl::StrCat(head, "  _arguments -s -S", ZshSpecs(command), "\n}\n");
  return absl::StrCat(head, "  local curcontext=$curcontext state state_descr line commands\n  typeset -A opt_args\n",
                      "  _arguments -s -S -C", ZshSpecs(command),
                      " \\\n    '1:command:->command' \\\n    '*::argument:->rest'\n", InnerCommands(command), "}\n");
}

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

std::string FishQuoted(absl::string_view text) {
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
      return absl::StrCat(" -x -a ", FishQuoted(absl::StrJoin(option.choices, " ")));
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
std::string FishArgumentRow(absl::string_view head, const OptionEntry& argument) {
  const ValueKind kind = KindOf(argument);
  if (kind == ValueKind::kFile) return absl::StrCat(head, " -F\n");
  return kind == ValueKind::kText ? "" : absl::StrCat(head, FishValue(argument), "\n");
}

std::string FishRows(const CommandEntry& program, const CommandEntry& command) {
  const std::string head =
      absl::StrCat("complete -c ", program.name, " -n ",
                   FishQuoted(absl::StrCat("__", FunctionName(program.name), "_is ", command.name)));
  std::string rows;
  for (const CommandEntry& inner : command.commands) {
    absl::StrAppend(&rows, head, " -a ", ShortName(inner), " -d ", FishQuoted(inner.description), "\n");
  }
  for (const OptionEntry& option : AcceptedOptions(command)) {
    absl::StrAppend(&rows, head, FishNames(option), FishValue(option), " -d ", FishQuoted(option.description), "\n");
  }
  // Only the first: which one the cursor is at is not known.
  if (!command.arguments.empty()) absl::StrAppend(&rows, FishArgumentRow(head, command.arguments.front()));
  return rows;
}

std::string CommandNames(const CommandEntry& program) {
  std::vector<std::string> names;
  for (const CommandEntry* command : AllCommandsOf(program)) {
    if (command != &program) names.push_back(FishQuoted(command->name));
  }
  return absl::StrJoin(names, " ");
}

// "sideband get --vm" of each option that takes a value.
std::string ValuedOptions(const CommandEntry& program) {
  std::vector<std::string> valued;
  for (const CommandEntry* command : AllCommandsOf(program)) {
    for (const OptionEntry& option : AcceptedOptions(*command)) {
      if (option.value.empty()) continue;
      for (const std::string& name : option.names) valued.push_back(FishQuoted(absl::StrCat(command->name, " ", name)));
    }
  }
  return absl::StrJoin(valued, " ");
}

}  // namespace

std::string BashCompletion(const CommandEntry& program) {
  const std::string name = FunctionName(program.name);
  std::string script =
      absl::StrCat("# Completion of ", program.name, " for bash. Generated from its table of options.\n",
                   "\n# What the command in $command accepts.\n_", name, "_table() {\n  case $command in\n");
  for (const CommandEntry* command : AllCommandsOf(program)) script += BashRow(*command);
  return script + "  esac\n}\n" + absl::StrReplaceAll(kBashFunctions, {{"NAME", name}, {"PROGRAM", program.name}});
}

std::string ZshCompletion(const CommandEntry& program) {
  std::string script = absl::StrCat("#compdef ", program.name, "\n# Completion of ", program.name,
                                    " for zsh. Generated from its table of options.\n");
  for (const CommandEntry* command : AllCommandsOf(program)) absl::StrAppend(&script, "\n", ZshFunction(*command));
  return absl::StrCat(script, "\n_", FunctionName(program.name), " \"$@\"\n");
}

std::string FishCompletion(const CommandEntry& program) {
  std::string script =
      absl::StrCat("# Completion of ", program.name, " for fish. Generated from its table of options.\n",
                   absl::StrReplaceAll(kFishFunctions, {{"NAME", FunctionName(program.name)},
                                                        {"PROGRAM", program.name},
                                                        {"COMMANDS", CommandNames(program)},
                                                        {"VALUED", ValuedOptions(program)}}));
  for (const CommandEntry* command : AllCommandsOf(program)) script += FishRows(program, *command);
  return script;
}

}  // namespace sideband::manual
