// SPDX-License-Identifier: Apache-2.0
//
// What the completions of all shells have in common.
//   if (KindOf(option) == ValueKind::kFile) spec += ":_files";
#ifndef SIDEBAND_PROTO_MANUAL_COMPLETION_WORDS_H_
#define SIDEBAND_PROTO_MANUAL_COMPLETION_WORDS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/manual/command_entry.h"

namespace sideband::manual {

// What completes a value.
enum class ValueKind { kFlag, kText, kFile, kFolder, kCommand, kChoices };

// By the value's name: FILE, FOLDER and COMMAND are completed, all others but choices are the user's own text.
ValueKind KindOf(const OptionEntry& option);

// The options that a command accepts, those of the enclosing commands last.
std::vector<OptionEntry> AcceptedOptions(const CommandEntry& command);

// In single quotes, for bash and zsh.
std::string ShellQuoted(absl::string_view text);

// The name of a shell function: "sideband bus trace" is sideband_bus_trace, and '-' becomes '_', too.
std::string FunctionName(absl::string_view command);

}  // namespace sideband::manual

#endif  // SIDEBAND_PROTO_MANUAL_COMPLETION_WORDS_H_
