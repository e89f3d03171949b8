// SPDX-License-Identifier: Apache-2.0
//
// Builds one gzip member (RFC 1952) from a short text, new in each response, and a long text, shared by many responses.
// The long text is compressed once.
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

// A raw deflate stream (RFC 1951) including its final block, and the values needed for a member's trailer.
struct Deflated {
  TextBuffer bytes;
  uint32_t crc32 = 0;  // of the uncompressed text
  size_t text_bytes = 0;
};

Deflated Deflate(absl::string_view text);

// Compresses `head` and shares `rest`. The two are compressed independently: the compressed length of one reveals
// nothing about the other.
Body GzipOf(absl::string_view head, std::shared_ptr<const Deflated> rest);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_GZIP_H_
