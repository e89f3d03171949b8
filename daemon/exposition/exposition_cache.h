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

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/exposition/exposition.h"
#include "daemon/exposition/text_buffer.h"
#include "daemon/view/reader.h"
#include "daemon/view/view_groups.h"

namespace sideband::daemon {

// Lends text buffers, which return when their last reader releases them, so that a large body does not allocate new
// memory at every snapshot.
//
// Thread-safe. Keeps one buffer; further returned buffers are freed.
class SpareBuffer {
 public:
  // Returns an empty buffer. It keeps `spare` alive until it is returned.
  static std::shared_ptr<TextBuffer> Lend(const std::shared_ptr<SpareBuffer>& spare);

 private:
  std::unique_ptr<TextBuffer> Take() ABSL_LOCKS_EXCLUDED(mu_);
  void GiveBack(std::unique_ptr<TextBuffer> buffer) ABSL_LOCKS_EXCLUDED(mu_);

  absl::Mutex mu_;
  std::unique_ptr<TextBuffer> kept_ ABSL_GUARDED_BY(mu_);  // nullptr while it is lent
};

// The exposition of one view in one format, rendered once per snapshot for all readers of the view.

// The state of a device as shown by a rendering.
struct ShownDevice {
  size_t device = 0;
  std::shared_ptr<const DeviceInfo> info;  // held, so that an equal address means an equal configuration
  VisibleDevice::State state = VisibleDevice::State::kAway;
  uint64_t publication = 0;    // 0: none
  absl::Duration steady_time;  // of that publication
  bool operator==(const ShownDevice&) const = default;
};

// Thread-safe. All calls must be for callers with the same view.
class SharedRendering {
 public:
  struct Text {
    std::shared_ptr<const TextBuffer> buffer;
    std::vector<ShownDevice> shown;
  };
  struct Compressed {
    std::shared_ptr<const Deflated> deflated;
    std::vector<ShownDevice> shown;
  };

  explicit SharedRendering(MetricsFormat format) : exposition_(format) {}

  // Returns the text for `devices`, or for a later publication.
  Text TextOf(const std::vector<VisibleDevice>& devices) ABSL_LOCKS_EXCLUDED(mu_);
  // Returns the text compressed. Between BeginRefresh() and the end of Refresh() it returns the previous
  // publication as long as that is fresh, so that no reader waits.
  Compressed CompressedOf(const std::vector<VisibleDevice>& devices) ABSL_LOCKS_EXCLUDED(mu_);

  // Call after a publication. Returns true if several readers have requested the previous publication, so that
  // compressing the new one in advance is worth its cost. Refresh() must then follow, with the devices' current state.
  bool BeginRefresh() ABSL_LOCKS_EXCLUDED(mu_);
  void Refresh(const std::vector<VisibleDevice>& devices) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // Returns a text without a buffer if none is cached or the cached one is older than `now`.
  Text KeptText(const std::vector<ShownDevice>& now) ABSL_LOCKS_EXCLUDED(mu_);
  bool MayServe(const std::vector<VisibleDevice>& devices, const std::vector<ShownDevice>& now) const
      ABSL_SHARED_LOCKS_REQUIRED(mu_);
  // Releases cached data of other snapshots, so that old and new data are not in memory at the same time.
  void LetGoOfOthers(const std::vector<ShownDevice>& now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Compressed Compress(const std::vector<VisibleDevice>& devices, const std::vector<ShownDevice>& now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(making_mu_) ABSL_LOCKS_EXCLUDED(mu_);

  const std::shared_ptr<SpareBuffer> spare_ = std::make_shared<SpareBuffer>();  // shared with lent buffers
  absl::Mutex making_mu_ ABSL_ACQUIRED_BEFORE(mu_);                             // held during rendering
  Exposition exposition_ ABSL_GUARDED_BY(making_mu_);

  absl::Mutex mu_;
  bool is_refreshing_ ABSL_GUARDED_BY(mu_) = false;
  int readers_ ABSL_GUARDED_BY(mu_) = 0;  // of compressed_, since the last publication
  // Shared with responses that are still being sent. nullptr until first requested.
  Text text_ ABSL_GUARDED_BY(mu_);
  Compressed compressed_ ABSL_GUARDED_BY(mu_);
};

// Returns `devices` with the ages of the snapshots in `shown`.
std::vector<VisibleDevice> WithAgesOf(const std::vector<ShownDevice>& shown, std::vector<VisibleDevice> devices);

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
