// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/counts.h"

#include <algorithm>
#include <bit>

#include "absl/status/status.h"

namespace sideband::envelope {
namespace {

constexpr uint8_t kContentVersion = 1;
constexpr uint8_t kHasCoverage = 1 << 0;
constexpr size_t kFixedBytes = 32;
constexpr size_t kRowBytes = 12;  // without its name
constexpr size_t kEstimateBytes = 48;

// ByteWriter's vector would leave copies as it grows; this writes into memory of the final size.
class Cursor {
 public:
  explicit Cursor(std::span<uint8_t> out) : out_(out) {}
  void Little(uint64_t value, size_t width) {
    for (size_t i = 0; i < width; ++i) out_[at_++] = static_cast<uint8_t>(value >> (8 * i));
  }
  void Text(const std::string& text) {
    Little(text.size(), 1);
    at_ = static_cast<size_t>(std::ranges::copy(text, out_.begin() + static_cast<ptrdiff_t>(at_)).out - out_.begin());
  }

 private:
  std::span<uint8_t> out_;
  size_t at_ = 0;
};

size_t NumbersBytes(size_t rows, size_t events, bool has_coverage, size_t rotated) {
  return rows * (events * (has_coverage ? 16 : 8) + rotated * kEstimateBytes);
}

size_t EncodedBytes(const SealedCounts& counts) {
  size_t bytes = kFixedBytes + 2 * counts.rotated.size();
  for (const CountsRow& row : counts.rows) bytes += kRowBytes + row.name.size();
  return bytes + NumbersBytes(counts.rows.size(), counts.events, !counts.coverage.empty(), counts.rotated.size());
}

void WriteRow(const CountsRow& row, Cursor& out) {
  out.Little(row.context, 2);
  out.Little(row.state, 1);
  out.Little(row.slice, 1);
  out.Little(row.flags, 2);
  out.Little(row.generation, 4);
  out.Little(0, 1);
  out.Text(row.name);
}

CountsRow ReadRow(ByteReader& in) {
  CountsRow row;
  row.context = in.U16();
  row.state = in.U8();
  row.slice = in.U8();
  row.flags = in.U16();
  row.generation = in.U32();
  in.U8();
  row.name = in.String();
  return row;
}

void WriteEstimate(const CountsEstimate& estimate, Cursor& out) {
  out.Little(estimate.standard_error, 8);
  out.Little(estimate.lower, 8);
  out.Little(estimate.upper, 8);
  out.Little(estimate.time_enabled_ns, 8);
  out.Little(estimate.time_running_ns, 8);
  out.Little(estimate.method, 8);
}

CountsEstimate ReadEstimate(ByteReader& in) {
  CountsEstimate estimate;
  estimate.standard_error = in.U64();
  estimate.lower = in.U64();
  estimate.upper = in.U64();
  estimate.time_enabled_ns = in.U64();
  estimate.time_running_ns = in.U64();
  estimate.method = static_cast<uint8_t>(in.U64());
  return estimate;
}

absl::Status NotCounts() { return absl::InvalidArgumentError("the content is not counts of a VM"); }

}  // namespace

SecretBytes EncodeCounts(const SealedCounts& counts) {
  SecretBytes bytes(EncodedBytes(counts));
  Cursor out(bytes);
  out.Little(kContentVersion, 1);
  out.Little(counts.coverage.empty() ? 0 : kHasCoverage, 1);
  out.Little(counts.rows.size(), 2);
  out.Little(counts.events, 2);
  out.Little(counts.rotated.size(), 2);
  out.Little(counts.snapshot_id, 4);
  out.Little(counts.trigger_id, 4);
  out.Little(counts.host_time_ns, 8);
  out.Little(0, 8);
  for (const uint16_t event : counts.rotated) out.Little(event, 2);
  for (const CountsRow& row : counts.rows) WriteRow(row, out);
  for (const uint64_t count : counts.counts) out.Little(count, 8);
  for (const double coverage : counts.coverage) out.Little(std::bit_cast<uint64_t>(coverage), 8);
  for (const CountsEstimate& estimate : counts.estimates) WriteEstimate(estimate, out);
  return bytes;
}

absl::StatusOr<SealedCounts> DecodeCounts(ByteSpan content) {
  ByteReader in(content);
  if (in.U8() != kContentVersion) return NotCounts();
  const uint8_t parts = in.U8();
  const size_t rows = in.U16();
  SealedCounts counts{.events = in.U16()};
  const size_t rotated = in.U16();
  counts.snapshot_id = in.U32();
  counts.trigger_id = in.U32();
  counts.host_time_ns = in.U64();
  in.U64();  // reserved
  for (size_t i = 0; i < rotated && in.ok(); ++i) {
    counts.rotated.push_back(in.U16());
    if (counts.rotated.back() >= counts.events) return NotCounts();
  }
  for (size_t i = 0; i < rows && in.ok(); ++i) counts.rows.push_back(ReadRow(in));
  const bool has_coverage = (parts & kHasCoverage) != 0;
  // Checked before memory is allocated for the numbers.
  if (!in.ok() || parts > kHasCoverage || in.remaining() != NumbersBytes(rows, counts.events, has_coverage, rotated)) {
    return NotCounts();
  }
  counts.counts.resize(rows * counts.events);
  for (uint64_t& count : counts.counts) count = in.U64();
  counts.coverage.resize(has_coverage ? counts.counts.size() : 0);
  for (double& coverage : counts.coverage) coverage = std::bit_cast<double>(in.U64());
  counts.estimates.resize(rows * rotated);
  for (CountsEstimate& estimate : counts.estimates) estimate = ReadEstimate(in);
  return counts;
}

}  // namespace sideband::envelope
