// SPDX-License-Identifier: Apache-2.0
#include "proto/base/command_line.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/base/text.h"

namespace sideband {
namespace {

// Candidates for the correction of an unknown word: options and subcommands.
std::vector<std::string> KnownWords(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  }
  for (const CLI::App* subcommand : app.get_subcommands({})) words.push_back(subcommand->get_name());
  for (const CLI::App* chosen : app.get_subcommands()) {
    for (const std::string& word : KnownWords(*chosen)) words.push_back(word);
  }
  return words;
}

// The innermost subcommand that was named, or the program itself.
const CLI::App& Innermost(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().back();
  return *at;
}

// "sideband bus trace"
std::string PathOf(const CLI::App& app) {
  std::string path = app.get_name();
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().back();
    absl::StrAppend(&path, " ", at->get_name());
  }
  return path;
}

// The options of a subcommand that take names, such as --vm: what somebody means who gives a name alone.
std::vector<std::string> NameOptions(const CLI::App& subcommand) {
  std::vector<std::string> options;
  for (const CLI::Option* option : subcommand.get_options()) {
    if (option->get_type_name() == "NAME" && !option->get_lnames().empty()) options.push_back(option->get_name());
  }
  return options;
}

bool HasOption(const CLI::App& app, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  return name.starts_with("--") && app.get_option_no_throw(name) != nullptr;
}

// A hint at an unknown word: what to do about it.
std::string HintAt(const std::string& word, const CLI::App& app) {
  std::string hint = DidYouMean(word, KnownWords(app));
  const CLI::App& inner = Innermost(app);
  const std::vector<std::string> options = &inner == &app ? std::vector<std::string>() : NameOptions(inner);
  if (word.starts_with('-')) {
    const std::string help = absl::StrCat("see ", PathOf(app), " --help");
    return hint.empty() ? absl::StrCat(" (", help, ")") : absl::StrCat(hint, "; ", help);
  }
  if (!hint.empty()) return hint;
  if (options.empty()) return absl::StrCat(" (see ", PathOf(app), " --help)");
  return absl::StrCat(": '", inner.get_name(), "' takes names with ", absl::StrJoin(options, ", "));
}

// An option whose value is the next option, since its own was forgotten: why the line is refused, or an empty text.
std::string WithoutValue(const CLI::App& app, const std::vector<std::string>& known) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_lnames().empty()) continue;
    for (const std::string& value : option->results()) {
      const bool is_option = value.starts_with("--") && std::ranges::find(known, value) != known.end();
      if (is_option) return absl::StrCat(option->get_name(), " has no value: '", value, "' follows it");
    }
  }
  for (const CLI::App* chosen : app.get_subcommands()) {
    if (std::string why = WithoutValue(*chosen, known); !why.empty()) return why;
  }
  return "";
}

absl::Status CheckValues(const CLI::App& app) {
  const std::string why = WithoutValue(app, KnownWords(app));
  return why.empty() ? absl::OkStatus() : absl::InvalidArgumentError(why);
}

absl::Status UsageError(const CLI::App& app, const CLI::ParseError& error) {
  if (absl::Status values = CheckValues(app); !values.ok()) return values;
  const std::vector<std::string> unknown = app.remaining(true);
  if (unknown.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(error.what(), " (see ", PathOf(app), " --help)"));
  }
  const std::string& word = unknown.front();
  if (const CLI::App& inner = Innermost(app); &inner != &app && HasOption(inner, word)) {
    return absl::InvalidArgumentError(absl::StrCat("option '", word, "' comes after '", inner.get_name(), "'"));
  }
  const char* const kind = word.starts_with('-') ? "unknown option" : "unknown argument";
  return absl::InvalidArgumentError(absl::StrCat(kind, " '", word, "'", HintAt(word, app)));
}

}  // namespace

absl::Status PrintText(absl::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) {
    return absl::OkStatus();
  }
  return absl::UnavailableError("cannot write to standard output");
}

absl::StatusOr<bool> ParseCommandLine(CLI::App& app, std::vector<std::string> arguments,
                                      const std::function<absl::Status(absl::string_view)>& print,
                                      const std::function<std::string(const CLI::App&)>& help) {
  std::reverse(arguments.begin(), arguments.end());  // CLI11 expects the arguments in reverse order
  absl::Status answered;
  try {
    app.parse(std::move(arguments));
    if (absl::Status values = CheckValues(app); !values.ok()) return values;
    return false;
  } catch (const CLI::CallForHelp&) {
    answered = print(help(app));
  } catch (const CLI::CallForVersion& version) {
    answered = print(absl::StrCat(version.what(), "\n"));
  } catch (const CLI::ParseError& error) {
    return UsageError(app, error);
  }
  if (!answered.ok()) return answered;
  return true;
}

}  // namespace sideband
