// SPDX-License-Identifier: Apache-2.0
//
// The content of a sealed record of suite 2. What was decoded is as large as it says, and survives encoding.
#include <algorithm>

#include "proto/envelope/record.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

using envelope::SealedCounts;

Bytes Encoded(const SealedCounts& counts) {
  const SecretBytes bytes = envelope::EncodeCounts(counts);
  return Bytes(bytes.begin(), bytes.end());
}

void CheckSizes(const SealedCounts& counts) {
  const size_t numbers = counts.rows.size() * counts.events;
  FUZZ_CHECK(counts.counts.size() == numbers);
  FUZZ_CHECK(counts.coverage.empty() || counts.coverage.size() == numbers);
  FUZZ_CHECK(counts.estimates.size() == counts.rows.size() * counts.rotated.size());
  FUZZ_CHECK(std::ranges::all_of(counts.rotated, [&](uint16_t event) { return event < counts.events; }));
}

SealedCounts TwoRows() {
  SealedCounts counts{.snapshot_id = 1, .trigger_id = 2, .host_time_ns = 3, .events = 2};
  counts.rows = {{}, {.context = 7, .name = "embed", .slice = 1, .generation = 4}};
  counts.counts = {10, 11, 12, 13};
  return counts;
}

std::vector<Bytes> Seeds() {
  SealedCounts covered = TwoRows(), rotated = TwoRows();
  covered.coverage = {1, 0.5, 0, 0.25};
  rotated.rotated = {1};
  rotated.estimates = {{.standard_error = 5, .upper = 20, .method = 1}, {}};
  return {Encoded({}), Encoded(TwoRows()), Encoded(covered), Encoded(rotated)};
}

int RunInput(const uint8_t* data, size_t size) {
  const auto counts = envelope::DecodeCounts({data, size});
  if (!counts.ok()) return 0;
  fuzz::CheckSizes(*counts);
  const Bytes encoded = fuzz::Encoded(*counts);
  const auto again = envelope::DecodeCounts(encoded);
  FUZZ_CHECK(again.ok());
  FUZZ_CHECK(fuzz::Encoded(*again) == encoded);  // by bytes: coverage may be NaN
  return 0;
}

FUZZ_TARGET(sealed_counts_fuzz);

}  // namespace
}  // namespace sideband::fuzz
