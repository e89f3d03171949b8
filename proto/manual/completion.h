// SPDX-License-Identifier: Apache-2.0
//
// Completion of a program's command line in a shell, from its table of commands.
//   std::cout << BashCompletion(DescribeCommand(app));
//
// Each script completes commands, options, the words of an option that has a set of them, and files where FILE or
// FOLDER is the value's name. `--` ends the options. The scripts need nothing but the shell itself.
#ifndef SIDEBAND_PROTO_MANUAL_COMPLETION_H_
#define SIDEBAND_PROTO_MANUAL_COMPLETION_H_

#include <string>

#include "proto/manual/command_entry.h"

namespace sideband::manual {

// For a file named as the program, in bash-completion's folder of completions.
std::string BashCompletion(const CommandEntry& program);

// For a file named as the program after an underscore, in a folder of zsh's fpath.
std::string ZshCompletion(const CommandEntry& program);

// For a file named as the program, with the suffix .fish, in one of fish's folders of completions.
std::string FishCompletion(const CommandEntry& program);

}  // namespace sideband::manual

#endif  // SIDEBAND_PROTO_MANUAL_COMPLETION_H_
