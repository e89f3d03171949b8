// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/replay.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "daemon/history/chunk.h"
#include "daemon/snapshot/message.h"

namespace sideband::daemon {
namespace {

// A row of a frame, and those of its events that are shown.
class FrameRow {
 public:
  FrameRow(const ChunkReader& frame, size_t row, const EventSet& events)
      : frame_(frame), layout_(frame.view().layout()), row_(row), events_(events), counters_(layout_.events) {
    for (size_t event = 0; event < counters_.size(); ++event) counters_[event] = frame.Count(row, event);
  }

  void Fill(const DeviceInfo& device, sideband::v1::ScopeCounters& out) const {
    const auto& [vm, context, generation] = layout_.rows[row_];
    const uint64_t status = frame_.Status(row_);
    FillScopeHeader(device, *layout_.topology,
                    {.vm = vm,
                     .context = context,
                     .generation = generation,
                     .state = StateOfStatus(status),
                     .flags = Flags(FlagsOfStatus(status))},
                    out);
    for (size_t event = 0; event < events_.size() && event < layout_.events; ++event) {
      if (events_[event] && layout_.IsShown(row_, event)) AddCounter(event, out);
    }
  }

 private:
  // The same as DeviceSnapshot::FlagsOf: others' multiplexing does not show. The frame has no more of the caller's.
  uint16_t Flags(uint16_t flags) const {
    constexpr uint16_t kOfTurns = mailbox::kFlagEstimated | mailbox::kFlagPartial;
    if (layout_.estimates == 0 || (flags & kOfTurns) == 0) return flags;
    for (size_t event = 0; event < events_.size(); ++event) {
      if (events_[event] && layout_.IsEstimated(event)) return flags;
    }
    const uint16_t own = layout_.topology->coverage().IsWhole(counters_) ? 0 : mailbox::kFlagPartial;
    return static_cast<uint16_t>((flags & ~kOfTurns) | own);
  }

  void AddCounter(size_t event, sideband::v1::ScopeCounters& out) const {
    const Coverage& coverage = layout_.topology->coverage();
    const std::optional<uint64_t> shown = frame_.Shown(row_, event);
    const double covered = coverage.OfCount(event, counters_);
    // An event that was counted in no cycle has no number.
    if (!shown || covered == 0) return;
    sideband::v1::Counter& counter = *out.add_counters();
    counter.set_event(layout_.topology->catalog().events[event].name);
    counter.set_count(*shown);
    if (layout_.IsEstimated(event)) {
      counter.mutable_estimate()->set_lower(counters_[event]);
    } else if (coverage.IsGated(event)) {
      counter.set_coverage(covered);
    }
  }

  const ChunkReader& frame_;
  const Layout& layout_;
  const size_t row_;
  const EventSet& events_;
  std::vector<uint64_t> counters_;  // by event
};

}  // namespace

bool Replay::CanGoOn(uint64_t before) const {
  const uint64_t next = passed_ + 1;
  return next >= before || (history_ != nullptr && history_->ChunkWith(device_, next).has_value());
}

Replay::Outcome Replay::Seek(uint64_t publication, DecodeBudget* budget) {
  if (!frames_ || publication > frames_->view().last_publication) {
    frames_.reset();
    auto chunk = history_ == nullptr ? std::nullopt : history_->ChunkWith(device_, publication);
    if (!chunk) return Outcome::kLost;
    frames_.emplace(*std::move(chunk));
  }
  while (frames_->header().publication < publication) {
    if (budget != nullptr && budget->is_spent()) return Outcome::kUnfinished;
    if (!frames_->Next()) return Outcome::kLost;
    if (budget != nullptr) budget->Spend(frames_->view().layout().values() + 1);
  }
  return frames_->header().publication == publication ? Outcome::kFound : Outcome::kLost;
}

Replay::Outcome Replay::Next(absl::Duration earliest, uint64_t before, DecodeBudget* budget) {
  while (passed_ + 1 < before) {
    if (const Outcome sought = Seek(passed_ + 1, budget); sought != Outcome::kFound) return sought;
    const ChunkView& chunk = frames_->view();
    if (chunk.last_steady < earliest && chunk.last_publication < before && chunk.IsComplete()) {
      passed_ = chunk.last_publication;
      continue;
    }
    ++passed_;
    if (header().steady_time() >= earliest) return Outcome::kFound;
  }
  return Outcome::kNothing;
}

const View& Replay::ViewOf(const VisibleDevice& device, const Caller& caller) {
  const std::shared_ptr<const Topology>& topology = frames_->view().layout().topology;
  std::set<Uuid> foreign = reader_->TenuresOf(caller).ForeignAt(header().steady_time());
  if (foreign.empty() && device.view != nullptr && device.view->topology() == topology) {
    view_ = device.view;
  } else if (view_ == nullptr || view_->topology() != topology || view_policy_ != caller.policy.version ||
             view_foreign_ != foreign) {
    view_ = TopologyViews(*reader_, caller).Of(*device.info, topology, header().steady_time());
  }
  view_foreign_ = std::move(foreign);
  view_policy_ = caller.policy.version;
  return *view_;
}

bool Replay::IsVisible(const VisibleDevice& device, const Caller& caller) {
  return Reader::Sees(caller, *device.info, &ViewOf(device, caller));
}

bool Replay::HasLaterVm(const Caller& caller) const {
  const std::set<Uuid> foreign = reader_->TenuresOf(caller).ForeignAt(header().steady_time());
  return !foreign.empty() && std::ranges::any_of(frames_->view().layout().topology->catalog().vms,
                                                 [&](const mailbox::VmInfo& vm) { return foreign.contains(vm.uuid); });
}

sideband::v1::Snapshot Replay::Message(const VisibleDevice& device, const Caller& caller, const RowFilter& filter) {
  return MessageBy(ViewOf(device, caller), device, filter);
}

sideband::v1::Snapshot Replay::MessageAsNewest(const VisibleDevice& device, const Caller& caller,
                                               const RowFilter& filter) const {
  const View view(*caller.policy.policy, caller.principal, frames_->view().layout().topology);
  return MessageBy(view, device, filter);
}

sideband::v1::Snapshot Replay::MessageBy(const View& view, const VisibleDevice& device, const RowFilter& filter) const {
  const Layout& layout = frames_->view().layout();
  sideband::v1::Snapshot out;
  out.set_device(device.info->name);
  out.set_boot_id(layout.boot_id);
  out.set_snapshot_id(static_cast<uint32_t>(header().snapshot_id));
  out.set_reference_time_ns(header().reference_time_ns);
  SetTime(header().host_time(), *out.mutable_host_time());
  SetDuration(header().host_time_error(), *out.mutable_host_time_error());
  for (size_t row = 0; row < layout.rows.size(); ++row) {
    const EventSet events = filter.SelectedEvents(view, layout.rows[row].vm, layout.rows[row].context);
    if (std::ranges::find(events, true) == events.end()) continue;
    FrameRow(*frames_, row, events).Fill(*device.info, *out.add_scopes());
  }
  return out;
}

}  // namespace sideband::daemon
