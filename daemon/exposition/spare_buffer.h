// SPDX-License-Identifier: Apache-2.0
//
// Lends text buffers, which return when their last reader releases them, so that a large body does not allocate new
// memory at every snapshot.
//   auto spare = std::make_shared<SpareBuffer>();
//   std::shared_ptr<TextBuffer> buffer = SpareBuffer::Lend(spare);
#ifndef SIDEBAND_DAEMON_EXPOSITION_SPARE_BUFFER_H_
#define SIDEBAND_DAEMON_EXPOSITION_SPARE_BUFFER_H_

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "daemon/exposition/text_buffer.h"

namespace sideband::daemon {

// Thread-safe. Keeps one buffer; further returned buffers are freed.
class SpareBuffer {
 public:
  // Returns an empty buffer. It keeps `spare` alive until it is returned.
  static std::shared_ptr<TextBuffer> Lend(const std::shared_ptr<SpareBuffer>& spare);

 private:
  std::unique_ptr<TextBuffer> Take() ABSL_LOCKS_EXCLUDED(mu_);
  void GiveBack(std::unique_ptr<TextBuffer> buffer) ABSL_LOCKS_EXCLUDED(mu_);

  absl::Mutex mu_;
  std::unique_ptr<TextBuffer> kept_ ABSL_GUARDED_BY(mu_);  // nullptr while it is lent
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_SPARE_BUFFER_H_
