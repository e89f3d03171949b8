// SPDX-License-Identifier: Apache-2.0
#include "proto/manual/command_entry.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
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

}  // namespace sideband::manual
