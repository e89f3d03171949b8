// SPDX-License-Identifier: Apache-2.0
//
// The exposition of one view in one format, rendered once per snapshot for all readers of the view.
//   SharedRendering rendering(MetricsFormat::kOpenMetrics);
//   const SharedRendering::Compressed answer = rendering.CompressedOf(devices);
//   if (rendering.BeginRefresh()) rendering.Refresh(devices_after_a_publication);
#ifndef SIDEBAND_DAEMON_EXPOSITION_SHARED_RENDERING_H_
#define SIDEBAND_DAEMON_EXPOSITION_SHARED_RENDERING_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/exposition/exposition.h"
#include "daemon/exposition/gzip.h"
#include "daemon/exposition/spare_buffer.h"
#include "daemon/view/reader.h"

namespace sideband::daemon {

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
  // Likewise. Between BeginRefresh() and the end of Refresh() it returns the previous publication as long as that is
  // fresh, so that no reader waits.
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

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_SHARED_RENDERING_H_
