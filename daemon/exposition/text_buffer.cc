// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/text_buffer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

namespace sideband::daemon {

void TextBuffer::Append(absl::string_view text) { Commit(Put(Reserve(text.size()), text)); }

char* TextBuffer::Reserve(size_t bytes) {
  if (capacity_ - size_ < bytes) {
    capacity_ = std::max(size_ + bytes, capacity_ + capacity_ / 2);
    std::unique_ptr<char[]> larger(new char[capacity_]);
    if (size_ > 0) std::memcpy(larger.get(), data_.get(), size_);
    data_ = std::move(larger);
  }
  return data_.get() + size_;
}

char* Put(char* at, absl::string_view text) {
  if (!text.empty()) std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

char* Put(char* at, uint64_t value) { return std::to_chars(at, at + kNumberCharactersMax, value).ptr; }

char* PutShare(char* at, double value) {
  constexpr uint64_t kOne = 1'000'000'000;
  const auto billionths = static_cast<uint64_t>(std::llround(value * kOne));
  *at++ = billionths >= kOne ? '1' : '0';
  uint64_t rest = billionths % kOne;
  if (rest != 0) *at++ = '.';
  for (uint64_t place = kOne / 10; rest != 0; rest %= place, place /= 10) {
    *at++ = static_cast<char>('0' + rest / place);
  }
  return at;
}

}  // namespace sideband::daemon
