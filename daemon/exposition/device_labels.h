// SPDX-License-Identifier: Apache-2.0
//
// The label texts of all rows of a device that a view shows. They are created once per view, so that a scrape only
// copies them.
//   const DeviceLabels labels(info, view);
//   out += *labels.Row(block.vm, block.context);   // {device="gpu0",slice="0",vm="vm0",context="render"
#ifndef SIDEBAND_DAEMON_EXPOSITION_DEVICE_LABELS_H_
#define SIDEBAND_DAEMON_EXPOSITION_DEVICE_LABELS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/view/view.h"

namespace sideband::daemon {

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

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_DEVICE_LABELS_H_
