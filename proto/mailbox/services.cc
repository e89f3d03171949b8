// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/services.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::mailbox {
namespace {

constexpr uint8_t kLaterLost = 1 << 0, kTextTruncated = 1 << 1;
constexpr size_t kDwordBytes = 4;

std::string Printable(ByteSpan bytes) {
  std::string text;
  for (const uint8_t byte : bytes) {
    if (byte == 0) break;
    text += byte >= ' ' && byte <= '~' ? static_cast<char>(byte) : '?';
  }
  return text;
}

}  // namespace

Bytes DriverEvent::Encode() const {
  const std::string kept = text.substr(0, std::min(text.find('\0'), kTextBytesMax - 1));
  const size_t text_bytes = (kept.size() + 1 + kDwordBytes - 1) / kDwordBytes * kDwordBytes;
  const bool is_cut = text_truncated || kept.size() < text.size();
  ByteWriter out;
  out.U8(static_cast<uint8_t>((kHeaderBytes + text_bytes) / kDwordBytes));
  out.U8(static_cast<uint8_t>(xid));
  out.U8(static_cast<uint8_t>((later_lost ? kLaterLost : 0) | (is_cut ? kTextTruncated : 0)));
  out.U8(static_cast<uint8_t>(xid >> 8));
  out.U32(sequence);
  out.U32(time_s);
  Bytes bytes = std::move(out).Take();
  bytes.insert(bytes.end(), kept.begin(), kept.end());
  bytes.resize(kHeaderBytes + text_bytes);
  return bytes;
}

absl::StatusOr<DriverEvent> DriverEvent::Decode(ByteSpan bytes) {
  if (bytes.size() < kHeaderBytes) return absl::InvalidArgumentError("a driver event is cut off in its header");
  const size_t size = bytes[0] * kDwordBytes;
  if (size < kHeaderBytes || size > kBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat("a driver event of ", size, " bytes"));
  }
  if (size > bytes.size()) return absl::InvalidArgumentError("a driver event is cut off in its text");
  ByteReader in(bytes.first(size));
  DriverEvent event;
  in.U8();
  const uint8_t xid_low = in.U8(), flags = in.U8(), xid_high = in.U8();
  event.xid = static_cast<uint16_t>(xid_low | xid_high << 8);
  event.later_lost = (flags & kLaterLost) != 0;
  event.text_truncated = (flags & kTextTruncated) != 0;
  event.sequence = in.U32();
  event.time_s = in.U32();
  event.text = Printable(bytes.first(size).subspan(kHeaderBytes));
  return event;
}

}  // namespace sideband::mailbox
