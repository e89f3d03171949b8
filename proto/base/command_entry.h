// SPDX-License-Identifier: Apache-2.0
//
// The table of a program's commands and options as plain data, and completions in three shells that are made of it.
//   const CommandEntry program = DescribeCommand(app);
//   for (const OptionEntry& option : program.options) std::cout << option.names.back() << "\n";  // --help
//   std::cout << BashCompletion(program);
#ifndef SIDEBAND_PROTO_BASE_COMMAND_ENTRY_H_
#define SIDEBAND_PROTO_BASE_COMMAND_ENTRY_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace sideband::manual {

// An option, or an argument, which has no names.
struct OptionEntry {
  std::vector<std::string> names;  // with dashes, the short ones first
  std::string value;               // the name of the value, such as FILE; empty for a flag
  std::string description;         // one line
  std::vector<std::string> choices;
  std::string bounds;  // "1 - 1000"; empty if there are none
  std::string default_value;
  std::vector<std::string> needs;  // names of the options that must be given, too
  bool is_required = false;
  bool is_repeatable = false;
};

struct CommandEntry {
  std::string name;  // with the names of the commands that it is a part of: "sideband bus trace"
  std::string description;
  std::string footer;
  std::vector<OptionEntry> options;
  std::vector<OptionEntry> inherited;  // options of the enclosing commands that are accepted after this one, too
  std::vector<OptionEntry> arguments;
  std::vector<CommandEntry> commands;
};

// Everything is in the order of definition. Options that belong to no group are hidden, and left out.
CommandEntry DescribeCommand(CLI::App& app);

// The last word of a command's name.
std::string ShortName(const CommandEntry& command);

// A command and all those within it, outermost first.
std::vector<const CommandEntry*> AllCommandsOf(const CommandEntry& program);

// Each script completes commands, options, the words of an option that has a set of them, and files where FILE or
// FOLDER is the value's name. `--` ends the options. The scripts need nothing but the shell itself.

// For a file named as the program, in bash-completion's folder of completions.
std::string BashCompletion(const CommandEntry& program);

// For a file named as the program after an underscore, in a folder of zsh's fpath.
std::string ZshCompletion(const CommandEntry& program);

// For a file named as the program, with the suffix .fish, in one of fish's folders of completions.
std::string FishCompletion(const CommandEntry& program);

}  // namespace sideband::manual

#endif  // SIDEBAND_PROTO_BASE_COMMAND_ENTRY_H_
