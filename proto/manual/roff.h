// SPDX-License-Identifier: Apache-2.0
//
// Text for roff, the language of manual pages, with the macros of man(7).
//   page += absl::StrCat(".TP\n", RoffBold("--vm"), " ", RoffItalic("NAME"), "\n", RoffText(description), "\n");
#ifndef SIDEBAND_PROTO_MANUAL_ROFF_H_
#define SIDEBAND_PROTO_MANUAL_ROFF_H_

#include <string>

#include "absl/strings/string_view.h"

namespace sideband::manual {

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

}  // namespace sideband::manual

#endif  // SIDEBAND_PROTO_MANUAL_ROFF_H_
