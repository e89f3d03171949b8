// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "absl/status/status.h"
#include "proto/base/bytes.h"
#include "proto/base/secret_memory.h"
#include "proto/base/status_macros.h"
#include "proto/base/uuid.h"
#include "proto/envelope/counts.h"
#include "proto/envelope/hpke.h"
#include "proto/envelope/keys.h"
#include "proto/envelope/open.h"
#include "proto/envelope/primitives.h"
#include "proto/envelope/record.h"
#include "proto/envelope/seal.h"
#include "proto/envelope/secret.h"
#include "proto/envelope/secret_access.h"

namespace sideband::envelope {
namespace {

absl::Status UsePrimitives(ByteSpan salt, const Secret& key_material, ByteSpan info) {
  //@ proto/envelope/primitives.h
  return absl::OkStatus();
}

absl::Status UseKeys(const RecordHeader& header) {
  //@ proto/envelope/keys.h
  return absl::OkStatus();
}

absl::Status UseRecord(const Bytes& bytes, const Uuid& vm) {
  //@ proto/envelope/record.h
  return absl::OkStatus();
}

absl::Status UseSeal(const SessionKeys& keys, const RecordHeader& header, const Bytes& content) {
  //@ proto/envelope/seal.h
  return absl::OkStatus();
}

bool UseSecret(Bytes bytes, const Secret& expected) {
  //@ proto/envelope/secret.h
  return false;
}

void Use(const CountsRow& row, std::span<const uint64_t> counts);

absl::Status UseCounts(const Bytes& content) {
  //@ proto/envelope/counts.h
  return absl::OkStatus();
}

absl::Status UseOpen(const SessionKeys& keys, ByteSpan record) {
  //@ proto/envelope/open.h
  return absl::OkStatus();
}

void Send(const PublicKey& enc);

absl::Status UseHpke(const PublicKey& public_key_of_guest, const PublicKey& enc, const KeyPair& own,
                     const Bytes& info) {
  //@ proto/envelope/hpke.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::envelope
