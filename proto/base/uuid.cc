// SPDX-License-Identifier: Apache-2.0
#include "proto/base/uuid.h"

#include <charconv>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace sideband {
namespace {

constexpr size_t kTextSize = 36;
constexpr size_t kDashes[] = {8, 13, 18, 23};

bool IsDash(size_t position) {
  for (const size_t dash : kDashes) {
    if (position == dash) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<Uuid> Uuid::Parse(absl::string_view text) {
  const auto error = [&] { return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not a UUID")); };
  if (text.size() != kTextSize) return error();
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i) {
    if (IsDash(i) ? text[i] != '-' : !absl::ascii_isxdigit(static_cast<unsigned char>(text[i]))) return error();
    if (!IsDash(i)) digits.push_back(text[i]);
  }
  Uuid uuid;
  const char* next = digits.data();
  for (uint8_t& byte : uuid.bytes) next = std::from_chars(next, next + 2, byte, 16).ptr;
  return uuid;
}

std::string Uuid::ToString() const {
  std::string text =
      absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  for (const size_t dash : kDashes) text.insert(dash, 1, '-');
  return text;
}

}  // namespace sideband
