// SPDX-License-Identifier: Apache-2.0
//
// The words of a VCD file, separated by white space, each with its line.
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
#include "sim/waveform/gz_file.h"

namespace sideband::sim {

inline constexpr size_t kVcdTokenBytesMax = size_t{1} << 20;

// A file's bytes for a message: 'quoted', made visible, and cut after 40 bytes.
std::string Excerpt(absl::string_view bytes);

// Holds one buffer, a little larger than the longest token. Not thread-safe.
class VcdLexer {
 public:
  // White space that may be read behind unread().
  static constexpr size_t kSlack = 16;

  static bool IsSpace(char c) { return kIsSpace[static_cast<unsigned char>(c)]; }

  // Errors as of GzFile::Open.
  static absl::StatusOr<std::unique_ptr<VcdLexer>> Open(const std::string& path);

  VcdLexer(const VcdLexer&) = delete;
  VcdLexer& operator=(const VcdLexer&) = delete;

  // Moves to the next token. False at the end of the file, or where it cannot be read (status() then says why).
  bool Next();
  // The bytes of the token, never empty; valid until the next call of Next().
  absl::string_view token() const { return {buffer_.data() + token_begin_, position_ - token_begin_}; }
  // The token's line, from 1; at the end of the file its last line. Costs a look at up to a buffer of bytes.
  uint64_t line() const;
  const absl::Status& status() const { return status_; }

  // What follows the token, as far as it is in the buffer, for a reader of its own; kSlack bytes of white space, which
  // are not the file's, follow it. Valid until the next call of Next().
  absl::string_view unread() const { return {buffer_.data() + position_, end_ - position_}; }
  // So many bytes of it have been read. There is no token then.
  void Skip(size_t size) {
    position_ += size;
    token_begin_ = position_;
  }

  const std::string& path() const { return path_; }
  // INVALID_ARGUMENT "FILE:LINE: what" at the token's line.
  absl::Status Error(absl::string_view what) const;

 private:
  static constexpr std::array<bool, 256> kIsSpace = [] {
    std::array<bool, 256> table{};
    for (const unsigned char c : {' ', '\t', '\n', '\v', '\f', '\r'}) table[c] = true;
    return table;
  }();

  VcdLexer(GzFile file, std::string path);

  // Skips white space; false if nothing follows it.
  bool FindToken();
  // Reads on behind what is kept of the buffer, from `*keep` on, which moves to its start. False if there is no more.
  bool Refill(size_t* keep);
  void EnsureRoom();

  GzFile file_;
  const std::string path_;
  absl::Status status_;
  std::vector<char> buffer_;  // bytes [position_, end_) are unread; spaces follow them as a sentinel
  size_t token_begin_ = 0;
  size_t position_ = 0;
  size_t end_ = 0;
  uint64_t first_line_ = 1;  // of the buffer
  bool at_end_ = false;
};

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_VCD_LEXER_H_
