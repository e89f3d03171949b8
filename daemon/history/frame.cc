// SPDX-License-Identifier: Apache-2.0
#include "daemon/history/frame.h"

#include <array>

namespace sideband::daemon {
namespace {

// Maps small differences of either sign to small numbers: 0, -1, 1, -2, … to 0, 1, 2, 3, …
uint64_t ZigZag(uint64_t difference) {
  return difference << 1 ^ static_cast<uint64_t>(static_cast<int64_t>(difference) >> 63);
}

uint64_t UnZigZag(uint64_t number) { return number >> 1 ^ (0 - (number & 1)); }

// Writes differences as tokens: a non-zero difference as itself, a run of n zeros as 0 and n - 1.
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

std::array<uint64_t, 6> Numbers(const FrameHeader& header) {
  return {header.publication,  header.snapshot_id,        header.reference_time_ns,
          header.host_time_ns, header.host_time_error_ns, header.steady_time_ns};
}

template <typename Sink>
void EncodeHeader(const FrameHeader& before, const FrameHeader& now, Sink& sink) {
  const auto old_numbers = Numbers(before);
  const auto numbers = Numbers(now);
  for (size_t i = 0; i < numbers.size(); ++i) sink.Varint(ZigZag(numbers[i] - old_numbers[i]));
}

bool DecodeVarint(ByteSpan& bytes, uint64_t& value) {
  value = 0;
  for (size_t i = 0; i < bytes.size() && i < kVarintBytesMax; ++i) {
    value |= static_cast<uint64_t>(bytes[i] & 0x7F) << (7 * i);
    if ((bytes[i] & 0x80) != 0) continue;
    bytes = bytes.subspan(i + 1);
    return true;
  }
  return false;
}

bool DecodeHeader(ByteSpan& bytes, FrameHeader& header) {
  for (uint64_t* number : {&header.publication, &header.snapshot_id, &header.reference_time_ns, &header.host_time_ns,
                           &header.host_time_error_ns, &header.steady_time_ns}) {
    uint64_t difference;
    if (!DecodeVarint(bytes, difference)) return false;
    *number += UnZigZag(difference);
  }
  return true;
}

// 0: there is no number; else it is one less.
uint64_t ShownPlusOne(const DeviceSnapshot& snapshot, size_t row, size_t event) {
  return snapshot.CoverageOf(row, event) == 0 ? 0 : snapshot.Shown(row)[event] + 1;
}

// What is shown of events that take turns, event by event.
template <typename Sink>
void EncodeEstimates(const DeviceSnapshot* before, const DeviceSnapshot& now, TokenWriter<Sink>& tokens) {
  if (now.estimated.empty()) return;
  for (size_t event = 0; event < now.data.counters_per_block; ++event) {
    if (!now.topology->rotation().IsRotated(event)) continue;
    for (size_t row = 0; row < now.data.blocks.size(); ++row) {
      tokens.Add(ShownPlusOne(now, row, event) - (before == nullptr ? 0 : ShownPlusOne(*before, row, event)));
    }
  }
}

}  // namespace

FrameHeader FrameHeader::Of(const DeviceSnapshot& snapshot) {
  return {.publication = snapshot.publication,
          .snapshot_id = snapshot.data.snapshot_id,
          .reference_time_ns = snapshot.data.reference_time_ns,
          .host_time_ns = static_cast<uint64_t>(absl::ToUnixNanos(snapshot.host_time)),
          .host_time_error_ns = static_cast<uint64_t>(absl::ToInt64Nanoseconds(snapshot.host_time_error)),
          .steady_time_ns = static_cast<uint64_t>(absl::ToInt64Nanoseconds(snapshot.steady_time))};
}

void BoundedSink::VarintAtTheEnd(uint64_t value) {
  uint8_t number[kVarintBytesMax];
  const uint8_t* const number_end = WriteVarint(value, number);
  // Sticky: a later, shorter number must not be written after a gap.
  full_ = full_ || number_end - number > end_ - at_;
  if (full_) return;
  for (const uint8_t* byte = number; byte != number_end; ++byte) *at_++ = *byte;
}

template <typename Sink>
void EncodeFrame(const DeviceSnapshot* before, const DeviceSnapshot& now, Sink& sink) {
  EncodeHeader(before == nullptr ? FrameHeader() : FrameHeader::Of(*before), FrameHeader::Of(now), sink);
  const size_t rows = now.data.blocks.size();
  const size_t events = now.data.counters_per_block;
  TokenWriter tokens(sink);
  for (size_t row = 0; row < rows; ++row) {
    tokens.Add(StatusOf(now.data.blocks[row]) - (before == nullptr ? 0 : StatusOf(before->data.blocks[row])));
  }
  const uint64_t* const counters = now.data.counters.data();
  const uint64_t* const old_counters = before == nullptr ? nullptr : before->data.counters.data();
  // Event by event: idle rows of the same event then form long runs of zeros.
  for (size_t event = 0; event < events; ++event) {
    for (size_t at = event; at < rows * events; at += events) {
      tokens.Add(counters[at] - (old_counters == nullptr ? 0 : old_counters[at]));
    }
  }
  EncodeEstimates(before, now, tokens);
  tokens.EndRun();
}

template void EncodeFrame(const DeviceSnapshot*, const DeviceSnapshot&, CountingSink&);
template void EncodeFrame(const DeviceSnapshot*, const DeviceSnapshot&, BoundedSink&);

void EncodeDifferences(const FrameHeader& before, const FrameHeader& now, std::span<const uint64_t> differences,
                       GrowingSink& sink) {
  EncodeHeader(before, now, sink);
  TokenWriter tokens(sink);
  for (const uint64_t difference : differences) tokens.Add(difference);
  tokens.EndRun();
}

bool DecodeFrame(ByteSpan& bytes, FrameHeader& header, std::span<uint64_t> values) {
  if (!DecodeHeader(bytes, header)) return false;
  for (size_t at = 0; at < values.size();) {
    uint64_t token;
    if (!DecodeVarint(bytes, token)) return false;
    if (token != 0) {
      values[at++] += UnZigZag(token);
      continue;
    }
    uint64_t more;
    // A run must not exceed the remaining values.
    if (!DecodeVarint(bytes, more) || more >= values.size() - at) return false;
    at += more + 1;
  }
  return true;
}

}  // namespace sideband::daemon
