// SPDX-License-Identifier: Apache-2.0
#include "daemon/history/frame.h"

#include <array>

namespace sideband::daemon {
namespace {

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

bool DecodeHeader(ByteSpan& bytes, FrameHeader& header) {
  for (uint64_t* number : {&header.publication, &header.snapshot_id, &header.reference_time_ns, &header.host_time_ns,
                           &header.host_time_error_ns, &header.steady_time_ns}) {
    uint64_t difference;
    if (!ReadVarint(bytes, difference)) return false;
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
  return DecodeHeader(bytes, header) && AddTokens(bytes, values);
}

}  // namespace sideband::daemon
