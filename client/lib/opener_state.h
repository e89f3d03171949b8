// SPDX-License-Identifier: Apache-2.0
//
// The newest record accepted by the openers of a VM on a device, in a file, so that a later opener does not accept an
// older record as new. Example of a file (one line; numbers are strings):
// {"version":1,"vm":"6f1c…","device":"1111…","boot_id":"11","generation":"3","epoch":"111412…","sequence":"7",
// "nonce":"00ff…"}
//
//   const OpenerState state(path);
//   SIDEBAND_ASSIGN_OR_RETURN(const OpenerState::Lock lock, state.Acquire());
//   SIDEBAND_ASSIGN_OR_RETURN(const std::optional<envelope::RecordHeader> after, lock.Read());
//   Opener opener(std::move(static_key), {.after = after});
//   SIDEBAND_ASSIGN_OR_RETURN(const OpenResult opened, opener.Open(record));
//   SIDEBAND_RETURN_IF_ERROR(lock.Raise(opened.header));
#ifndef SIDEBAND_CLIENT_LIB_OPENER_STATE_H_
#define SIDEBAND_CLIENT_LIB_OPENER_STATE_H_

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/lib/config.h"
#include "proto/base/descriptor.h"
#include "proto/base/uuid.h"
#include "proto/envelope/record.h"

namespace sideband::client {

// The file has mode 0600, is replaced atomically (written to a temporary file, synchronised and renamed), and never set
// back to an older record. PATH.lock is locked (flock) while the file is read and replaced, and is not removed.
class OpenerState {
 public:
  explicit OpenerState(std::string path) : path_(std::move(path)) {}

  // Held by one opener at a time, across processes, until its destruction. Movable.
  class Lock {
   public:
    // As much of the newest record's header as tells what follows it; nullopt where there is no file yet. Errors start
    // with the path: PERMISSION_DENIED for a file that others may write, INVALID_ARGUMENT for one that is no state.
    absl::StatusOr<std::optional<envelope::RecordHeader>> Read() const;
    // Writes the header, unless the file has a later one. INVALID_ARGUMENT if the file is of another VM or device;
    // UNAVAILABLE if it cannot be written.
    absl::Status Raise(const envelope::RecordHeader& header) const;

   private:
    friend class OpenerState;
    Lock(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}

    std::string path_;
    Descriptor file_;  // locked
  };
  // Waits for other openers, which hold the lock while they process one record.
  absl::StatusOr<Lock> Acquire() const;

  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

// The folder for state files, created if missing: $XDG_STATE_HOME/sideband, else $HOME/.local/state/sideband. nullopt
// if neither variable names an existing folder (relative paths are ignored). PERMISSION_DENIED or UNAVAILABLE, with the
// path, if the folder cannot be created.
absl::StatusOr<std::optional<std::string>> StateFolder(const GetEnv& get_env);

// The file name of the state of a VM on a device, in that folder: unseal-VM-DEVICE.json.
std::string StateFileName(const Uuid& vm, const Uuid& device);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_OPENER_STATE_H_
