// SPDX-License-Identifier: Apache-2.0
#include "sim/riscv/code_cache.h"

#include <algorithm>

#include "sim/riscv/decoder.h"

namespace sideband::riscv {

void CodeCache::DecodeAt(size_t index) {
  instructions_[index] = Decode(memory_.At<uint32_t>(4 * index));
  begin_ = begin_ == end_ ? index : std::min(begin_, index);
  end_ = std::max(end_, index + 1);
}

void CodeCache::Clear() {
  std::fill(instructions_.data() + begin_, instructions_.data() + end_, Instruction{});
  begin_ = end_ = 0;
}

}  // namespace sideband::riscv
