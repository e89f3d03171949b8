// SPDX-License-Identifier: Apache-2.0
//
// Where an audit log's lines end up.
#ifndef SIDEBAND_DAEMON_AUDIT_AUDIT_STORAGE_H_
#define SIDEBAND_DAEMON_AUDIT_AUDIT_STORAGE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace sideband::daemon {

// Called by one thread at a time.
class AuditStorage {
 public:
  virtual ~AuditStorage() = default;
  // Whole lines, each with its break. After an error none of them is there.
  virtual absl::Status Append(absl::string_view lines) = 0;
  // Makes what was appended outlast a power cut.
  virtual absl::Status Sync() = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUDIT_AUDIT_STORAGE_H_
