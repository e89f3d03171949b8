// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/row_filter.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/event_name.h"

namespace sideband::daemon {
namespace {

// With the length in front, since a name may contain any byte.
void AppendName(std::string& key, const std::string& name) { absl::StrAppend(&key, name.size(), ":", name); }

// The names that mean a visible event of the view, each with the event's number.
std::vector<std::pair<std::string, size_t>> Meanings(const std::set<std::string>& names, const View& view) {
  std::vector<std::pair<std::string, size_t>> meanings;
  if (names.empty()) return meanings;
  const auto& events = view.topology()->catalog().events;
  absl::flat_hash_map<absl::string_view, size_t> visible;
  for (size_t i = 0; i < events.size(); ++i) {
    if (view.AllEvents()[i]) visible.emplace(events[i].name, i);
  }
  for (const std::string& name : names) {
    const auto event = FindEvent(name, [&](const std::string& exact) {
      const auto found = visible.find(exact);
      return found == visible.end() ? std::nullopt : std::optional(found->second);
    });
    if (event) meanings.emplace_back(name, *event);
  }
  return meanings;
}

}  // namespace

absl::Status NotFound() { return absl::NotFoundError("no such device, VM, context or event"); }

absl::StatusOr<VisibleDevice> FindDevice(Reader& reader, const Caller& caller, const std::string& name) {
  if (name.empty()) return absl::InvalidArgumentError("device: must be given");
  for (VisibleDevice& device : reader.Devices(caller)) {
    if (device.info->name == name && device.view != nullptr) return std::move(device);
  }
  return NotFound();
}

std::optional<size_t> FindReadable(const mailbox::Catalog& catalog, const EventSet& readable, const std::string& name) {
  return FindEvent(name, [&](const std::string& exact) -> std::optional<size_t> {
    const auto found = std::ranges::find(catalog.events, exact, &mailbox::EventInfo::name);
    const auto event = static_cast<size_t>(found - catalog.events.begin());
    return event < readable.size() && readable[event] ? std::optional(event) : std::nullopt;
  });
}

RowFilter::RowFilter(const sideband::v1::Filter& filter, bool with_contexts)
    : device_(filter.device()),
      vm_(filter.vm()),
      context_(filter.context()),
      events_(filter.events().begin(), filter.events().end()),
      with_contexts_(with_contexts) {
  if (auto uuid = Uuid::Parse(vm_); uuid.ok()) vm_uuid_ = *uuid;
  if (!NamesRows() && with_contexts_) return;
  if (!with_contexts_) rows_key_.push_back('-');
  for (const std::string* name : {&vm_, &context_}) AppendName(rows_key_, *name);
  for (const std::string& event : events_) AppendName(rows_key_, event);
}

bool RowFilter::SelectsVm(const Topology& topology, uint16_t vm) const {
  if (vm_.empty()) return true;
  const mailbox::VmInfo* info = topology.FindVm(vm);
  return info != nullptr && (info->name == vm_ || info->uuid == vm_uuid_);
}

bool RowFilter::SelectsRow(const Topology& topology, uint16_t vm, uint16_t context) const {
  const bool is_of_vm = vm != mailbox::kHypervisorVm;
  if (!SelectsVm(topology, vm) || (!with_contexts_ && is_of_vm && context != mailbox::kNoContext)) return false;
  if (context_.empty()) return true;
  const mailbox::ContextInfo* info = topology.FindContext(vm, context);
  return info != nullptr && info->name == context_;
}

EventSet RowFilter::SelectedEvents(const View& view, uint16_t vm, uint16_t context) const {
  const auto& events = view.topology()->catalog().events;
  const EventSet* readable = view.Events(vm, context);
  if (readable == nullptr || !SelectsRow(*view.topology(), vm, context)) return EventSet(events.size(), false);
  if (events_.empty()) return *readable;
  EventSet selected(events.size(), false);
  size_t exact = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    if (!view.AllEvents()[i] || !events_.contains(events[i].name)) continue;
    ++exact;
    selected[i] = (*readable)[i];
  }
  if (exact == events_.size()) return selected;
  // Short names are the exception: only they pay for an index.
  for (const auto& [name, event] : Meanings(events_, view)) selected[event] = (*readable)[event];
  return selected;
}

bool RowFilter::FindRows(const View& view, std::set<std::string>& missing) const {
  const mailbox::Catalog& catalog = view.topology()->catalog();
  const auto meanings = Meanings(missing, view);
  const EventSet* last = nullptr;
  bool found = false;
  const auto look_at = [&](uint16_t vm, uint16_t context) {
    const EventSet* readable = view.Events(vm, context);
    if (readable == nullptr || !SelectsRow(*view.topology(), vm, context)) return;
    found = true;
    if (readable == last || missing.empty()) return;  // contexts of a VM share a set
    last = readable;
    for (const auto& [name, event] : meanings) {
      if ((*readable)[event]) missing.erase(name);
    }
  };
  look_at(mailbox::kHypervisorVm, mailbox::kNoContext);
  for (const mailbox::HostBlockInfo& host : catalog.host_blocks) look_at(mailbox::kHypervisorVm, host.slice);
  for (const mailbox::VmInfo& vm : catalog.vms) look_at(vm.id, mailbox::kNoContext);
  for (const mailbox::ContextInfo& context : catalog.contexts) look_at(context.vm, context.id);
  return found;
}

absl::Status RowFilter::Check(const std::vector<VisibleDevice>& devices) const {
  bool found_device = device_.empty();
  bool found_row = false;
  std::set<std::string> missing = events_;
  for (const VisibleDevice& device : devices) {
    if (!SelectsDevice(device)) continue;
    found_device = true;
    // A device without a snapshot has no view, and so no rows.
    if (NamesRows() && device.view != nullptr) found_row |= FindRows(*device.view, missing);
  }
  const bool found = found_device && missing.empty() && (found_row || !NamesRows());
  return found ? absl::OkStatus() : NotFound();
}

}  // namespace sideband::daemon
