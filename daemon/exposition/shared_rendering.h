// SPDX-License-Identifier: Apache-2.0
//
// One view's exposition in one format, made once per snapshot for all who ask.
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
#include "daemon/api/reader.h"
#include "daemon/exposition/exposition.h"
#include "daemon/exposition/gzip.h"
#include "daemon/exposition/spare_buffer.h"

namespace sideband::daemon {

// What a rendering shows of a device.
struct ShownDevice {
  size_t device = 0;
  VisibleDevice::State state = VisibleDevice::State::kAway;
  uint64_t publication = 0;    // 0: none
  absl::Duration steady_time;  // of that publication
  bool operator==(const ShownDevice&) const = default;
};

// Thread-safe. Always for the same caller.
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

  // As of `devices`, or of a snapshot that came after them.
  Text TextOf(const std::vector<VisibleDevice>& devices) ABSL_LOCKS_EXCLUDED(mu_);
  // Likewise; between BeginRefresh and the end of Refresh, of the snapshot before as long as that is fresh, so that
  // nobody waits.
  Compressed CompressedOf(const std::vector<VisibleDevice>& devices) ABSL_LOCKS_EXCLUDED(mu_);

  // After a publication: whether it is worth while to compress it before anybody asks, since several have asked for
  // what was published before. If so, Refresh must follow, with the devices as they are then.
  bool BeginRefresh() ABSL_LOCKS_EXCLUDED(mu_);
  void Refresh(const std::vector<VisibleDevice>& devices) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // Without a buffer where there is none, or an older one.
  Text KeptText(const std::vector<ShownDevice>& now) ABSL_LOCKS_EXCLUDED(mu_);
  bool MayServe(const std::vector<VisibleDevice>& devices, const std::vector<ShownDevice>& now) const
      ABSL_SHARED_LOCKS_REQUIRED(mu_);
  // Of what is of other snapshots, so that old and new are not in memory at once.
  void LetGoOfOthers(const std::vector<ShownDevice>& now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Compressed Compress(const std::vector<VisibleDevice>& devices, const std::vector<ShownDevice>& now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(making_mu_) ABSL_LOCKS_EXCLUDED(mu_);

  const std::shared_ptr<SpareBuffer> spare_ = std::make_shared<SpareBuffer>();  // shared with the buffers it lent
  absl::Mutex making_mu_ ABSL_ACQUIRED_BEFORE(mu_);                             // held for as long as rendering takes
  Exposition exposition_ ABSL_GUARDED_BY(making_mu_);

  absl::Mutex mu_;
  bool is_refreshing_ ABSL_GUARDED_BY(mu_) = false;
  int readers_ ABSL_GUARDED_BY(mu_) = 0;  // of compressed_, since the last publication
  // Shared with the answers under way, as are those of earlier snapshots. nullptr until they are asked for.
  Text text_ ABSL_GUARDED_BY(mu_);
  Compressed compressed_ ABSL_GUARDED_BY(mu_);
};

// `devices` with the ages of what is `shown` of them.
std::vector<VisibleDevice> WithAgesOf(const std::vector<ShownDevice>& shown, std::vector<VisibleDevice> devices);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_SHARED_RENDERING_H_
