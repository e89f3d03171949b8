// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/mark_queries.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/base/retry_after.h"
#include "daemon/snapshot/message.h"
#include "daemon/view/row_filter.h"
#include "daemon/view/snapshot_message.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"

namespace sideband::daemon {
namespace {

using mailbox::kNoContext;
using sideband::v1::GetSpanRequest;
using sideband::v1::GetSpanResponse;
using sideband::v1::ListMarksRequest;
using sideband::v1::ListMarksResponse;
using sideband::v1::MarkInfo;
using sideband::v1::MarkRequest;
using sideband::v1::MarkResponse;

constexpr size_t kLabelMax = 64;
// Both instants are rounded down to a nanosecond.
constexpr uint64_t kDurationErrorNs = 1;

absl::Status CheckLabel(const std::string& label) {
  if (label.size() <= kLabelMax && Visible(label) == label) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("label: must be at most ", kLabelMax, " bytes of UTF-8 without control characters"));
}

// The scope that a request names, if the caller may mark it.
class Markable {
 public:
  Markable(const Caller& caller, const VisibleDevice& device)
      : caller_(caller), topology_(*device.snapshot->topology) {}

  absl::StatusOr<Mark> Read(const VisibleDevice& device, const MarkRequest& request) const {
    const mailbox::VmInfo* const vm = topology_.FindVm(request.vm());
    if (vm == nullptr) return NotFound();
    SIDEBAND_ASSIGN_OR_RETURN(const uint16_t context, ContextOf(*vm, request.context()));
    const bool is_confidential = caller_.IsConfidential(*vm);
    const Resource resource = request.context().empty()
                                  ? Resource::Vm(vm->uuid, is_confidential)
                                  : Resource::Context(vm->uuid, is_confidential, request.context());
    if (is_confidential && caller_.May(resource, Right::kSeal)) {
      return absl::FailedPreconditionError("the VM is confidential: its counts are in its sealed records only");
    }
    if (!caller_.May(resource, Right::kMark)) return NotFound();
    Mark mark{.scope = {.boot_id = device.snapshot->data.boot_id, .vm = vm->id, .context = context}, .vm = vm->uuid};
    for (const mailbox::BlockHeader& block : device.snapshot->data.blocks) {
      if (block.vm == vm->id && block.context == context) mark.scope.generation = block.generation;
    }
    mark.topology = device.snapshot->topology;
    mark.label = request.label();
    return mark;
  }

 private:
  // Several contexts of a name cannot be told apart.
  absl::StatusOr<uint16_t> ContextOf(const mailbox::VmInfo& vm, const std::string& name) const {
    if (name.empty()) return kNoContext;
    std::optional<uint16_t> found;
    for (const mailbox::ContextInfo& context : topology_.catalog().contexts) {
      if (context.vm != vm.id || context.name != name) continue;
      if (found) return NotFound();
      found = context.id;
    }
    if (!found) return NotFound();
    return *found;
  }

  const Caller& caller_;
  const Topology& topology_;
};

MarkInfo::State StateOf(Mark::State state) {
  switch (state) {
    case Mark::State::kPending:
      return MarkInfo::STATE_PENDING;
    case Mark::State::kRead:
      return MarkInfo::STATE_READ;
    case Mark::State::kLost:
      return MarkInfo::STATE_LOST;
  }
  return MarkInfo::STATE_UNSPECIFIED;
}

// How far a time may be off, for that caller; nullopt: it is known less closely than it is shown to tenants.
std::optional<absl::Duration> ErrorFor(const DeviceInfo& device, Principal::Role role, absl::Duration error) {
  const auto& bound = device.clocks.tenant_bound;
  if (!bound || role == Principal::Role::kOperator) return error;
  return error <= *bound ? bound : std::nullopt;
}

void FillMark(const DeviceInfo& device, Principal::Role role, const Mark& mark, MarkInfo& out) {
  out.set_mark_id(mark.id);
  *out.mutable_scope() = ScopeMessage(device, *mark.topology, mark.scope.vm, mark.scope.context);
  out.mutable_scope()->set_generation(mark.scope.generation);
  out.set_label(mark.label);
  out.set_boot_id(mark.scope.boot_id);
  out.set_state(StateOf(mark.state));
  out.set_requested_ns(mark.requested_ns);
  if (mark.state != Mark::State::kRead) return;
  out.set_reference_time_ns(mark.served_ns);
  const auto error = mark.instant ? ErrorFor(device, role, mark.instant->error) : std::nullopt;
  if (!error) return;
  SetTime(mark.instant->time, *out.mutable_host_time());
  SetDuration(*error, *out.mutable_host_time_error());
}

const std::string* NameOf(const Topology& topology, uint16_t vm, uint16_t context) {
  const mailbox::ContextInfo* const found = topology.FindContext(vm, context);
  return found == nullptr ? nullptr : &found->name;
}

// By the view of today: its numbers may be of another VM by now, or of another context.
const EventSet* ReadableEvents(const VisibleDevice& device, const Mark& mark) {
  const Topology& today = *device.view->topology();
  const mailbox::VmInfo* const vm = today.FindVm(mark.scope.vm);
  if (vm == nullptr || vm->uuid != mark.vm) return nullptr;
  if (mark.scope.context != kNoContext) {
    const std::string* const then = NameOf(*mark.topology, mark.scope.vm, mark.scope.context);
    const std::string* const now = NameOf(today, mark.scope.vm, mark.scope.context);
    if (then == nullptr || now == nullptr || *then != *now) return nullptr;
  }
  return device.view->Events(mark.scope.vm, mark.scope.context);
}

// Whether the caller reads something of the VM: others' marks are not even looked at.
bool ReadsOf(const VisibleDevice& device, uint16_t vm) {
  if (device.view->Events(vm, kNoContext) != nullptr) return true;
  return std::ranges::any_of(device.view->topology()->catalog().contexts, [&](const mailbox::ContextInfo& context) {
    return context.vm == vm && device.view->Events(vm, context.id) != nullptr;
  });
}

// The positions of events, and what may be read, are of a catalogue.
bool CountTheSame(const Topology& a, const Topology& b) { return a.catalog().events == b.catalog().events; }

bool GoesBack(const Mark& from, const Mark& to) {
  return from.counters.size() != to.counters.size() ||
         !std::equal(from.counters.begin(), from.counters.end(), to.counters.begin(), std::less_equal<>());
}

// The device's error as callers see it.
absl::Status MarkError(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
      return NotFound();
    case absl::StatusCode::kUnimplemented:
      return absl::FailedPreconditionError("the device does not support marks");
    case absl::StatusCode::kFailedPrecondition:
      return absl::FailedPreconditionError(
          "the device has no grid of triggers, at which marks are served: operators configure one (clocks.trigger_hz)");
    case absl::StatusCode::kResourceExhausted:
      return WithRetryAfter(absl::ResourceExhaustedError("the last mark there has not been served yet"),
                            absl::Milliseconds(100));
    default:
      return absl::UnavailableError(absl::StrCat("the device was not marked: ", status.message()));
  }
}

absl::Status CheckRead(const Mark& mark) {
  if (mark.state == Mark::State::kRead) return absl::OkStatus();
  if (mark.state == Mark::State::kLost)
    return absl::FailedPreconditionError(absl::StrCat("mark ", mark.id, " was lost"));
  return WithRetryAfter(
      absl::FailedPreconditionError(absl::StrCat("mark ", mark.id, " is pending: it comes with the next snapshot")),
      absl::Seconds(1));
}

absl::StatusOr<EventSet> Chosen(const Topology& topology, const EventSet& readable, const GetSpanRequest& request) {
  if (request.events().empty()) return readable;
  EventSet chosen(readable.size());
  for (const std::string& name : request.events()) {
    const auto event = FindReadable(topology.catalog(), readable, name);
    if (!event) return NotFound();
    chosen[*event] = true;
  }
  return chosen;
}

std::vector<uint64_t> Differences(const Mark& from, const Mark& to) {
  std::vector<uint64_t> counts(to.counters.size());
  std::ranges::transform(to.counters, from.counters, counts.begin(), std::minus<>());
  return counts;
}

// Fills the counters; returns whether each was counted all the time.
bool FillCounts(const Topology& topology, uint16_t vm, const std::vector<uint64_t>& counts, const EventSet& chosen,
                GetSpanResponse& out) {
  const double seconds = static_cast<double>(out.duration_ns()) / 1e9;
  bool is_whole = true;
  for (size_t event = 0; event < chosen.size() && event < counts.size(); ++event) {
    if (!chosen[event] || !topology.IsShown(vm, event, /*device_scope_withheld=*/true)) continue;
    const double coverage = topology.coverage().OfCount(event, counts);
    const bool takes_turns = topology.rotation().IsRotated(event);
    is_whole = is_whole && coverage == 1 && !takes_turns;
    if (coverage == 0) continue;
    sideband::v1::Counter& counter = *out.add_counters();
    FillCounter(topology, event, {.count = counts[event], .coverage = coverage}, counter);
    if (seconds > 0) counter.set_rate_per_second(static_cast<double>(counts[event]) / seconds);
    // Nothing is estimated between marks.
    if (takes_turns) SetCountedOnly(counter);
  }
  return is_whole;
}

}  // namespace

absl::Status MarkQueries::Mark(const Caller& caller, const MarkRequest& request, Done done) const {
  SIDEBAND_ASSIGN_OR_RETURN(const VisibleDevice device, FindDevice(reader_, caller, request.device()));
  SIDEBAND_ASSIGN_OR_RETURN(daemon::Mark wanted, Markable(caller, device).Read(device, request));
  SIDEBAND_RETURN_IF_ERROR(CheckLabel(request.label()));
  BookmarkOrder order{.scope = wanted.scope};
  SIDEBAND_ASSIGN_OR_RETURN(order.bookmark, book_.Begin(device.index, std::move(wanted), reader_.clock().Steady()));
  const absl::Status asked = sink_.Ask(device.index, order,
                                       [&book = book_, device, bookmark = order.bookmark, role = caller.principal.role,
                                        done = std::move(done)](const absl::StatusOr<uint64_t>& requested_ns) {
                                         if (!requested_ns.ok()) {
                                           book.Drop(device.index, bookmark);
                                           return done(MarkError(requested_ns.status()));
                                         }
                                         const auto mark = book.Requested(device.index, bookmark, *requested_ns);
                                         if (!mark)
                                           return done(absl::UnavailableError("the device has restarted meanwhile"));
                                         MarkResponse response;
                                         FillMark(*device.info, role, *mark, *response.mutable_mark());
                                         done(std::move(response));
                                       });
  if (!asked.ok()) book_.Drop(device.index, order.bookmark);
  return asked;
}

absl::StatusOr<ListMarksResponse> MarkQueries::ListMarks(const Caller& caller, const ListMarksRequest& request) const {
  sideband::v1::Filter named;
  named.set_device(request.device());
  named.set_vm(request.vm());
  named.set_context(request.context());
  const RowFilter filter(named);
  const std::vector<VisibleDevice> devices = reader_.Devices(caller);
  SIDEBAND_RETURN_IF_ERROR(filter.Check(devices));
  ListMarksResponse response;
  std::vector<MarkInfo> marks;
  for (const VisibleDevice& device : devices) AddMarks(caller, device, filter, marks);
  for (MarkInfo& mark : marks) *response.add_marks() = std::move(mark);
  return response;
}

void MarkQueries::AddMarks(const Caller& caller, const VisibleDevice& device, const RowFilter& filter,
                           std::vector<MarkInfo>& out) const {
  if (device.view == nullptr || !filter.SelectsDevice(device)) return;
  const VmTenures tenures = reader_.TenuresOf(caller);
  for (const mailbox::VmInfo& vm : device.view->topology()->catalog().vms) {
    if (!ReadsOf(device, vm.id)) continue;
    for (const daemon::Mark& mark : book_.Of(device.index, vm.uuid)) {
      const bool is_selected = filter.SelectsRow(*mark.topology, mark.scope.vm, mark.scope.context);
      if (is_selected && tenures.IsOwn(vm.uuid, mark.begun) && ReadableEvents(device, mark) != nullptr)
        FillMark(*device.info, caller.principal.role, mark, out.emplace_back());
    }
  }
}

absl::StatusOr<GetSpanResponse> MarkQueries::GetSpan(const Caller& caller, const GetSpanRequest& request) const {
  SIDEBAND_ASSIGN_OR_RETURN(const VisibleDevice device, FindDevice(reader_, caller, request.device()));
  const mailbox::VmInfo* const vm = device.view->topology()->FindVm(request.vm());
  if (vm == nullptr) return NotFound();
  auto from = book_.Find(device.index, vm->uuid, request.from_mark());
  auto to = book_.Find(device.index, vm->uuid, request.to_mark());
  const VmTenures tenures = reader_.TenuresOf(caller);
  const auto is_own = [&](const daemon::Mark& mark) { return tenures.IsOwn(vm->uuid, mark.begun); };
  if (!from || !to || !is_own(*from) || !is_own(*to) || ReadableEvents(device, *from) == nullptr) return NotFound();
  const EventSet* const readable = ReadableEvents(device, *to);
  if (readable == nullptr) return NotFound();
  for (const auto& mark : {*from, *to}) SIDEBAND_RETURN_IF_ERROR(CheckRead(mark));
  if (from->scope != to->scope) {
    return absl::FailedPreconditionError("the marks belong to different counters: another scope, boot or generation");
  }
  if (!CountTheSame(*from->topology, *to->topology) || !CountTheSame(*to->topology, *device.view->topology())) {
    return absl::FailedPreconditionError("the device counts other events now");
  }
  if (to->served_ns < from->served_ns) std::swap(from, to);
  if (GoesBack(*from, *to)) return absl::FailedPreconditionError("the device contradicts itself: counts have fallen");
  SIDEBAND_ASSIGN_OR_RETURN(const EventSet chosen, Chosen(*to->topology, *readable, request));
  GetSpanResponse response;
  FillMark(*device.info, caller.principal.role, *from, *response.mutable_from());
  FillMark(*device.info, caller.principal.role, *to, *response.mutable_to());
  response.set_duration_ns(to->served_ns - from->served_ns);
  response.set_duration_error_ns(kDurationErrorNs);
  const bool is_whole = FillCounts(*to->topology, to->scope.vm, Differences(*from, *to), chosen, response);
  const uint16_t own = to->flags & ~(mailbox::kFlagEstimated | mailbox::kFlagPartial);
  for (const std::string& flag : mailbox::FlagNames(is_whole ? own : own | mailbox::kFlagPartial)) {
    response.add_flags(flag);
  }
  return response;
}

}  // namespace sideband::daemon
