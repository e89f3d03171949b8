// SPDX-License-Identifier: Apache-2.0
//
// Text that people read and write: suggestions for a mistyped word, untrusted text for a terminal, sizes and boot IDs.
//   if (!known) return absl::NotFoundError(absl::StrCat("unknown event '", word, "'", DidYouMean(word, events)));
//   SIDEBAND_ASSIGN_OR_RETURN(const uint64_t bytes, ParseByteSize("16MiB"));
#ifndef SIDEBAND_PROTO_BASE_TEXT_H_
#define SIDEBAND_PROTO_BASE_TEXT_H_

#include <cstdint>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace sideband {

// The candidate that was probably meant, among equals the first:
// * the shortest one that begins with the word, in either case: screens show parts of names;
// * else the one with the fewest single-character edits, at most half the word's length, case-sensitive;
// * else one that the word abbreviates: at least four of its letters, and half of them, in their order.
// Empty if there is none.
std::string NearestMatch(absl::string_view word, std::span<const std::string> candidates);

// " (did you mean 'x'?)", or empty if NearestMatch is empty. For the end of an "unknown …" message. Candidates may be
// untrusted: control characters and unprintable bytes are made visible.
std::string DidYouMean(absl::string_view word, std::span<const std::string> candidates);

// ", must be a, b or c": the end of an "unknown …" message for a small set of words. Empty without words.
std::string MustBeOneOf(std::span<const std::string> words);

// Escapes untrusted text for a terminal: ASCII control characters, Latin-1 control characters in UTF-8, characters that
// order the text around them (U+202E), and invalid UTF-8 become \xNN per byte. Other characters are unchanged,
// including quotes and backslashes.
std::string Visible(absl::string_view text);

// A number of bytes, such as 1048576, 512KiB, 16MiB or 1GiB. INVALID_ARGUMENT for other notations.
absl::StatusOr<uint64_t> ParseByteSize(absl::string_view text);
// The size in the largest unit that divides it: "64KiB".
std::string FormatByteSize(uint64_t bytes);

// A boot ID in tables, JSON, logs and traces, the same everywhere so that it can be searched for. 16 lower-case
// hexadecimal digits: 0xb007 is "000000000000b007".
inline std::string BootIdText(uint64_t boot_id) { return absl::StrFormat("%016x", boot_id); }

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_TEXT_H_
