// SPDX-License-Identifier: Apache-2.0
//
// The metrics of one group of principals, with families sorted by name.
//   Exposition exposition(MetricsFormat::kOpenMetrics);
//   exposition.Render(reader.Devices(caller), body);
//   SampleAges(MetricsFormat::kOpenMetrics, devices);   // differs between two scrapes of one snapshot
// Examples are in testdata/; docs/metrics.md describes the families.
#ifndef SIDEBAND_DAEMON_EXPOSITION_EXPOSITION_H_
#define SIDEBAND_DAEMON_EXPOSITION_EXPOSITION_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/exposition/device_frame.h"
#include "daemon/exposition/text_buffer.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/ratio.h"
#include "daemon/view/reader.h"
#include "daemon/view/sensor_queries.h"
#include "proto/exposition/text.h"
#include "proto/mailbox/catalog.h"

namespace sideband::daemon {

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
