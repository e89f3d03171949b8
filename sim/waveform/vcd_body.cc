// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/vcd_body.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "sim/waveform/vcd_digits.h"
#include "sim/waveform/vcd_header.h"

namespace sideband::sim {
namespace {

constexpr size_t kWordBits = 64;
// More digits may exceed 64 bits.
constexpr size_t kTimeDigitsMax = 19;

// The content of these blocks is ordinary changes.
constexpr std::array<const char*, 5> kBlocks = {"$dumpvars", "$dumpall", "$dumpon", "$dumpoff", "$end"};
// The content of these sections does not concern signals.
constexpr std::array<const char*, 8> kSections = {"$comment",  "$version",   "$date",    "$timescale",
                                                  "$timezero", "$attrbegin", "$attrend", "$vcdclose"};

template <size_t kSize>
bool IsOneOf(const std::array<const char*, kSize>& words, absl::string_view word) {
  return std::any_of(words.begin(), words.end(), [&](const char* known) { return word == known; });
}

}  // namespace

absl::Status VcdBody::Read() {
  while (!state_.writer().full()) {
    Scan();
    if (state_.writer().full()) break;
    if (!lexer_.Next()) {
      // Closes the last time, so that its edges are part of a chunk.
      state_.writer().TimePasses();
      return lexer_.status();
    }
    SIDEBAND_RETURN_IF_ERROR(Item(lexer_.token()));
  }
  return absl::OkStatus();
}

void VcdBody::Scan() {
  const absl::string_view unread = lexer_.unread();
  const char* const end = unread.data() + unread.size();
  const char* text = unread.data();
  while (!state_.writer().full()) {
    const char* const next = ScanItem(text, end);
    if (next == nullptr) break;
    text = next;
  }
  lexer_.Skip(static_cast<size_t>(text - unread.data()));
}

inline const char* VcdBody::ScanItem(const char* text, const char* end) {
  // A line end, LF or CRLF. It may lie in the white space behind the buffer's end, where no item starts.
  for (int i = 0; i < 2 && VcdLexer::IsSpace(*text); ++i) ++text;
  switch (*text) {
    case 'b':
      return ScanVector(text + 1, end);
    case '0':
    case '1':
      return ScanScalar(text, end);
    case '#':
      return ScanTime(text + 1, end);
    default:
      return nullptr;
  }
}

inline const char* VcdBody::ScanTime(const char* text, const char* end) {
  const char* const digits = text;
  uint64_t time = 0;
  for (; absl::ascii_isdigit(static_cast<unsigned char>(*text)); ++text) {
    time = time * 10 + static_cast<uint64_t>(*text - '0');
  }
  const auto size = static_cast<size_t>(text - digits);
  // A number at the end of the buffer may continue in the next part of the file.
  if (size == 0 || size > kTimeDigitsMax || !VcdLexer::IsSpace(*text) || text == end) return nullptr;
  return state_.Time(time) ? text : nullptr;
}

inline const char* VcdBody::ScanScalar(const char* text, const char* end) { return ScanChange(text + 1, end, text, 1); }

inline const char* VcdBody::ScanVector(const char* text, const char* end) {
  const char* const space = SkipBinary(text);
  if (*space != ' ' || space == text) return nullptr;
  return ScanChange(space + 1, end, text, static_cast<size_t>(space - text));
}

inline const char* VcdBody::ScanChange(const char* code, const char* end, const char* digits, size_t size) {
  const char* text = code;
  const uint32_t slot = codes_.Scan(&text);
  // A code at the end of the buffer may continue in the next part of the file.
  if (text >= end || !VcdLexer::IsSpace(*text)) return nullptr;
  if (slot == VcdHeader::kIgnored) return text;
  if (slot == CodeTable::kNone) return nullptr;
  const size_t width = state_.width(slot);
  if (width > kWordBits || size > width) return nullptr;
  return state_.ChangeWord(slot, BinaryValue(digits, size)) ? text : nullptr;
}

absl::Status VcdBody::Item(absl::string_view token) {
  switch (token[0]) {
    case '#':
      return Time(token.substr(1));
    case 'b':
    case 'B':
      return Vector(token);
    case 'r':
    case 'R':
    case 's':
    case 'S':
      return RealOrString();
    case '$':
      return Keyword(token);
    default:
      return Scalar(token);
  }
}

absl::Status VcdBody::Time(absl::string_view digits) {
  uint64_t time = 0;
  if (digits.empty() || !absl::ascii_isdigit(static_cast<unsigned char>(digits[0])) ||
      !absl::SimpleAtoi(digits, &time)) {
    return lexer_.Error(absl::StrCat("expected a time after '#', not ", Excerpt(digits)));
  }
  if (state_.Time(time)) return absl::OkStatus();
  return lexer_.Error(absl::StrCat("time goes backwards, from ", *state_.time(), " to ", time));
}

absl::Status VcdBody::Scalar(absl::string_view token) {
  if (token.size() < 2 || !value_.Parse(token.substr(0, 1))) {
    return lexer_.Error(absl::StrCat("malformed change ", Excerpt(token)));
  }
  return Change(token.substr(1));
}

absl::Status VcdBody::Vector(absl::string_view token) {
  // Parsed before the next token is read, which invalidates this token.
  if (!value_.Parse(token.substr(1))) return lexer_.Error(absl::StrCat("malformed vector ", Excerpt(token)));
  SIDEBAND_RETURN_IF_ERROR(NextIsCode());
  return Change(lexer_.token());
}

absl::Status VcdBody::RealOrString() {
  SIDEBAND_RETURN_IF_ERROR(NextIsCode());
  const uint32_t slot = codes_.Find(lexer_.token());
  if (slot == VcdHeader::kIgnored) return absl::OkStatus();
  const absl::string_view problem =
      slot == CodeTable::kNone ? "unknown identifier code " : "a real or string value for ";
  return lexer_.Error(absl::StrCat(problem, Excerpt(lexer_.token())));
}

void VcdBody::BeginGap() {
  // Gaps only serve warnings, so gaps beyond the limit are dropped.
  if (is_in_gap_ || gaps_.size() == kGapsMax) return;
  is_in_gap_ = true;
  const uint64_t cycle = state_.writer().cycles(0);
  gaps_.push_back({.line = lexer_.line(), .cycles = {cycle, std::numeric_limits<uint64_t>::max()}});
}

void VcdBody::EndGap() {
  if (is_in_gap_) gaps_.back().cycles.end = state_.writer().cycles(0);
  is_in_gap_ = false;
}

absl::Status VcdBody::Keyword(absl::string_view token) {
  if (token == "$dumpoff") BeginGap();
  if (token == "$dumpon") EndGap();
  if (IsOneOf(kBlocks, token)) return absl::OkStatus();
  if (IsOneOf(kSections, token)) return SkipSection(std::string(token));
  if (absl::StartsWith(token, "$dumpports")) return lexer_.Error(kVcdPortsRefused);
  return lexer_.Error(absl::StrCat("unexpected ", Excerpt(token)));
}

absl::Status VcdBody::SkipSection(absl::string_view keyword) {
  while (lexer_.Next()) {
    if (lexer_.token() == "$end") return absl::OkStatus();
  }
  SIDEBAND_RETURN_IF_ERROR(lexer_.status());
  return lexer_.Error(absl::StrCat("the file ends within a ", keyword));
}

absl::Status VcdBody::NextIsCode() {
  if (lexer_.Next()) return absl::OkStatus();
  SIDEBAND_RETURN_IF_ERROR(lexer_.status());
  return lexer_.Error("the file ends in the middle of a change");
}

absl::Status VcdBody::Change(absl::string_view code) {
  const uint32_t slot = codes_.Find(code);
  if (slot == VcdHeader::kIgnored) return absl::OkStatus();
  if (slot == CodeTable::kNone) return lexer_.Error(absl::StrCat("unknown identifier code ", Excerpt(code)));
  if (value_.digits() > state_.width(slot)) {
    return lexer_.Error(absl::StrCat("a value of ", value_.digits(), " digits for ", Excerpt(code), ", which has ",
                                     state_.width(slot), " bits"));
  }
  if (state_.Change(slot, value_)) return absl::OkStatus();
  return lexer_.Error(absl::StrCat("more than ", TraceWriter::kEdgesPerTimeMax, " rising edges of ", Excerpt(code),
                                   " at one time; with several clocks their order would matter"));
}

}  // namespace sideband::sim
