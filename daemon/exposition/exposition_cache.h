// SPDX-License-Identifier: Apache-2.0
//
// Scrapes, rendered once per group of principals and snapshot, on first demand, and shared by all that ask for the
// same.
//   response.body = cache.Scrape(caller, devices, {.format = MetricsFormat::kOpenMetrics, .gzip = true}, own_metrics);
#ifndef SIDEBAND_DAEMON_EXPOSITION_EXPOSITION_CACHE_H_
#define SIDEBAND_DAEMON_EXPOSITION_EXPOSITION_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "daemon/api/reader.h"
#include "daemon/base/body.h"
#include "daemon/exposition/exposition.h"
#include "daemon/exposition/gzip.h"
#include "daemon/exposition/spare_buffer.h"

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
  // `devices` as the reader gave them for `caller`. The ages and `own` (whole families in the same format, without
  // # EOF) come first, what is shared after them.
  Body Scrape(const Caller& caller, const std::vector<VisibleDevice>& devices, const ScrapeRequest& request,
              absl::string_view own);

 private:
  // What a rendering shows of a device.
  struct Shown {
    size_t device;
    uint64_t publication;  // 0: none
    VisibleDevice::State state;
    bool operator==(const Shown&) const = default;
  };

  // A group's renderings in one format.
  class Rendering {
   public:
    explicit Rendering(MetricsFormat format) : exposition_(format) {}
    // Both as of `devices`.
    std::shared_ptr<const TextBuffer> Text(const std::vector<VisibleDevice>& devices) ABSL_LOCKS_EXCLUDED(mu_);
    std::shared_ptr<const Deflated> Compressed(const std::vector<VisibleDevice>& devices) ABSL_LOCKS_EXCLUDED(mu_);

   private:
    // Of what is not as of `devices`.
    void LetGoOfOthers(const std::vector<VisibleDevice>& devices) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

    const std::shared_ptr<SpareBuffer> spare_ = std::make_shared<SpareBuffer>();  // shared with the buffers it lent
    absl::Mutex mu_;
    Exposition exposition_ ABSL_GUARDED_BY(mu_);
    std::vector<Shown> shown_ ABSL_GUARDED_BY(mu_);
    // Shared with the answers under way, as are those of earlier snapshots.
    std::shared_ptr<const TextBuffer> text_ ABSL_GUARDED_BY(mu_);      // nullptr until it is asked for
    std::shared_ptr<const Deflated> compressed_ ABSL_GUARDED_BY(mu_);  // likewise
  };

  struct Group {
    Rendering text{MetricsFormat::kText};
    Rendering open_metrics{MetricsFormat::kOpenMetrics};
  };

  std::shared_ptr<Group> FindGroup(const Caller& caller) ABSL_LOCKS_EXCLUDED(mu_);

  absl::Mutex mu_;
  uint64_t policy_version_ ABSL_GUARDED_BY(mu_) = 0;  // of the groups below: another policy numbers them anew
  absl::flat_hash_map<size_t, std::shared_ptr<Group>> groups_ ABSL_GUARDED_BY(mu_);  // shared with renderings under way
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_EXPOSITION_CACHE_H_
