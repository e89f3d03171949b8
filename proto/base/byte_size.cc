// SPDX-License-Identifier: Apache-2.0
#include "proto/base/byte_size.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace sideband {
namespace {

constexpr std::pair<const char*, int> kUnits[] = {{"GiB", 30}, {"MiB", 20}, {"KiB", 10}};

}  // namespace

absl::StatusOr<uint64_t> ParseByteSize(absl::string_view text) {
  absl::string_view digits = text;
  int shift = 0;
  for (const auto& [unit, bits] : kUnits) {
    if (absl::ConsumeSuffix(&digits, unit)) {
      shift = bits;
      break;
    }
  }
  uint64_t number = 0;
  const bool is_number = std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit);
  // The bound rejects numbers that overflow when multiplied by the unit.
  if (is_number && absl::SimpleAtoi(digits, &number) && number <= std::numeric_limits<uint64_t>::max() >> shift) {
    return number << shift;
  }
  return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not a number of bytes, such as 512KiB or 16MiB"));
}

std::string FormatByteSize(uint64_t bytes) {
  for (const auto& [unit, bits] : kUnits) {
    if (bytes != 0 && bytes % (uint64_t{1} << bits) == 0) return absl::StrCat(bytes >> bits, unit);
  }
  return absl::StrCat(bytes);
}

}  // namespace sideband
