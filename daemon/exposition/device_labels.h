// SPDX-License-Identifier: Apache-2.0
//
// The label text of every row of a device that a view shows, made once per view so that a scrape only copies it.
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
#include "daemon/authz/view.h"
#include "daemon/model/device_snapshot.h"

namespace sideband::daemon {

// All texts begin with "{" and leave the closing brace to the caller, who may add labels. Immutable.
class DeviceLabels {
 public:
  // `view` may be nullptr: then there is only the device's name.
  DeviceLabels(const DeviceInfo& device, const View* view);

  // {device="…"
  const std::string& device() const { return device_; }
  // {device="…",uuid="…"; empty without a view.
  const std::string& device_info() const { return device_info_; }
  // {device="…",vm="…",uuid="…",confidential="…" for each VM that the view knows.
  const std::vector<std::string>& vm_infos() const { return vm_infos_; }
  // nullptr where the view does not show the row.
  const std::string* Row(uint16_t vm, uint16_t context) const;

 private:
  void AddVm(const mailbox::VmInfo& vm, const View& view);
  void AddContext(const mailbox::ContextInfo& context, const View& view);

  std::string device_;
  std::string device_info_;
  std::vector<std::string> vm_infos_;
  absl::flat_hash_map<std::pair<uint16_t, uint16_t>, std::string> rows_;
  // Names in use, since a device may give one name to two VMs or contexts, and two equal series are an error. Only what
  // the view shows counts: another tenant's names must not change this one's labels.
  absl::flat_hash_map<uint16_t, std::string> vm_names_;
  absl::flat_hash_set<std::string> vm_names_in_use_;
  absl::flat_hash_set<std::pair<uint16_t, std::string>> context_names_in_use_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_EXPOSITION_DEVICE_LABELS_H_
