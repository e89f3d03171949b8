// SPDX-License-Identifier: Apache-2.0
//
// The manual page of a program, from its table of commands and what the table does not say, and the main function of a
// program that prints it.
//   const ManPage page = {.section = 8,
//                         .release = "sideband 0.2.0",
//                         .sections = {{"FILES", {{"/etc/sideband/sidebandd.yaml", "The configuration."}}}},
//                         .see_also = {"sideband(1)"}};
//   return PrintManual(argc, argv, app, page);
#ifndef SIDEBAND_PROTO_BASE_MAN_PAGE_H_
#define SIDEBAND_PROTO_BASE_MAN_PAGE_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/base/command_entry.h"

namespace sideband::manual {

// Text for roff, the language of manual pages, with the macros of man(7).
// Any text in UTF-8, as ASCII that roff prints as it stands: no part of it is a request or a change of the font.
// Hyphens remain hyphens, at which a line may break. Bytes that are not UTF-8 become '?'.
std::string RoffText(absl::string_view text);

// Words of a command line, in bold or italics: hyphens become minus signs, so that what is copied can be run.
std::string RoffBold(absl::string_view word);
std::string RoffItalic(absl::string_view word);

// Lines of an example, as they stand, between .EX and .EE, with a newline at the end.
std::string RoffExample(absl::string_view lines);

// A word as an argument of a macro, in quotes.
std::string RoffArgument(absl::string_view word);

// A term with its explanation; without a term, a paragraph.
struct ManItem {
  std::string term;
  std::string text;
};

struct ManSection {
  std::string title;  // in capitals: FILES
  std::vector<ManItem> items;
};

struct ManPage {
  int section = 1;
  std::string release;                // at the foot of the page
  std::vector<ManSection> sections;   // after the options and commands
  std::vector<std::string> see_also;  // "sideband(1)"
};

// In roff with the macros of man(7), ASCII. A description has the program's purpose in short before its first colon or
// full stop. In a footer, lines that begin with a blank are an example.
std::string FormatManPage(const CommandEntry& program, const ManPage& page);

// The only argument is man, bash, zsh or fish. Returns the exit status: 2 for another argument, which is reported.
int PrintManual(int argc, char** argv, CLI::App& app, const ManPage& page);

}  // namespace sideband::manual

#endif  // SIDEBAND_PROTO_BASE_MAN_PAGE_H_
