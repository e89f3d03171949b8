// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "proto/manual/completion.h"
#include "proto/manual/completion_words.h"

namespace sideband::manual {
namespace {

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

std::string Kind(const OptionEntry& option) {
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

std::string Row(const CommandEntry& command) {
  std::vector<std::string> options, takes, commands;
  for (const OptionEntry& option : AcceptedOptions(command)) {
    for (const std::string& name : option.names) {
      options.push_back(name);
      if (!option.value.empty()) takes.push_back(absl::StrCat(name, ":", Kind(option)));
    }
  }
  for (const CommandEntry& inner : command.commands) commands.push_back(ShortName(inner));
  const std::string argument = command.arguments.empty() ? "" : Kind(command.arguments.front());
  return absl::StrCat("    ", ShellQuoted(command.name), ")\n      options=", ShellQuoted(absl::StrJoin(options, " ")),
                      "\n      takes=", ShellQuoted(absl::StrJoin(takes, " ")),
                      "\n      commands=", ShellQuoted(absl::StrJoin(commands, " ")),
                      "\n      argument=", ShellQuoted(argument), "\n      ;;\n");
}

}  // namespace

std::string BashCompletion(const CommandEntry& program) {
  const std::string name = FunctionName(program.name);
  std::string script =
      absl::StrCat("# Completion of ", program.name, " for bash. Generated from its table of options.\n",
                   "\n# What the command in $command accepts.\n_", name, "_table() {\n  case $command in\n");
  for (const CommandEntry* command : AllCommandsOf(program)) script += Row(*command);
  return script + "  esac\n}\n" + absl::StrReplaceAll(kBashFunctions, {{"NAME", name}, {"PROGRAM", program.name}});
}

}  // namespace sideband::manual
