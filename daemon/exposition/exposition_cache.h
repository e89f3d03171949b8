// SPDX-License-Identifier: Apache-2.0
//
// Scrapes, rendered once per group of principals and snapshot, on first demand, and shared by all that ask for the
// same.
//   response.body = cache.Scrape(caller, devices, {.format = MetricsFormat::kOpenMetrics, .gzip = true}, own_metrics);
#ifndef SIDEBAND_DAEMON_EXPOSITION_EXPOSITION_CACHE_H_
#define SIDEBAND_DAEMON_EXPOSITION_EXPOSITION_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "daemon/api/reader.h"
#include "daemon/base/body.h"
#include "daemon/exposition/exposition.h"
#include "daemon/exposition/shared_rendering.h"

namespace sideband::daemon {

struct ScrapeRequest {
  MetricsFormat format = MetricsFormat::kText;
  bool gzip = false;
  ScrapeFilter filter = {};
};

// Thread-safe; groups do not wait for each other. A group's buffers never serve another group. What is filtered is
// rendered for that one answer and not kept, since there is no end to filters.
class ExpositionCache {
 public:
  // `devices` as the reader gave them for `caller`. The ages (of what is shown, which while Refresh is at work is the
  // publication before) and `own` (whole families in the same format, without # EOF) come first, what is shared after
  // them.
  Body Scrape(const Caller& caller, const std::vector<VisibleDevice>& devices, const ScrapeRequest& request,
              absl::string_view own);

  // After a publication, on a thread of its own: makes anew what several have asked for of the publication before, so
  // that nobody waits for it; nothing of another policy than the one in force. `look` gives a caller's devices as they
  // are now; it is asked for those who came last.
  using Look = std::function<std::vector<VisibleDevice>(const Caller& caller)>;
  void Refresh(uint64_t policy_version, const Look& look);

 private:
  struct Group {
    std::optional<Caller> caller;  // who came last, guarded by mu_; all see the same
    SharedRendering text{MetricsFormat::kText};
    SharedRendering open_metrics{MetricsFormat::kOpenMetrics};
  };
  struct Refreshment {
    Caller caller;
    std::shared_ptr<Group> group;  // keeps the rendering
    SharedRendering* rendering;
  };

  std::shared_ptr<Group> FindGroup(const Caller& caller) ABSL_LOCKS_EXCLUDED(mu_);
  std::vector<Refreshment> WorthRefreshing(uint64_t policy_version) ABSL_LOCKS_EXCLUDED(mu_);

  absl::Mutex mu_;
  uint64_t policy_version_ ABSL_GUARDED_BY(mu_) = 0;  // of the groups below: another policy numbers them anew
  absl::flat_hash_map<size_t, std::shared_ptr<Group>> groups_ ABSL_GUARDED_BY(mu_);  // shared with renderings under way
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_EXPOSITION_CACHE_H_
