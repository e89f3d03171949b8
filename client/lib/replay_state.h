// SPDX-License-Identifier: Apache-2.0
//
// Files in which the openers of a VM on a device remember the newest record, or the newest instant of exchanged keys,
// so that a later run does not take an older record for a new one.
//   const OpenerState state(path);
//   SIDEBAND_ASSIGN_OR_RETURN(const OpenerState::Lock lock, state.Acquire());
//   SIDEBAND_ASSIGN_OR_RETURN(const std::optional<envelope::RecordHeader> after, lock.Read());
//   Opener opener(std::move(static_key), {.after = after});
//   SIDEBAND_ASSIGN_OR_RETURN(const OpenResult opened, opener.Open(record));
//   SIDEBAND_RETURN_IF_ERROR(lock.Raise(opened.header));
#ifndef SIDEBAND_CLIENT_LIB_REPLAY_STATE_H_
#define SIDEBAND_CLIENT_LIB_REPLAY_STATE_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "client/lib/channel.h"
#include "proto/base/file.h"
#include "proto/base/uuid.h"
#include "proto/envelope/record.h"

namespace sideband::client {

// A small file in which openers of sealed records remember what they have accepted.
//   const StateFile file(path);
//   SIDEBAND_ASSIGN_OR_RETURN(const StateFile::Lock lock, file.Acquire());
//   SIDEBAND_ASSIGN_OR_RETURN(const std::optional<std::string> before, lock.Read());
//   SIDEBAND_RETURN_IF_ERROR(lock.Replace(after));
//
// The file has mode 0600 and is replaced atomically (written to a temporary file, synchronised and renamed). PATH.lock
// is locked (flock) while the file is read and replaced, and is not removed.
class StateFile {
 public:
  explicit StateFile(std::string path) : path_(std::move(path)) {}

  // Held by one opener at a time, across processes, until its destruction. Movable.
  class Lock {
   public:
    // nullopt where there is no file yet. Errors start with the path: PERMISSION_DENIED for a file that others may
    // write, INVALID_ARGUMENT for one that is no regular file or longer than 4 KiB.
    absl::StatusOr<std::optional<std::string>> Read() const;
    // UNAVAILABLE if the file cannot be written.
    absl::Status Replace(const std::string& text) const;
    const std::string& path() const { return path_; }

   private:
    friend class StateFile;
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

// INVALID_ARGUMENT with the path: the file holds something else.
absl::Status NotAState(const std::string& path);

// The folder for state files, created if missing: $XDG_STATE_HOME/sideband, else $HOME/.local/state/sideband. nullopt
// if neither variable names an existing folder (relative paths are ignored). PERMISSION_DENIED or UNAVAILABLE, with the
// path, if the folder cannot be created.
absl::StatusOr<std::optional<std::string>> StateFolder(const GetEnv& get_env);

// Reads the members of a state file, which is an object of JSON with strings as values.
// Must not outlive `json`. A member that is absent or malformed has the value zero, and clears ok().
class StateMembers {
 public:
  explicit StateMembers(const nlohmann::json& json) : json_(json) {}

  template <typename Number>
  Number Count(const char* name) {
    Number number = 0;
    ok_ &= absl::SimpleAtoi(Text(name), &number);
    return number;
  }
  Uuid Id(const char* name);
  // nullopt for an empty text.
  std::optional<envelope::GuestNonce> Nonce(const char* name);
  bool ok() const { return ok_; }

 private:
  std::string Text(const char* name);

  const nlohmann::json& json_;
  bool ok_ = true;
};

// The text of a nonce in such a file; empty: there is none.
std::string NonceText(const std::optional<envelope::GuestNonce>& nonce);

// The newest record that was accepted. Example of a file (one line; numbers are strings):
// {"version":1,"vm":"6f1c…","device":"1111…","boot_id":"11","generation":"3","epoch":"111412…","sequence":"7",
// "nonce":"00ff…"}
//
// The state is never set back to an older record.
class OpenerState {
 public:
  explicit OpenerState(std::string path) : file_(std::move(path)) {}

  // Held by one opener at a time, across processes, until its destruction. Movable.
  class Lock {
   public:
    // The part of the newest record's header that tells what follows it; nullopt where there is no file yet. Errors are
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

// The newest instant that the records of exchanged keys have shown.
//
// A record was sealed after the exchange began: that follows from its nonce and its keys, which die with the program.
// The state adds that its content is not of an earlier instant than an earlier run has seen, by what the device says of
// its time: within a boot of the device, neither reference time nor the VM's generation goes back; an equal time is
// accepted, since two programs may open the same snapshot. A boot that another one has followed does not come back: the
// file has the IDs of the last 16. Nothing is known of a new boot: boot IDs have no order. Epochs and sequence numbers
// start again with each exchange and say nothing across runs.
//
// Example of a file (one line; numbers are strings):
// {"version":2,"vm":"6f1c…","device":"1111…","boot_id":"11","generation":"3","reference_time_ns":"12000000345",
// "nonce":"00ff…","earlier_boots":["7"]}
class ExchangeState {
 public:
  explicit ExchangeState(std::string path) : file_(std::move(path)) {}

  // Held by one opener at a time, across processes, until its destruction. Movable.
  class Lock {
   public:
    // DATA_LOSS "record rejected" for a record of an older instant than the file's; OK where there is no file yet.
    // INVALID_ARGUMENT if the file is of another VM or device, and NotAState. The nonce is not compared.
    absl::Status CheckFollows(const envelope::RecordHeader& header) const;
    // Writes the record's instant, unless the file has a later one. Errors as of CheckFollows, without DATA_LOSS;
    // UNAVAILABLE if the file cannot be written.
    absl::Status Raise(const envelope::RecordHeader& header) const;

   private:
    friend class ExchangeState;
    explicit Lock(StateFile::Lock file) : file_(std::move(file)) {}

    StateFile::Lock file_;
  };
  absl::StatusOr<Lock> Acquire() const;

  // How many earlier boots the file remembers.
  static constexpr size_t kEarlierBootsMax = 16;

 private:
  const StateFile file_;
};

// The file name of the state of a VM on a device: exchange-VM-DEVICE.json.
std::string ExchangeStateFileName(const Uuid& vm, const Uuid& device);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_REPLAY_STATE_H_
