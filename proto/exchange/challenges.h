// SPDX-License-Identifier: Apache-2.0
//
// The challenges of exchanges that have begun and not ended. Each is for one VM and one request, and expires; their
// number and rate are bounded, so that a flood neither grows the memory nor keeps the processor busy.
//   Challenges challenges({});
//   SIDEBAND_ASSIGN_OR_RETURN(const Challenge challenge, challenges.Draw(vm, now));
//   if (!challenges.Take(vm, request.challenge, now)) return Refused();
#ifndef SIDEBAND_PROTO_EXCHANGE_CHALLENGES_H_
#define SIDEBAND_PROTO_EXCHANGE_CHALLENGES_H_

#include <cstddef>
#include <deque>
#include <map>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/base/uuid.h"
#include "proto/exchange/request.h"

namespace sideband::exchange {

// Not thread-safe.
class Challenges {
 public:
  struct Limits {
    absl::Duration lifetime = absl::Minutes(1);
    size_t open_per_vm = 4;              // the oldest one ends when another is drawn
    size_t drawn_per_lifetime_max = 64;  // of a VM, those that were taken or pushed out included
  };
  explicit Challenges(const Limits& limits) : limits_(limits) {}

  // `now` is any clock that does not go back. RESOURCE_EXHAUSTED: too many of the VM in too short a time. INTERNAL: the
  // system has no random numbers.
  absl::StatusOr<Challenge> Draw(const Uuid& vm, absl::Duration now);
  // Whether it is an open one of the VM, which it then is no longer.
  bool Take(const Uuid& vm, const Challenge& challenge, absl::Duration now);
  // The VM is gone.
  void Drop(const Uuid& vm) { vms_.erase(vm); }

 private:
  struct Open {
    Challenge challenge;
    absl::Duration drawn;
  };
  struct OfVm {
    std::deque<Open> open;
    std::deque<absl::Duration> drawn;  // within the last lifetime
  };

  void Expire(OfVm& vm, absl::Duration now) const;

  const Limits limits_;
  std::map<Uuid, OfVm> vms_;
};

}  // namespace sideband::exchange

#endif  // SIDEBAND_PROTO_EXCHANGE_CHALLENGES_H_
