// SPDX-License-Identifier: Apache-2.0
//
// The storage of an audit log's lines.
#ifndef SIDEBAND_DAEMON_AUDIT_AUDIT_STORAGE_H_
#define SIDEBAND_DAEMON_AUDIT_AUDIT_STORAGE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace sideband::daemon {

// Called by one thread at a time.
class AuditStorage {
 public:
  virtual ~AuditStorage() = default;
  // Appends whole lines, each with its line break. After an error, none of them is stored.
  virtual absl::Status Append(absl::string_view lines) = 0;
  // Makes appended lines survive a power failure.
  virtual absl::Status Sync() = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUDIT_AUDIT_STORAGE_H_
