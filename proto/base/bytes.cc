// SPDX-License-Identifier: Apache-2.0
#include "proto/base/bytes.h"

#include <algorithm>
#include <boost/crc.hpp>
#include <charconv>

namespace sideband {

void ByteWriter::Little(uint64_t value, int width) {
  for (int i = 0; i < width; ++i) bytes_.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

void ByteWriter::String(const std::string& text) {
  const size_t size = std::min<size_t>(text.size(), 255);
  U8(static_cast<uint8_t>(size));
  Raw(AsBytes(text).first(size));
}

void ByteWriter::PatchU32(size_t offset, uint32_t value) {
  for (size_t i = 0; i < 4; ++i) bytes_.at(offset + i) = static_cast<uint8_t>(value >> (8 * i));
}

uint64_t ByteReader::Little(size_t width) {
  uint64_t value = 0;
  const ByteSpan field = Raw(width);
  for (size_t i = 0; i < field.size(); ++i) value |= uint64_t{field[i]} << (8 * i);
  return value;
}

ByteSpan ByteReader::Raw(size_t size) {
  if (size > bytes_.size()) {
    // Without the remaining bytes all later reads fail, too.
    ok_ = false;
    bytes_ = {};
    return {};
  }
  const ByteSpan field = bytes_.first(size);
  bytes_ = bytes_.subspan(size);
  return field;
}

std::string ByteReader::String() {
  const ByteSpan text = Raw(U8());
  return std::string(text.begin(), text.end());
}

uint32_t Crc32c(ByteSpan bytes) {
  // Castagnoli's polynomial, bits reflected: the CRC of iSCSI (RFC 3720).
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

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
