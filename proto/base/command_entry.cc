// SPDX-License-Identifier: Apache-2.0
#include "proto/base/command_entry.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace sideband::manual {
namespace {

bool IsHidden(const CLI::Option& option) { return option.get_group().empty(); }

// CLI11 has no way to list an option's validators but to ask until it throws.
std::vector<std::string> ValidatorTexts(CLI::Option& option) {
  std::vector<std::string> texts;
  try {
    for (int i = 0;; ++i) texts.push_back(option.get_validator(i)->get_description());
  } catch (const CLI::OptionNotFound&) {
    return texts;
  }
}

// CLI::IsMember describes itself as "{a,b}", CLI::Range as "UINT in [1 - 9]"; validators of our own have no text.
void AddValidator(absl::string_view text, OptionEntry& entry) {
  if (absl::ConsumePrefix(&text, "{") && absl::ConsumeSuffix(&text, "}")) entry.choices = absl::StrSplit(text, ',');
  const std::pair<absl::string_view, absl::string_view> range = absl::StrSplit(text, absl::MaxSplits(" in [", 1));
  if (!range.second.empty()) entry.bounds = std::string(absl::StripSuffix(range.second, "]"));
}

// The name of the value without the validators' texts, which CLI11 appends.
std::string ValueName(const CLI::Option& option, const std::vector<std::string>& validators) {
  std::string name = option.get_type_name();
  for (auto text = validators.rbegin(); text != validators.rend(); ++text) {
    if (!text->empty()) name = std::string(absl::StripSuffix(name, ":" + *text));
  }
  return name;
}

std::vector<std::string> Names(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

// Sorted, since CLI11's set of them is ordered by address.
std::vector<std::string> Needs(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const CLI::Option* needed : option.get_needs()) names.push_back(needed->get_name());
  std::ranges::sort(names);
  return names;
}

OptionEntry DescribeOption(CLI::Option& option) {
  const std::vector<std::string> validators = ValidatorTexts(option);
  OptionEntry entry{.names = Names(option),
                    .description = option.get_description(),
                    .default_value = option.get_default_str(),
                    .needs = Needs(option),
                    .is_required = option.get_required(),
                    .is_repeatable = option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll ||
                                     option.get_items_expected_max() > 1};
  const bool is_flag = option.get_items_expected_max() == 0;
  if (!is_flag)
    entry.value = entry.names.empty() ? absl::AsciiStrToUpper(option.get_name()) : ValueName(option, validators);
  for (const std::string& text : validators) AddValidator(text, entry);
  return entry;
}

bool IsHelpOrVersion(const CLI::Option* option, const CLI::App& app) {
  return option == app.get_help_ptr() || option == app.get_version_ptr();
}

void DescribeOptions(CLI::App& app, CommandEntry& command, std::vector<OptionEntry>& inheritable) {
  for (CLI::Option* const option : app.get_options([](CLI::Option* one) { return !IsHidden(*one); })) {
    OptionEntry entry = DescribeOption(*option);
    (entry.names.empty() ? command.arguments : command.options).push_back(entry);
    if (!entry.names.empty() && !IsHelpOrVersion(option, app)) inheritable.push_back(std::move(entry));
  }
}

// An option hides those of the same name of the enclosing commands.
void AddInherited(const std::vector<OptionEntry>& inheritable, CommandEntry& command) {
  for (const OptionEntry& entry : inheritable) {
    const auto is_same = [&](const OptionEntry& own) { return own.names.back() == entry.names.back(); };
    if (std::ranges::none_of(command.options, is_same)) command.inherited.push_back(entry);
  }
}

// CLI11 gives a command without a footer that of the enclosing one.
std::string OwnFooter(const CLI::App& app) {
  const bool is_inherited = app.get_parent() != nullptr && app.get_parent()->get_footer() == app.get_footer();
  return is_inherited ? "" : app.get_footer();
}

CommandEntry DescribeWithin(CLI::App& app, const std::string& enclosing, const std::vector<OptionEntry>& inheritable) {
  CommandEntry command{.name = absl::StrCat(enclosing, enclosing.empty() ? "" : " ", app.get_name()),
                       .description = app.get_description(),
                       .footer = OwnFooter(app)};
  std::vector<OptionEntry> own;
  DescribeOptions(app, command, own);
  if (app.get_fallthrough()) AddInherited(inheritable, command);
  own.insert(own.end(), command.inherited.begin(), command.inherited.end());
  for (CLI::App* const inner : app.get_subcommands([](CLI::App*) { return true; })) {
    command.commands.push_back(DescribeWithin(*inner, command.name, own));
  }
  return command;
}

void AppendAll(const CommandEntry& command, std::vector<const CommandEntry*>& all) {
  all.push_back(&command);
  for (const CommandEntry& inner : command.commands) AppendAll(inner, all);
}

// The words that complete a value.
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

// The value's completion, in fish's own options of `complete`.
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

CommandEntry DescribeCommand(CLI::App& app) { return DescribeWithin(app, "", {}); }

std::string ShortName(const CommandEntry& command) {
  // npos + 1 is 0: a name of one word.
  return command.name.substr(command.name.rfind(' ') + 1);
}

std::vector<const CommandEntry*> AllCommandsOf(const CommandEntry& program) {
  std::vector<const CommandEntry*> all;
  AppendAll(program, all);
  return all;
}

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
