// SPDX-License-Identifier: Apache-2.0
//
// One SubscribeSealed stream: the newest sealed record of a confidential VM, then each new one. A slow reader misses
// records, and detects that by their sequence numbers. With the nonce of an exchange of keys the records are those of
// the exchange; with another they are sealed for this stream alone, starting with the next snapshot.
//   SealedSubscription subscription(reader, &sealers, exchanges, credentials, request);
//   StreamStep<sideband::v1::SealedRecord> step = subscription.Next();
#ifndef SIDEBAND_DAEMON_GRPC_SEALED_SUBSCRIPTION_H_
#define SIDEBAND_DAEMON_GRPC_SEALED_SUBSCRIPTION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "daemon/grpc/stream_step.h"
#include "daemon/sealing/exchange_book.h"
#include "daemon/sealing/sealer_set.h"
#include "daemon/view/reader.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// Not thread-safe. The reader and the sealers must outlive it.
class SealedSubscription {
 public:
  using Message = sideband::v1::SealedRecord;

  // Where `sealers` is nullptr a nonce is UNIMPLEMENTED; where `exchanges` is nullptr there are none.
  SealedSubscription(Reader& reader, SealerSet* sealers, ExchangeBook* exchanges, Credentials credentials,
                     const sideband::v1::SubscribeSealedRequest& request);

  // Evaluates the policy at each call. Ends with UNAUTHENTICATED for an unknown caller, NotFound() where the caller may
  // not read sealed records of such a VM, INVALID_ARGUMENT for a malformed nonce, FAILED_PRECONDITION for a VM
  // without a key and when the exchange has ended, and RESOURCE_EXHAUSTED beyond kNonceStreamsPerVmMax. Waits while the
  // VM has no new record.
  StreamStep<Message> Next();
  // Replaces Next() while the identity is at its limit of unread bytes: waits, or ends with UNAUTHENTICATED where the
  // policy no longer lists the caller.
  StreamStep<Message> Wait() const;

 private:
  absl::Status CheckNonce() const;
  // The nonce, which CheckNonce has accepted.
  envelope::GuestNonce Nonce() const;
  // Finds the exchange of the nonce, if it is of one. FAILED_PRECONDITION once it has ended.
  absl::Status FollowExchange(const Uuid& device, const Uuid& vm);
  // The VM's newest record for this stream; nullptr: none. FAILED_PRECONDITION and RESOURCE_EXHAUSTED as of Next().
  absl::StatusOr<const Bytes*> RecordOf(const DeviceSnapshot& snapshot, const Uuid& vm);
  // Likewise of a VM that its device seals.
  absl::StatusOr<const Bytes*> RecordOfDevice(const DeviceSnapshot& snapshot, const Uuid& vm);
  // Starts the sealing of the stream's own records. Does nothing without a nonce or when already started.
  absl::Status OpenOwnStream(const Uuid& device, const Uuid& vm);

  Reader* reader_;
  SealerSet* sealers_;
  ExchangeBook* exchanges_;
  Credentials credentials_;
  std::string nonce_;                               // empty: the shared stream
  std::unique_ptr<SealerSet::NonceStream> stream_;  // nullptr without a nonce, or before OpenOwnStream
  std::string device_;
  std::optional<size_t> index_;  // device index in the store
  std::string vm_;
  bool is_exchanged_ = false;                  // the nonce is that of an exchange
  std::optional<uint64_t> first_publication_;  // seen, of a VM that its device seals
  uint64_t sent_ = 0;                          // publication number of the last record sent
  Bytes last_;                                 // that record
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_SEALED_SUBSCRIPTION_H_
