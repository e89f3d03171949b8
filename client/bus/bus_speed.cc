// SPDX-License-Identifier: Apache-2.0
#include "client/bus/bus_speed.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace sideband::client {

absl::StatusOr<uint32_t> ParseBusSpeed(absl::string_view text) {
  absl::string_view digits = text;
  uint64_t factor = 1;
  if (absl::ConsumeSuffix(&digits, "k")) factor = 1'000;
  if (factor == 1 && absl::ConsumeSuffix(&digits, "M")) factor = 1'000'000;
  uint64_t number = 0;
  if (!absl::SimpleAtoi(digits, &number) || number > kBusHzMax || number * factor < kBusHzMin ||
      number * factor > kBusHzMax) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is no bus speed from 1k to 10M, such as 100k"));
  }
  return static_cast<uint32_t>(number * factor);
}

}  // namespace sideband::client
