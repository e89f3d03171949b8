// SPDX-License-Identifier: Apache-2.0
#include "daemon/history/chunk.h"

#include <algorithm>
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

// The shown values of multiplexed events, event by event.
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

Layout::Row RowOf(const mailbox::BlockHeader& block) { return {block.vm, block.context, block.generation}; }

uint32_t EstimatesOf(const DeviceSnapshot& snapshot) {
  return snapshot.estimated.empty() ? 0 : static_cast<uint32_t>(snapshot.topology->rotation().events());
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

Layout Layout::Of(const DeviceSnapshot& snapshot) {
  Layout layout{.topology = snapshot.topology,
                .boot_id = snapshot.data.boot_id,
                .events = snapshot.data.counters_per_block,
                .estimates = EstimatesOf(snapshot),
                .device_scope_withheld = snapshot.device_scope_withheld,
                .device_row_withheld = snapshot.device_row_withheld};
  layout.rows.reserve(snapshot.data.blocks.size());
  for (const mailbox::BlockHeader& block : snapshot.data.blocks) layout.rows.push_back(RowOf(block));
  return layout;
}

bool Layout::Describes(const DeviceSnapshot& snapshot) const {
  return boot_id == snapshot.data.boot_id && events == snapshot.data.counters_per_block &&
         estimates == EstimatesOf(snapshot) && device_scope_withheld == snapshot.device_scope_withheld &&
         device_row_withheld == snapshot.device_row_withheld &&
         std::equal(rows.begin(), rows.end(), snapshot.data.blocks.begin(), snapshot.data.blocks.end(),
                    [](const Row& row, const mailbox::BlockHeader& block) { return row == RowOf(block); }) &&
         DescribesTheSame(*topology, *snapshot.topology);
}

bool Layout::operator==(const Layout& other) const {
  return boot_id == other.boot_id && events == other.events && estimates == other.estimates &&
         device_scope_withheld == other.device_scope_withheld && device_row_withheld == other.device_row_withheld &&
         rows == other.rows && DescribesTheSame(*topology, *other.topology);
}

void ChunkView::Add(const FrameHeader& frame, size_t new_size) {
  size = new_size;
  if (frames++ == 0) first_publication = frame.publication;
  last_publication = frame.publication;
  last_steady = frame.steady_time();
  first = std::min(first, frame.host_time());
  last = std::max(last, frame.host_time());
}

size_t ChunkView::Footprint(size_t rows, size_t capacity) {
  // Two allocations with their headers, and the counts of a shared_ptr. A growing vector reserves up to two views per
  // entry.
  constexpr size_t kOverhead = sizeof(Chunk) + 3 * 16 + 16 + 2 * sizeof(ChunkView);
  return kOverhead + rows * sizeof(Layout::Row) + capacity;
}

ChunkReader::ChunkReader(ChunkView view)
    : view_(std::move(view)),
      rows_(view_.layout().rows.size()),
      left_(view_.written()),
      values_(view_.layout().values(), 0) {}

bool ChunkReader::Next() {
  if (read_ == view_.frames || !DecodeFrame(left_, header_, values_)) return false;
  ++read_;
  return true;
}

std::optional<uint64_t> ChunkReader::Shown(size_t row, size_t event) const {
  const Layout& layout = view_.layout();
  if (!layout.IsEstimated(event)) return Count(row, event);
  const size_t column = size_t{1} + layout.events + layout.topology->rotation().PlaceOf(event);
  const uint64_t shown = values_[column * rows_ + row];
  return shown == 0 ? std::nullopt : std::optional(shown - 1);
}

}  // namespace sideband::daemon
