// SPDX-License-Identifier: Apache-2.0
//
// One gzip member (RFC 1952) of a short text that is new in every answer and a long one that many answers share: the
// long one is compressed once.
//   auto rest = std::make_shared<const Deflated>(Deflate(text));
//   Body body = GzipOf(ages, rest);   // decompresses to ages + text
#ifndef SIDEBAND_DAEMON_EXPOSITION_GZIP_H_
#define SIDEBAND_DAEMON_EXPOSITION_GZIP_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"
#include "daemon/base/body.h"
#include "daemon/exposition/text_buffer.h"

namespace sideband::daemon {

// Raw deflate (RFC 1951) with its last block marked as such, and what the trailer of a member needs to know.
struct Deflated {
  TextBuffer bytes;
  uint32_t crc32 = 0;  // of the text
  size_t text_bytes = 0;
};

Deflated Deflate(absl::string_view text);

// The answer shares `rest` and compresses `head` alone. The two have nothing in common for the compressor: no byte of
// one says anything about the other.
Body GzipOf(absl::string_view head, std::shared_ptr<const Deflated> rest);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_GZIP_H_
