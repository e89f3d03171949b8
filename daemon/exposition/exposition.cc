// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/exposition.h"

#include <algorithm>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "daemon/exposition/family_names.h"
#include "daemon/exposition/text.h"

namespace sideband::daemon {
namespace {

constexpr char kLevels[] = "Rows without context are a VM's own totals, rows without vm the device's.";

bool IsFresh(const VisibleDevice& device) { return device.state == VisibleDevice::State::kFresh; }

std::string Help(const mailbox::EventInfo& event) {
  absl::string_view description = event.description.empty() ? event.name : event.description;
  if (absl::EndsWith(description, ".")) description.remove_suffix(1);
  return absl::StrCat(description, " (unit: ", event.unit, "). ", kLevels);
}

void AppendSample(std::string& out, absl::string_view name, absl::string_view labels) {
  out.append(name.data(), name.size());
  out.append(labels.data(), labels.size());
  out.append("} ", 2);
}

}  // namespace

bool Exposition::IsPlannedFor(const std::vector<VisibleDevice>& devices) const {
  if (families_.empty() || devices.size() != infos_.size()) return false;
  for (size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].info != infos_[i] || devices[i].view != views_[i]) return false;
  }
  return true;
}

void Exposition::Plan(const std::vector<VisibleDevice>& devices) {
  infos_.clear();
  views_.clear();
  labels_.clear();
  for (const VisibleDevice& device : devices) {
    infos_.push_back(device.info);
    views_.push_back(device.view);
    labels_.emplace_back(*device.info, device.view.get());
  }
  const auto fixed = [](const char* name, const char* help, auto write) {
    return Family{.name = name, .header = FamilyHeader(name, "gauge", help), .write = write};
  };
  families_ = {
      fixed("sideband_block_flags", "1 for each reason why the counts of a row may not be exact.",
            &Exposition::WriteBlockFlags),
      fixed("sideband_device_info", "1, with the identity of the device.", &Exposition::WriteDeviceInfo),
      fixed("sideband_device_up", "Whether the newest snapshot of the device is younger than three intervals.",
            &Exposition::WriteDeviceUp),
      fixed("sideband_sample_age_seconds", "How long ago the newest snapshot of the device was latched.",
            &Exposition::WriteSampleAge),
      fixed("sideband_vm_info", "1, with the identity of the VM. A confidential VM has no other series here.",
            &Exposition::WriteVmInfo),
  };
  PlanEvents(devices);
  std::sort(families_.begin(), families_.end(), [](const Family& a, const Family& b) { return a.name < b.name; });
}

void Exposition::PlanEvents(const std::vector<VisibleDevice>& devices) {
  std::map<std::string, Family> families;
  for (size_t d = 0; d < devices.size(); ++d) {
    if (devices[d].view == nullptr) continue;
    const auto& events = devices[d].view->topology()->catalog().events;
    const std::vector<std::string> names = FamilyNames(events);
    for (size_t e = 0; e < events.size(); ++e) {
      if (!devices[d].view->AllEvents()[e]) continue;
      Family& family = families[names[e]];
      // Where devices describe an event differently, the first one is believed.
      if (family.name.empty()) family = {names[e], FamilyHeader(names[e], "counter", Help(events[e]))};
      family.sources.push_back({d, e});
    }
  }
  for (auto& [name, family] : families) families_.push_back(std::move(family));
}

void Exposition::FindRows() {
  rows_.resize(devices_->size());
  for (size_t d = 0; d < devices_->size(); ++d) {
    rows_[d].clear();
    const VisibleDevice& device = (*devices_)[d];
    if (!IsFresh(device)) continue;
    const auto& blocks = device.snapshot->data.blocks;
    for (size_t i = 0; i < blocks.size(); ++i) {
      const std::string* labels = labels_[d].Row(blocks[i].vm, blocks[i].context);
      if (labels != nullptr) rows_[d].push_back({i, labels, device.view->Events(blocks[i].vm, blocks[i].context)});
    }
  }
}

void Exposition::Render(const std::vector<VisibleDevice>& devices, std::string& out) {
  if (!IsPlannedFor(devices)) Plan(devices);
  devices_ = &devices;
  FindRows();
  for (const Family& family : families_) WriteFamily(family, out);
  devices_ = nullptr;
}

// A family without series has no header either.
void Exposition::WriteFamily(const Family& family, std::string& out) const {
  const size_t before = out.size();
  out += family.header;
  const size_t after_header = out.size();
  for (const Source& source : family.sources) WriteCounters(family, source, out);
  for (size_t d = 0; family.write != nullptr && d < devices_->size(); ++d) (this->*family.write)(family, d, out);
  if (out.size() == after_header) out.resize(before);
}

void Exposition::WriteCounters(const Family& family, const Source& source, std::string& out) const {
  for (const Row& row : rows_[source.device]) {
    const DeviceSnapshot& snapshot = *(*devices_)[source.device].snapshot;
    if (!(*row.events)[source.event] || source.event >= snapshot.data.counters_per_block) continue;
    if (!snapshot.IsShown(row.index, source.event)) continue;
    AppendSample(out, family.name, *row.labels);
    AppendValue(out, snapshot.data.Counters(row.index)[source.event]);
  }
}

void Exposition::WriteBlockFlags(const Family& family, size_t device, std::string& out) const {
  for (const Row& row : rows_[device]) {
    const uint16_t flags = (*devices_)[device].snapshot->data.blocks[row.index].flags;
    if (flags == 0) continue;
    for (const std::string& flag : mailbox::FlagNames(flags)) {
      std::string labels = *row.labels;
      AppendLabel(labels, "flag", flag);
      AppendSample(out, family.name, labels);
      AppendValue(out, uint64_t{1});
    }
  }
}

void Exposition::WriteDeviceInfo(const Family& family, size_t device, std::string& out) const {
  if (!IsFresh((*devices_)[device])) return;
  AppendSample(out, family.name, labels_[device].device_info());
  AppendValue(out, uint64_t{1});
}

void Exposition::WriteDeviceUp(const Family& family, size_t device, std::string& out) const {
  AppendSample(out, family.name, labels_[device].device());
  AppendValue(out, uint64_t{IsFresh((*devices_)[device])});
}

void Exposition::WriteSampleAge(const Family& family, size_t device, std::string& out) const {
  if ((*devices_)[device].snapshot == nullptr) return;
  AppendSample(out, family.name, labels_[device].device());
  AppendValue(out, absl::ToDoubleSeconds((*devices_)[device].age));
}

void Exposition::WriteVmInfo(const Family& family, size_t device, std::string& out) const {
  if (!IsFresh((*devices_)[device])) return;
  for (const std::string& labels : labels_[device].vm_infos()) {
    AppendSample(out, family.name, labels);
    AppendValue(out, uint64_t{1});
  }
}

}  // namespace sideband::daemon
