// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/text_buffer.h"

#include <algorithm>
#include <charconv>
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

}  // namespace sideband::daemon
