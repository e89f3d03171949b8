// SPDX-License-Identifier: Apache-2.0
#include "proto/base/man_page.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "proto/base/command_entry.h"
#include "proto/base/command_line.h"
#include "proto/base/errors.h"

namespace sideband::manual {
namespace {

// groff prints these ASCII characters as others that look alike, or reads them as requests.
absl::string_view Escape(char c) {
  switch (c) {
    case '\\':
      return "\\e";
    case '\'':
      return "\\(aq";
    case '"':
      return "\\(dq";
    case '`':
      return "\\(ga";
    case '^':
      return "\\(ha";
    case '~':
      return "\\(ti";
    default:
      return {};
  }
}

// The number of bytes of the character that begins with `lead`; 0 for a byte that begins none.
size_t BytesOfCharacter(uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  return lead >= 0xF0 && lead < 0xF5 ? 4 : 0;
}

// Takes the first character, of more than one byte, from `text`.
std::string TakeWideCharacter(absl::string_view& text) {
  const size_t bytes = BytesOfCharacter(static_cast<uint8_t>(text[0]));
  uint32_t code = bytes == 0 ? 0 : static_cast<uint8_t>(text[0]) & (0x7F >> bytes);
  bool is_whole = bytes != 0 && bytes <= text.size();
  for (size_t i = 1; is_whole && i < bytes; ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    is_whole = (byte & 0xC0) == 0x80;
    code = code << 6 | (byte & 0x3F);
  }
  text.remove_prefix(is_whole ? bytes : 1);
  return is_whole ? absl::StrFormat("\\[u%04X]", code) : "?";
}

std::string Words(absl::string_view word) { return absl::StrReplaceAll(RoffText(word), {{"-", "\\-"}}); }

std::string Purpose(const CommandEntry& program) {
  return program.description.substr(0, program.description.find_first_of(":."));
}

void AppendBold(std::string* to, const std::string& word) { absl::StrAppend(to, RoffBold(word)); }

// FILE, or the choices.
std::string RoffValue(const OptionEntry& option) {
  if (option.choices.empty()) return RoffItalic(option.value);
  return absl::StrJoin(option.choices, "|", AppendBold);
}

std::string Term(const OptionEntry& option) {
  const std::string names = absl::StrJoin(option.names, ", ", AppendBold);
  if (option.value.empty()) return names;
  return absl::StrCat(names, names.empty() ? "" : " ", RoffValue(option));
}

void AddSentence(std::string& text, absl::string_view sentence) {
  if (!text.empty() && !absl::EndsWith(text, ".")) text += ".";
  if (!sentence.empty()) absl::StrAppend(&text, text.empty() ? "" : " ", sentence);
}

// The description, followed by what the table knows besides.
std::string Explanation(const OptionEntry& option) {
  std::string text = option.description;
  AddSentence(text, "");
  if (option.is_required) AddSentence(text, "Required.");
  // The synopsis shows it of an argument.
  if (option.is_repeatable && !option.names.empty() && !absl::StrContains(text, "epeat"))
    AddSentence(text, "May be repeated.");
  if (!option.bounds.empty()) AddSentence(text, absl::StrCat("Range: ", option.bounds, "."));
  if (!option.default_value.empty()) AddSentence(text, absl::StrCat("Default: ", option.default_value, "."));
  if (!option.needs.empty()) AddSentence(text, absl::StrCat("Only with ", absl::StrJoin(option.needs, " and "), "."));
  return RoffText(text);
}

std::string Options(const std::vector<OptionEntry>& options) {
  std::string roff;
  for (const OptionEntry& option : options) {
    absl::StrAppend(&roff, ".TP\n", Term(option), "\n", Explanation(option), "\n");
  }
  return roff;
}

std::string Paragraph(absl::string_view text) { return absl::StrCat(".PP\n", RoffText(text), "\n"); }

// Joins the lines of each paragraph and of each example.
std::string Footer(absl::string_view footer) {
  std::string roff;
  std::vector<std::string> lines;
  bool is_example = false;
  const auto flush = [&] {
    if (lines.empty()) return;
    const std::string text = absl::StrJoin(lines, "\n");
    absl::StrAppend(&roff, is_example ? absl::StrCat(".PP\n.RS 4\n", RoffExample(text), ".RE\n") : Paragraph(text));
    lines.clear();
  };
  for (absl::string_view line : absl::StrSplit(footer, '\n', absl::SkipEmpty())) {
    const bool is_indented = absl::StartsWith(line, " "), is_title = absl::EndsWith(line, ":");
    if (is_indented != is_example || is_title) flush();
    is_example = is_indented;
    lines.emplace_back(absl::StripAsciiWhitespace(line));
  }
  flush();
  return roff;
}

std::string Synopsis(const CommandEntry& command) {
  std::string roff = RoffBold(command.name);
  if (!command.options.empty()) absl::StrAppend(&roff, " [", RoffItalic("OPTION"), "]...");
  for (const OptionEntry& argument : command.arguments) {
    const std::string name = absl::StrCat(RoffItalic(argument.value), argument.is_repeatable ? "..." : "");
    absl::StrAppend(&roff, " ", argument.is_required ? name : absl::StrCat("[", name, "]"));
  }
  if (!command.commands.empty()) absl::StrAppend(&roff, " ", RoffItalic("COMMAND"), " ...");
  return roff + "\n";
}

std::string Section(absl::string_view title, absl::string_view content) {
  // A section begins with a paragraph anyway.
  return content.empty() ? "" : absl::StrCat(".SH ", RoffArgument(title), "\n", absl::StripPrefix(content, ".PP\n"));
}

// All but --help, which all commands have.
std::vector<OptionEntry> OwnOptions(const CommandEntry& command) {
  std::vector<OptionEntry> own = command.options;
  std::erase_if(own, [](const OptionEntry& option) { return option.names.back() == "--help"; });
  return own;
}

// A command that consists of others has nothing but its description: they have sections of their own.
std::string CommandSection(const CommandEntry& command) {
  std::string roff = absl::StrCat(".SS ", RoffArgument(command.name), "\n", RoffText(command.description), ".\n");
  if (!command.commands.empty()) return roff;
  absl::StrAppend(&roff, ".PP\n", Synopsis(command), Options(command.arguments), Options(OwnOptions(command)));
  return roff + Footer(command.footer);
}

std::string Commands(const CommandEntry& program) {
  if (program.commands.empty()) return "";
  const bool is_inherited =
      std::ranges::any_of(program.commands, [](const auto& one) { return !one.inherited.empty(); });
  std::string roff = Paragraph(absl::StrCat("Each command has --help, too.",
                                            is_inherited ? " The options above may also follow the command." : ""));
  for (const CommandEntry* command : AllCommandsOf(program)) {
    if (command != &program) roff += CommandSection(*command);
  }
  return roff;
}

std::string Items(const std::vector<ManItem>& items) {
  std::string roff;
  for (const ManItem& item : items) {
    const bool is_term = !item.term.empty();
    roff +=
        is_term ? absl::StrCat(".TP\n", RoffBold(item.term), "\n", RoffText(item.text), "\n") : Paragraph(item.text);
  }
  return roff;
}

// "\fBsideband\fR(1)".
std::string Reference(absl::string_view name) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(name, absl::MaxSplits('(', 1));
  return absl::StrCat(RoffBold(parts.first), "(", parts.second);
}

std::string SeeAlso(const std::vector<std::string>& names) {
  if (names.empty()) return "";
  return absl::StrJoin(names, ",\n", [](std::string* to, const std::string& name) { *to += Reference(name); }) + "\n";
}

absl::StatusOr<std::string> Format(absl::string_view kind, const CommandEntry& program, const ManPage& page) {
  if (kind == "man") return FormatManPage(program, page);
  if (kind == "bash") return BashCompletion(program);
  if (kind == "zsh") return ZshCompletion(program);
  if (kind == "fish") return FishCompletion(program);
  return absl::InvalidArgumentError("one argument is needed: man, bash, zsh or fish");
}

}  // namespace

std::string RoffText(absl::string_view text) {
  std::string roff;
  bool at_line_start = true;
  while (!text.empty()) {
    const char c = text[0];
    // There it would begin a request. An apostrophe would, too, but is escaped anyway.
    if (at_line_start && c == '.') roff += "\\&";
    at_line_start = c == '\n';
    if (static_cast<uint8_t>(c) >= 0x80) {
      roff += TakeWideCharacter(text);
      continue;
    }
    const absl::string_view escape = Escape(c);
    if (escape.empty()) {
      roff += c;
    } else {
      absl::StrAppend(&roff, escape);
    }
    text.remove_prefix(1);
  }
  return roff;
}

std::string RoffBold(absl::string_view word) { return absl::StrCat("\\fB", Words(word), "\\fR"); }

std::string RoffItalic(absl::string_view word) { return absl::StrCat("\\fI", Words(word), "\\fR"); }

std::string RoffExample(absl::string_view lines) { return absl::StrCat(".EX\n", Words(lines), "\n.EE\n"); }

std::string RoffArgument(absl::string_view word) { return absl::StrCat("\"", Words(word), "\""); }

std::string FormatManPage(const CommandEntry& program, const ManPage& page) {
  // No date: the release says as much, and a build is the same on every day.
  std::string roff = absl::StrCat(".\\\" Generated from the program's table of options.\n.TH ",
                                  RoffArgument(absl::AsciiStrToUpper(program.name)), " ", page.section, " \"\" ",
                                  RoffArgument(page.release), " \"Sideband\"\n.nh\n.ad l\n");
  roff += Section("NAME", absl::StrCat(RoffText(program.name), " \\- ", RoffText(Purpose(program)), "\n"));
  roff += Section("SYNOPSIS", Synopsis(program));
  roff += Section("DESCRIPTION", Paragraph(absl::StrCat(absl::StripSuffix(program.description, "."), ".")));
  roff += Section("OPTIONS", Options(program.options));
  roff += Section("COMMANDS", Commands(program));
  for (const ManSection& section : page.sections) roff += Section(section.title, Items(section.items));
  absl::string_view footer = program.footer;
  const bool is_examples = absl::ConsumePrefix(&footer, "Examples:\n");
  roff += Section(is_examples ? "EXAMPLES" : "NOTES", Footer(footer));
  return roff + Section("SEE ALSO", SeeAlso(page.see_also));
}

int PrintManual(int argc, char** argv, CLI::App& app, const ManPage& page) {
  const auto text = Format(argc == 2 ? argv[1] : "", DescribeCommand(app), page);
  return ReportAndExitCode("manual", text.ok() ? PrintText(*text) : text.status());
}

}  // namespace sideband::manual
