// SPDX-License-Identifier: Apache-2.0
//
// The content of a sealed record of suite 2: one VM with all its contexts, as plain numbers in a fixed width, so that
// its size depends on scopes and events alone (README.md, "Content of suite 2"). The events' names are those of the
// exchange.
//   SIDEBAND_ASSIGN_OR_RETURN(const SealedCounts counts, DecodeCounts(content));
//   for (size_t row = 0; row < counts.rows.size(); ++row) Use(counts.rows[row], counts.Counts(row));
#ifndef SIDEBAND_PROTO_ENVELOPE_COUNTS_H_
#define SIDEBAND_PROTO_ENVELOPE_COUNTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/base/secret_memory.h"
#include "proto/envelope/record.h"

namespace sideband::envelope {

template <typename T>
using SecretVector = std::vector<T, SecretAllocator<T>>;

struct CountsRow {
  uint16_t context = kScopeWholeVm;  // the VM itself, or a context's ID
  std::string name;                  // of the context; at most 255 bytes
  uint8_t slice = 0xFF;              // FF: bound to none
  uint32_t generation = 0;
  uint8_t state = 0;   // mailbox::BlockState
  uint16_t flags = 0;  // mailbox::BlockFlag
  bool operator==(const CountsRow&) const = default;
};

// sideband.v1.Estimate in fixed width.
struct CountsEstimate {
  static constexpr uint64_t kUnknown = ~uint64_t{0};
  uint64_t standard_error = kUnknown;
  uint64_t lower = 0;
  uint64_t upper = kUnknown;
  uint64_t time_enabled_ns = 0;
  uint64_t time_running_ns = 0;
  uint8_t method = 0;  // sideband.v1.Estimate.Method; 0: the count is exact
  bool operator==(const CountsEstimate&) const = default;
};

struct SealedCounts {
  uint32_t snapshot_id = 0;
  uint32_t trigger_id = 0;
  uint64_t host_time_ns = 0;  // since 1970; 0: sealed by a device, which has no such clock
  uint16_t events = 0;        // of each row
  std::vector<CountsRow> rows;
  std::vector<uint16_t> rotated;  // the events that have estimates, ascending
  SecretVector<uint64_t> counts;  // row after row
  // Row after row, as Counter.coverage. 0: the event was counted in no cycle, and its count is no number. Empty: every
  // event was counted in every cycle.
  SecretVector<double> coverage;
  SecretVector<CountsEstimate> estimates;  // row after row, parallel to `rotated`

  std::span<const uint64_t> Counts(size_t row) const { return std::span(counts).subspan(row * events, events); }
  std::span<const double> Coverage(size_t row) const {
    return coverage.empty() ? std::span<const double>() : std::span(coverage).subspan(row * events, events);
  }
  std::span<const CountsEstimate> Estimates(size_t row) const {
    return std::span(estimates).subspan(row * rotated.size(), rotated.size());
  }
  bool operator==(const SealedCounts&) const = default;
};

// The vectors must have the lengths that `rows`, `events` and `rotated` give them.
SecretBytes EncodeCounts(const SealedCounts& counts);
// INVALID_ARGUMENT: an unknown version, a length that is not that of the numbers, a rotated event that does not exist.
absl::StatusOr<SealedCounts> DecodeCounts(ByteSpan content);

}  // namespace sideband::envelope

#endif  // SIDEBAND_PROTO_ENVELOPE_COUNTS_H_
