// SPDX-License-Identifier: Apache-2.0
//
// Replaces a small file of the daemon's state atomically: a reader, and a later run after a crash of the daemon, finds
// the previous content or the new one, complete.
//   SIDEBAND_RETURN_IF_ERROR(ReplaceFile("/var/lib/sideband/state", text, FileSync::kSynced));
#ifndef SIDEBAND_DAEMON_BASE_REPLACE_FILE_H_
#define SIDEBAND_DAEMON_BASE_REPLACE_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace sideband::daemon {

enum class FileSync {
  kNone,    // a crash of the machine may leave the previous content
  kSynced,  // the new content and its name are on the disk when the call returns; takes milliseconds
};

// Writes "PATH.partial" with mode 0600 and renames it; a link at either path is replaced, not followed. After an error,
// "PATH: No space left on device", the previous content is there, or with kSynced the new one, whose name may be lost
// in a crash of the machine. Thread-safe for different paths.
absl::Status ReplaceFile(const std::string& path, absl::string_view text, FileSync sync);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BASE_REPLACE_FILE_H_
