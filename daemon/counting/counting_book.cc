// SPDX-License-Identifier: Apache-2.0
#include "daemon/counting/counting_book.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace sideband::daemon {

using mailbox::CountingConfig;

absl::Status AnotherRevision(uint32_t in_force, uint32_t expected) {
  return absl::AbortedError(absl::StrCat("the revision in force is ", in_force, ", not ", expected));
}

// Lays the file and then the callers' settings over what is in force.
void CountingBook::Resolve(const std::string& name, Device& device) {
  if (!device.actual) return;
  const mailbox::Catalog& catalog = device.actual->topology->catalog();
  device.desired = device.actual->config;
  device.refusals.clear();
  if (const auto file = file_.find(name); file != file_.end()) {
    device.refusals = Apply(file->second, catalog, device.desired);
  }
  // A restriction that the device cannot follow must not be taken for one that is in force.
  std::vector<Refusal> refused = Apply(device.calls, catalog, device.desired);
  std::erase_if(refused, IsOfAbsent);
  device.refusals.insert(device.refusals.end(), refused.begin(), refused.end());
  device.is_pending = !mailbox::Difference(device.actual->config, device.desired).empty();
}

void CountingBook::Replace(DeviceSettings file) {
  absl::MutexLock lock(&mu_);
  file_ = std::move(file);
  for (auto& [name, device] : devices_) Resolve(name, device);
}

absl::StatusOr<std::vector<Refusal>> CountingBook::Set(const std::string& name, const CountingSettings& settings,
                                                       uint32_t expected_revision, bool validate_only,
                                                       const CountingConfig* basis) {
  absl::MutexLock store_lock(&store_mu_);
  auto refusals = Add(name, settings, expected_revision, validate_only, basis);
  Store(name);
  return refusals;
}

absl::StatusOr<std::vector<Refusal>> CountingBook::Add(const std::string& name, const CountingSettings& settings,
                                                       uint32_t expected_revision, bool validate_only,
                                                       const CountingConfig* basis) {
  absl::MutexLock lock(&mu_);
  const auto found = devices_.find(name);
  if (found == devices_.end() || !found->second.actual) return absl::NotFoundError("the device has no gate groups");
  Device& device = found->second;
  const uint32_t revision = device.actual->config.revision;
  if (expected_revision != 0 && expected_revision != revision) {
    return AnotherRevision(revision, expected_revision);
  }
  if (basis != nullptr && *basis != device.desired) return absl::AbortedError("the settings have just been changed");
  const mailbox::Catalog& catalog = device.actual->topology->catalog();
  CountingConfig trial = device.desired;
  std::vector<Refusal> refusals = Apply(settings, catalog, trial);
  if (!refusals.empty() || validate_only) return refusals;
  CountingSettings named = settings, calls = device.calls;
  NameSelections(catalog, named);
  Merge(named, calls);
  DropAbsentBeyondLimits(catalog, calls);
  device.is_unstored |= calls != device.calls;
  device.calls = std::move(calls);
  Resolve(name, device);
  return refusals;
}

std::optional<CountingBook::Unstored> CountingBook::FindUnstored(const std::string& name) const {
  absl::MutexLock lock(&mu_);
  const auto found = devices_.find(name);
  if (found == devices_.end() || !found->second.is_unstored) return std::nullopt;
  return Unstored{*found->second.uuid, found->second.calls};
}

void CountingBook::Store(const std::string& name) {
  const auto unstored = store_ == nullptr ? std::nullopt : FindUnstored(name);
  if (!unstored) return;
  const absl::Status status = store_->Save(unstored->uuid, unstored->calls);
  std::string& error = store_errors_[name];
  if (!status.ok() && error != status.message()) {
    spdlog::warn("device {}: callers' counting settings are not stored, and are lost when the daemon ends: {}", name,
                 std::string(status.message()));
  } else if (status.ok() && !error.empty()) {
    spdlog::info("device {}: callers' counting settings are stored again", name);
  }
  error = std::string(status.message());
  absl::MutexLock lock(&mu_);
  const auto found = devices_.find(name);
  if (found != devices_.end()) found->second.is_unstored = !status.ok();
}

void CountingBook::StoreAgain(const std::string& name) {
  if (store_ == nullptr || !FindUnstored(name)) return;
  // A call that stores at this moment has the lock; an interval later its outcome is known.
  if (!store_mu_.TryLock()) return;
  Store(name);
  store_mu_.Unlock();
}

std::optional<CountingState> CountingBook::State(const std::string& name) const {
  absl::MutexLock lock(&mu_);
  const auto device = devices_.find(name);
  if (device == devices_.end() || !device->second.actual) return std::nullopt;
  const Device& known = device->second;
  return CountingState{.actual = *known.actual,
                       .desired = known.desired,
                       .is_in_sync = !known.is_pending && !known.is_outdated && known.refusals.empty(),
                       .is_stored = store_ != nullptr && !known.is_unstored,
                       .refusals = known.refusals};
}

bool CountingBook::IsNew(const std::string& name, const Topology& topology, uint64_t boot_id, uint32_t revision) const {
  absl::MutexLock lock(&mu_);
  const auto device = devices_.find(name);
  if (device == devices_.end() || !device->second.actual) return true;
  const ObservedCounting& actual = *device->second.actual;
  return device->second.is_outdated || actual.boot_id != boot_id || actual.config.revision != revision ||
         actual.topology->hash() != topology.hash();
}

bool CountingBook::IsLoaded(const std::string& name, const Uuid& uuid) const {
  absl::MutexLock lock(&mu_);
  const auto found = devices_.find(name);
  return found != devices_.end() && found->second.uuid == uuid;
}

CountingSettings CountingBook::Load(const std::string& name, const Uuid& uuid) const {
  if (store_ == nullptr) return {};
  auto settings = store_->Load(uuid);
  if (settings.ok()) return *std::move(settings);
  if (!absl::IsNotFound(settings.status())) {
    spdlog::warn("device {}: callers' counting settings cannot be read, and none is in force: {}", name,
                 std::string(settings.status().message()));
  }
  return {};
}

void CountingBook::LoadCalls(const std::string& name, const Uuid& uuid) {
  absl::MutexLock store_lock(&store_mu_);
  CountingSettings calls = Load(name, uuid);
  absl::MutexLock lock(&mu_);
  Device& device = devices_[name];
  KeepUnstored(device);
  device = {.uuid = uuid, .calls = std::move(calls)};
  if (auto kept = unstored_.extract(uuid)) {
    device.calls = std::move(kept.mapped());
    device.is_unstored = true;
  }
}

// Settings that are in the store are loaded from there.
void CountingBook::KeepUnstored(Device& device) {
  const bool has_room = unstored_.size() < kUnstoredMax;
  if (device.is_unstored && device.uuid && has_room) unstored_[*device.uuid] = std::move(device.calls);
}

void CountingBook::Observe(const std::string& name, ObservedCounting actual) {
  const Uuid& uuid = actual.topology->catalog().device;
  if (!IsLoaded(name, uuid)) LoadCalls(name, uuid);
  absl::MutexLock lock(&mu_);
  Device& device = devices_[name];
  device.actual = std::move(actual);
  device.is_outdated = false;
  Resolve(name, device);
}

void CountingBook::Outdate(const std::string& name) {
  absl::MutexLock lock(&mu_);
  const auto found = devices_.find(name);
  if (found != devices_.end()) found->second.is_outdated = true;
}

std::optional<ConfigChange> CountingBook::Pending(const std::string& name) const {
  absl::MutexLock lock(&mu_);
  const auto found = devices_.find(name);
  if (found == devices_.end() || !found->second.is_pending || found->second.is_outdated) return std::nullopt;
  const Device& device = found->second;
  const ObservedCounting& actual = *device.actual;
  return ConfigChange{.boot_id = actual.boot_id,
                      .catalog_hash = actual.topology->hash(),
                      .revision = actual.config.revision,
                      .writes = mailbox::Difference(actual.config, device.desired),
                      .from = mailbox::WordsOf(actual.config)};
}

void CountingBook::Committed(const std::string& name, const ConfigChange& change,
                             const absl::StatusOr<uint32_t>& revision) {
  absl::MutexLock lock(&mu_);
  const auto found = devices_.find(name);
  if (found == devices_.end() || !found->second.actual) return;
  Device& device = found->second;
  if (revision.ok()) {
    // Settings made meanwhile are in `desired` already, and remain to be done.
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
  const auto found = devices_.find(name);
  if (found == devices_.end()) return;
  KeepUnstored(found->second);
  devices_.erase(found);
}

}  // namespace sideband::daemon
