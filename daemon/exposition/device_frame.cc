// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/device_frame.h"

#include "absl/strings/str_cat.h"
#include "proto/exposition/text.h"

namespace sideband::daemon {
namespace {

using mailbox::kHypervisorVm;
using mailbox::kNoContext;

void AppendSlice(std::string& labels, uint8_t slice) {
  if (slice != mailbox::kAnySlice) AppendLabel(labels, "slice", absl::StrCat(slice));
}

}  // namespace

DeviceLabels::DeviceLabels(const DeviceInfo& device, const View* view) : device_("{") {
  AppendLabel(device_, "device", device.name);
  if (view == nullptr) return;
  const mailbox::Catalog& catalog = view->topology()->catalog();
  device_info_ = device_;
  AppendLabel(device_info_, "uuid", catalog.device.ToString());
  if (view->sees_device_row()) rows_.emplace(std::pair(kHypervisorVm, kNoContext), device_);
  for (const mailbox::HostBlockInfo& host : catalog.host_blocks) AddHost(host.slice, *view);
  for (const mailbox::VmInfo& vm : catalog.vms) AddVm(vm, *view);
  for (const mailbox::ContextInfo& context : catalog.contexts) AddContext(context, *view);
}

void DeviceLabels::AddHost(uint8_t slice, const View& view) {
  if (view.Events(kHypervisorVm, slice) == nullptr) return;
  std::string labels = device_;
  AppendSlice(labels, slice);
  rows_.emplace(std::pair(kHypervisorVm, slice), std::move(labels));
}

void DeviceLabels::AddVm(const mailbox::VmInfo& vm, const View& view) {
  if (!view.SeesVm(vm.id)) return;
  std::string name = vm.name;
  // UUID and id: a device may report one UUID for two VMs, too.
  if (!vm_names_in_use_.insert(name).second) absl::StrAppend(&name, " ", vm.uuid.ToString(), " ", vm.id);
  std::string info = device_;
  AppendLabel(info, "vm", name);
  AppendLabel(info, "uuid", vm.uuid.ToString());
  AppendLabel(info, "confidential", vm.confidential ? "true" : "false");
  vm_infos_.push_back(std::move(info));
  if (view.Events(vm.id, kNoContext) != nullptr) {
    std::string labels = device_;
    AppendSlice(labels, vm.slice);
    AppendLabel(labels, "vm", name);
    rows_.emplace(std::pair(vm.id, kNoContext), std::move(labels));
  }
  vm_names_.emplace(vm.id, std::move(name));
}

void DeviceLabels::AddContext(const mailbox::ContextInfo& context, const View& view) {
  if (view.Events(context.vm, context.id) == nullptr) return;
  std::string name = context.name;
  if (!context_names_in_use_.emplace(context.vm, name).second) absl::StrAppend(&name, " ", context.id);
  std::string labels = device_;
  AppendSlice(labels, context.slice);
  AppendLabel(labels, "vm", vm_names_[context.vm]);
  AppendLabel(labels, "context", name);
  rows_.emplace(std::pair(context.vm, context.id), std::move(labels));
}

const std::string* DeviceLabels::Row(uint16_t vm, uint16_t context) const {
  const auto row = rows_.find(std::pair(vm, context));
  return row == rows_.end() ? nullptr : &row->second;
}

DeviceFrame::DeviceFrame(const VisibleDevice& device, const DeviceLabels& labels, const ScrapeFilter& filter,
                         MetricsFormat format)
    : device_(device), labels_(labels), filter_(filter), format_(format) {
  if (is_fresh()) AddRows();
}

bool DeviceFrame::ShowsEvent(size_t event) const {
  const mailbox::EventInfo& info = device_.view->topology()->catalog().events[event];
  return device_.view->AllEvents()[event] && !info.masked && filter_.SelectsEvent(info.name);
}

void DeviceFrame::AddRows() {
  const DeviceSnapshot& snapshot = *device_.snapshot;
  for (size_t i = 0; i < snapshot.data.blocks.size(); ++i) {
    const mailbox::BlockHeader& block = snapshot.data.blocks[i];
    const Level level = LevelOf(block);
    const std::string* const labels = labels_.Row(block.vm, block.context);
    if (labels == nullptr || !filter_.Selects(level)) continue;
    const bool has_created = format_ == MetricsFormat::kOpenMetrics && i < snapshot.created.size();
    Rows& rows = rows_[IndexOf(level)];
    rows.rows.push_back({i, labels, device_.view->Events(block.vm, block.context), RowUtilisation(snapshot, i),
                         has_created ? TimeText(snapshot.created[i]) : std::string()});
    rows.label_bytes += labels->size();
  }
}

void AppendSample(TextBuffer& out, absl::string_view name, absl::string_view labels, absl::string_view value) {
  for (const absl::string_view piece : {name, labels, absl::string_view("} "), value, absl::string_view("\n")}) {
    out.Append(piece);
  }
}

void AppendCreated(TextBuffer& out, MetricsFormat format, absl::string_view name, absl::string_view labels,
                   absl::Time created) {
  if (format != MetricsFormat::kOpenMetrics || created == absl::InfinitePast()) return;
  AppendSample(out, CreatedName(name), labels, TimeText(created));
}

}  // namespace sideband::daemon
