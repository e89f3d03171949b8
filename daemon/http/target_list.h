// SPDX-License-Identifier: Apache-2.0
//
// The targets that /sd lists, in the format of Prometheus' http_sd.
//   TargetList targets(config.targets);
//   response.body = Body::Of(targets.Json(request.host));
#ifndef SIDEBAND_DAEMON_HTTP_TARGET_LIST_H_
#define SIDEBAND_DAEMON_HTTP_TARGET_LIST_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "daemon/config/sections.h"

namespace sideband::daemon {

// Thread-safe.
class TargetList {
 public:
  using Groups = std::optional<std::vector<TargetGroup>>;

  explicit TargetList(const Groups& groups) { Replace(groups); }

  void Replace(const Groups& groups) ABSL_LOCKS_EXCLUDED(mu_);
  // A list of {"targets", "labels"}. Without groups: the daemon itself, by the address under which it was requested.
  std::string Json(const std::string& host) const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  mutable absl::Mutex mu_;
  std::optional<std::string> json_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_TARGET_LIST_H_
