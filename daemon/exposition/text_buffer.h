// SPDX-License-Identifier: Apache-2.0
//
// The output buffer of an exposition, its compression, and the body of a response. Unlike with a string, memory is
// reserved once per family and then filled without a check per piece, and no byte is initialised before it is written.
// The middle part of a body may be shared by many responses and is never copied.
//   TextBuffer out;
//   char* at = out.Reserve(family_bytes_max);
//   at = Put(at, "sideband_vm_cycles_total");
//   out.Commit(at);
//   Body body = Body::Of("not found\n");
//   Body scrape{.head = ages, .shared = text->text(), .owner = text};
#ifndef SIDEBAND_DAEMON_EXPOSITION_TEXT_BUFFER_H_
#define SIDEBAND_DAEMON_EXPOSITION_TEXT_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace sideband::daemon {

// The bytes of a response.
struct Body {
  std::string head;
  absl::string_view shared;
  std::shared_ptr<const void> owner;  // keeps the memory of `shared` alive
  std::string tail;

  static Body Of(std::string text) { return {.head = std::move(text)}; }
  size_t size() const { return head.size() + shared.size() + tail.size(); }
  std::string ToString() const { return absl::StrCat(head, shared, tail); }
};

// Not thread-safe.
class TextBuffer {
 public:
  absl::string_view text() const { return {data_.get(), size_}; }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  // Keeps the memory.
  void Clear() { size_ = 0; }
  void Truncate(size_t size) { size_ = size; }

  void Append(absl::string_view text);
  // Returns the end of the text, followed by at least `bytes` bytes of memory. Valid until the next call of a non-const
  // method.
  char* Reserve(size_t bytes);
  // Extends the text up to `end`, which lies in the memory returned by Reserve().
  void Commit(const char* end) { size_ = static_cast<size_t>(end - data_.get()); }

 private:
  std::unique_ptr<char[]> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

// Copies `text` to `at` and returns the end of the copy. The caller has reserved the memory.
char* Put(char* at, absl::string_view text);
// Writes the number in decimal, at most kNumberCharactersMax characters.
char* Put(char* at, uint64_t value);
inline constexpr size_t kNumberCharactersMax = 20;
// Writes a number from 0 to 1, rounded to nine decimals, without trailing zeros: at most 11 characters.
char* PutShare(char* at, double value);

// A raw deflate stream (RFC 1951) including its final block, and the values needed for a member's trailer.
struct Deflated {
  TextBuffer bytes;
  uint32_t crc32 = 0;  // of the uncompressed text
  size_t text_bytes = 0;
};

Deflated Deflate(absl::string_view text);

// One gzip member (RFC 1952) of a short text, new in each response, and a long text, which many responses share and
// which is compressed once.
//
// Compresses `head` and shares `rest`. The two are compressed independently: the compressed length of one reveals
// nothing about the other.
Body GzipOf(absl::string_view head, std::shared_ptr<const Deflated> rest);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_TEXT_BUFFER_H_
