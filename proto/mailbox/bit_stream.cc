// SPDX-License-Identifier: Apache-2.0
#include "proto/mailbox/bit_stream.h"

#include <algorithm>

namespace sideband::mailbox {

void BitWriter::Bits(uint64_t value, uint32_t width) {
  for (uint32_t done = 0; done < width;) {
    const uint32_t offset = size_ % 8;
    if (offset == 0) bytes_.push_back(0);
    const uint32_t taken = std::min(width - done, 8 - offset);
    const uint64_t part = value >> done & ((uint64_t{1} << taken) - 1);
    bytes_.back() |= static_cast<uint8_t>(part << offset);
    done += taken;
    size_ += taken;
  }
}

void BitWriter::Width(uint32_t width) {
  Bit(width != 0);
  if (width != 0) Bits(width - 1, 6);
}

void BitWriter::Number(uint64_t value) {
  const auto width = static_cast<uint32_t>(std::bit_width(value));
  Width(width);
  Bits(value, width);
}

uint64_t BitReader::Bits(uint32_t width) {
  // Beyond the end all bits are 0: a decoder reads on within its bounds and checks ok() once.
  if (remaining() < width) ok_ = false;
  if (!ok_) return 0;
  uint64_t value = 0;
  for (uint32_t done = 0; done < width;) {
    const uint32_t offset = at_ % 8;
    const uint32_t taken = std::min(width - done, 8 - offset);
    const uint64_t part = bytes_[at_ / 8] >> offset & ((1u << taken) - 1);
    value |= part << done;
    done += taken;
    at_ += taken;
  }
  return value;
}

uint32_t BitReader::Width() { return Bit() ? static_cast<uint32_t>(Bits(6)) + 1 : 0; }

bool BitReader::AtEnd() {
  const size_t filling = remaining();
  // Only zeros may fill the last byte, so that each content has one encoding.
  return filling < 8 && Bits(static_cast<uint32_t>(filling)) == 0 && ok_;
}

}  // namespace sideband::mailbox
