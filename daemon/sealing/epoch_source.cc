// SPDX-License-Identifier: Apache-2.0
#include "daemon/sealing/epoch_source.h"

#include <openssl/rand.h>

#include <algorithm>

#include "proto/base/status_macros.h"

namespace sideband::daemon {

absl::StatusOr<uint16_t> SystemRandom16() {
  unsigned char bytes[2];
  if (RAND_bytes(bytes, sizeof(bytes)) != 1) return absl::InternalError("the system returned no random bytes");
  return static_cast<uint16_t>(bytes[0] | bytes[1] << 8);
}

absl::StatusOr<uint64_t> EpochSource::Next() {
  const int64_t milliseconds = absl::ToUnixMillis(clock_.Now());
  if (milliseconds < 0)
    return absl::FailedPreconditionError("the host's clock is before 1970: no key epoch can be made");
  SIDEBAND_ASSIGN_OR_RETURN(const uint16_t random, random_());
  // The time fits in the upper 48 bits until the year 10889.
  const uint64_t drawn = static_cast<uint64_t>(milliseconds) << 16 | random;
  absl::MutexLock lock(&mu_);
  // The clock may stand still or go back between two calls.
  last_ = std::max(drawn, last_ + 1);
  return last_;
}

}  // namespace sideband::daemon
