// SPDX-License-Identifier: Apache-2.0
#include "proto/exchange/challenges.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <algorithm>

namespace sideband::exchange {

void Challenges::Expire(OfVm& vm, absl::Duration now) const {
  const auto is_past = [&](absl::Duration drawn) { return now - drawn > limits_.lifetime; };
  while (!vm.open.empty() && is_past(vm.open.front().drawn)) vm.open.pop_front();
  while (!vm.drawn.empty() && is_past(vm.drawn.front())) vm.drawn.pop_front();
}

absl::StatusOr<Challenge> Challenges::Draw(const Uuid& vm, absl::Duration now) {
  OfVm& of = vms_[vm];
  Expire(of, now);
  if (of.drawn.size() >= limits_.drawn_per_lifetime_max) {
    return absl::ResourceExhaustedError("too many exchanges of this VM's keys in too short a time");
  }
  Challenge challenge;
  if (RAND_bytes(challenge.data(), challenge.size()) != 1) {
    return absl::InternalError("the system returned no random bytes");
  }
  if (of.open.size() >= limits_.open_per_vm) of.open.pop_front();
  of.open.push_back({challenge, now});
  of.drawn.push_back(now);
  return challenge;
}

bool Challenges::Take(const Uuid& vm, const Challenge& challenge, absl::Duration now) {
  const auto found = vms_.find(vm);
  if (found == vms_.end()) return false;
  std::deque<Open>& open = found->second.open;
  Expire(found->second, now);
  const auto same = std::ranges::find_if(open, [&](const Open& one) {
    return CRYPTO_memcmp(one.challenge.data(), challenge.data(), challenge.size()) == 0;
  });
  if (same == open.end()) return false;
  open.erase(same);
  return true;
}

}  // namespace sideband::exchange
