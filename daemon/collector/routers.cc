// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/routers.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "daemon/mailbox/block_peeker.h"
#include "daemon/mailbox/device_commands.h"
#include "daemon/mailbox/snapshot_reader.h"
#include "daemon/snapshot/device_snapshot.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

using mailbox::Catalog;

// A job that answers what `run` returns, a status or a value of it.
template <typename Answer, typename Done>
BusJob JobOf(BusJobKind kind, size_t asker, std::function<Answer(MailboxSession&)> run, Done done) {
  return {.kind = kind,
          .asker = asker,
          .run = [run = std::move(run), done](
                     MailboxSession& session,
                     absl::Duration) { return BusJob::Ran{.answer = [done, answer = run(session)] { done(answer); }}; },
          .refuse = done};
}

absl::StatusOr<uint64_t> AddTo(BusDirectory& buses, size_t device, BusJob job) {
  const auto use = buses.Use(device);
  if (!use) return NoLongerRead();
  return use->Add(std::move(job));
}

// Peeks

// A virtual bus without a configured speed: what a peek has taken is known afterwards. So is what narrower windows have
// cost beyond this.
absl::Duration CostOf(const PeekQuery& query, const DeviceInfo& info) {
  return info.bus_hz == 0 ? absl::ZeroDuration() : PeekTime(query, info.bus_hz, mailbox::kWindowBytes);
}

// Each snapshot would interrupt what takes longer than the time between two of them, which is at most what the shortest
// snapshot leaves of the interval.
absl::Status CheckFits(const PeekQuery& query, const DeviceInfo& info, const DeviceSnapshot* newest) {
  if (info.bus_hz == 0) return absl::OkStatus();
  const absl::Duration lead = PeekLeadTime(query, info.bus_hz, mailbox::kWindowBytes);
  absl::Duration between = info.interval;
  if (newest != nullptr) between -= BudgetOf(*newest->topology, info.bus_hz, mailbox::kWindowBytes).least;
  if (lead == absl::ZeroDuration() || lead < between) return absl::OkStatus();
  return absl::InvalidArgumentError("events: they are in more extends than can be read between two snapshots");
}

// Rotations

std::vector<uint16_t> ContextsOf(const RotationOrder& order) {
  if (const auto* const request = std::get_if<mailbox::RotationRequest>(&order.what)) return request->contexts;
  const uint16_t context = std::get<LearnRequest>(order.what).context;
  return context == mailbox::kNoContext ? std::vector<uint16_t>() : std::vector<uint16_t>{context};
}

uint16_t VmOf(const RotationOrder& order) {
  return std::visit([](const auto& what) { return what.vm; }, order.what);
}

bool HasSameVm(const Catalog& a, const Catalog& b, uint16_t vm) {
  const auto in_a = std::ranges::find(a.vms, vm, &mailbox::VmInfo::id);
  const auto in_b = std::ranges::find(b.vms, vm, &mailbox::VmInfo::id);
  return in_a != a.vms.end() && in_b != b.vms.end() && in_a->uuid == in_b->uuid &&
         in_a->generation == in_b->generation && in_a->confidential == in_b->confidential;
}

bool HasSameContext(const Catalog& a, const Catalog& b, uint16_t vm, uint16_t id) {
  const auto find = [&](const Catalog& catalog) {
    return std::ranges::find_if(catalog.contexts,
                                [&](const auto& context) { return context.vm == vm && context.id == id; });
  };
  const auto in_a = find(a), in_b = find(b);
  return in_a != a.contexts.end() && in_b != b.contexts.end() && in_a->name == in_b->name &&
         in_a->generation == in_b->generation;
}

// Whether the device has the same behind the order's numbers as when they were looked up.
bool IsStill(const RotationOrder& order, const DeviceSnapshot* newest) {
  if (newest == nullptr || newest->data.boot_id != order.boot_id) return false;
  if (newest->topology == order.topology) return true;
  const Catalog& then = order.topology->catalog();
  const Catalog& now = newest->topology->catalog();
  const std::vector<uint16_t> contexts = ContextsOf(order);
  return HasSameVm(then, now, VmOf(order)) &&
         std::ranges::all_of(contexts, [&](uint16_t id) { return HasSameContext(then, now, VmOf(order), id); });
}

// Seals

bool IsStill(const SealedVm& vm, const DeviceSnapshot* newest) {
  if (newest == nullptr || newest->data.boot_id != vm.boot_id) return false;
  const mailbox::VmInfo* const found = newest->topology->FindVm(vm.vm_id);
  return found != nullptr && found->uuid == vm.vm && newest->IsSealedByDevice(vm.vm_id);
}

// Marks

// The share of the bus's time for marks and what snapshots then have of them; each VM of the device has an equal part,
// whether others mark or not.
constexpr double kMarksShare = 0.2;

// The cost of the command, and of what the next snapshot then has. (proto/mailbox/stream_format.md, "Bookmarks")
absl::Duration CostOf(const Catalog& catalog, uint32_t bus_hz) {
  constexpr double kCommandBitTimes = 5000, kBitTimesOfEvent = 45;
  const double bit_times = kCommandBitTimes + kBitTimesOfEvent * static_cast<double>(catalog.events.size());
  return absl::Seconds(bit_times / bus_hz);
}

bool IsStill(const MarkScope& scope, const DeviceSnapshot* newest) {
  return newest != nullptr && newest->data.boot_id == scope.boot_id &&
         std::ranges::any_of(newest->data.blocks, [&](const mailbox::BlockHeader& block) {
           return block.vm == scope.vm && block.context == scope.context && block.generation == scope.generation;
         });
}

}  // namespace

absl::StatusOr<uint64_t> PeekRouter::Ask(BusJobs& jobs, size_t device, const DeviceInfo& info, PeekQuery query,
                                         Done done) {
  if (info.peek_bus_share <= 0) return absl::FailedPreconditionError("peeks are switched off");
  SIDEBAND_RETURN_IF_ERROR(CheckFits(query, info, store_.Newest(device).get()));
  BusJob job{.kind = BusJobKind::kPeek,
             .asker = query.asker,
             .share = info.peek_bus_share,
             .cost = CostOf(query, info),
             .refuse = done};
  job.run = [this, name = info.name, cost = *job.cost, query = std::move(query), done = std::move(done)](
                MailboxSession& session, absl::Duration due) -> BusJob::Ran {
    BlockPeeker peeker(session, clock_, [&] { metrics_.PeekRetry(name); });
    const absl::Status support = peeker.CheckSupport();
    if (!support.ok()) return {.answer = [done, support] { done(support); }};
    const absl::Duration begin = clock_.Steady();
    const auto peeked = peeker.Peek(query, due);
    metrics_.PeekDuration(name, clock_.Steady() - begin);
    if (peeked.status() == GaveWay()) return {};
    // A virtual bus is faster than the clock that it is configured to have.
    return {.answer = [done, peeked] { done(peeked); }, .least = cost};
  };
  return jobs.Add(std::move(job));
}

absl::StatusOr<LiveReader::Ticket> PeekRouter::Peek(size_t device, PeekQuery query, Done done) {
  // Read again: a reload may have changed the share.
  const auto info = store_.Info(device);
  // The device's metrics stay while it is used.
  const auto use = buses_.Use(device);
  if (info == nullptr || !use) return NoLongerRead();
  const auto number =
      Ask(*use, device, *info, std::move(query),
          [&metrics = metrics_, name = info->name, done = std::move(done)](const absl::StatusOr<PeekedBlock>& peeked) {
            metrics.Peek(name, peeked.status().code());
            done(peeked);
          });
  if (number.ok()) return Ticket{device, *number};
  metrics_.Peek(info->name, number.status().code());
  return number.status();
}

bool PeekRouter::Cancel(const Ticket& ticket) {
  const auto use = buses_.Use(ticket.device);
  if (!use || !use->Remove(ticket.number)) return false;
  if (const auto info = store_.Info(ticket.device)) metrics_.Peek(info->name, absl::StatusCode::kCancelled);
  return true;
}

absl::Status TriggerRouter::Trigger(size_t device, mailbox::TriggerStep step, uint64_t argument, Done done) {
  const auto run = [step, argument](MailboxSession& session) -> absl::StatusOr<uint32_t> {
    if (step != mailbox::TriggerStep::kSelect) return RunTrigger(session, step, argument);
    SIDEBAND_RETURN_IF_ERROR(ClockReader(session).Select(argument));
    return 0;
  };
  return AddTo(buses_, device, JobOf<absl::StatusOr<uint32_t>>(BusJobKind::kTrigger, 0, run, std::move(done))).status();
}

absl::Status RotationRouter::Ask(size_t device, RotationOrder order, Done done) {
  const size_t asker = order.asker;
  const auto run = [this, device, order = std::move(order)](MailboxSession& session) -> absl::Status {
    if (!IsStill(order, store_.Newest(device).get())) {
      return absl::UnavailableError("the device's VMs and contexts have changed meanwhile");
    }
    RotationWriter writer(session);
    if (const auto* const request = std::get_if<mailbox::RotationRequest>(&order.what)) return writer.Apply(*request);
    const auto& learn = std::get<LearnRequest>(order.what);
    return writer.Learn(learn.vm, learn.context);
  };
  return AddTo(buses_, device, JobOf<absl::Status>(BusJobKind::kRotation, asker, run, std::move(done))).status();
}

template <typename Value>
absl::Status SealRouter::Ask(const SealedVm& vm, std::function<absl::StatusOr<Value>(MailboxSession&)> run,
                             Done<Value> done) {
  const auto run_if_still = [this, vm, run = std::move(run)](MailboxSession& session) -> absl::StatusOr<Value> {
    if (IsStill(vm, store_.Newest(vm.device).get())) return run(session);
    return absl::UnavailableError("the device or its VM has changed meanwhile: try again");
  };
  return AddTo(buses_, vm.device,
               JobOf<absl::StatusOr<Value>>(BusJobKind::kSeal, vm.vm_id, run_if_still, std::move(done)))
      .status();
}

absl::Status SealRouter::Draw(const SealedVm& vm, Done<Bytes> done) {
  const auto run = [id = vm.vm_id](MailboxSession& session) { return SealWriter(session).Draw(id); };
  return Ask<Bytes>(vm, run, std::move(done));
}

absl::Status SealRouter::Exchange(const SealedVm& vm, Bytes request, Done<Bytes> done) {
  const auto run = [request = std::move(request)](MailboxSession& session) {
    return SealWriter(session).Exchange(request);
  };
  return Ask<Bytes>(vm, run, std::move(done));
}

absl::Status SealRouter::Rotate(const SealedVm& vm, Done<uint64_t> done) {
  const auto run = [id = vm.vm_id](MailboxSession& session) { return SealWriter(session).Rotate(id); };
  return Ask<uint64_t>(vm, run, std::move(done));
}

absl::Status MarkRouter::Ask(size_t device, const BookmarkOrder& order, Done done) {
  const auto info = store_.Info(device);
  const auto newest = store_.Newest(device);
  if (info == nullptr || newest == nullptr) return NotReachable();
  const auto counted = [&metrics = metrics_, name = info->name,
                        done = std::move(done)](const absl::StatusOr<uint64_t>& requested_ns) {
    metrics.Mark(name, requested_ns.status().code());
    done(requested_ns);
  };
  const auto run = [this, device, order](MailboxSession& session) -> absl::StatusOr<uint64_t> {
    // The numbers of VMs and contexts may be of others by now.
    if (!IsStill(order.scope, store_.Newest(device).get())) return NotReachable();
    return ClockReader(session).Bookmark(order.scope.vm, order.scope.context, order.bookmark);
  };
  BusJob job = JobOf<absl::StatusOr<uint64_t>>(BusJobKind::kMark, order.scope.vm, run, counted);
  const Catalog& catalog = newest->topology->catalog();
  if (info->bus_hz == 0) {
    job.share = BusJob::kUnlimited;
  } else {
    job.share = kMarksShare / static_cast<double>(std::max<size_t>(1, catalog.vms.size()));
    job.cost = CostOf(catalog, info->bus_hz);
  }
  return AddTo(buses_, device, std::move(job)).status();
}

}  // namespace sideband::daemon
