// SPDX-License-Identifier: Apache-2.0
#include "proto/manual/completion_words.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace sideband::manual {

ValueKind KindOf(const OptionEntry& option) {
  if (option.value.empty()) return ValueKind::kFlag;
  if (!option.choices.empty()) return ValueKind::kChoices;
  if (option.value == "FILE") return ValueKind::kFile;
  if (option.value == "FOLDER") return ValueKind::kFolder;
  return option.value == "COMMAND" ? ValueKind::kCommand : ValueKind::kText;
}

std::vector<OptionEntry> AcceptedOptions(const CommandEntry& command) {
  std::vector<OptionEntry> accepted = command.options;
  accepted.insert(accepted.end(), command.inherited.begin(), command.inherited.end());
  return accepted;
}

std::string ShellQuoted(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

std::string FunctionName(absl::string_view command) { return absl::StrReplaceAll(command, {{" ", "_"}, {"-", "_"}}); }

}  // namespace sideband::manual
