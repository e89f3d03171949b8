// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/vcd_body.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "sim/waveform/vcd_header.h"
#include "sim/waveform/vcd_lexer.h"

namespace sideband::sim {
namespace {

constexpr size_t kWordBits = 64;
// More digits may exceed 64 bits.
constexpr size_t kTimeDigitsMax = 19;

constexpr size_t kFractionDigitsMax = 18;

// The content of these sections does not concern signals, and is free.
constexpr std::array<const char*, 8> kSections = {"$comment",  "$version",   "$date",    "$timescale",
                                                  "$timezero", "$attrbegin", "$attrend", "$vcdclose"};

template <size_t kSize>
bool IsOneOf(const std::array<const char*, kSize>& words, absl::string_view word) {
  return std::any_of(words.begin(), words.end(), [&](const char* known) { return word == known; });
}

bool IsTime(absl::string_view token) {
  return token.size() > 1 && token[0] == '#' && absl::ascii_isdigit(static_cast<unsigned char>(token[1]));
}

bool IsNumber(absl::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return absl::ascii_isdigit(c); });
}

// "15", or "15.5" as programs write it that hold times as floating-point numbers.
std::optional<TraceTime> ParseTime(absl::string_view text) {
  const size_t whole_size = std::min(text.find('.'), text.size());
  const absl::string_view whole = text.substr(0, whole_size);
  std::string fraction(text.substr(std::min(whole_size + 1, text.size())));
  if (whole.empty() || !IsNumber(whole) || !IsNumber(fraction)) return std::nullopt;
  if (fraction.size() > kFractionDigitsMax) return std::nullopt;
  fraction.resize(kFractionDigitsMax, '0');
  TraceTime time;
  if (!absl::SimpleAtoi(whole, &time.whole) || !absl::SimpleAtoi(fraction, &time.fraction)) return std::nullopt;
  return time;
}

std::string TimeText(const TraceTime& time) {
  if (time.fraction == 0) return absl::StrCat(time.whole);
  const std::string digits = absl::StrCat(time.fraction);
  const std::string fraction = std::string(kFractionDigitsMax - digits.size(), '0') + digits;
  return absl::StrCat(time.whole, ".", fraction.substr(0, fraction.find_last_not_of('0') + 1));
}

// The states of a port of $dumpports (IEEE 1364-2005, 18.4.3.1) as the digits of signals: driven by the test bench, by
// the device, by both. Drivers that disagree are x.
std::string PortDigits(absl::string_view states) {
  constexpr absl::string_view kStates = "DUNZduLHXTlh01?FAaBbCcf";
  constexpr absl::string_view kDigits = "01xz0101xz0101xzxxxxxxz";
  std::string digits(states);
  for (char& digit : digits) {
    const size_t state = kStates.find(digit);
    digit = state == absl::string_view::npos ? '?' : kDigits[state];
  }
  return digits;
}

// Whether another word follows on the line.
bool HasMoreOnLine(absl::string_view unread) {
  const size_t next = unread.find_first_not_of(" \t");
  return next == absl::string_view::npos || (unread[next] != '\n' && unread[next] != '\r');
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
    SIDEBAND_RETURN_IF_ERROR(ItemOrRest(lexer_.token()));
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
  return state_.Time({time}) ? text : nullptr;
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

absl::Status VcdBody::ItemOrRest(absl::string_view token) {
  const bool is_last_word = lexer_.is_cut_off();
  // A section without an end is not a rest: it may have swallowed the whole trace.
  const bool is_keyword = token[0] == '$';
  const absl::Status status = Item(token);
  if (status.ok() || !lexer_.status().ok()) return status;
  return is_last_word || (!is_keyword && lexer_.is_cut_off()) ? absl::OkStatus() : status;
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
      return RealOrString(token);
    case 'p':
      return Port(token);
    case '$':
      return Keyword(token);
    default:
      return Scalar(token);
  }
}

absl::Status VcdBody::Time(absl::string_view digits) {
  const std::optional<TraceTime> time = ParseTime(digits);
  if (!time) return lexer_.Error(absl::StrCat("expected a time after '#', not ", Excerpt(digits)));
  if (state_.Time(*time)) return absl::OkStatus();
  return lexer_.Error(absl::StrCat("time goes backwards, from ", TimeText(*state_.time()), " to ", TimeText(*time)));
}

absl::Status VcdBody::Scalar(absl::string_view token) {
  const absl::string_view code = token.substr(1);
  // The value of an unused signal is not examined.
  if (codes_.Find(code) == VcdHeader::kIgnored) return absl::OkStatus();
  if (!code.empty() && value_.Parse(token.substr(0, 1))) return Change(code);
  return lexer_.Error(absl::StrCat("malformed change ", Excerpt(token)));
}

absl::Status VcdBody::Vector(absl::string_view token) { return ChangeNext(token, value_.Parse(token.substr(1))); }

absl::Status VcdBody::Port(absl::string_view token) {
  const bool is_value = value_.Parse(PortDigits(token.substr(1)));
  const std::string text(token);
  // The strengths of the drivers to 0 and to 1.
  for (int i = 0; i < 2; ++i) SIDEBAND_RETURN_IF_ERROR(NextIsCode());
  return ChangeNext(text, is_value);
}

absl::Status VcdBody::ChangeNext(absl::string_view text, bool is_value) {
  // The next token invalidates this one.
  const std::string malformed = is_value ? "" : Excerpt(text);
  SIDEBAND_RETURN_IF_ERROR(NextIsCode());
  if (is_value) return Change(lexer_.token());
  if (codes_.Find(lexer_.token()) == VcdHeader::kIgnored) return absl::OkStatus();
  return lexer_.Error(absl::StrCat("malformed vector ", malformed));
}

absl::Status VcdBody::RealOrString(absl::string_view token) {
  const bool is_string = token[0] == 's' || token[0] == 'S';
  SIDEBAND_RETURN_IF_ERROR(NextIsCode());
  // Some programs write a text with its blanks: the words before the code belong to it.
  while (is_string && codes_.Find(lexer_.token()) == CodeTable::kNone && HasMoreOnLine(lexer_.unread())) {
    SIDEBAND_RETURN_IF_ERROR(NextIsCode());
  }
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
  if (token == "$dumpoff" || token == "$dumpportsoff") BeginGap();
  if (token == "$dumpon" || token == "$dumpportson") EndGap();
  // The content of $dumpvars, $dumpall and the like is ordinary changes.
  if (token == "$end" || absl::StartsWith(token, "$dump")) return absl::OkStatus();
  return SkipSection(std::string(token));
}

absl::Status VcdBody::SkipSection(absl::string_view keyword) {
  const bool is_known = IsOneOf(kSections, keyword);
  while (lexer_.Next()) {
    const absl::string_view token = lexer_.token();
    if (token == "$end") return absl::OkStatus();
    // If an unknown word begins no section, the changes behind it must not be lost.
    if (!is_known && (IsTime(token) || absl::StartsWith(token, "$dump"))) {
      return lexer_.Error(absl::StrCat(Excerpt(keyword), " has no $end before ", Excerpt(token)));
    }
  }
  SIDEBAND_RETURN_IF_ERROR(lexer_.status());
  return lexer_.Error(absl::StrCat("the file ends within a ", is_known ? std::string(keyword) : Excerpt(keyword)));
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
