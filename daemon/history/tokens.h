// SPDX-License-Identifier: Apache-2.0
//
// The parts of frames (format: README.md): numbers of variable length, and differences as tokens.
//   BoundedSink sink(free_bytes);
//   TokenWriter tokens(sink);
//   for (size_t i = 0; i < now.size(); ++i) tokens.Add(now[i] - before[i]);
//   tokens.EndRun();                        // in memory, unless sink.full()
//
//   while (AddTokens(bytes, values)) Use(values);
#ifndef SIDEBAND_DAEMON_HISTORY_TOKENS_H_
#define SIDEBAND_DAEMON_HISTORY_TOKENS_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "proto/base/bytes.h"

namespace sideband::daemon {

// Differences are modulo 2^64. Maps small ones of either sign to small numbers: 0, -1, 1, -2, … to 0, 1, 2, 3, …
inline uint64_t ZigZag(uint64_t difference) {
  return difference << 1 ^ static_cast<uint64_t>(static_cast<int64_t>(difference) >> 63);
}
inline uint64_t UnZigZag(uint64_t number) { return number >> 1 ^ (0 - (number & 1)); }

// Sinks encode a number with 7 bits per byte, low bits first; the top bit is set in all bytes but the last.
inline constexpr size_t kVarintBytesMax = 10;

class CountingSink {
 public:
  void Varint(uint64_t value) { size_ += value == 0 ? 1 : (static_cast<size_t>(std::bit_width(value)) + 6) / 7; }
  size_t size() const { return size_; }

 private:
  size_t size_ = 0;
};

inline uint8_t* WriteVarint(uint64_t value, uint8_t* at) {
  for (; value >= 0x80; value >>= 7) *at++ = static_cast<uint8_t>(value) | 0x80;
  *at++ = static_cast<uint8_t>(value);
  return at;
}

// Writes into borrowed memory until a number does not fit. It is then full and ignores all further numbers.
class BoundedSink {
 public:
  explicit BoundedSink(std::span<uint8_t> room) : begin_(room.data()), at_(begin_), end_(begin_ + room.size()) {}
  void Varint(uint64_t value) {
    if (static_cast<size_t>(end_ - at_) >= kVarintBytesMax) [[likely]] {
      at_ = WriteVarint(value, at_);
    } else {
      VarintAtTheEnd(value);
    }
  }
  bool full() const { return full_; }
  size_t size() const { return static_cast<size_t>(at_ - begin_); }

 private:
  void VarintAtTheEnd(uint64_t value);

  uint8_t* const begin_;
  uint8_t* at_;
  uint8_t* const end_;
  bool full_ = false;
};

class GrowingSink {
 public:
  explicit GrowingSink(ByteSpan start) : bytes_(start.begin(), start.end()) {}
  void Varint(uint64_t value) {
    uint8_t number[kVarintBytesMax];
    bytes_.insert(bytes_.end(), number, WriteVarint(value, number));
  }
  ByteSpan written() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

// Writes differences as tokens: a non-zero difference as itself, a run of n zeros as 0 and n - 1. Not thread-safe;
// `sink` must outlive it.
template <typename Sink>
class TokenWriter {
 public:
  explicit TokenWriter(Sink& sink) : sink_(sink) {}

  void Add(uint64_t difference) {
    if (difference == 0) {
      ++zeros_;
      return;
    }
    EndRun();
    sink_.Varint(ZigZag(difference));
  }
  // To be called after the last difference.
  void EndRun() {
    if (zeros_ == 0) return;
    sink_.Varint(0);
    sink_.Varint(zeros_ - 1);
    zeros_ = 0;
  }

 private:
  Sink& sink_;
  uint64_t zeros_ = 0;
};

// Reads a number and removes it from `bytes`; false, and nothing is removed, if `bytes` does not start with one.
bool ReadVarint(ByteSpan& bytes, uint64_t& value);

// Adds as many differences to `values` as they are, and removes their tokens from `bytes`. False if `bytes` does not
// start with tokens of so many; `values` are then undefined.
bool AddTokens(ByteSpan& bytes, std::span<uint64_t> values);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HISTORY_TOKENS_H_
