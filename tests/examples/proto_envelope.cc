// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "absl/status/status.h"
#include "proto/base/bytes.h"
#include "proto/base/secret_memory.h"
#include "proto/base/status_macros.h"
#include "proto/base/uuid.h"
#include "proto/envelope/counts.h"
#include "proto/envelope/hkdf.h"
#include "proto/envelope/keys.h"
#include "proto/envelope/open.h"
#include "proto/envelope/ratchet.h"
#include "proto/envelope/record.h"
#include "proto/envelope/seal.h"
#include "proto/envelope/sealed_view.h"
#include "proto/envelope/secret.h"
#include "proto/envelope/secret_access.h"
#include "proto/envelope/secret_process.h"

namespace sideband::envelope {
namespace {

absl::Status UseHkdf(ByteSpan salt, const Secret& key_material, ByteSpan info) {
  //@ proto/envelope/hkdf.h
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

absl::Status UseRatchet(Secret exchange_secret, const KeyScope& scope) {
  //@ proto/envelope/ratchet.h
  return absl::OkStatus();
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

absl::Status UseSealedView(ByteSpan record) {
  //@ proto/envelope/sealed_view.h
  return absl::OkStatus();
}

void UseSecretProcess() {
  //@ proto/envelope/secret_process.h
}

}  // namespace
}  // namespace sideband::envelope
