// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/exposition.h"

#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "daemon/board/sensor_families.h"
#include "daemon/exposition/text_buffer.h"
#include "daemon/snapshot/utilisation.h"
#include "proto/exposition/prometheus_text.h"

namespace sideband::daemon {
namespace {

using mailbox::kHypervisorVm;
using mailbox::kNoContext;

void AppendSlice(std::string& labels, uint8_t slice) {
  if (slice != mailbox::kAnySlice) AppendLabel(labels, "slice", absl::StrCat(slice));
}

constexpr size_t kNumberAndEnd = 32;  // a count or a far-future time, "} " and the newline

absl::string_view Description(const mailbox::EventInfo& event) {
  const absl::string_view description = event.description.empty() ? event.name : event.description;
  return absl::StripSuffix(description, ".");
}

absl::string_view LevelHelp(Level level) {
  switch (level) {
    case Level::kDevice:
      return "Of the device; beside confidential VMs, of its other VMs (sideband_device_complete 0).";
    case Level::kVm:
      return kVmFamilies.level_help;
    case Level::kContext:
      return kContextFamilies.level_help;
    case Level::kHost:
      return "Of the hypervisor on each slice, while nobody is resident.";
  }
  return "";
}

absl::string_view CapacityText(Level level) {
  switch (level) {
    case Level::kDevice:
      return "of the device's capacity";
    case Level::kVm:
      return "of the capacity of the VM's slice (of the device, without a slice)";
    case Level::kContext:
      return "of the slice's capacity while the context was resident";
    case Level::kHost:
      return "of the slice's capacity while nobody was resident";
  }
  return "";
}

// With all digits of the whole unit.
std::string CountText(uint64_t count, uint32_t per_unit) {
  if (per_unit == 1) return absl::StrCat(count);
  return absl::StrFormat("%d.%03d", count / per_unit, count % per_unit);
}

class TextSeries final : public BoardSeries {
 public:
  TextSeries(MetricsFormat format, absl::string_view name, absl::string_view device, const BoardSight& sight,
             TextBuffer& out)
      : BoardSeries(sight), format_(format), name_(name), device_(device), out_(out) {}

 protected:
  void TakeGauge(SensorLabels labels, double value) override {
    AppendSample(out_, name_, LabelText(labels), ValueText(value));
  }
  void TakeCount(SensorLabels labels, const RunningCount& count, uint32_t per_unit) override {
    const std::string text = LabelText(labels);
    AppendSample(out_, name_, text, CountText(count.value, per_unit));
    AppendCreated(out_, format_, name_, text, count.created);
  }

 private:
  std::string LabelText(SensorLabels labels) const {
    std::string text = "{";
    AppendLabel(text, "device", device_);
    for (const auto& [name, value] : labels) AppendLabel(text, name, value);
    return text;
  }

  const MetricsFormat format_;
  const absl::string_view name_;
  const absl::string_view device_;
  TextBuffer& out_;
};

// A family without samples has no header either.
void WriteFamily(MetricsFormat format, const SensorFamily& family, const std::vector<VisibleBoard>& boards,
                 absl::Duration now, TextBuffer& out) {
  const size_t before = out.size();
  out.Append(FamilyHeader(format, family.name, family.type, family.help));
  const size_t after_header = out.size();
  for (const VisibleBoard& board : boards) {
    if (!IsShown(family, board.part)) continue;
    const BoardSight sight = {*board.reading, board.part, now};
    TextSeries series(format, family.name, board.device, sight, out);
    family.write(series);
  }
  if (out.size() == after_header) out.Truncate(before);
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
  families_.clear();
  PlanFixed();
  for (size_t d = 0; d < devices.size(); ++d) {
    const VisibleDevice& device = devices[d];
    infos_.push_back(device.info);
    views_.push_back(device.view);
    labels_.emplace_back(*device.info, device.view.get());
    ratios_.emplace_back();
    if (device.view == nullptr) continue;
    ratios_.back() = ResolveRatios(device.info->ratios, device.view->topology()->catalog());
    for (const LevelRow& row : kLevels) {
      // Most devices have no hosts: nothing is planned for them.
      if (row.level == Level::kHost && device.view->topology()->catalog().host_blocks.empty()) continue;
      PlanCounters(d, row.level);
      PlanUtilisations(d, row.level);
      PlanRatios(d, row.level);
    }
  }
}

void Exposition::PlanFixed() {
  for (const DeviceFamily& family : DeviceFamilies()) {
    families_[family.name] = {
        .name = family.name, .header = FamilyHeader(format_, family.name, family.type, family.help), .fixed = &family};
  }
}

Exposition::Family& Exposition::FamilyOf(Level level, const std::string& name) {
  const std::string full = FamilyName(NameOf(level), name);
  Family& family = families_[full];
  if (family.name.empty()) family = {.name = full, .level = level};
  return family;
}

bool Exposition::ShowsEvent(size_t device, size_t event) const {
  const View& view = *views_[device];
  return view.AllEvents()[event] && filter_.SelectsEvent(view.topology()->catalog().events[event].name);
}

// If devices describe an event or a ratio differently, the description of the first device is used.
void Exposition::PlanCounters(size_t device, Level level) {
  const auto& events = views_[device]->topology()->catalog().events;
  const std::vector<std::string> names = CounterNames(events);
  for (size_t e = 0; e < events.size(); ++e) {
    if (!ShowsEvent(device, e)) continue;
    Family& family = FamilyOf(level, names[e]);
    if (family.header.empty()) {
      family.header = FamilyHeader(format_, family.name, MetricType::kCounter, CounterHelp(events[e], level));
    }
    family.sources.push_back({Source::Kind::kCounter, device, e});
  }
}

// A utilisation belongs to its event, although a context's is derived from its resident cycles, too.
void Exposition::PlanUtilisations(size_t device, Level level) {
  const Topology& topology = *views_[device]->topology();
  const std::vector<std::string> names = UtilisationNames(topology, ratios_[device]);
  for (size_t e = 0; e < names.size(); ++e) {
    if (names[e].empty() || !ShowsEvent(device, e)) continue;
    Family& family = FamilyOf(level, RatioName(names[e]));
    if (family.header.empty()) {
      const std::string help = UtilisationHelp(topology.catalog().events[e], level);
      family.header = FamilyHeader(format_, family.name, MetricType::kGauge, help);
    }
    family.sources.push_back({Source::Kind::kUtilisation, device, e});
  }
}

void Exposition::PlanRatios(size_t device, Level level) {
  // A configured ratio belongs to no event.
  if (!filter_.events.empty()) return;
  for (size_t r = 0; r < ratios_[device].size(); ++r) {
    const RatioSpec& spec = *ratios_[device][r].spec;
    Family& family = FamilyOf(level, RatioName(spec.name));
    if (family.header.empty()) {
      family.header = FamilyHeader(format_, family.name, MetricType::kGauge, RatioHelp(spec, level));
    }
    family.sources.push_back({Source::Kind::kRatio, device, r});
  }
}

void Exposition::Render(const std::vector<VisibleDevice>& devices, TextBuffer& out) {
  if (!IsPlannedFor(devices)) Plan(devices);
  std::vector<DeviceFrame> frames;
  frames.reserve(devices.size());
  for (size_t d = 0; d < devices.size(); ++d) frames.emplace_back(devices[d], labels_[d], filter_, format_);
  for (const auto& [name, family] : families_) WriteFamily(frames, family, out);
  // OpenMetrics demands it as the last line, so that a scraper notices a truncated answer.
  if (format_ == MetricsFormat::kOpenMetrics) out.Append("# EOF\n");
}

// A family without series has no header either.
void Exposition::WriteFamily(const std::vector<DeviceFrame>& frames, const Family& family, TextBuffer& out) const {
  const size_t before = out.size();
  out.Append(family.header);
  const size_t after_header = out.size();
  for (const Source& source : family.sources) WriteSource(frames, family, source, out);
  if (family.fixed != nullptr) {
    for (const DeviceFrame& frame : frames) family.fixed->write(family.name, frame, out);
  }
  if (out.size() == after_header) out.Truncate(before);
}

void Exposition::WriteSource(const std::vector<DeviceFrame>& frames, const Family& family, const Source& source,
                             TextBuffer& out) const {
  const DeviceFrame& frame = frames[source.device];
  switch (source.kind) {
    case Source::Kind::kCounter:
      return WriteCounters(family.name, frame, family.level, source.index, out);
    case Source::Kind::kUtilisation:
      return WriteUtilisations(family.name, frame, family.level, source.index, out);
    case Source::Kind::kRatio:
      return WriteRatios(family.name, frame, family.level, ratios_[source.device][source.index], out);
  }
}

std::string CounterHelp(const mailbox::EventInfo& event, Level level) {
  return sideband::CounterHelp(event, LevelHelp(level));
}

std::string UtilisationHelp(const mailbox::EventInfo& event, Level level) {
  const bool has_turns = level == Level::kContext || level == Level::kHost;
  if (has_turns && event.name == mailbox::kResidentCyclesEvent) {
    return absl::StrCat(Description(event), ": share of the slice's time over the last interval, from 0 to 1.");
  }
  return absl::StrCat(Description(event), ": share ", CapacityText(level), " over the last interval, from 0 to 1.");
}

std::string RatioHelp(const RatioSpec& ratio, Level level) {
  return absl::StrCat(ratio.Formula(), " over the last interval, from 0 to 1. ", LevelHelp(level));
}

// Nearly all of a scrape is written here, so room is made once and the pieces are copied without further checks.
void WriteCounters(absl::string_view name, const DeviceFrame& frame, Level level, size_t event, TextBuffer& out) {
  const auto& [rows, label_bytes] = frame.rows(level);
  if (rows.empty()) return;
  const DeviceSnapshot& snapshot = *frame.device().snapshot;
  if (event >= snapshot.data.counters_per_block) return;
  const std::string created_name = CreatedName(name);
  // Twice: each counter may have a _created sample.
  char* at = out.Reserve(2 * (label_bytes + rows.size() * (created_name.size() + kNumberAndEnd)));
  for (const Row& row : rows) {
    if (!(*row.events)[event] || !snapshot.IsShown(row.index, event)) continue;
    at = Put(Put(Put(at, name), *row.labels), "} ");
    at = Put(Put(at, snapshot.Shown(row.index)[event]), "\n");
    if (row.created.empty()) continue;
    at = Put(Put(Put(at, created_name), *row.labels), "} ");
    at = Put(Put(at, row.created), "\n");
  }
  out.Commit(at);
}

void WriteUtilisations(absl::string_view name, const DeviceFrame& frame, Level level, size_t event, TextBuffer& out) {
  const auto& [rows, label_bytes] = frame.rows(level);
  if (rows.empty()) return;
  const DeviceSnapshot& snapshot = *frame.device().snapshot;
  if (event >= snapshot.data.counters_per_block) return;
  char* at = out.Reserve(label_bytes + rows.size() * (name.size() + kNumberAndEnd));
  for (const Row& row : rows) {
    if (!row.utilisation.IsIn(event, *row.events) || !snapshot.IsShown(row.index, event)) continue;
    const auto utilisation = row.utilisation.Of(event);
    if (!utilisation) continue;
    at = Put(Put(Put(at, name), *row.labels), "} ");
    at = Put(PutShare(at, utilisation->value), "\n");
  }
  out.Commit(at);
}

void WriteRatios(absl::string_view name, const DeviceFrame& frame, Level level, const Ratio& ratio, TextBuffer& out) {
  for (const Row& row : frame.rows(level).rows) {
    const auto rates = frame.device().snapshot->Rates(row.index);
    if (rates.empty() || !ratio.IsIn(*row.events)) continue;
    if (MayExceedOne(ratio, frame.device().snapshot->Bounds(row.index))) continue;
    const double value = RatioOf(ratio, rates);
    if (!std::isnan(value)) AppendSample(out, name, *row.labels, NumberText(value));
  }
}

std::string BoardFamiliesText(MetricsFormat format, const std::vector<VisibleBoard>& boards,
                              absl::Duration steady_now) {
  TextBuffer out;
  for (const SensorFamily& family : SensorFamilies()) WriteFamily(format, family, boards, steady_now, out);
  return std::string(out.text());
}

}  // namespace sideband::daemon
