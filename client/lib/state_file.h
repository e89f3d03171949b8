// SPDX-License-Identifier: Apache-2.0
//
// A small file in which openers of sealed records remember what they have accepted.
//   const StateFile file(path);
//   SIDEBAND_ASSIGN_OR_RETURN(const StateFile::Lock lock, file.Acquire());
//   SIDEBAND_ASSIGN_OR_RETURN(const std::optional<std::string> before, lock.Read());
//   SIDEBAND_RETURN_IF_ERROR(lock.Replace(after));
#ifndef SIDEBAND_CLIENT_LIB_STATE_FILE_H_
#define SIDEBAND_CLIENT_LIB_STATE_FILE_H_

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/lib/config.h"
#include "proto/base/file.h"

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

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_STATE_FILE_H_
