// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/exposition.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "daemon/exposition/family_names.h"
#include "proto/mailbox/snapshot.h"

namespace sideband::daemon {
namespace {

constexpr char kLevels[] = "Rows without context are a VM's own totals, rows without vm the device's.";

bool IsFresh(const VisibleDevice& device) { return device.state == VisibleDevice::State::kFresh; }

std::string Help(const mailbox::EventInfo& event) {
  absl::string_view description = event.description.empty() ? event.name : event.description;
  if (absl::EndsWith(description, ".")) description.remove_suffix(1);
  return absl::StrCat(description, " (unit: ", event.unit, "). ", kLevels);
}

// `labels` lack their closing brace.
void AppendSample(TextBuffer& out, absl::string_view name, absl::string_view labels, absl::string_view value) {
  for (const absl::string_view piece : {name, labels, absl::string_view("} "), value, absl::string_view("\n")}) {
    out.Append(piece);
  }
}

}  // namespace

std::string SampleAges(MetricsFormat format, const std::vector<VisibleDevice>& devices) {
  TextBuffer out;
  for (const VisibleDevice& device : devices) {
    if (device.snapshot == nullptr) continue;
    // The header precedes the first sample; without samples there is no header.
    if (out.size() == 0) {
      out.Append(FamilyHeader(format, "sideband_sample_age_seconds", MetricType::kGauge,
                              "How long ago the newest snapshot of the device was latched."));
    }
    AppendSample(out, "sideband_sample_age_seconds", DeviceLabels(*device.info, nullptr).device(),
                 NumberText(absl::ToDoubleSeconds(device.age)));
  }
  return std::string(out.text());
}

bool Exposition::IsPlannedFor(const std::vector<VisibleDevice>& devices) const {
  if (families_.empty() || devices.size() != infos_.size()) return false;
  for (size_t i = 0; i < devices.size(); ++i) {
    // Both are immutable, so equal pointers mean equal content.
    if (devices[i].info != infos_[i] || devices[i].view != views_[i]) return false;
  }
  return true;
}

void Exposition::Plan(const std::vector<VisibleDevice>& devices) {
  infos_.clear();
  views_.clear();
  labels_.clear();
  ratios_.clear();
  for (const VisibleDevice& device : devices) {
    infos_.push_back(device.info);
    views_.push_back(device.view);
    labels_.emplace_back(*device.info, device.view.get());
    ratios_.push_back(device.view == nullptr ? std::vector<Ratio>()
                                             : ResolveRatios(device.info->ratios, device.view->topology()->catalog()));
  }
  const auto fixed = [this](const char* name, const char* help, Family::Writer write) {
    return Family{.name = name, .header = FamilyHeader(format_, name, MetricType::kGauge, help), .write = write};
  };
  families_ = {
      fixed("sideband_block_flags", "1 for each reason why the counts of a row may not be exact.",
            &Exposition::WriteBlockFlags),
      fixed("sideband_device_clock_hertz", "Frequency of the device's reference clock.", &Exposition::WriteClock),
      fixed("sideband_device_complete",
            "1 if the device's totals are those of the whole device, 0 if they leave out confidential VMs.",
            &Exposition::WriteComplete),
      fixed("sideband_event_info", "1, with the unit and the scope of an event that the device counts.",
            &Exposition::WriteEventInfo),
      fixed("sideband_device_info", "1, with the identity of the device.", &Exposition::WriteDeviceInfo),
      fixed("sideband_device_up", "Whether the newest snapshot of the device is younger than three intervals.",
            &Exposition::WriteDeviceUp),
      fixed("sideband_vm_info", "1, with the identity of the VM. A confidential VM has no other series here.",
            &Exposition::WriteVmInfo),
  };
  PlanEvents(devices, families_);
  PlanRatios(devices, families_);
  std::sort(families_.begin(), families_.end(), [](const Family& a, const Family& b) { return a.name < b.name; });
}

void Exposition::PlanEvents(const std::vector<VisibleDevice>& devices, std::vector<Family>& families) const {
  std::map<std::string, Family> planned;
  for (size_t d = 0; d < devices.size(); ++d) {
    if (devices[d].view == nullptr) continue;
    const auto& events = devices[d].view->topology()->catalog().events;
    const std::vector<std::string> names = FamilyNames(events, devices[d].info->ratios);
    for (size_t e = 0; e < events.size(); ++e) {
      // An event that the view shows on no row must not appear, not even as a header.
      if (!devices[d].view->AllEvents()[e] || !filter_.SelectsEvent(events[e].name)) continue;
      Family& family = planned[names[e]];
      // If devices describe an event differently, the description of the first device is used.
      if (family.name.empty()) {
        family = {names[e], FamilyHeader(format_, names[e], MetricType::kCounter, Help(events[e]))};
      }
      family.counter_sources.push_back({d, e});
    }
  }
  for (auto& [name, family] : planned) families.push_back(std::move(family));
}

void Exposition::PlanRatios(const std::vector<VisibleDevice>& devices, std::vector<Family>& families) const {
  std::map<std::string, Family> planned;
  for (size_t d = 0; d < devices.size(); ++d) {
    for (size_t r = 0; r < ratios_[d].size(); ++r) {
      const RatioSpec& spec = *ratios_[d][r].spec;
      // A scrape limited to some events must not get others, nor values derived from them.
      if (!filter_.events.empty()) continue;
      Family& family = planned[spec.name];
      if (family.name.empty()) {
        family.name = absl::StrCat("sideband_", spec.name, "_ratio");
        family.header = FamilyHeader(format_, family.name, MetricType::kGauge,
                                     absl::StrCat(spec.Formula(), " over the last interval, from 0 to 1. ", kLevels));
      }
      family.ratio_sources.push_back({d, r});
    }
  }
  for (auto& [name, family] : planned) families.push_back(std::move(family));
}

bool Exposition::Selects(const mailbox::BlockHeader& block) const {
  if (block.vm == mailbox::kHypervisorVm) return filter_.devices;
  return block.context == mailbox::kNoContext ? filter_.vms : filter_.contexts;
}

Exposition::Rows Exposition::FindRows(const VisibleDevice& device, const DeviceLabels& device_labels) const {
  Rows found;
  // A device that is not fresh has only sideband_device_up 0 and its age, so that old counts are not taken for new
  // ones.
  if (!IsFresh(device)) return found;
  const DeviceSnapshot& snapshot = *device.snapshot;
  for (size_t i = 0; i < snapshot.data.blocks.size(); ++i) {
    const mailbox::BlockHeader& block = snapshot.data.blocks[i];
    const std::string* labels = device_labels.Row(block.vm, block.context);
    if (labels == nullptr || !Selects(block)) continue;
    const bool has_created = format_ == MetricsFormat::kOpenMetrics && i < snapshot.created.size();
    found.rows.push_back({i, labels, device.view->Events(block.vm, block.context),
                          has_created ? TimeText(snapshot.created[i]) : std::string()});
    found.label_bytes += labels->size();
  }
  return found;
}

void Exposition::Render(const std::vector<VisibleDevice>& devices, TextBuffer& out) {
  if (!IsPlannedFor(devices)) Plan(devices);
  Frame frame{.devices = devices};
  for (size_t d = 0; d < devices.size(); ++d) frame.rows.push_back(FindRows(devices[d], labels_[d]));
  for (const Family& family : families_) WriteFamily(frame, family, out);
  // OpenMetrics demands it as the last line, so that a scraper notices a truncated answer.
  if (format_ == MetricsFormat::kOpenMetrics) out.Append("# EOF\n");
}

// A family without series has no header either.
void Exposition::WriteFamily(const Frame& frame, const Family& family, TextBuffer& out) const {
  const size_t before = out.size();
  out.Append(family.header);
  const size_t after_header = out.size();
  for (const Source& source : family.counter_sources) WriteCounters(frame, family, source, out);
  for (const Source& source : family.ratio_sources) WriteRatios(frame, family, source, out);
  for (size_t d = 0; family.write != nullptr && d < frame.devices.size(); ++d) {
    (this->*family.write)(frame, family, d, out);
  }
  if (out.size() == after_header) out.Truncate(before);
}

// Nearly all of a scrape is written here, so room is made once and the pieces are copied without further checks.
void Exposition::WriteCounters(const Frame& frame, const Family& family, const Source& source, TextBuffer& out) const {
  const DeviceSnapshot& snapshot = *frame.devices[source.device].snapshot;
  const auto& [rows, label_bytes] = frame.rows[source.device];
  if (rows.empty() || source.index >= snapshot.data.counters_per_block) return;
  const absl::string_view name = family.name;
  // Every counter's name ends in _total: FamilyNames() sees to that.
  const std::string created_name = absl::StrCat(name.substr(0, name.size() - strlen("_total")), "_created");
  constexpr size_t kNumberAndEnd = 32;  // a count or a far-future time, "} " and the newline
  // Twice: each counter may have a _created sample.
  char* at = out.Reserve(2 * (label_bytes + rows.size() * (created_name.size() + kNumberAndEnd)));
  for (const Row& row : rows) {
    if (!(*row.events)[source.index] || !snapshot.IsShown(row.index, source.index)) continue;
    at = Put(Put(Put(at, name), *row.labels), "} ");
    at = Put(Put(at, snapshot.data.Counters(row.index)[source.index]), "\n");
    if (row.created.empty()) continue;
    at = Put(Put(Put(at, created_name), *row.labels), "} ");
    at = Put(Put(at, row.created), "\n");
  }
  out.Commit(at);
}

void Exposition::WriteRatios(const Frame& frame, const Family& family, const Source& source, TextBuffer& out) const {
  const DeviceSnapshot* snapshot = frame.devices[source.device].snapshot.get();
  const Ratio& ratio = ratios_[source.device][source.index];
  for (const Row& row : frame.rows[source.device].rows) {
    const auto rates = snapshot->Rates(row.index);
    if (rates.empty() || !ratio.IsIn(*row.events)) continue;
    const double value = RatioOf(ratio, rates);
    if (!std::isnan(value)) AppendSample(out, family.name, *row.labels, NumberText(value));
  }
}

void Exposition::WriteBlockFlags(const Frame& frame, const Family& family, size_t device, TextBuffer& out) const {
  for (const Row& row : frame.rows[device].rows) {
    const uint16_t flags = frame.devices[device].snapshot->data.blocks[row.index].flags;
    if (flags == 0) continue;
    for (const std::string& flag : mailbox::FlagNames(flags)) {
      std::string labels = *row.labels;
      AppendLabel(labels, "flag", flag);
      AppendSample(out, family.name, labels, "1");
    }
  }
}

void Exposition::WriteClock(const Frame& frame, const Family& family, size_t device, TextBuffer& out) const {
  if (!IsFresh(frame.devices[device])) return;
  const uint64_t hertz = views_[device]->topology()->catalog().reference_clock_hz;
  // A device may not know its clock.
  if (hertz != 0) AppendSample(out, family.name, labels_[device].device(), absl::StrCat(hertz));
}

void Exposition::WriteComplete(const Frame& frame, const Family& family, size_t device, TextBuffer& out) const {
  // Only callers with the device's row can compare it with the VMs'.
  for (const Row& row : frame.rows[device].rows) {
    const mailbox::BlockHeader& block = frame.devices[device].snapshot->data.blocks[row.index];
    if (block.vm != mailbox::kHypervisorVm) continue;
    const bool is_complete = (block.flags & mailbox::kFlagConfidentialExcluded) == 0;
    AppendSample(out, family.name, *row.labels, is_complete ? "1" : "0");
  }
}

void Exposition::WriteEventInfo(const Frame& frame, const Family& family, size_t device, TextBuffer& out) const {
  if (!IsFresh(frame.devices[device])) return;
  const View& view = *views_[device];
  const auto& events = view.topology()->catalog().events;
  for (size_t e = 0; e < events.size(); ++e) {
    // A masked event has no counter.
    if (!view.AllEvents()[e] || events[e].masked || !filter_.SelectsEvent(events[e].name)) continue;
    std::string labels = labels_[device].device();
    AppendLabel(labels, "event", events[e].name);
    AppendLabel(labels, "unit", events[e].unit);
    AppendLabel(labels, "scope", events[e].scope == mailbox::EventScope::kDevice ? "device" : "context");
    AppendSample(out, family.name, labels, "1");
  }
}

void Exposition::WriteDeviceInfo(const Frame& frame, const Family& family, size_t device, TextBuffer& out) const {
  if (IsFresh(frame.devices[device])) AppendSample(out, family.name, labels_[device].device_info(), "1");
}

void Exposition::WriteDeviceUp(const Frame& frame, const Family& family, size_t device, TextBuffer& out) const {
  AppendSample(out, family.name, labels_[device].device(), IsFresh(frame.devices[device]) ? "1" : "0");
}

void Exposition::WriteVmInfo(const Frame& frame, const Family& family, size_t device, TextBuffer& out) const {
  if (!IsFresh(frame.devices[device])) return;
  for (const std::string& labels : labels_[device].vm_infos()) AppendSample(out, family.name, labels, "1");
}

}  // namespace sideband::daemon
