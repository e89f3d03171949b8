// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/fair_share.h"

#include "daemon/base/retry_after.h"

namespace sideband::daemon {

absl::Duration FairShare::Take(Charge& charge, absl::Duration now) {
  absl::erase_if(parts_, [&](const auto& entry) { return entry.second.kept_until < now; });
  Part& part = parts_[charge.asker];
  charge.part = charge.of / static_cast<double>(parts_.size());
  absl::Duration wait = part.share.Take(charge.part, charge.cost, now);
  if (wait == absl::ZeroDuration()) {
    wait = whole_.Take(charge.of, charge.cost, now);
    if (wait > absl::ZeroDuration()) part.share.Settle(charge.part, charge.cost, absl::ZeroDuration());
  }
  part.kept_until = now + wait + kPartKept;
  return wait;
}

void FairShare::Settle(const Charge& charge, absl::Duration actual) {
  whole_.Settle(charge.of, charge.cost, actual);
  const auto part = parts_.find(charge.asker);
  if (part != parts_.end()) part->second.share.Settle(charge.part, charge.cost, actual);
}

absl::Status Exhausted(absl::string_view what, absl::Duration wait) {
  return WithRetryAfter(absl::ResourceExhaustedError(what), absl::Ceil(wait, absl::Seconds(1)));
}

}  // namespace sideband::daemon
