// SPDX-License-Identifier: Apache-2.0
//
// A lock on a bus that programs agree on: flock(2) on the bus's device, or on a file beside a virtual bus's socket. It
// keeps away only the programs that take it, too.
//   BusLock lock(transport.lock_file());
//   SIDEBAND_ASSIGN_OR_RETURN(const bool is_held, lock.TryAcquire());   // false: another program has it
//   if (is_held) lock.Release();
#ifndef SIDEBAND_DAEMON_TRANSPORT_BUS_LOCK_H_
#define SIDEBAND_DAEMON_TRANSPORT_BUS_LOCK_H_

#include <utility>

#include "absl/status/statusor.h"
#include "daemon/transport/transport.h"
#include "proto/base/file.h"

namespace sideband::daemon {

// Used by one thread at a time. Two locks of one path exclude each other, also in one process. The kernel ends the lock
// of a process that ends.
class BusLock {
 public:
  // Without a path there is no other program to agree with: the lock is always to be had.
  explicit BusLock(LockFile file) : file_(std::move(file)) {}
  // Releases it.
  ~BusLock() { Release(); }
  BusLock(const BusLock&) = delete;
  BusLock& operator=(const BusLock&) = delete;

  // Does not block. True if the lock is held now, also if it was before. A file that is made has mode 0660 less the
  // umask, and stays: after its removal there would be two locks. UNAVAILABLE if the file cannot be opened.
  absl::StatusOr<bool> TryAcquire();
  void Release();
  bool is_held() const { return is_held_; }

 private:
  const LockFile file_;
  bool is_held_ = false;
  // Opened for each lock: the device may be another one after it was plugged in again.
  Descriptor descriptor_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_TRANSPORT_BUS_LOCK_H_
