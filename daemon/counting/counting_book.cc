// SPDX-License-Identifier: Apache-2.0
#include "daemon/counting/counting_book.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace sideband::daemon {

using mailbox::CountingConfig;

// Lays the file and then the callers' settings over what is in force.
void CountingBook::Resolve(const std::string& name, Device& device) {
  if (!device.actual) return;
  const mailbox::Catalog& catalog = device.actual->topology->catalog();
  device.desired = device.actual->config;
  device.refusals.clear();
  if (const auto file = file_.find(name); file != file_.end()) {
    device.refusals = Apply(file->second, catalog, device.desired);
  }
  // Those of VMs and contexts that have gone are of no interest any more.
  Apply(device.calls, catalog, device.desired);
  device.is_pending = !mailbox::Difference(device.actual->config, device.desired).empty();
}

void CountingBook::Replace(DeviceSettings file) {
  absl::MutexLock lock(&mu_);
  file_ = std::move(file);
  for (auto& [name, device] : devices_) Resolve(name, device);
}

absl::StatusOr<std::vector<Refusal>> CountingBook::Set(const std::string& name, const CountingSettings& settings,
                                                       uint32_t expected_revision, bool validate_only) {
  absl::MutexLock lock(&mu_);
  const auto found = devices_.find(name);
  if (found == devices_.end() || !found->second.actual) return absl::NotFoundError("the device has no gate groups");
  Device& device = found->second;
  const uint32_t revision = device.actual->config.revision;
  if (expected_revision != 0 && expected_revision != revision) {
    return absl::AbortedError(absl::StrCat("the revision in force is ", revision, ", not ", expected_revision));
  }
  CountingConfig trial = device.desired;
  std::vector<Refusal> refusals = Apply(settings, device.actual->topology->catalog(), trial);
  if (!refusals.empty() || validate_only) return refusals;
  Merge(settings, device.calls);
  Resolve(name, device);
  return refusals;
}

std::optional<CountingState> CountingBook::State(const std::string& name) const {
  absl::MutexLock lock(&mu_);
  const auto device = devices_.find(name);
  if (device == devices_.end() || !device->second.actual) return std::nullopt;
  const Device& known = device->second;
  return CountingState{*known.actual, !known.is_pending && known.refusals.empty(), known.refusals};
}

bool CountingBook::IsNew(const std::string& name, const Topology& topology, uint64_t boot_id, uint32_t revision) const {
  absl::MutexLock lock(&mu_);
  const auto device = devices_.find(name);
  if (device == devices_.end() || !device->second.actual) return true;
  const ObservedCounting& actual = *device->second.actual;
  return device->second.is_outdated || actual.boot_id != boot_id || actual.config.revision != revision ||
         actual.topology->hash() != topology.hash();
}

void CountingBook::Observe(const std::string& name, ObservedCounting actual) {
  absl::MutexLock lock(&mu_);
  Device& device = devices_[name];
  device.actual = std::move(actual);
  device.is_outdated = false;
  Resolve(name, device);
}

std::optional<ConfigChange> CountingBook::Pending(const std::string& name) const {
  absl::MutexLock lock(&mu_);
  const auto found = devices_.find(name);
  if (found == devices_.end() || !found->second.is_pending) return std::nullopt;
  const Device& device = found->second;
  return ConfigChange{device.actual->config.revision, mailbox::Difference(device.actual->config, device.desired)};
}

void CountingBook::Committed(const std::string& name, const ConfigChange& change,
                             const absl::StatusOr<uint32_t>& revision) {
  absl::MutexLock lock(&mu_);
  const auto found = devices_.find(name);
  if (found == devices_.end() || !found->second.actual) return;
  Device& device = found->second;
  if (revision.ok()) {
    // What was asked for meanwhile is in `desired` already, and remains to be done.
    for (const auto& [address, word] : change.writes) {
      mailbox::WriteWord(address, word, device.actual->config).IgnoreError();
    }
    device.actual->config.revision = *revision;
    device.is_pending = !mailbox::Difference(device.actual->config, device.desired).empty();
  } else if (absl::IsInvalidArgument(revision.status())) {
    device.is_pending = false;
    device.refusals.push_back({"", "the device refuses the change"});
  } else if (absl::IsAborted(revision.status())) {
    device.is_outdated = true;
  }
}

void CountingBook::Forget(const std::string& name) {
  absl::MutexLock lock(&mu_);
  devices_.erase(name);
}

}  // namespace sideband::daemon
