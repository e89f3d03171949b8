// SPDX-License-Identifier: Apache-2.0
#include "proto/base/visible.h"

#include <cstdint>

#include "absl/strings/str_format.h"

namespace sideband {
namespace {

// U+0080 to U+009F are 0xC2 and a byte of their own value.
constexpr uint8_t kLatin1Lead = 0xC2;

bool IsControl(uint8_t byte) { return byte < 0x20 || byte == 0x7F; }
bool IsLatin1Control(uint8_t lead, uint8_t byte) { return lead == kLatin1Lead && byte >= 0x80 && byte < 0xA0; }

}  // namespace

std::string Visible(absl::string_view text) {
  std::string visible;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    const auto next = static_cast<uint8_t>(i + 1 < text.size() ? text[i + 1] : 0);
    if (IsControl(byte)) {
      absl::StrAppendFormat(&visible, "\\x%02x", byte);
    } else if (IsLatin1Control(byte, next)) {
      absl::StrAppendFormat(&visible, "\\x%02x\\x%02x", byte, next);
      ++i;
    } else {
      visible += text[i];
    }
  }
  return visible;
}

}  // namespace sideband
