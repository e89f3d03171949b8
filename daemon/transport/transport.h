// SPDX-License-Identifier: Apache-2.0
//
// A way to carry transactions to a bus.
#ifndef SIDEBAND_DAEMON_TRANSPORT_TRANSPORT_H_
#define SIDEBAND_DAEMON_TRANSPORT_TRANSPORT_H_

#include "absl/status/statusor.h"
#include "proto/smbus/transfer.h"

namespace sideband::daemon {

// Used by one thread at a time.
class Transport {
 public:
  virtual ~Transport() = default;
  // Carries out one transaction; how it ended on the wire is in the result. An error Status means that the bus itself
  // could not be used (UNAVAILABLE: not there, or the far end went away; DEADLINE_EXCEEDED: it does not answer); the
  // next call tries anew. DATA_LOSS: whoever carried it found a wrong PEC, and the bytes are not to be had.
  virtual absl::StatusOr<smbus::TransferResult> Execute(const smbus::Transfer& transfer) = 0;
  // The largest block that one read can carry; 32 on an adapter that keeps to SMBus 2. It is known after the first
  // transaction and may change when the bus comes back as another one, so ask before every stream.
  virtual size_t block_bytes_max() const { return smbus::kBlockBytesMax; }
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_TRANSPORT_TRANSPORT_H_
