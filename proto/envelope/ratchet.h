// SPDX-License-Identifier: Apache-2.0
//
// The secrets of an exchange's epochs. Each is made from the one before, which is then wiped: who takes the newest one
// cannot open the records of earlier epochs. Both ends go forward by themselves, so that a new epoch needs no message.
//   Ratchet ratchet(std::move(exchange_secret));          // epoch 0
//   SIDEBAND_RETURN_IF_ERROR(ratchet.AdvanceTo(ratchet.epoch() + 1));
//   SIDEBAND_ASSIGN_OR_RETURN(const SessionKeys keys, SessionKeys::Derive(ratchet.secret(), scope));
#ifndef SIDEBAND_PROTO_ENVELOPE_RATCHET_H_
#define SIDEBAND_PROTO_ENVELOPE_RATCHET_H_

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "proto/envelope/secret.h"

namespace sideband::envelope {

// Epochs of one exchange. They last for seven years if one begins every hour.
inline constexpr uint64_t kExchangeEpochsMax = 1 << 16;

// Thread-compatible and movable.
class Ratchet {
 public:
  // `secret` is that of `epoch`.
  explicit Ratchet(Secret secret, uint64_t epoch = 0) : secret_(std::move(secret)), epoch_(epoch) {}
  Ratchet Clone() const { return Ratchet(secret_.Clone(), epoch_); }

  uint64_t epoch() const { return epoch_; }
  const Secret& secret() const { return secret_; }
  // OUT_OF_RANGE for an earlier epoch, and from kExchangeEpochsMax on; INTERNAL if OpenSSL fails. Nothing has then
  // changed.
  absl::Status AdvanceTo(uint64_t epoch);

 private:
  Secret secret_;
  uint64_t epoch_;
};

}  // namespace sideband::envelope

#endif  // SIDEBAND_PROTO_ENVELOPE_RATCHET_H_
