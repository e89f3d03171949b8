// SPDX-License-Identifier: Apache-2.0
//
// What one group of principals scrapes: Prometheus' text format 0.0.4, families in the order of their names.
//   Exposition exposition;
//   exposition.Render(reader.Devices(caller), body);
// testdata/ has what it looks like; README.md says what each family means.
#ifndef SIDEBAND_DAEMON_EXPOSITION_EXPOSITION_H_
#define SIDEBAND_DAEMON_EXPOSITION_EXPOSITION_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "daemon/api/reader.h"
#include "daemon/exposition/device_labels.h"

namespace sideband::daemon {

// Keeps its plan (families and label texts) between calls for as long as the views stay the same, so that a scrape only
// formats numbers. Not thread-safe.
class Exposition {
 public:
  // Appends to `out`. The devices are those of one caller; calls for different callers are correct but keep no plan.
  void Render(const std::vector<VisibleDevice>& devices, std::string& out);

 private:
  // One counter of one device, by its place in `devices` and in the catalogue's events.
  struct Source {
    size_t device;
    size_t event;
  };
  struct Family {
    std::string name;
    std::string header;
    // What a family that is not of events writes for one device.
    void (Exposition::*write)(const Family& family, size_t device, std::string& out) const = nullptr;
    std::vector<Source> sources;  // of a family of events
  };
  // A row of a snapshot that the view shows.
  struct Row {
    size_t index;
    const std::string* labels;
    const EventSet* events;
  };

  bool IsPlannedFor(const std::vector<VisibleDevice>& devices) const;
  void Plan(const std::vector<VisibleDevice>& devices);
  void PlanEvents(const std::vector<VisibleDevice>& devices);
  void FindRows();
  void WriteFamily(const Family& family, std::string& out) const;
  void WriteCounters(const Family& family, const Source& source, std::string& out) const;
  void WriteBlockFlags(const Family& family, size_t device, std::string& out) const;
  void WriteDeviceInfo(const Family& family, size_t device, std::string& out) const;
  void WriteDeviceUp(const Family& family, size_t device, std::string& out) const;
  void WriteSampleAge(const Family& family, size_t device, std::string& out) const;
  void WriteVmInfo(const Family& family, size_t device, std::string& out) const;

  // The plan.
  std::vector<const DeviceInfo*> infos_;
  std::vector<std::shared_ptr<const View>> views_;  // held, so that an equal address is an equal view
  std::vector<DeviceLabels> labels_;
  std::vector<Family> families_;
  // Of the call under way.
  const std::vector<VisibleDevice>* devices_ = nullptr;
  std::vector<std::vector<Row>> rows_;  // by device; none where it is not fresh
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_EXPOSITION_H_
