// SPDX-License-Identifier: Apache-2.0
//
// One SubscribeSealed stream: the newest sealed record of a confidential VM, then each new one. A reader that is too
// slow misses records, which it can tell from their sequence numbers.
//   SealedSubscription subscription(reader, credentials, request);
//   StreamStep<sideband::v1::SealedRecord> step = subscription.Next();
#ifndef SIDEBAND_DAEMON_GRPC_SEALED_SUBSCRIPTION_H_
#define SIDEBAND_DAEMON_GRPC_SEALED_SUBSCRIPTION_H_

#include <cstdint>
#include <string>

#include "daemon/api/reader.h"
#include "daemon/grpc/stream_step.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// Not thread-safe; the reader must outlive it.
class SealedSubscription {
 public:
  using Message = sideband::v1::SealedRecord;

  SealedSubscription(Reader& reader, Credentials credentials, const sideband::v1::SubscribeSealedRequest& request);

  // Asks the policy anew each time. NotFound() where the caller may not carry records of such a VM; a VM without a
  // record yet is waited for.
  StreamStep<Message> Next();
  // Where there is no room for a message: the end for who is nobody any more.
  StreamStep<Message> Wait() const;

 private:
  Reader* reader_;
  Credentials credentials_;
  std::string device_;
  std::string vm_;
  uint64_t sent_ = 0;  // publication
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_SEALED_SUBSCRIPTION_H_
