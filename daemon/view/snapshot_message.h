// SPDX-License-Identifier: Apache-2.0
//
// The data of a device that a caller sees, as messages of the API, and the bytes of Snapshot messages, which are
// serialised once for all callers that see the same.
//   SnapshotBodies bodies(reader, *metrics);
//   const SharedSnapshot snapshot = bodies.Get(device, filter);
//   if (snapshot.body->has_rows) Send(snapshot.body->bytes, snapshot.moment);
#ifndef SIDEBAND_DAEMON_VIEW_SNAPSHOT_MESSAGE_H_
#define SIDEBAND_DAEMON_VIEW_SNAPSHOT_MESSAGE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "daemon/metrics/area_metrics.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/view/reader.h"
#include "daemon/view/row_filter.h"
#include "daemon/view/view.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

sideband::v1::Device DeviceMessage(const VisibleDevice& device);

// The scopes that the view shows: readable rows, and confidential VMs, whose rows exist only in sealed records.
std::vector<sideband::v1::Scope> ScopeMessages(const DeviceInfo& device, const View& view);

// The rows and counters that the device's view shows and `filter` selects. The device must have a snapshot.
// = SnapshotBodyMessage(device, filter) with the fields of MomentMessage(device).
sideband::v1::Snapshot SnapshotMessage(const VisibleDevice& device, const RowFilter& filter);

// Marks the count as a lower bound of the true one: for a multiplexed event without an estimate.
void SetCountedOnly(sideband::v1::Counter& counter);

// The fields of a snapshot that are the same for all callers with this view, as long as the snapshot is fresh or once
// it is not.
sideband::v1::Snapshot SnapshotBodyMessage(const VisibleDevice& device, const RowFilter& filter);
// The others: device_state and age.
sideband::v1::Snapshot MomentMessage(const VisibleDevice& device);

// SnapshotBodyMessage(), serialised. Immutable.
struct SnapshotBody {
  std::string bytes;
  bool has_rows = false;  // whether view and filter select any
  bool is_whole = true;   // false: longer than protocol buffers can serialise (2 GiB), and `bytes` is empty
};

// A serialised Snapshot in two parts: `body` and then `moment` is the message. Fields may follow in any order.
struct SharedSnapshot {
  std::shared_ptr<const SnapshotBody> body;  // shared by all messages of the view, until the last one is sent
  std::string moment;                        // MomentMessage()
};

// Thread-safe. Keeps bodies of each device's newest snapshot only: drops them at the next publication and at a change
// of the policy, and those of a view that has no other holder when another view's are needed. A body belongs to one
// view, so that callers of two groups never share one, however alike they are. A view's body without a filter is always
// kept; beside it at most kFiltersMax of filters, of kFilteredBytesMax together (a body more where several are made at
// one time). Others are made for one message.
class SnapshotBodies final : private UpdateListener {
 public:
  static constexpr size_t kFiltersMax = 16;
  static constexpr size_t kFilterKeyBytesMax = 1 << 10;
  static constexpr size_t kFilteredBytesMax = 4 << 20;

  // Both must outlive it. `metrics` counts the serialisations, and the snapshots that Get() returns with rows.
  SnapshotBodies(Reader& reader, RequestMetrics& metrics);
  ~SnapshotBodies() override;

  // `device` is one of `reader`'s, with a snapshot. Who asks for a body that is being made waits for it.
  SharedSnapshot Get(const VisibleDevice& device, const RowFilter& filter) ABSL_LOCKS_EXCLUDED(mu_);

  // For tests: the bodies that are kept.
  size_t kept() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Entry {
    absl::Mutex mu;  // held while the body is made
    std::shared_ptr<const SnapshotBody> body ABSL_GUARDED_BY(mu);
    // The bytes of the view's filtered bodies together; nullptr where there is no filter. Shared by the view's entries.
    std::shared_ptr<std::atomic<size_t>> filtered_bytes;
  };
  using FilterKey = std::pair<bool, std::string>;  // whether the device is fresh, RowFilter::rows_key()
  struct OfView {
    std::shared_ptr<const View> view;  // held, so that an equal address means an equal view
    std::shared_ptr<std::atomic<size_t>> filtered_bytes = std::make_shared<std::atomic<size_t>>(0);
    absl::flat_hash_map<FilterKey, std::shared_ptr<Entry>> entries;  // shared with callers that wait
  };
  struct OfDevice {
    std::shared_ptr<const DeviceSnapshot> snapshot;  // the newest, held likewise
    std::shared_ptr<const DeviceInfo> info;          // likewise
    absl::flat_hash_map<const View*, OfView> views;
  };

  void OnUpdate() override ABSL_LOCKS_EXCLUDED(mu_);
  std::shared_ptr<const SnapshotBody> BodyOf(const VisibleDevice& device, const RowFilter& filter)
      ABSL_LOCKS_EXCLUDED(mu_);
  std::shared_ptr<const SnapshotBody> Make(const VisibleDevice& device, const RowFilter& filter);
  // nullptr where the body is not kept.
  std::shared_ptr<Entry> Find(const VisibleDevice& device, const RowFilter& filter) ABSL_LOCKS_EXCLUDED(mu_);
  static OfView& OfViewIn(OfDevice& of_device, const std::shared_ptr<const View>& view);
  static std::shared_ptr<Entry> FindIn(OfView& of_view, bool is_fresh, const std::string& rows_key);

  Reader& reader_;
  RequestMetrics& metrics_;

  mutable absl::Mutex mu_;
  uint64_t policy_version_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<size_t, OfDevice> devices_ ABSL_GUARDED_BY(mu_);  // by index
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_SNAPSHOT_MESSAGE_H_
