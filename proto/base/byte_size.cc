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

absl::StatusOr<uint64_t> ParseByteSize(absl::string_view text) {
  constexpr std::pair<const char*, int> kUnits[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
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
  if (is_number && absl::SimpleAtoi(digits, &number) && number <= std::numeric_limits<uint64_t>::max() >> shift) {
    return number << shift;
  }
  return absl::InvalidArgumentError(absl::StrCat("'", text, "' is no number of bytes, such as 512KiB or 16MiB"));
}

}  // namespace sideband
