// SPDX-License-Identifier: Apache-2.0
//
// Renders scrapes on demand, once per group of principals and snapshot, and shares the result among all equal requests.
//   response.body = cache.Scrape(caller, devices, {.format = MetricsFormat::kOpenMetrics, .gzip = true}, own_metrics);
#ifndef SIDEBAND_DAEMON_EXPOSITION_EXPOSITION_CACHE_H_
#define SIDEBAND_DAEMON_EXPOSITION_EXPOSITION_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "daemon/base/body.h"
#include "daemon/exposition/exposition.h"
#include "daemon/exposition/shared_rendering.h"
#include "daemon/view/reader.h"
#include "daemon/view/view_groups.h"

namespace sideband::daemon {

struct ScrapeRequest {
  MetricsFormat format = MetricsFormat::kText;
  bool gzip = false;
  ScrapeFilter filter = {};
};

// Thread-safe; groups do not block each other. A group's buffers never serve another group. Filtered expositions are
// rendered for one response and not cached, since the number of filters is unbounded.
class ExpositionCache {
 public:
  // Returns the response for `devices`, which the reader returned for `caller`. The ages and `own` (complete families
  // in the same format, without # EOF) come first, the shared part follows. The ages are those of the shown snapshots:
  // during Refresh() these may be the previous publication's.
  Body Scrape(const Caller& caller, const std::vector<VisibleDevice>& devices, const ScrapeRequest& request,
              absl::string_view own);

  // Call after a publication, on a dedicated thread. Renders again what several clients have requested of the previous
  // publication, so that they do not wait; only for callers of the policy `policy_version`, and only if it is in force.
  // `look` returns a caller's current devices; it is called with a caller of each such group.
  using Look = std::function<std::vector<VisibleDevice>(const Caller& caller)>;
  void Refresh(uint64_t policy_version, const Look& look);

 private:
  struct Group {
    explicit Group(const Caller& first) : caller(first) {}

    const Caller caller;  // the first one; all see the same
    SharedRendering text{MetricsFormat::kText};
    SharedRendering open_metrics{MetricsFormat::kOpenMetrics};
  };
  struct Refreshment {
    std::shared_ptr<Group> group;  // keeps `rendering` alive
    SharedRendering* rendering;
  };

  std::vector<Refreshment> WorthRefreshing(uint64_t policy_version);

  ViewGroups<Group> groups_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_EXPOSITION_CACHE_H_
