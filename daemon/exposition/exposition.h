// SPDX-License-Identifier: Apache-2.0
//
// The metrics of one group of principals, with families sorted by name; and the frame of a device, from which its
// families are written.
//   Exposition exposition(MetricsFormat::kOpenMetrics);
//   exposition.Render(reader.Devices(caller), body);
//   SampleAges(MetricsFormat::kOpenMetrics, devices);   // differs between two scrapes of one snapshot
// Examples are in testdata/; docs/metrics.md describes the families.
#ifndef SIDEBAND_DAEMON_EXPOSITION_EXPOSITION_H_
#define SIDEBAND_DAEMON_EXPOSITION_EXPOSITION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/exposition/text_buffer.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/ratio.h"
#include "daemon/snapshot/utilisation.h"
#include "daemon/view/reader.h"
#include "daemon/view/sensor_queries.h"
#include "daemon/view/view.h"
#include "proto/exposition/prometheus_text.h"
#include "proto/mailbox/catalog.h"

namespace sideband::daemon {

// The part of its view that a scrape requests.
struct ScrapeFilter {
  std::set<std::string> events;  // only these; empty: all
  // Whether to include rows of devices, of VMs as wholes, of contexts, and of slices' hosts.
  bool devices = true;
  bool vms = true;
  bool contexts = true;
  bool hosts = true;

  bool Selects(Level level) const {
    const bool selected[] = {devices, vms, contexts, hosts};
    return selected[IndexOf(level)];
  }
  bool SelectsEvent(const std::string& name) const { return events.empty() || events.contains(name); }
  bool SelectsEverything() const { return events.empty() && devices && vms && contexts && hosts; }
};

// The label texts of all rows of a device that a view shows. They are created once per view, so that a scrape only
// copies them.
//
// All texts begin with "{" and lack the closing brace: the caller may append labels. Immutable, therefore thread-safe.
class DeviceLabels {
 public:
  // With `view` nullptr only device() is set.
  DeviceLabels(const DeviceInfo& device, const View* view);

  // {device="…"
  const std::string& device() const { return device_; }
  // {device="…",uuid="…"; empty without a view.
  const std::string& device_info() const { return device_info_; }
  // {device="…",vm="…",uuid="…",confidential="…" for each VM in the view.
  const std::vector<std::string>& vm_infos() const { return vm_infos_; }
  // Returns nullptr if the view does not show the row.
  const std::string* Row(uint16_t vm, uint16_t context) const;

 private:
  void AddHost(uint8_t slice, const View& view);
  void AddVm(const mailbox::VmInfo& vm, const View& view);
  void AddContext(const mailbox::ContextInfo& context, const View& view);

  std::string device_;
  std::string device_info_;
  std::vector<std::string> vm_infos_;
  absl::flat_hash_map<std::pair<uint16_t, uint16_t>, std::string> rows_;
  // Names in use. A device may report one name for two VMs or contexts, and two equal series are an error. Only names
  // shown by the view count: another tenant's names must not change these labels.
  absl::flat_hash_map<uint16_t, std::string> vm_names_;
  absl::flat_hash_set<std::string> vm_names_in_use_;
  absl::flat_hash_set<std::pair<uint16_t, std::string>> context_names_in_use_;
};

// A row of a snapshot that the view shows.
struct Row {
  size_t index;  // in the snapshot's blocks
  const std::string* labels;
  const EventSet* events;
  RowUtilisation utilisation;
  std::string created;  // OpenMetrics only
};

struct Rows {
  std::vector<Row> rows;
  size_t label_bytes = 0;  // sum over all rows
};

// The content of one device in one rendering: the rows that the scrape requests of the view, and their labels.
//   const DeviceFrame frame(device, labels, filter, MetricsFormat::kText);
//   for (const Row& row : frame.rows(Level::kVm).rows) Write(*row.labels);
// Refers to its arguments, which must outlive it.
class DeviceFrame {
 public:
  DeviceFrame(const VisibleDevice& device, const DeviceLabels& labels, const ScrapeFilter& filter,
              MetricsFormat format);

  const VisibleDevice& device() const { return device_; }
  const DeviceLabels& labels() const { return labels_; }
  const ScrapeFilter& filter() const { return filter_; }
  MetricsFormat format() const { return format_; }
  // Only a fresh device has series beside sideband_device_up, so that old counts are not taken for new ones.
  bool is_fresh() const { return device_.state == VisibleDevice::State::kFresh; }
  // Whether the caller may read the event, the filter selects it, and it is counted.
  bool ShowsEvent(size_t event) const;
  // The rows that the filter selects; empty for a device that is not fresh.
  const Rows& rows(Level level) const { return rows_[IndexOf(level)]; }

 private:
  void AddRows();

  const VisibleDevice& device_;
  const DeviceLabels& labels_;
  const ScrapeFilter& filter_;
  const MetricsFormat format_;
  std::array<Rows, std::size(kLevels)> rows_;
};

// Appends a series. `labels` lack their closing brace.
void AppendSample(TextBuffer& out, absl::string_view name, absl::string_view labels, absl::string_view value);
// Appends when the counter `name` was zero, in OpenMetrics; nothing where it is not known.
void AppendCreated(TextBuffer& out, MetricsFormat format, absl::string_view name, absl::string_view labels,
                   absl::Time created);

// A family of a device that is no counter: its state, capacities, clocks, coverage and bounds of estimates.
struct DeviceFamily {
  const char* name;
  MetricType type;
  const char* help;
  // Appends the family's series of one device.
  void (*write)(absl::string_view name, const DeviceFrame& frame, TextBuffer& out);
};

std::span<const DeviceFamily> DeviceFamilies();

// The age of each device's newest snapshot. Render() leaves out this family, since it differs between any two scrapes.
// Empty if no device has a snapshot.
std::string SampleAges(MetricsFormat format, const std::vector<VisibleDevice>& devices);

// Caches its plan (families and label texts) between calls as long as the views do not change, so that a scrape only
// formats numbers. Not thread-safe.
class Exposition {
 public:
  explicit Exposition(MetricsFormat format, ScrapeFilter filter = {}) : format_(format), filter_(std::move(filter)) {}

  // Appends the exposition to `out`; in OpenMetrics it ends with the required # EOF. `devices` belong to one caller.
  // Calls for different callers are correct but recompute the plan.
  void Render(const std::vector<VisibleDevice>& devices, TextBuffer& out);

 private:
  // One counter, utilisation or ratio of one device.
  struct Source {
    enum class Kind : uint8_t { kCounter, kUtilisation, kRatio };
    Kind kind;
    size_t device;
    size_t index;  // in the catalogue's events or in ratios_
  };
  struct Family {
    std::string name;
    std::string header;
    const DeviceFamily* fixed = nullptr;  // of a family without sources
    Level level = Level::kDevice;
    std::vector<Source> sources;
  };
  using Families = std::map<std::string, Family>;

  bool IsPlannedFor(const std::vector<VisibleDevice>& devices) const;
  void Plan(const std::vector<VisibleDevice>& devices);
  void PlanFixed();
  void PlanCounters(size_t device, Level level);
  void PlanUtilisations(size_t device, Level level);
  void PlanRatios(size_t device, Level level);
  // Whether an event is shown on any row: otherwise it must not appear, not even as a header.
  bool ShowsEvent(size_t device, size_t event) const;
  Family& FamilyOf(Level level, const std::string& name);
  void WriteFamily(const std::vector<DeviceFrame>& frames, const Family& family, TextBuffer& out) const;
  void WriteSource(const std::vector<DeviceFrame>& frames, const Family& family, const Source& source,
                   TextBuffer& out) const;

  const MetricsFormat format_;
  const ScrapeFilter filter_;
  // The plan.
  std::vector<std::shared_ptr<const DeviceInfo>> infos_;  // held, so that an equal address means an equal object
  std::vector<std::shared_ptr<const View>> views_;        // held for the same reason
  std::vector<DeviceLabels> labels_;
  std::vector<std::vector<Ratio>> ratios_;  // by device
  Families families_;
};

// The series of events: their counters, their utilisations, and the configured ratios, at one level of one device.
std::string CounterHelp(const mailbox::EventInfo& event, Level level);
std::string UtilisationHelp(const mailbox::EventInfo& event, Level level);
std::string RatioHelp(const RatioSpec& ratio, Level level);

// `name` ends in _total. `event` is an index of the catalogue.
void WriteCounters(absl::string_view name, const DeviceFrame& frame, Level level, size_t event, TextBuffer& out);
void WriteUtilisations(absl::string_view name, const DeviceFrame& frame, Level level, size_t event, TextBuffer& out);
void WriteRatios(absl::string_view name, const DeviceFrame& frame, Level level, const Ratio& ratio, TextBuffer& out);

// The families by name, each once, with a sample for each value that is known and that the caller may see, in the order
// of `boards`. A family without a sample is left out. OpenMetrics' last line is the caller's. `steady_now` is of the
// clock of the readings' BoardTime::steady: ages are taken from it, and are never below 0. Thread-safe.
std::string BoardFamiliesText(MetricsFormat format, const std::vector<VisibleBoard>& boards, absl::Duration steady_now);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_EXPOSITION_H_
