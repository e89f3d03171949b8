// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "proto/manual/completion.h"
#include "proto/manual/completion_words.h"

namespace sideband::manual {
namespace {

// Text within the brackets of a specification of _arguments, or before its colons.
std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(text,
                             {{"\\", "\\\\"}, {"[", "\\["}, {"]", "\\]"}, {":", "\\:"}, {"`", "\\`"}, {"$", "\\$"}});
}

// ":FILE:_files"; empty for a flag.
std::string Action(const OptionEntry& option) {
  const std::string message = absl::StrCat(":", Escaped(option.value), ":");
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
std::string OptionSpecs(const OptionEntry& option) {
  const std::string others = option.is_repeatable ? "*" : absl::StrCat("(", absl::StrJoin(option.names, " "), ")");
  std::string specs;
  for (const std::string& name : option.names) {
    const bool takes_equals = !option.value.empty() && name.size() > 2;
    absl::StrAppend(&specs, " \\\n    ",
                    ShellQuoted(absl::StrCat(others, name, takes_equals ? "=" : "", "[", Escaped(option.description),
                                             "]", Action(option))));
  }
  return specs;
}

std::string ArgumentSpecs(const CommandEntry& command) {
  std::string specs;
  for (const OptionEntry& argument : command.arguments) {
    absl::StrAppend(&specs, " \\\n    ",
                    ShellQuoted(absl::StrCat(argument.is_repeatable ? "*" : "", Action(argument))));
  }
  return specs;
}

std::string Specs(const CommandEntry& command) {
  std::string specs;
  for (const OptionEntry& option : AcceptedOptions(command)) specs += OptionSpecs(option);
  return specs + ArgumentSpecs(command);
}

// Completes the name of an inner command, or what follows it by the inner command's function.
std::string InnerCommands(const CommandEntry& command) {
  std::string names, calls;
  for (const CommandEntry& inner : command.commands) {
    const std::string name = ShortName(inner);
    absl::StrAppend(&names, "\n        ", ShellQuoted(absl::StrCat(name, ":", Escaped(inner.description))));
    absl::StrAppend(&calls, "        ", name, ") _", FunctionName(inner.name), " ;;\n");
  }
  return absl::StrCat("  case $state in\n    command)\n      commands=(", names,
                      ")\n      _describe command commands\n", "      ;;\n    rest)\n      case $line[1] in\n", calls,
                      "      esac\n      ;;\n  esac\n");
}

std::string Function(const CommandEntry& command) {
  const std::string head = absl::StrCat("_", FunctionName(command.name), "() {\n");
  if (command.commands.empty()) return absl::StrCat(head, "  _arguments -s -S", Specs(command), "\n}\n");
  return absl::StrCat(head, "  local curcontext=$curcontext state state_descr line commands\n  typeset -A opt_args\n",
                      "  _arguments -s -S -C", Specs(command),
                      " \\\n    '1:command:->command' \\\n    '*::argument:->rest'\n", InnerCommands(command), "}\n");
}

}  // namespace

std::string ZshCompletion(const CommandEntry& program) {
  std::string script = absl::StrCat("#compdef ", program.name, "\n# Completion of ", program.name,
                                    " for zsh. Generated from its table of options.\n");
  for (const CommandEntry* command : AllCommandsOf(program)) absl::StrAppend(&script, "\n", Function(*command));
  return absl::StrCat(script, "\n_", FunctionName(program.name), " \"$@\"\n");
}

}  // namespace sideband::manual
