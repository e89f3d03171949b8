// SPDX-License-Identifier: Apache-2.0
//
// The records of confidential VMs: their content, and the keys that were exchanged with guests and seal it. A VM has
// the keys of its newest exchange; for a while after it, its records are sealed for the exchange before as well.
//   VmKeys keys({.device = device, .boot_id = boot_id}, rules.rotation());
//   keys.Begin(vm, generation, std::move(done.secret), done.nonce, now);
//   SIDEBAND_ASSIGN_OR_RETURN(const std::vector<SealedNow> records, keys.Seal(vm, {.content = content}, now));
//   keys.KeepOnly(vms_of_the_catalogue);
// The content is the blocks of the VM and its contexts in a snapshot, with the events that a VM can have.
//   target.events = VmEventNames(catalog);    // of the exchange's statement
//   const SecretBytes counts = envelope::EncodeCounts(VmCounts(catalog, snapshot, number));
#ifndef SIDEBAND_PROTO_EXCHANGE_VM_RECORDS_H_
#define SIDEBAND_PROTO_EXCHANGE_VM_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/base/bytes.h"
#include "proto/base/uuid.h"
#include "proto/envelope/keys.h"
#include "proto/envelope/record.h"
#include "proto/envelope/secret.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::exchange {

// The records that one key may seal. NIST SP 800-38D sets the limit for random nonces; these are counted, and the limit
// is kept anyway.
inline constexpr uint64_t kRecordsPerKeyMax = uint64_t{1} << 32;

// When a VM's key is replaced by its next.
struct KeyRotation {
  absl::Duration every = absl::Hours(1);
  uint64_t records = uint64_t{1} << 20;     // at most kRecordsPerKeyMax
  absl::Duration grace = absl::Minutes(1);  // in which an exchange's records go on beside those of the next exchange
  bool operator==(const KeyRotation&) const = default;
};

// Seals the records of one VM for one exchange (proto/envelope/README.md), and changes the key by time and count.
// Invariant: (key, nonce) never repeats. The secret is of one exchange, whose ephemeral key was drawn for it alone; its
// epochs only go forward; within an epoch the sequence only increases, also after a failure. Nothing of it is stored,
// so a restart needs another exchange. Not thread-safe; `now` is any clock that does not go back.
class RecordSealer {
 public:
  struct Scope {
    Uuid device;
    uint64_t boot_id = 0;
    Uuid vm;
    uint32_t generation = 0;
    envelope::GuestNonce nonce{};
  };
  RecordSealer(const Scope& scope, envelope::Secret secret, const KeyRotation& rotation, absl::Duration now)
      : scope_(scope), ratchet_(std::move(secret)), rotation_(rotation), epoch_began_(now) {}

  const envelope::GuestNonce& nonce() const { return scope_.nonce; }
  uint64_t epoch() const { return ratchet_.epoch(); }
  uint64_t records() const { return records_; }
  double budget_used() const { return static_cast<double>(next_sequence_) / static_cast<double>(kRecordsPerKeyMax); }

  // One record with the next sequence, under the next epoch where that is due. Records never get shorter. OUT_OF_RANGE
  // for content above envelope::kContentBytesMax; RESOURCE_EXHAUSTED if no epochs are left.
  absl::StatusOr<Bytes> Seal(uint64_t reference_time_ns, ByteSpan content, absl::Duration now);
  // RESOURCE_EXHAUSTED if no epochs are left.
  absl::Status Rotate(absl::Duration now);

 private:
  bool IsDue(absl::Duration now) const;
  absl::Status EnsureKeys();

  const Scope scope_;
  envelope::Ratchet ratchet_;
  const KeyRotation rotation_;
  absl::Duration epoch_began_;
  std::optional<envelope::SessionKeys> keys_;  // of the epoch; none before its first record
  uint64_t next_sequence_ = 0;
  uint64_t records_ = 0;
  uint32_t padded_length_ = 0;
};

struct SealedNow {
  envelope::GuestNonce nonce{};  // of the exchange
  Bytes record;
};

struct KeyStatus {
  uint64_t epoch = 0;
  uint64_t records = 0;    // under all keys of the newest exchange
  double budget_used = 0;  // of the epoch's key, 0 to 1
};

// Not thread-safe. `now` is any clock that does not go back.
class VmKeys {
 public:
  struct Owner {
    Uuid device;
    uint64_t boot_id = 0;
  };
  VmKeys(const Owner& owner, const KeyRotation& rotation) : owner_(owner), rotation_(rotation) {}

  const Owner& owner() const { return owner_; }

  // Seals with an exchange's keys from the next record on. The keys of the exchange before end after the grace time.
  void Begin(const Uuid& vm, uint32_t generation, envelope::Secret secret, const envelope::GuestNonce& nonce,
             absl::Duration now);
  bool Has(const Uuid& vm) const { return vms_.contains(vm); }
  // Whether records are sealed for the exchange with that nonce: the newest, or the one before in its grace.
  bool Has(const Uuid& vm, const envelope::GuestNonce& nonce) const;

  struct Input {
    uint32_t generation = 0;
    uint64_t reference_time_ns = 0;
    ByteSpan content;  // EncodeCounts; of a fixed size, as long as scopes and events are the same
  };
  // One record for each exchange, the newest first; none of a VM without keys. Another generation than the exchange's
  // destroys its keys: its guest is gone. Errors are those of RecordSealer, of the newest exchange; RESOURCE_EXHAUSTED
  // ends it, so that its guest learns that it has to exchange keys again.
  absl::StatusOr<std::vector<SealedNow>> Seal(const Uuid& vm, const Input& input, absl::Duration now);

  // Begins a new epoch. NOT_FOUND: no keys; RESOURCE_EXHAUSTED: no epochs are left.
  absl::StatusOr<uint64_t> Rotate(const Uuid& vm, absl::Duration now);
  std::optional<KeyStatus> StatusOf(const Uuid& vm) const;

  // The device has these VMs. The keys of all others are destroyed.
  void KeepOnly(const std::set<Uuid>& vms) {
    std::erase_if(vms_, [&](const auto& of) { return !vms.contains(of.first); });
  }

 private:
  struct OfVm {
    uint32_t generation = 0;
    std::unique_ptr<RecordSealer> current;
    std::unique_ptr<RecordSealer> previous;  // nullptr: none, or its grace is over
    absl::Duration previous_ends;
  };

  const Owner owner_;
  const KeyRotation rotation_;
  std::map<Uuid, OfVm> vms_;
};

// Positions in the catalogue's list: the events of contexts that are counted at all. The same for a whole boot.
std::vector<size_t> VmEvents(const mailbox::Catalog& catalog);
std::vector<std::string> VmEventNames(const mailbox::Catalog& catalog);

// The snapshot's blocks of a VM, which are its rows.
std::vector<size_t> VmBlocks(const mailbox::Snapshot& snapshot, uint16_t vm);

// The counts as they are in the snapshot, without coverage and estimates. Rows are parallel to VmBlocks. An event that
// the snapshot does not have is 0.
envelope::SealedCounts VmCounts(const mailbox::Catalog& catalog, const mailbox::Snapshot& snapshot, uint16_t vm);

}  // namespace sideband::exchange

#endif  // SIDEBAND_PROTO_EXCHANGE_VM_RECORDS_H_
