// SPDX-License-Identifier: Apache-2.0
#include "proto/base/usage_error.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/text.h"

namespace sideband {
namespace {

// All that could have been meant instead of an unknown word.
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

}  // namespace

absl::Status UsageError(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> unknown = app.remaining(true);
  if (unknown.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(error.what(), " (see ", app.get_name(), " --help)"));
  }
  const std::string& word = unknown.front();
  const char* const kind = word.substr(0, 1) == "-" ? "unknown option" : "unknown argument";
  return absl::InvalidArgumentError(absl::StrCat(kind, " '", word, "'", DidYouMean(word, KnownWords(app))));
}

}  // namespace sideband
