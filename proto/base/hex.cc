// SPDX-License-Identifier: Apache-2.0
#include "proto/base/hex.h"

#include <charconv>

namespace sideband {

std::optional<Bytes> ParseHex(absl::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  Bytes bytes(digits.size() / 2);
  const char* next = digits.data();
  for (uint8_t& byte : bytes) {
    const auto [end, error] = std::from_chars(next, next + 2, byte, 16);
    if (error != std::errc() || end != next + 2) return std::nullopt;
    next = end;
  }
  return bytes;
}

}  // namespace sideband
