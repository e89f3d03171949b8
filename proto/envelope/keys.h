// SPDX-License-Identifier: Apache-2.0
//
// The keys of sealed records (README.md, "Keys"): a VM's static key, the secrets of an exchange's epochs, and the key
// of a session, which is derived from either and seals single records. The sealer (daemon/sealing, secure_mcu/sealing)
// chooses the sequence. A record is opened elsewhere (open.h).
//   SIDEBAND_ASSIGN_OR_RETURN(const Secret static_key, LoadStaticKey("vm0.key"));
//   SIDEBAND_ASSIGN_OR_RETURN(const SessionKeys keys, SessionKeys::Derive(static_key, KeyScope::Of(header)));
//   SIDEBAND_ASSIGN_OR_RETURN(const Bytes record, SealRecord(keys, header, content));
#ifndef SIDEBAND_PROTO_ENVELOPE_KEYS_H_
#define SIDEBAND_PROTO_ENVELOPE_KEYS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/bytes.h"
#include "proto/base/uuid.h"
#include "proto/envelope/hpke.h"
#include "proto/envelope/record.h"
#include "proto/envelope/secret.h"

namespace sideband::envelope {

inline constexpr size_t kStaticKeyBytes = 32;

// Reads a key file: 32 raw bytes, or 64 hexadecimal digits with or without a line break after them. The file must be a
// regular file without access for other users (its group may read it), in a folder where other users cannot replace it.
// Errors start with the path (NOT_FOUND, PERMISSION_DENIED, INVALID_ARGUMENT) and never contain file content.
absl::StatusOr<Secret> LoadStaticKey(const std::string& path);

// The inputs of the derivation. A change of any member results in another key.
struct KeyScope {
  uint8_t suite = kSuiteStatic;
  uint64_t epoch = 0;
  uint64_t boot_id = 0;
  Uuid device;
  Uuid vm;
  uint32_t generation = 0;
  std::optional<GuestNonce> guest_nonce = std::nullopt;  // in records of version 2

  static KeyScope Of(const RecordHeader& header);
  bool operator==(const KeyScope&) const = default;
};

// The key and base nonce of one session. Immutable and movable.
class SessionKeys {
 public:
  // From a static key, or of suite 2 from the secret of the scope's epoch (Ratchet). INVALID_ARGUMENT if its size is
  // not kStaticKeyBytes.
  static absl::StatusOr<SessionKeys> Derive(const Secret& secret, const KeyScope& scope);

  const KeyScope& scope() const { return scope_; }
  const Secret& key() const { return key_; }
  // The base nonce xor the sequence as a 96-bit big-endian number: unique for every sequence.
  AeadNonce NonceFor(uint64_t sequence) const;

 private:
  SessionKeys(KeyScope scope, Secret key, Secret base_nonce)
      : scope_(scope), key_(std::move(key)), base_nonce_(std::move(base_nonce)) {}

  KeyScope scope_;
  Secret key_;
  Secret base_nonce_;
};

// Epochs of one exchange. They last for seven years if one begins every hour.
inline constexpr uint64_t kExchangeEpochsMax = 1 << 16;

// The secrets of an exchange's epochs. Each is made from the one before, which is then wiped: a thief of the newest one
// cannot open the records of earlier epochs. Both ends go forward by themselves, so that a new epoch needs no message.
//   Ratchet ratchet(std::move(exchange_secret));          // epoch 0
//   SIDEBAND_RETURN_IF_ERROR(ratchet.AdvanceTo(ratchet.epoch() + 1));
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

// The caller must use a sequence only once under `keys`. INVALID_ARGUMENT if the header is not of the keys' scope, or
// if its padded length is invalid or too small for the content. No copy of the content remains in memory.
absl::StatusOr<Bytes> SealRecord(const SessionKeys& keys, const RecordHeader& header, ByteSpan content);

}  // namespace sideband::envelope

#endif  // SIDEBAND_PROTO_ENVELOPE_KEYS_H_
