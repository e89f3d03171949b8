// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/spare_buffer.h"

#include <utility>

namespace sideband::daemon {

std::shared_ptr<TextBuffer> SpareBuffer::Lend(const std::shared_ptr<SpareBuffer>& spare) {
  return {spare->Take().release(), [spare](TextBuffer* read) { spare->GiveBack(std::unique_ptr<TextBuffer>(read)); }};
}

std::unique_ptr<TextBuffer> SpareBuffer::Take() {
  absl::MutexLock lock(&mu_);
  return kept_ == nullptr ? std::make_unique<TextBuffer>() : std::move(kept_);
}

void SpareBuffer::GiveBack(std::unique_ptr<TextBuffer> buffer) {
  buffer->Clear();
  absl::MutexLock lock(&mu_);
  if (kept_ == nullptr) kept_.swap(buffer);  // a surplus buffer is freed after the lock is released
}

}  // namespace sideband::daemon
