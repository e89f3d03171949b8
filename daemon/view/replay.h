// SPDX-License-Identifier: Apache-2.0
//
// Replays, from the history, the publications of a device that follow an update which a stream's reader has had, as one
// caller sees them. Views of past topologies are here, too: answers from the history use them.
//   Replay replay(reader, history, device.index, /*after=*/41);
//   while (replay.Next(absl::ZeroDuration(), device.snapshot->publication) == Replay::Outcome::kFound) {
//     Send(replay.Message(device, caller, filter));
//   }
#ifndef SIDEBAND_DAEMON_VIEW_REPLAY_H_
#define SIDEBAND_DAEMON_VIEW_REPLAY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/time/time.h"
#include "daemon/history/chunk.h"
#include "daemon/history/history.h"
#include "daemon/view/reader.h"
#include "daemon/view/row_filter.h"
#include "daemon/view/tenure.h"
#include "daemon/view/view.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {

// A caller's views of a device's topologies, including past topologies, for the duration of one request. The view of
// the newest topology is requested often and is in the reader's cache instead.
//
// Not thread-safe. Its views are audited. The reader and the caller must outlive it.
class TopologyViews {
 public:
  TopologyViews(Reader& reader, const Caller& caller)
      : reader_(reader), caller_(caller), tenures_(reader.TenuresOf(caller)) {}

  // Returns the view under the caller's policy, by the topology's own ids: another topology may use the same ids for
  // other VMs. VMs that were not yet the caller's at that instant of the steady clock are not in it.
  std::shared_ptr<const View> Of(const DeviceInfo& device, const std::shared_ptr<const Topology>& topology,
                                 absl::Duration steady) {
    const std::set<Uuid> foreign = tenures_.ForeignAt(steady);
    std::shared_ptr<const View>& view = views_[{topology.get(), foreign}];
    if (view == nullptr) view = Make(device, topology, foreign);
    return view;
  }
  const VmTenures& tenures() const { return tenures_; }

 private:
  std::shared_ptr<const View> Make(const DeviceInfo& device, const std::shared_ptr<const Topology>& topology,
                                   const std::set<Uuid>& foreign) {
    DecisionLog decisions;
    auto view = std::make_shared<const View>(*caller_.policy.policy, caller_.principal, topology, &decisions, foreign);
    reader_.view_auditor().OnPastView(device, caller_.policy, caller_.principal, decisions);
    return view;
  }

  Reader& reader_;
  const Caller& caller_;
  const VmTenures tenures_;
  // A view holds its topology, so that the address is not reused. Shared with VisibleDevices.
  std::map<std::pair<const Topology*, std::set<Uuid>>, std::shared_ptr<const View>> views_;
};

// How many numbers one step may decode. A frame that has been begun is decoded whole.
class DecodeBudget {
 public:
  explicit DecodeBudget(size_t values) : left_(values) {}

  bool is_spent() const { return left_ == 0; }
  void Spend(size_t values) { left_ -= std::min(left_, values); }

 private:
  size_t left_;
};

// It holds one chunk of the history and one decoded frame at most, from the first Next() on. Not thread-safe; the
// reader and the history must outlive it.
class Replay {
 public:
  enum class Outcome {
    kFound,
    kNothing,     // no such publication before `before`
    kUnfinished,  // the budget is spent: the next call goes on
    kLost,        // the history does not have the next one any more, or never had it
  };

  // Without a history (nullptr) every publication is lost.
  Replay(Reader& reader, const History* history, size_t device, uint64_t after)
      : reader_(&reader), history_(history), device_(device), passed_(after) {}

  // Whether the publication that follows passed() is held, or is `before`.
  bool CanGoOn(uint64_t before) const;
  // Goes on to the first publication that was latched at `earliest` or later, by the host's steady clock. Chunks that
  // end before are not decoded. Without a budget (nullptr) it is unlimited.
  Outcome Next(absl::Duration earliest, uint64_t before, DecodeBudget* budget = nullptr);

  // The publication of the last frame that was found or passed over.
  uint64_t passed() const { return passed_; }
  // Header and boot id of the frame that was found last.
  const FrameHeader& header() const { return frames_->header(); }
  uint64_t boot_id() const { return frames_->view().layout().boot_id; }
  // Whether the caller would have seen the device then, under the policy that holds now.
  bool IsVisible(const VisibleDevice& device, const Caller& caller);
  // Whether a VM of the frame came to be the caller's only later. It is not in Message().
  bool HasLaterVm(const Caller& caller) const;
  // The frame as the caller may see it now, by the topology of its time: as SubscribeResponse.replayed says. VMs that
  // were not yet the caller's then are not in it. `device`
  // is the device as the caller sees it now. Each view of the past is audited as HistoryReader does.
  sideband::v1::Snapshot Message(const VisibleDevice& device, const Caller& caller, const RowFilter& filter);
  // The frame as a stream had it that was open when it was the newest one, under the policy of now: VMs that came to be
  // the caller's later are in it. To compare with, not to be sent.
  sideband::v1::Snapshot MessageAsNewest(const VisibleDevice& device, const Caller& caller,
                                         const RowFilter& filter) const;

 private:
  // Positions frames_ at the publication: kFound, kUnfinished or kLost.
  Outcome Seek(uint64_t publication, DecodeBudget* budget);
  const View& ViewOf(const VisibleDevice& device, const Caller& caller);
  sideband::v1::Snapshot MessageBy(const View& view, const VisibleDevice& device, const RowFilter& filter) const;

  Reader* reader_;
  const History* history_;
  size_t device_;
  uint64_t passed_;
  std::optional<ChunkReader> frames_;
  std::shared_ptr<const View> view_;  // of the last message; shared with the views' cache
  std::set<Uuid> view_foreign_;       // the VMs that were not the caller's then
  uint64_t view_policy_ = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_REPLAY_H_
