// SPDX-License-Identifier: Apache-2.0
//
// The text of a VCD file: its tokens, separated by white space, each with its line, and the values of changes. NUL
// bytes at the end of the file are not part of it; elsewhere they are an error.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto lexer, VcdLexer::Open("t.vcd"));
//   while (lexer->Next()) Use(lexer->token());
//   SIDEBAND_RETURN_IF_ERROR(lexer->status());
//
// A value has bits: x and z are 0. Values shorter than the signal need no extension: VCD extends with 0, or with a
// leftmost x or z, which are 0 too. Binary digits are parsed, and lines counted, eight bytes at a time.
//   VcdValue value;
//   if (!value.Parse("01x1")) return lexer->Error("no value");   // words() is {0b0101}
//   const char* end = SkipBinary(text);                          // behind 0101…
//   uint64_t number = BinaryValue(text, end - text);
#ifndef SIDEBAND_SIM_WAVEFORM_VCD_LEXER_H_
#define SIDEBAND_SIM_WAVEFORM_VCD_LEXER_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/waveform/trace_file.h"

namespace sideband::sim {

inline constexpr size_t kVcdTokenBytesMax = size_t{1} << 20;

// Bytes of a file for a message: quoted, escaped, and cut after 40 bytes.
std::string Excerpt(absl::string_view bytes);

// Holds one buffer, slightly larger than the longest token. Not thread-safe.
class VcdLexer {
 public:
  // The number of white-space bytes that are readable behind unread().
  static constexpr size_t kSlack = 16;

  static bool IsSpace(char c) { return kIsSpace[static_cast<unsigned char>(c)]; }

  // Errors are those of OpenTraceFile.
  static absl::StatusOr<std::unique_ptr<VcdLexer>> Open(const std::string& path);

  VcdLexer(const VcdLexer&) = delete;
  VcdLexer& operator=(const VcdLexer&) = delete;

  // Moves to the next token. False at the end of the file, or on a read error, which status() returns.
  bool Next();
  // The bytes of the token, never empty; valid until the next call of Next().
  absl::string_view token() const { return {buffer_.data() + token_begin_, position_ - token_begin_}; }
  // The token's line, from 1; at the end of the file its last line. Scans up to a buffer of bytes.
  uint64_t line() const;
  const absl::Status& status() const { return status_; }
  // Makes Next() return the current token again.
  void Return() { position_ = token_begin_; }
  // At the end of the file: whether its last line has no line end, as if the file were cut off there.
  bool ends_within_line() const { return last_byte_ != '\n'; }
  // Whether the token, or the end of the file, is behind everything else on such a line.
  bool is_cut_off() const { return at_end_ && position_ == end_ && ends_within_line(); }

  // The buffered bytes after the token, for another parser. They are followed by kSlack bytes of white space that are
  // not part of the file. Valid until the next call of Next().
  absl::string_view unread() const { return {buffer_.data() + position_, end_ - position_}; }
  // Skips `size` bytes of unread(). There is no current token afterwards.
  void Skip(size_t size) {
    position_ += size;
    token_begin_ = position_;
  }

  const std::string& path() const { return path_; }
  // INVALID_ARGUMENT "FILE:LINE: description" at the token's line.
  absl::Status Error(absl::string_view what) const;

 private:
  static constexpr std::array<bool, 256> kIsSpace = [] {
    std::array<bool, 256> table{};
    for (const unsigned char c : {' ', '\t', '\n', '\v', '\f', '\r'}) table[c] = true;
    return table;
  }();
  static constexpr std::array<bool, 256> kEndsToken = [] {
    std::array<bool, 256> table = kIsSpace;
    table[0] = true;
    return table;
  }();

  VcdLexer(std::unique_ptr<TraceFile> file, std::string path);

  // Skips white space; false if nothing follows.
  bool FindToken();
  // Skips NUL bytes and white space up to the end of the file; status() is an error if something else follows.
  void SkipPadding();
  // Moves the content from `*keep` on to the buffer's start, and reads more behind it. False if the file has no more.
  bool Refill(size_t* keep);
  void EnsureRoom();

  const std::unique_ptr<TraceFile> file_;
  const std::string path_;
  absl::Status status_;
  std::vector<char> buffer_;  // bytes [position_, end_) are unread; spaces follow as a sentinel
  size_t token_begin_ = 0;
  size_t position_ = 0;
  size_t end_ = 0;
  uint64_t first_line_ = 1;  // line of the buffer's first byte
  char last_byte_ = '\n';    // of the bytes read so far, but for NUL bytes
  bool at_end_ = false;
};

// The number of bytes that these functions may read behind the text.
inline constexpr size_t kVcdDigitsOverread = 8;

namespace vcd_digits_internal {

static_assert(std::endian::native == std::endian::little, "the first byte of a text is taken for the lowest of a word");
inline constexpr uint64_t kOnes = 0x0101010101010101;

inline uint64_t Load(const char* text) {
  uint64_t word;
  std::memcpy(&word, text, sizeof(word));
  return word;
}

// The lowest bits of eight bytes, with the first byte's bit on top. The multiplication moves byte i to bit 56 + (7 -
// i); all other partial products have distinct places and do not carry.
inline uint64_t Pack(uint64_t word) { return (word & kOnes) * 0x8040201008040201 >> 56; }

}  // namespace vcd_digits_internal

// The first byte that is neither 0 nor 1; there must be such a byte.
inline const char* SkipBinary(const char* text) {
  using namespace vcd_digits_internal;
  for (;; text += 8) {
    const uint64_t others = (Load(text) ^ '0' * kOnes) & 0xfe * kOnes;
    if (others != 0) return text + std::countr_zero(others) / 8;
  }
}

// The number with `size` binary digits, at most 64, the most significant first.
inline uint64_t BinaryValue(const char* digits, size_t size) {
  using namespace vcd_digits_internal;
  uint64_t value = 0;
  for (; size >= 8; size -= 8, digits += 8) value = value << 8 | Pack(Load(digits));
  return value << size | Pack(Load(digits)) >> (8 - size);
}

// The number of line feeds. Reads nothing behind the end of the text.
inline uint64_t CountLines(absl::string_view text) {
  using namespace vcd_digits_internal;
  constexpr uint64_t kLow7 = 0x7f * kOnes;
  uint64_t lines = 0;
  while (text.size() >= 8) {
    // Counts per byte overflow after 255 words.
    uint64_t counts = 0;
    for (size_t words = std::min<size_t>(text.size() / 8, 255); words > 0; --words, text.remove_prefix(8)) {
      const uint64_t zero_if_feed = Load(text.data()) ^ '\n' * kOnes;
      counts += ~(((zero_if_feed & kLow7) + kLow7) | zero_if_feed | kLow7) >> 7;
    }
    const uint64_t pairs = (counts & 0x00ff00ff00ff00ff) + (counts >> 8 & 0x00ff00ff00ff00ff);
    lines += pairs * 0x0001000100010001 >> 48;
  }
  return lines + static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

// Reuses its memory for the next value.
class VcdValue {
 public:
  // Parses the binary digits 0, 1, x and z, the most significant first, or VHDL's: u, w and - as x, l as 0, h as 1; in
  // either case. False for other characters and for no digit; the value is then unspecified.
  bool Parse(absl::string_view digits);

  size_t digits() const { return digits_; }
  // 64 bits each, the least significant word first; as many words as the digits need.
  std::span<const uint64_t> words() const { return words_; }

 private:
  std::vector<uint64_t> words_;
  size_t digits_ = 0;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_VCD_LEXER_H_
