// SPDX-License-Identifier: Apache-2.0
#include "sim/waveform/vcd_lexer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/base/errors.h"
#include "proto/base/status_macros.h"

namespace sideband::sim {
namespace {

// Large enough for direct reads of the file into it (TraceFile::Read), small enough for the cache.
constexpr size_t kBufferBytes = size_t{1} << 18;

constexpr uint8_t kUnknown = 2;  // x and z; the lowest bit is the value
constexpr uint8_t kNotADigit = 4;

constexpr std::array<uint8_t, 256> kDigits = [] {
  std::array<uint8_t, 256> table{};
  table.fill(kNotADigit);
  table['0'] = 0;
  table['1'] = 1;
  table['l'] = table['L'] = 0;
  table['h'] = table['H'] = 1;
  for (const unsigned char c : {'x', 'X', 'z', 'Z', 'u', 'U', 'w', 'W', '-'}) table[c] = kUnknown;
  return table;
}();

}  // namespace

std::string Excerpt(absl::string_view bytes) {
  constexpr size_t kShown = 40;
  return absl::StrCat("'", absl::CHexEscape(bytes.substr(0, kShown)), bytes.size() > kShown ? "…'" : "'");
}

absl::StatusOr<std::unique_ptr<VcdLexer>> VcdLexer::Open(const std::string& path) {
  SIDEBAND_ASSIGN_OR_RETURN(std::unique_ptr<TraceFile> file, OpenTraceFile(path));
  return std::unique_ptr<VcdLexer>(new VcdLexer(std::move(file), path));
}

VcdLexer::VcdLexer(std::unique_ptr<TraceFile> file, std::string path)
    : file_(std::move(file)), path_(std::move(path)), buffer_(kBufferBytes + kSlack, ' ') {}

absl::Status VcdLexer::Error(absl::string_view what) const { return LineError(path_, line(), what); }

uint64_t VcdLexer::line() const { return first_line_ + CountLines({buffer_.data(), token_begin_}); }

bool VcdLexer::Next() {
  if (!status_.ok() || !FindToken()) return false;
  token_begin_ = position_;
  for (;;) {
    while (!kEndsToken[static_cast<unsigned char>(buffer_[position_])]) ++position_;
    // Stopped by the sentinel: the token continues behind it, or is the last of the file.
    if (position_ < end_ || !Refill(&token_begin_)) return status_.ok();
  }
}

bool VcdLexer::FindToken() {
  for (;;) {
    const char* text = buffer_.data() + position_;
    const char* const end = buffer_.data() + end_;
    while (text < end && IsSpace(*text)) ++text;
    position_ = static_cast<size_t>(text - buffer_.data());
    token_begin_ = position_;
    if (position_ < end_) break;
    if (!Refill(&token_begin_)) return false;
  }
  if (buffer_[position_] != '\0') return true;
  SkipPadding();
  return false;
}

void VcdLexer::SkipPadding() {
  do {
    while (position_ < end_ && kEndsToken[static_cast<unsigned char>(buffer_[position_])]) ++position_;
    token_begin_ = position_;
    if (position_ < end_) {
      status_ = Error("NUL bytes before the end of the file; is this a VCD file?");
      return;
    }
  } while (Refill(&token_begin_));
}

bool VcdLexer::Refill(size_t* keep) {
  if (at_end_ || !status_.ok()) return false;
  first_line_ += CountLines({buffer_.data(), *keep});
  std::memmove(buffer_.data(), buffer_.data() + *keep, end_ - *keep);
  position_ -= *keep;
  end_ -= *keep;
  *keep = 0;
  EnsureRoom();
  if (!status_.ok()) return false;
  const std::span<char> room(buffer_.data() + end_, buffer_.size() - kSlack - end_);
  const absl::StatusOr<size_t> size = file_->Read(room);
  status_ = AtLine(size.status(), path_, line());
  if (!status_.ok()) return false;
  // A short read is the end of the file (TraceFile::Read).
  at_end_ = *size < room.size();
  const auto is_content = [](char c) { return c != '\0'; };
  const auto last = std::find_if(room.rend() - static_cast<ptrdiff_t>(*size), room.rend(), is_content);
  if (last != room.rend()) last_byte_ = *last;
  end_ += *size;
  // White space is the sentinel at which scans stop without comparing with the end.
  std::memset(buffer_.data() + end_, ' ', kSlack);
  return *size > 0;
}

void VcdLexer::EnsureRoom() {
  if (end_ + kSlack < buffer_.size()) return;
  // The buffer consists of a single token.
  if (end_ > kVcdTokenBytesMax) {
    status_ = Error(absl::StrCat("a word of more than ", kVcdTokenBytesMax, " bytes; is this a VCD file?"));
    return;
  }
  buffer_.resize(std::min(2 * end_, kVcdTokenBytesMax + 1) + kSlack, ' ');
}

bool VcdValue::Parse(absl::string_view digits) {
  digits_ = digits.size();
  words_.clear();
  uint8_t seen = 0;
  while (!digits.empty()) {
    const size_t size = std::min<size_t>(digits.size(), 64);
    uint64_t word = 0;
    for (const char c : digits.substr(digits.size() - size)) {
      const uint8_t digit = kDigits[static_cast<unsigned char>(c)];
      seen |= digit;
      word = word << 1 | (digit & 1);
    }
    words_.push_back(word);
    digits.remove_suffix(size);
  }
  return digits_ > 0 && (seen & kNotADigit) == 0;
}

}  // namespace sideband::sim
