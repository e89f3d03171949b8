// SPDX-License-Identifier: Apache-2.0
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/hpke/hpke.h"
#include "proto/hpke/x25519.h"

namespace sideband::hpke {
namespace {

absl::Status UseX25519(const PublicKey& public_key_of_peer) {
  //@ proto/hpke/x25519.h
  return absl::OkStatus();
}

void Send(const PublicKey& enc);

absl::Status UseHpke(const PublicKey& public_key_of_guest, const PublicKey& enc, const KeyPair& own,
                     const Bytes& info) {
  //@ proto/hpke/hpke.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::hpke
