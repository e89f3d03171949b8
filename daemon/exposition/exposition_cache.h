// SPDX-License-Identifier: Apache-2.0
//
// One Exposition per group of principals, with a buffer that is used again once nobody reads it any more.
//   response.body = cache.Render(caller, devices, append);
#ifndef SIDEBAND_DAEMON_EXPOSITION_EXPOSITION_CACHE_H_
#define SIDEBAND_DAEMON_EXPOSITION_EXPOSITION_CACHE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "daemon/api/reader.h"
#include "daemon/exposition/exposition.h"

namespace sideband::daemon {

// Thread-safe; groups do not wait for each other. A group's buffers never serve another group.
class ExpositionCache {
 public:
  // `devices` as the reader gave them for `caller`; `more` comes after them.
  std::shared_ptr<const std::string> Render(const Caller& caller, const std::vector<VisibleDevice>& devices,
                                            absl::string_view more);

 private:
  // Lends its buffer to one response at a time; others get one of their own.
  struct Group {
    std::unique_ptr<std::string> TakeBuffer() ABSL_LOCKS_EXCLUDED(buffer_mu);
    void GiveBack(std::unique_ptr<std::string> buffer) ABSL_LOCKS_EXCLUDED(buffer_mu);

    absl::Mutex mu;
    Exposition exposition ABSL_GUARDED_BY(mu);
    absl::Mutex buffer_mu;
    std::unique_ptr<std::string> spare ABSL_GUARDED_BY(buffer_mu);  // nullptr while it is lent
  };

  std::shared_ptr<Group> FindGroup(const Caller& caller) ABSL_LOCKS_EXCLUDED(mu_);

  absl::Mutex mu_;
  uint64_t policy_version_ ABSL_GUARDED_BY(mu_) = 0;  // of the groups below: another policy numbers them anew
  absl::flat_hash_map<size_t, std::shared_ptr<Group>> groups_
      ABSL_GUARDED_BY(mu_);  // shared with renderings and bodies under way
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_EXPOSITION_CACHE_H_
