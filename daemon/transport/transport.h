// SPDX-License-Identifier: Apache-2.0
//
// The interface to a bus that carries SMBus transactions.
#ifndef SIDEBAND_DAEMON_TRANSPORT_TRANSPORT_H_
#define SIDEBAND_DAEMON_TRANSPORT_TRANSPORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "proto/smbus/transfer.h"

namespace sideband::daemon {

// The file that programs on a bus lock (bus_lock.h) while none of the others may use it. Without a path there is none.
struct LockFile {
  std::string path;
  bool is_made = false;  // if it is missing; a device is not
};

// Used by one thread at a time.
class Transport {
 public:
  virtual ~Transport() = default;
  // Executes one transaction. The result contains its outcome on the wire. An error Status means that the bus itself
  // could not be used: UNAVAILABLE if it does not exist or the peer has disconnected, DEADLINE_EXCEEDED if it does not
  // respond. The next call tries again. DATA_LOSS: the adapter found a wrong PEC, and the bytes are not available.
  virtual absl::StatusOr<smbus::TransferResult> Execute(const smbus::Transfer& transfer) = 0;
  // The largest block that one read can carry, in bytes; 32 on an adapter limited to SMBus 2. Known after the first
  // transaction. It may change after the bus was reopened, so callers query it before every stream.
  virtual size_t block_bytes_max() const { return smbus::kBlockBytesMax; }
  virtual LockFile lock_file() const { return {}; }
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_TRANSPORT_TRANSPORT_H_
