// SPDX-License-Identifier: Apache-2.0
#include "client/export/guest_export.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/exposition/family_names.h"
#include "proto/exposition/text.h"

namespace sideband::client {
namespace {

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
