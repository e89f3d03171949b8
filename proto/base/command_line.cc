// SPDX-License-Identifier: Apache-2.0
#include "proto/base/command_line.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
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

absl::Status UsageError(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> unknown = app.remaining(true);
  if (unknown.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(error.what(), " (see ", app.get_name(), " --help)"));
  }
  const std::string& word = unknown.front();
  const char* const kind = word.substr(0, 1) == "-" ? "unknown option" : "unknown argument";
  return absl::InvalidArgumentError(absl::StrCat(kind, " '", word, "'", DidYouMean(word, KnownWords(app))));
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
