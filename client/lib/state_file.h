// SPDX-License-Identifier: Apache-2.0
//
// A small file in which openers of sealed records remember what they have accepted, and the members of its text.
//   const StateFile file(path);
//   SIDEBAND_ASSIGN_OR_RETURN(const StateFile::Lock lock, file.Acquire());
//   SIDEBAND_ASSIGN_OR_RETURN(const std::optional<std::string> before, lock.Read());
//   SIDEBAND_RETURN_IF_ERROR(lock.Replace(after));
#ifndef SIDEBAND_CLIENT_LIB_STATE_FILE_H_
#define SIDEBAND_CLIENT_LIB_STATE_FILE_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "client/lib/config.h"
#include "proto/base/file.h"
#include "proto/base/uuid.h"
#include "proto/envelope/record.h"

namespace sideband::client {

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

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_STATE_FILE_H_
