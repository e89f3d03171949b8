// SPDX-License-Identifier: Apache-2.0
#include "client/cli/guest_export.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/cli/selection.h"
#include "proto/exposition/family_names.h"
#include "proto/exposition/text.h"

namespace sideband::client {
namespace {

bool IsMetricName(absl::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
  });
}

// An event as it is exposed.
struct EventFamily {
  mailbox::EventInfo info;
  std::string name;  // of the counter, without level
  bool is_selected = false;
};

class Rendering {
 public:
  Rendering(const v1::Snapshot& snapshot, const GuestNames& names, const std::vector<std::string>& patterns)
      : snapshot_(snapshot), names_(names) {
    NameEvents(patterns);
  }

  std::string Take() && {
    AddDevice();
    for (const v1::ScopeCounters& row : snapshot_.scopes()) AddRow(row);
    std::string out;
    for (const auto& [name, family] : families_) absl::StrAppend(&out, family.header, family.samples);
    return out;
  }

 private:
  struct Family {
    std::string header;
    std::string samples;
  };

  // The catalogue's events first: the daemon gives names in its order.
  void NameEvents(const std::vector<std::string>& given) {
    std::vector<mailbox::EventInfo> infos = names_.events;
    for (const v1::ScopeCounters& row : snapshot_.scopes()) {
      for (const v1::Counter& counter : row.counters()) {
        const auto is_same = [&](const mailbox::EventInfo& info) { return info.name == counter.event(); };
        if (std::ranges::none_of(infos, is_same)) infos.push_back({.name = counter.event()});
      }
    }
    std::vector<std::string> known, patterns;
    for (const mailbox::EventInfo& info : infos) known.push_back(info.name);
    for (const std::string& one : given) patterns.push_back(EventPattern(one, known));
    const std::vector<std::string> counters = CounterNames(infos);
    for (size_t e = 0; e < infos.size(); ++e) {
      const bool is_selected = IsMetricName(infos[e].name) && (patterns.empty() || MatchesAny(patterns, infos[e].name));
      const std::string event = infos[e].name;
      events_.emplace(event, EventFamily{std::move(infos[e]), counters[e], is_selected});
    }
  }

  void AddDevice() {
    std::string labels = "{";
    AppendLabel(labels, "device", names_.device);
    Add(kReferenceSecondsFamily, labels, SecondsText(snapshot_.reference_time_ns()));
    if (!snapshot_.has_host_time()) return;
    const absl::Time time =
        absl::FromUnixSeconds(snapshot_.host_time().seconds()) + absl::Nanoseconds(snapshot_.host_time().nanos());
    Add(kSampleTimestampFamily, labels, sideband::TimeText(time));
  }

  void AddRow(const v1::ScopeCounters& row) {
    const RowFamilies& level = row.scope().context().empty() ? kVmFamilies : kContextFamilies;
    const std::string labels = LabelsOf(row.scope());
    AddFlags(level, labels, row);
    for (const v1::Counter& counter : row.counters()) AddCounter(level, labels, counter);
  }

  std::string LabelsOf(const v1::Scope& scope) {
    std::string labels = "{";
    AppendLabel(labels, "device", names_.device);
    if (scope.has_slice()) AppendLabel(labels, "slice", absl::StrCat(scope.slice()));
    AppendLabel(labels, "vm", names_.vm);
    if (scope.context().empty()) return labels;
    const int nth = ++contexts_[scope.context()];
    AppendLabel(labels, "context", nth == 1 ? scope.context() : absl::StrCat(scope.context(), " ", nth));
    return labels;
  }

  void AddFlags(const RowFamilies& level, const std::string& labels, const v1::ScopeCounters& row) {
    for (const std::string& flag : row.flags()) {
      std::string flagged = labels;
      AppendLabel(flagged, "flag", flag);
      Add(level.flags, flagged, "1");
    }
  }

  void AddCounter(const RowFamilies& level, const std::string& labels, const v1::Counter& counter) {
    const EventFamily& event = events_.at(counter.event());
    if (!event.is_selected) return;
    const std::string name = FamilyName(level.level, event.name);
    Family& family = families_[name];
    if (family.header.empty()) {
      const std::string help = CounterHelp(event.info, level.level_help);
      family.header = FamilyHeader(MetricsFormat::kText, name, MetricType::kCounter, help);
    }
    absl::StrAppend(&family.samples, name, labels, "} ", counter.count(), "\n");
    if (counter.has_estimate()) AddEstimate(level, labels, counter);
  }

  void AddEstimate(const RowFamilies& level, std::string labels, const v1::Counter& counter) {
    AppendLabel(labels, "event", counter.event());
    const v1::Estimate& estimate = counter.estimate();
    const double coverage = counter.has_coverage() ? counter.coverage() : 1;
    if (!std::isnan(coverage)) Add(level.event_coverage, labels, NumberText(coverage));
    Add(level.event_lower, labels, absl::StrCat(estimate.lower()));
    if (estimate.has_upper()) Add(level.event_upper, labels, absl::StrCat(estimate.upper()));
    if (estimate.has_standard_error()) {
      Add(level.event_standard_error, labels, absl::StrCat(estimate.standard_error()));
    }
  }

  void Add(const FamilyText& text, absl::string_view labels, absl::string_view value) {
    Family& family = families_[text.name];
    if (family.header.empty()) family.header = FamilyHeader(MetricsFormat::kText, text);
    absl::StrAppend(&family.samples, text.name, labels, "} ", value, "\n");
  }

  const v1::Snapshot& snapshot_;
  const GuestNames& names_;
  std::map<std::string, EventFamily> events_;
  std::map<std::string, int> contexts_;  // how often a name has occurred
  std::map<std::string, Family> families_;
};

constexpr FamilyText kGaps = {"sideband_export_gaps_total", MetricType::kCounter,
                              "Sealed records known to be missing between two that were opened."};
constexpr FamilyText kAge = {"sideband_export_record_age_seconds", MetricType::kGauge,
                             "How long ago the newest sealed record was received."};
constexpr FamilyText kRecords = {"sideband_export_records_total", MetricType::kCounter,
                                 "Sealed records that were opened."};
constexpr FamilyText kRejected = {"sideband_export_rejected_total", MetricType::kCounter,
                                  "Streams that ended with a record that was rejected."};
constexpr FamilyText kStreams = {"sideband_export_streams_total", MetricType::kCounter,
                                 "Streams of sealed records that were opened, each with keys or a nonce of its own."};
constexpr FamilyText kUp = {"sideband_export_up", MetricType::kGauge,
                            "Whether a stream is open and its newest record is fresh."};

std::string Sample(const FamilyText& family, const std::string& value) {
  return absl::StrCat(FamilyHeader(MetricsFormat::kText, family), family.name, " ", value, "\n");
}
std::string Sample(const FamilyText& family, uint64_t value) { return Sample(family, absl::StrCat(value)); }

}  // namespace

std::string GuestExposition(const v1::Snapshot& snapshot, const GuestNames& names,
                            const std::vector<std::string>& event_patterns) {
  return Rendering(snapshot, names, event_patterns).Take();
}

void GuestExport::Opened(GuestNames names, absl::Duration patience) {
  absl::MutexLock lock(&mu_);
  names_ = std::move(names);
  patience_ = patience;
  is_open_ = true;
  is_of_stream_ = false;
  ++streams_;
}

void GuestExport::Received(v1::Snapshot snapshot, uint64_t gap) {
  absl::MutexLock lock(&mu_);
  newest_ = std::move(snapshot);
  received_ = options_.now();
  is_of_stream_ = true;
  ++records_;
  gaps_ += gap;
}

void GuestExport::Ended(bool is_rejection) {
  absl::MutexLock lock(&mu_);
  is_open_ = false;
  if (is_rejection) ++rejected_;
}

bool GuestExport::IsFresh() const { return is_open_ && is_of_stream_ && options_.now() - *received_ <= patience_; }

bool GuestExport::IsUp() const {
  absl::MutexLock lock(&mu_);
  return IsFresh();
}

std::string GuestExport::OwnMetrics() const {
  // Sorted by name.
  const std::string age = received_ ? Sample(kAge, NumberText(absl::ToDoubleSeconds(options_.now() - *received_))) : "";
  return absl::StrCat(Sample(kGaps, gaps_), age, Sample(kRecords, records_), Sample(kRejected, rejected_),
                      Sample(kStreams, streams_), Sample(kUp, IsFresh() ? 1 : 0));
}

std::string GuestExport::Metrics() const {
  absl::MutexLock lock(&mu_);
  const std::string rows = IsFresh() ? GuestExposition(newest_, names_, options_.event_patterns) : "";
  return absl::StrCat(rows, OwnMetrics());
}

}  // namespace sideband::client
