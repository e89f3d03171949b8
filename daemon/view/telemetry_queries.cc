// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/telemetry_queries.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/message.h"
#include "daemon/view/row_filter.h"
#include "daemon/view/snapshot_message.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

using mailbox::kNoContext;
using sideband::v1::PeekRequest;
using sideband::v1::PeekResponse;

// The visible devices named `name`, or all where it is empty. NotFound() where a name was given and no visible device
// has it.
absl::StatusOr<std::vector<VisibleDevice>> Select(Reader& reader, const Caller& caller, const std::string& name) {
  sideband::v1::Filter filter;
  filter.set_device(name);
  const RowFilter by_name(filter);
  std::vector<VisibleDevice> selected;
  for (VisibleDevice& device : reader.Devices(caller)) {
    if (by_name.SelectsDevice(device)) selected.push_back(std::move(device));
  }
  // Absent and denied devices are indistinguishable.
  if (selected.empty() && !name.empty()) return NotFound();
  return selected;
}

void AddEvents(const VisibleDevice& device, sideband::v1::ListEventsResponse& response) {
  auto& out = *response.add_devices();
  out.set_device(device.info->name);
  const Topology& topology = *device.view->topology();
  for (size_t i = 0; i < topology.catalog().events.size(); ++i) {
    if (device.view->AllEvents()[i]) *out.add_events() = EventMessage(topology, i);
  }
}

void FillClock(const mailbox::ClockDomain& domain, const ClockState& state, sideband::v1::Clock& out) {
  out.set_name(domain.name);
  if (domain.slice) out.set_slice(*domain.slice);
  out.set_nominal_hertz(domain.nominal_hz);
  out.set_may_stop(domain.MayStop());
  out.set_announces_changes(domain.announces);
  if (state.frequency) {
    out.set_hertz_lower(state.frequency->lower);
    out.set_hertz_upper(state.frequency->upper);
  }
  if (state.error_bound_s) out.set_error_bound_seconds(*state.error_bound_s);
  out.set_unsound(state.is_unsound);
  out.set_stopped(state.is_stopped);
  out.set_segments(state.segments);
  out.set_refuted_segments(state.refuted_segments);
  out.set_unused_readings(state.unused_readings);
  out.set_withheld(state.is_withheld);
}

void FillOffset(const LineOffset& offset, sideband::v1::LineOffset& out) {
  out.set_driver(offset.driver);
  out.set_offset_ns(offset.offset_ns);
  out.set_error_ns(offset.error_ns);
  if (!offset.rate) return;
  out.set_ppm_lower(offset.rate->lower_ppm);
  out.set_ppm_upper(offset.rate->upper_ppm);
}

void FillDevice(const VisibleDevice& device, sideband::v1::DeviceClocks& out) {
  out.set_device(device.info->name);
  const DeviceSnapshot& snapshot = *device.snapshot;
  const auto& domains = snapshot.topology->catalog().clock_domains;
  for (size_t d = 0; d < snapshot.clocks.size(); ++d) FillClock(domains[d], snapshot.clocks[d], *out.add_clocks());
  if (snapshot.reference_rate) {
    out.set_reference_ppm_lower(snapshot.reference_rate->lower_ppm);
    out.set_reference_ppm_upper(snapshot.reference_rate->upper_ppm);
  }
  out.set_reference_unsound(snapshot.reference_is_unsound);
  SetDuration(snapshot.host_time_error, *out.mutable_host_time_error());
  // That of a device that answers no more is of a pulse long ago.
  if (snapshot.line_offset && device.state == VisibleDevice::State::kFresh)
    FillOffset(*snapshot.line_offset, *out.mutable_line_offset());
}

// A request has as many as a question to the device.
constexpr int kEventsMax = 64;

absl::Status CheckForm(const PeekRequest& request) {
  if (request.device().empty()) return absl::InvalidArgumentError("device: must be given");
  if (request.vm().empty() && !request.context().empty()) return absl::InvalidArgumentError("context: needs a VM");
  if (!request.vm().empty() && request.has_host_slice()) {
    return absl::InvalidArgumentError("host_slice: cannot be combined with a VM");
  }
  if (request.events_size() < 1 || request.events_size() > kEventsMax) {
    return absl::InvalidArgumentError(absl::StrCat("events: must be 1 to ", kEventsMax));
  }
  return absl::OkStatus();
}

bool IsNamed(const PeekRequest& request, const Topology& topology, const mailbox::BlockHeader& block) {
  if (request.has_host_slice()) return LevelOf(block) == Level::kHost && block.context == request.host_slice();
  if (request.vm().empty()) return LevelOf(block) == Level::kDevice;
  const mailbox::VmInfo* const vm = topology.FindVm(request.vm());
  if (vm == nullptr || vm->id != block.vm) return false;
  if (request.context().empty()) return block.context == kNoContext;
  const mailbox::ContextInfo* const context = topology.FindContext(block.vm, block.context);
  return context != nullptr && context->name == request.context();
}

// The blocks that the request names: at most one, unless contexts have the same name. Confidential VMs have none.
std::vector<mailbox::BlockHeader> NamedBlocks(const PeekRequest& request, const DeviceSnapshot& snapshot) {
  std::vector<mailbox::BlockHeader> blocks;
  std::ranges::copy_if(snapshot.data.blocks, std::back_inserter(blocks),
                       [&](const mailbox::BlockHeader& block) { return IsNamed(request, *snapshot.topology, block); });
  return blocks;
}

Resource ResourceOf(const Caller& caller, const Topology& topology, const mailbox::BlockHeader& block) {
  const mailbox::VmInfo* const vm = topology.FindVm(block.vm);
  if (vm == nullptr) return Resource::Device();
  const bool confidential = caller.IsConfidential(*vm);
  const mailbox::ContextInfo* const context = topology.FindContext(block.vm, block.context);
  return context == nullptr ? Resource::Vm(vm->uuid, confidential)
                            : Resource::Context(vm->uuid, confidential, context->name);
}

// Whether the device's own block contains counts that its published row leaves out.
bool HidesCounts(const Caller& caller, const DeviceSnapshot& snapshot) {
  return snapshot.device_row_is_sum || snapshot.topology->device_block_has_confidential_counts() ||
         std::ranges::any_of(snapshot.topology->catalog().vms,
                             [&](const mailbox::VmInfo& vm) { return caller.IsConfidential(vm) && !vm.is_private; });
}

// Whether there are counts of device-scope events that cannot be shown.
bool HidesDeviceScope(const Caller& caller, const DeviceSnapshot& snapshot) {
  return snapshot.device_scope_withheld || snapshot.topology->has_had_confidential_vm() ||
         std::ranges::any_of(snapshot.topology->catalog().vms,
                             [&](const mailbox::VmInfo& vm) { return caller.IsConfidential(vm); });
}

// The events of the request by their numbers, ascending; nullopt unless the caller may read and peek at each of them.
std::optional<std::vector<uint16_t>> EventsOf(const PeekRequest& request, const Caller& caller, const View& view,
                                              const mailbox::BlockHeader& block) {
  const EventSet* const readable = view.Events(block.vm, block.context);
  const Resource row = ResourceOf(caller, *view.topology(), block);
  if (readable == nullptr || !caller.May(row, Right::kPeek)) return std::nullopt;
  const mailbox::Catalog& catalog = view.topology()->catalog();
  std::vector<uint16_t> events;
  for (const std::string& name : request.events()) {
    const auto event = FindReadable(catalog, *readable, name);
    if (!event || !caller.May(row.Event(catalog.events[*event].name), Right::kPeek)) return std::nullopt;
    events.push_back(static_cast<uint16_t>(*event));
  }
  std::ranges::sort(events);
  events.erase(std::unique(events.begin(), events.end()), events.end());
  return events;
}

// The events with those that count the cycles of their gates, ascending. The right to read a count includes its
// coverage.
std::vector<uint16_t> WithCycles(const std::vector<uint16_t>& events, const Coverage& coverage) {
  std::vector<uint16_t> all = events;
  for (const uint16_t event : events) {
    const auto cycles = coverage.CyclesOf(event);
    if (!cycles) continue;
    for (const size_t of : {cycles->running, cycles->resident}) all.push_back(static_cast<uint16_t>(of));
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// Whether the device can answer, now that the caller may ask.
absl::Status CheckReadable(const Caller& caller, const VisibleDevice& device, const mailbox::BlockHeader& block,
                           const std::vector<uint16_t>& events) {
  const bool is_device = LevelOf(block) == Level::kDevice;
  if (is_device && HidesCounts(caller, *device.snapshot)) {
    return absl::FailedPreconditionError("the device's own counters are withheld because of a confidential VM");
  }
  const bool hides_device_scope = is_device && HidesDeviceScope(caller, *device.snapshot);
  for (const uint16_t event : events) {
    const mailbox::EventInfo& info = device.snapshot->topology->catalog().events[event];
    if (info.masked) return absl::FailedPreconditionError(absl::StrCat("the device does not count ", info.name));
    if (hides_device_scope && info.scope == mailbox::EventScope::kDevice) {
      return absl::FailedPreconditionError(absl::StrCat(info.name, " is withheld because of a confidential VM"));
    }
  }
  if (device.state != VisibleDevice::State::kFresh) return absl::UnavailableError("the device does not answer");
  return absl::OkStatus();
}

// The error as callers see it: without what it says about the bus.
absl::Status PeekError(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
      return NotFound();
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kResourceExhausted:
      return status;
    case absl::StatusCode::kDeadlineExceeded:
      return absl::DeadlineExceededError("the device's bus was busy for too long");
    case absl::StatusCode::kAborted:
      return absl::AbortedError(
          "the counters have started from 0 again, or other controllers have interfered each time; ask again");
    case absl::StatusCode::kUnimplemented:
      return absl::UnimplementedError("the device does not answer peeks");
    default:
      return absl::UnavailableError("the device cannot be read now");
  }
}

}  // namespace

absl::StatusOr<sideband::v1::ListDevicesResponse> ListDevices(Reader& reader, const Caller& caller,
                                                              const sideband::v1::ListDevicesRequest&) {
  sideband::v1::ListDevicesResponse response;
  for (const VisibleDevice& device : reader.Devices(caller)) *response.add_devices() = DeviceMessage(device);
  return response;
}

absl::StatusOr<sideband::v1::ListEventsResponse> ListEvents(Reader& reader, const Caller& caller,
                                                            const sideband::v1::ListEventsRequest& request) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<VisibleDevice> devices, Select(reader, caller, request.device()));
  sideband::v1::ListEventsResponse response;
  for (const VisibleDevice& device : devices) {
    // A device without a snapshot has no view.
    if (device.view != nullptr) AddEvents(device, response);
  }
  return response;
}

absl::StatusOr<sideband::v1::ListScopesResponse> ListScopes(Reader& reader, const Caller& caller,
                                                            const sideband::v1::ListScopesRequest& request) {
  SIDEBAND_ASSIGN_OR_RETURN(const std::vector<VisibleDevice> devices, Select(reader, caller, request.device()));
  sideband::v1::ListScopesResponse response;
  for (const VisibleDevice& device : devices) {
    if (device.view == nullptr) continue;
    for (sideband::v1::Scope& scope : ScopeMessages(*device.info, *device.view)) {
      *response.add_scopes() = std::move(scope);
    }
  }
  return response;
}

absl::StatusOr<std::vector<SharedSnapshot>> GetSnapshot(Reader& reader, SnapshotBodies& bodies, const Caller& caller,
                                                        const sideband::v1::GetSnapshotRequest& request) {
  const RowFilter filter(request.filter());
  const std::vector<VisibleDevice> devices = reader.Devices(caller);
  // Checks the names against all visible devices before the rows are selected: an unknown name is NotFound(), not an
  // empty answer.
  SIDEBAND_RETURN_IF_ERROR(filter.Check(devices));
  std::vector<SharedSnapshot> snapshots;
  for (const VisibleDevice& device : devices) {
    if (device.snapshot == nullptr || !filter.SelectsDevice(device)) continue;
    SharedSnapshot snapshot = bodies.Get(device, filter);
    if (snapshot.body->has_rows) snapshots.push_back(std::move(snapshot));
  }
  return snapshots;
}

absl::StatusOr<sideband::v1::ListClocksResponse> ListClocks(Reader& reader, const Caller& caller,
                                                            const sideband::v1::ListClocksRequest& request) {
  sideband::v1::ListClocksResponse response;
  bool is_there = request.device().empty();
  if (caller.is_operator()) {
    for (const VisibleDevice& device : reader.Devices(caller)) {
      if (!request.device().empty() && device.info->name != request.device()) continue;
      is_there = true;
      if (device.snapshot != nullptr) FillDevice(device, *response.add_devices());
    }
  }
  if (!is_there) return NotFound();
  return response;
}

PeekResponse PeekReader::ResponseOf(const Subject& subject, const PeekedBlock& peeked) {
  const DeviceSnapshot& snapshot = *subject.device.snapshot;
  const Topology& topology = *snapshot.topology;
  PeekResponse response;
  mailbox::BlockHeader block = subject.block;
  block.flags = peeked.flags | (block.flags & mailbox::kFlagConfidentialExcluded);  // which only the daemon knows
  std::vector<uint64_t> counters(topology.catalog().events.size());
  for (size_t i = 0; i < subject.asked.size(); ++i) counters[subject.asked[i]] = peeked.counters[i];
  for (const uint16_t event : subject.events) {
    const double coverage = topology.coverage().OfCount(event, counters);
    if (coverage != 1) block.flags |= mailbox::kFlagPartial;
    if (coverage == 0) continue;
    sideband::v1::Counter& counter = *response.mutable_counters()->add_counters();
    FillCounter(topology, event, {.count = counters[event], .coverage = coverage}, counter);
    if (!topology.rotation().IsRotated(event) || snapshot.estimated.empty()) continue;
    block.flags |= mailbox::kFlagPartial;
    SetCountedOnly(counter);  // the device estimates in snapshots only
  }
  FillScopeHeader(*subject.device.info, topology, block, *response.mutable_counters());
  response.mutable_counters()->clear_state();  // that of the last snapshot
  response.set_boot_id(snapshot.data.boot_id);
  response.set_reference_time_ns(peeked.reference_time_ns);
  SetTime(peeked.host_time, *response.mutable_host_time());
  SetDuration(peeked.host_time_error, *response.mutable_host_time_error());
  return response;
}

absl::StatusOr<PeekReader::Subject> PeekReader::Resolve(const Caller& caller, const PeekRequest& request) const {
  SIDEBAND_ASSIGN_OR_RETURN(VisibleDevice device, FindDevice(reader_, caller, request.device()));
  const auto blocks = NamedBlocks(request, *device.snapshot);
  if (blocks.empty()) return NotFound();
  auto events = EventsOf(request, caller, *device.view, blocks[0]);
  if (!events) return NotFound();
  // A grant covers all contexts of a name.
  if (blocks.size() > 1) return absl::FailedPreconditionError("context: several contexts have this name");
  SIDEBAND_RETURN_IF_ERROR(CheckReadable(caller, device, blocks[0], *events));
  std::vector<uint16_t> asked = WithCycles(*events, device.view->topology()->coverage());
  return Subject{std::move(device), blocks[0], *std::move(events), std::move(asked)};
}

absl::StatusOr<LiveReader::Ticket> PeekReader::Ask(const Caller& caller, const PeekRequest& request, Done done) const {
  SIDEBAND_RETURN_IF_ERROR(CheckForm(request));
  SIDEBAND_ASSIGN_OR_RETURN(Subject subject, Resolve(caller, request));
  const PeekQuery query{.vm = subject.block.vm,
                        .context = subject.block.context,
                        .boot_id = subject.device.snapshot->data.boot_id,
                        .generation = subject.block.generation,
                        .events = subject.asked,
                        .asker = caller.principal.group()};
  const size_t device = subject.device.index;
  auto ticket = live_.Peek(device, query,
                           [&reader = reader_, version = caller.policy.version, subject = std::move(subject),
                            done = std::move(done)](const absl::StatusOr<PeekedBlock>& peeked) {
                             // The rights were those of the request's policy; the peek may have waited for seconds.
                             if (reader.CurrentPolicy().version != version) {
                               return done(absl::AbortedError("the policy has changed meanwhile; ask again"));
                             }
                             if (!peeked.ok()) return done(PeekError(peeked.status()));
                             done(ResponseOf(subject, *peeked));
                           });
  if (!ticket.ok()) return PeekError(ticket.status());
  return ticket;
}

}  // namespace sideband::daemon
