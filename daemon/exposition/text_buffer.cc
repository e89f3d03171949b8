// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/text_buffer.h"

#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

namespace sideband::daemon {
namespace {

// The fastest level. Label texts repeat so much that higher levels save a fifth of the bytes for several times the time
// (`./dev bench`, "gzip").
constexpr int kLevel = 1;

// Magic number, deflate, no flags, no time, "fastest", unknown system.
constexpr absl::string_view kMemberHeader("\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xff", 10);

using CompressorPtr = std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)>;

// Compresses to non-final blocks that end on a byte boundary, so that another stream can follow. Uses zlib, since
// libdeflate produces complete streams only.
std::string DeflateOpenEnded(absl::string_view text) {
  if (text.empty()) return "";
  z_stream stream = {};
  // A negative window makes a raw stream: header and trailer of the member are written by GzipOf().
  deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY);
  constexpr size_t kFlushBytes = 16;  // bytes that a flush adds to the bound
  std::string out(deflateBound(&stream, text.size()) + kFlushBytes, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // zlib's API lacks const
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_SYNC_FLUSH);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

void AppendLittleEndian(std::string& out, uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift);
}

}  // namespace

void TextBuffer::Append(absl::string_view text) { Commit(Put(Reserve(text.size()), text)); }

char* TextBuffer::Reserve(size_t bytes) {
  if (capacity_ - size_ < bytes) {
    capacity_ = std::max(size_ + bytes, capacity_ + capacity_ / 2);
    std::unique_ptr<char[]> larger(new char[capacity_]);
    if (size_ > 0) std::memcpy(larger.get(), data_.get(), size_);
    data_ = std::move(larger);
  }
  return data_.get() + size_;
}

char* Put(char* at, absl::string_view text) {
  if (!text.empty()) std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

char* Put(char* at, uint64_t value) { return std::to_chars(at, at + kNumberCharactersMax, value).ptr; }

char* PutShare(char* at, double value) {
  constexpr uint64_t kOne = 1'000'000'000;
  const auto billionths = static_cast<uint64_t>(std::llround(value * kOne));
  *at++ = billionths >= kOne ? '1' : '0';
  uint64_t rest = billionths % kOne;
  if (rest != 0) *at++ = '.';
  for (uint64_t place = kOne / 10; rest != 0; rest %= place, place /= 10) {
    *at++ = static_cast<char>('0' + rest / place);
  }
  return at;
}

Deflated Deflate(absl::string_view text) {
  // The compressor's tables are large and its use is short: one instance per thread.
  thread_local const CompressorPtr compressor(libdeflate_alloc_compressor(kLevel), libdeflate_free_compressor);
  Deflated out{.crc32 = libdeflate_crc32(0, text.data(), text.size()), .text_bytes = text.size()};
  const size_t bound = libdeflate_deflate_compress_bound(compressor.get(), text.size());
  char* const at = out.bytes.Reserve(bound);
  out.bytes.Commit(at + libdeflate_deflate_compress(compressor.get(), text.data(), text.size(), at, bound));
  return out;
}

Body GzipOf(absl::string_view head, std::shared_ptr<const Deflated> rest) {
  Body body;
  body.head = std::string(kMemberHeader) + DeflateOpenEnded(head);
  body.shared = rest->bytes.text();
  const uint32_t head_crc = libdeflate_crc32(0, head.data(), head.size());
  // The checksum of the whole follows from those of its parts: the shared text is not read again.
  const auto crc = crc32_combine(head_crc, rest->crc32, static_cast<z_off_t>(rest->text_bytes));
  AppendLittleEndian(body.tail, static_cast<uint32_t>(crc));
  // ISIZE is the length modulo 2^32 (RFC 1952, section 2.3.1).
  AppendLittleEndian(body.tail, static_cast<uint32_t>(head.size() + rest->text_bytes));
  body.owner = std::move(rest);
  return body;
}

}  // namespace sideband::daemon
