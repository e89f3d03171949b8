// SPDX-License-Identifier: Apache-2.0
//
// The Confidentiality state of every device, by device UUID, for the lifetime of the daemon. A reload that restarts a
// device on another bus or under another name keeps its state (docs/decisions/0015).
//   ConfidentialityBook book(*sealers, exchanges.get(), policy);
//   const auto verdict = book.Of(topology->catalog().device)->Judge(topology, boot_id);
#ifndef SIDEBAND_DAEMON_COLLECTOR_CONFIDENTIALITY_BOOK_H_
#define SIDEBAND_DAEMON_COLLECTOR_CONFIDENTIALITY_BOOK_H_

#include <cstddef>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "daemon/authz/policy_holder.h"
#include "daemon/collector/confidentiality.h"
#include "daemon/sealing/exchange_book.h"
#include "daemon/sealing/sealer_set.h"
#include "proto/base/uuid.h"

namespace sideband::daemon {

// Thread-safe. `sealers`, `exchanges` and `policy` must outlive this object and the objects that it returns.
class ConfidentialityBook {
 public:
  // More devices than one host has. For devices beyond this number (for example one device that keeps changing its
  // UUID) every VM is confidential.
  static constexpr size_t kDevicesMax = 1024;

  // `exchanges` may be nullptr.
  ConfidentialityBook(const SealerSet& sealers, const ExchangeBook* exchanges, const PolicyHolder& policy,
                      size_t devices_max = kDevicesMax);

  // Returns the same object for the same UUID, up to devices_max UUIDs. Shared with the collectors that read the
  // device.
  std::shared_ptr<Confidentiality> Of(const Uuid& device) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  const Confidentiality::Requirement requirement_;
  const size_t devices_max_;
  absl::Mutex mu_;
  absl::flat_hash_map<Uuid, std::shared_ptr<Confidentiality>> devices_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_COLLECTOR_CONFIDENTIALITY_BOOK_H_
