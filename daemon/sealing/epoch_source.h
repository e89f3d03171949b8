// SPDX-License-Identifier: Apache-2.0
//
// Numbers for new session keys. A number is never repeated in a process and differs from those of earlier processes.
//   SystemClock clock;
//   EpochSource epochs(clock, SystemRandom16);
//   SIDEBAND_ASSIGN_OR_RETURN(const uint64_t epoch, epochs.Next());
#ifndef SIDEBAND_DAEMON_SEALING_EPOCH_SOURCE_H_
#define SIDEBAND_DAEMON_SEALING_EPOCH_SOURCE_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "daemon/base/clock.h"

namespace sideband::daemon {

// 16 bits from the system's random generator; INTERNAL if it fails.
absl::StatusOr<uint16_t> SystemRandom16();

// An epoch is the number of milliseconds since 1970, shifted left by 16, combined with 16 random bits. The time makes
// it greater than the epochs of earlier processes. The random bits distinguish two processes in the same millisecond.
// Within one process every epoch is greater than the one before, even if the host's clock is set back. Thread-safe. The
// clock must outlive this object.
class EpochSource {
 public:
  using Random16 = std::function<absl::StatusOr<uint16_t>()>;

  EpochSource(const Clock& clock, Random16 random) : clock_(clock), random_(std::move(random)) {}

  // FAILED_PRECONDITION if the host's clock shows a time before 1970; otherwise the random generator's error.
  absl::StatusOr<uint64_t> Next() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // Constant after construction.
  const Clock& clock_;
  const Random16 random_;
  absl::Mutex mu_;
  uint64_t last_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_SEALING_EPOCH_SOURCE_H_
