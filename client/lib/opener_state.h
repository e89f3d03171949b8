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
#include "client/lib/state_file.h"
#include "proto/base/uuid.h"
#include "proto/envelope/record.h"

namespace sideband::client {

// The state is never set back to an older record.
class OpenerState {
 public:
  explicit OpenerState(std::string path) : file_(std::move(path)) {}

  // Held by one opener at a time, across processes, until its destruction. Movable.
  class Lock {
   public:
    // As much of the newest record's header as tells what follows it; nullopt where there is no file yet. Errors are
    // those of StateFile, and NotAState.
    absl::StatusOr<std::optional<envelope::RecordHeader>> Read() const;
    // Writes the header, unless the file has a later one. INVALID_ARGUMENT if the file is of another VM or device;
    // UNAVAILABLE if it cannot be written.
    absl::Status Raise(const envelope::RecordHeader& header) const;

   private:
    friend class OpenerState;
    explicit Lock(StateFile::Lock file) : file_(std::move(file)) {}

    StateFile::Lock file_;
  };
  absl::StatusOr<Lock> Acquire() const;

  const std::string& path() const { return file_.path(); }

 private:
  const StateFile file_;
};

// The file name of the state of a VM on a device, in that folder: unseal-VM-DEVICE.json.
std::string StateFileName(const Uuid& vm, const Uuid& device);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_OPENER_STATE_H_
