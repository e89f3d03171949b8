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
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/exposition/device_labels.h"
#include "daemon/exposition/scrape_filter.h"
#include "daemon/exposition/text_buffer.h"
#include "daemon/metrics/text.h"
#include "daemon/snapshot/ratio.h"
#include "daemon/view/reader.h"

namespace sideband::daemon {

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
  // One counter or ratio of one device, by its index in `devices` and in the catalogue's events or in ratios_.
  struct Source {
    size_t device;
    size_t index;
  };
  // A row of a snapshot that the view shows.
  struct Row {
    size_t index;
    const std::string* labels;
    const EventSet* events;
    std::string created;  // OpenMetrics only
  };
  struct Rows {
    std::vector<Row> rows;
    size_t label_bytes = 0;  // sum over all rows
  };
  // What one call renders.
  struct Frame {
    const std::vector<VisibleDevice>& devices;
    std::vector<Rows> rows;  // by device; none where it is not fresh
  };
  struct Family {
    using Writer = void (Exposition::*)(const Frame& frame, const Family& family, size_t device, TextBuffer& out) const;

    std::string name;
    std::string header;
    Writer write = nullptr;               // what a family that has one entry per device writes for it
    std::vector<Source> counter_sources;  // of a family of events
    std::vector<Source> ratio_sources;    // of a family of ratios
  };

  bool IsPlannedFor(const std::vector<VisibleDevice>& devices) const;
  void Plan(const std::vector<VisibleDevice>& devices);
  void PlanEvents(const std::vector<VisibleDevice>& devices, std::vector<Family>& families) const;
  void PlanRatios(const std::vector<VisibleDevice>& devices, std::vector<Family>& families) const;
  Rows FindRows(const VisibleDevice& device, const DeviceLabels& labels) const;
  bool Selects(const mailbox::BlockHeader& block) const;
  void WriteFamily(const Frame& frame, const Family& family, TextBuffer& out) const;
  void WriteCounters(const Frame& frame, const Family& family, const Source& source, TextBuffer& out) const;
  void WriteRatios(const Frame& frame, const Family& family, const Source& source, TextBuffer& out) const;
  void WriteBlockFlags(const Frame& frame, const Family& family, size_t device, TextBuffer& out) const;
  void WriteClock(const Frame& frame, const Family& family, size_t device, TextBuffer& out) const;
  void WriteComplete(const Frame& frame, const Family& family, size_t device, TextBuffer& out) const;
  void WriteEventInfo(const Frame& frame, const Family& family, size_t device, TextBuffer& out) const;
  void WriteDeviceInfo(const Frame& frame, const Family& family, size_t device, TextBuffer& out) const;
  void WriteDeviceUp(const Frame& frame, const Family& family, size_t device, TextBuffer& out) const;
  void WriteVmInfo(const Frame& frame, const Family& family, size_t device, TextBuffer& out) const;

  const MetricsFormat format_;
  const ScrapeFilter filter_;
  // The plan.
  std::vector<std::shared_ptr<const DeviceInfo>> infos_;  // held, so that an equal address means an equal object
  std::vector<std::shared_ptr<const View>> views_;        // held for the same reason
  std::vector<DeviceLabels> labels_;
  std::vector<std::vector<Ratio>> ratios_;  // by device
  std::vector<Family> families_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_EXPOSITION_H_
