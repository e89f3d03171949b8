// SPDX-License-Identifier: Apache-2.0
//
// The tokens of a VCD file, separated by white space, each with its line. NUL bytes at the end of the file are not part
// of it; elsewhere they are an error.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto lexer, VcdLexer::Open("t.vcd"));
//   while (lexer->Next()) Use(lexer->token());
//   SIDEBAND_RETURN_IF_ERROR(lexer->status());
#ifndef SIDEBAND_SIM_WAVEFORM_VCD_LEXER_H_
#define SIDEBAND_SIM_WAVEFORM_VCD_LEXER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
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

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_VCD_LEXER_H_
