// SPDX-License-Identifier: Apache-2.0
//
// Numbers in a human-readable format.
//   CountText(18446744073709551615u, style)   // 18,446,744,073,709,551,615
//   ScaledText(4.6e9, "/s", style)            // 4.60 G/s
#ifndef SIDEBAND_CLIENT_CLI_NUMBER_TEXT_H_
#define SIDEBAND_CLIENT_CLI_NUMBER_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "client/cli/table.h"

namespace sideband::client {

// Digits in groups of three; without groups if the style is raw.
std::string CountText(uint64_t count, const TableStyle& style);

// "1 error", "2 errors". `thing` is in the singular and takes an s.
std::string PluralText(uint64_t count, absl::string_view thing);

// Two decimals, a space, a prefix for powers of 1000 from k to E, and the unit. If the style is raw, the number with
// one decimal and without a unit. Numbers that are not finite are formatted as by printf, with the unit.
std::string ScaledText(double value, absl::string_view unit, const TableStyle& style);

// The same with prefixes for powers of 1024, in which memory is measured: "80.00 GiB".
std::string BinaryText(double value, absl::string_view unit, const TableStyle& style);

// At most three digits and a prefix, for narrow columns: "4.64G/s", "0/s".
std::string CompactText(double value, absl::string_view unit);
// "37.2%".
std::string CompactShareText(double share);

// A share from 0 to 1 in percent with one decimal: "37.2 %". If the style is raw, the share itself with six decimals.
std::string ShareText(double share, const TableStyle& style);

// The same of the share of the time for which a number stands, rounded down so that only the whole is "100 %". "?" if
// it is unknown (NaN).
std::string CoverageText(double coverage, const TableStyle& style);

// How far from an estimate the truth may be: half of a 95 % interval, cut to the bounds: "±5" or, where a bound cuts
// one side, "-5/+3". Empty if the error is unknown. `upper` is 2^64 - 1 if there is no bound.
struct EstimateRange {
  uint64_t value = 0;
  uint64_t standard_error = 0;
  uint64_t lower = 0;
  uint64_t upper = UINT64_MAX;
};
std::string ErrorText(const EstimateRange& range, const TableStyle& style);

// The text of a number that is an estimate: "~42". Unchanged if it is empty or if the style is raw.
std::string EstimateText(std::string text, const TableStyle& style);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_NUMBER_TEXT_H_
