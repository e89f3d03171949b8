// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/exposition.h"

#include "absl/strings/str_cat.h"
#include "daemon/exposition/event_families.h"

namespace sideband::daemon {

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
    const mailbox::Catalog& catalog = device.view->topology()->catalog();
    ratios_.back() = ResolveRatios(device.info->ratios, catalog);
    const EventFamilyNames names = NameFamilies(catalog.events, device.info->ratios);
    for (const LevelRow& row : kLevels) {
      PlanEvents(d, row.level, names);
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
  const std::string full = FamilyName(level, name);
  Family& family = families_[full];
  if (family.name.empty()) family = {.name = full, .level = level};
  return family;
}

void Exposition::PlanEvents(size_t device, Level level, const EventFamilyNames& names) {
  const View& view = *views_[device];
  const auto& events = view.topology()->catalog().events;
  for (size_t e = 0; e < events.size(); ++e) {
    // An event that the view shows on no row must not appear, not even as a header.
    if (!view.AllEvents()[e] || !filter_.SelectsEvent(events[e].name)) continue;
    Family& counter = FamilyOf(level, names.counters[e]);
    // If devices describe an event differently, the description of the first device is used.
    if (counter.header.empty()) {
      counter.header = FamilyHeader(format_, counter.name, MetricType::kCounter, CounterHelp(events[e], level));
    }
    counter.sources.push_back({Source::Kind::kCounter, device, e});
    if (names.utilisations[e].empty() || !view.topology()->capacities().IsKnown(e)) continue;
    Family& utilisation = FamilyOf(level, names.utilisations[e]);
    if (utilisation.header.empty()) {
      utilisation.header =
          FamilyHeader(format_, utilisation.name, MetricType::kGauge, UtilisationHelp(events[e], level));
    }
    utilisation.sources.push_back({Source::Kind::kUtilisation, device, e});
  }
}

void Exposition::PlanRatios(size_t device, Level level) {
  // A scrape limited to some events must not get others, nor values derived from them.
  if (!filter_.events.empty()) return;
  for (size_t r = 0; r < ratios_[device].size(); ++r) {
    const RatioSpec& spec = *ratios_[device][r].spec;
    Family& family = FamilyOf(level, absl::StrCat(spec.name, "_ratio"));
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

}  // namespace sideband::daemon
