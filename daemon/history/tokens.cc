// SPDX-License-Identifier: Apache-2.0
#include "daemon/history/tokens.h"

namespace sideband::daemon {

void BoundedSink::VarintAtTheEnd(uint64_t value) {
  uint8_t number[kVarintBytesMax];
  const uint8_t* const number_end = WriteVarint(value, number);
  // Sticky: a later, shorter number must not be written after a gap.
  full_ = full_ || number_end - number > end_ - at_;
  if (full_) return;
  for (const uint8_t* byte = number; byte != number_end; ++byte) *at_++ = *byte;
}

bool ReadVarint(ByteSpan& bytes, uint64_t& value) {
  value = 0;
  for (size_t i = 0; i < bytes.size() && i < kVarintBytesMax; ++i) {
    value |= static_cast<uint64_t>(bytes[i] & 0x7F) << (7 * i);
    if ((bytes[i] & 0x80) != 0) continue;
    bytes = bytes.subspan(i + 1);
    return true;
  }
  return false;
}

bool AddTokens(ByteSpan& bytes, std::span<uint64_t> values) {
  for (size_t at = 0; at < values.size();) {
    uint64_t token;
    if (!ReadVarint(bytes, token)) return false;
    if (token != 0) {
      values[at++] += UnZigZag(token);
      continue;
    }
    uint64_t more;
    // A run must not exceed the remaining values.
    if (!ReadVarint(bytes, more) || more >= values.size() - at) return false;
    at += more + 1;
  }
  return true;
}

}  // namespace sideband::daemon
