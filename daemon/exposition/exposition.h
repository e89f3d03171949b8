// SPDX-License-Identifier: Apache-2.0
//
// What one group of principals scrapes, families in the order of their names.
//   Exposition exposition(MetricsFormat::kOpenMetrics);
//   exposition.Render(reader.Devices(caller), body);
//   SampleAges(MetricsFormat::kOpenMetrics, devices)   // what changes between two scrapes of one snapshot
// testdata/ has what it looks like; README.md says what each family means.
#ifndef SIDEBAND_DAEMON_EXPOSITION_EXPOSITION_H_
#define SIDEBAND_DAEMON_EXPOSITION_EXPOSITION_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/api/reader.h"
#include "daemon/exposition/device_labels.h"
#include "daemon/exposition/scrape_filter.h"
#include "daemon/exposition/text.h"
#include "daemon/exposition/text_buffer.h"
#include "daemon/model/ratio.h"

namespace sideband::daemon {

// How long ago each device's newest snapshot was latched: the one family that Render() leaves out, because it differs
// from scrape to scrape. Empty where no device has a snapshot.
std::string SampleAges(MetricsFormat format, const std::vector<VisibleDevice>& devices);

// Keeps its plan (families and label texts) between calls for as long as the views stay the same, so that a scrape only
// formats numbers. Not thread-safe.
class Exposition {
 public:
  explicit Exposition(MetricsFormat format, ScrapeFilter filter = {}) : format_(format), filter_(std::move(filter)) {}

  // Appends to `out`, in OpenMetrics with the # EOF that must be last. The devices are those of one caller; calls for
  // different callers are correct but keep no plan.
  void Render(const std::vector<VisibleDevice>& devices, TextBuffer& out);

 private:
  // One counter or ratio of one device, by its place in `devices` and in the catalogue's events or ratios_.
  struct Source {
    size_t device;
    size_t index;
  };
  struct Family {
    using Writer = void (Exposition::*)(const Family& family, size_t device, TextBuffer& out) const;

    std::string name;
    std::string header;
    Writer write = nullptr;               // what a family that has one entry per device writes for it
    std::vector<Source> counter_sources;  // of a family of events
    std::vector<Source> ratio_sources;    // of a family of ratios
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
    size_t label_bytes = 0;  // of all of them
  };

  bool IsPlannedFor(const std::vector<VisibleDevice>& devices) const;
  void Plan(const std::vector<VisibleDevice>& devices);
  void PlanEvents(const std::vector<VisibleDevice>& devices, std::vector<Family>& families) const;
  void PlanRatios(const std::vector<VisibleDevice>& devices, std::vector<Family>& families) const;
  void FindRows();
  bool Selects(const mailbox::BlockHeader& block) const;
  void WriteFamily(const Family& family, TextBuffer& out) const;
  void WriteCounters(const Family& family, const Source& source, TextBuffer& out) const;
  void WriteRatios(const Family& family, const Source& source, TextBuffer& out) const;
  void WriteBlockFlags(const Family& family, size_t device, TextBuffer& out) const;
  void WriteDeviceInfo(const Family& family, size_t device, TextBuffer& out) const;
  void WriteDeviceUp(const Family& family, size_t device, TextBuffer& out) const;
  void WriteVmInfo(const Family& family, size_t device, TextBuffer& out) const;

  const MetricsFormat format_;
  const ScrapeFilter filter_;
  // The plan.
  std::vector<const DeviceInfo*> infos_;
  std::vector<std::shared_ptr<const View>> views_;  // held, so that an equal address is an equal view
  std::vector<DeviceLabels> labels_;
  std::vector<std::vector<Ratio>> ratios_;  // by device
  std::vector<Family> families_;
  // Of the call under way.
  const std::vector<VisibleDevice>* devices_ = nullptr;
  std::vector<Rows> rows_;  // by device; none where it is not fresh
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_EXPOSITION_H_
