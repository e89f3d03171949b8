// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "daemon/counting/counting_book.h"
#include "daemon/counting/counting_file.h"
#include "daemon/counting/counting_follower.h"
#include "daemon/counting/fake_settings_store.h"
#include "daemon/counting/grid_follower.h"
#include "daemon/counting/line_driver.h"
#include "daemon/counting/rotation_follower.h"
#include "daemon/counting/rotation_refusal.h"
#include "daemon/counting/rotation_sink.h"
#include "daemon/counting/settings.h"
#include "daemon/counting/settings_file.h"
#include "daemon/counting/settings_store.h"
#include "daemon/mailbox/snapshot_reader.h"
#include "daemon/snapshot/device_snapshot.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

void UseSettings(const mailbox::Catalog& catalog, mailbox::CountingConfig& config) {
  //@ daemon/counting/settings.h
}

void UseCountingFile(const std::string& text, ErrorList& errors, CountingBook& book) {
  //@ daemon/counting/counting_file.h
}

void UseFakeSettingsStore() {
  //@ daemon/counting/fake_settings_store.h
}

void UseSettingsFile() {
  //@ daemon/counting/settings_file.h
}

absl::Status UseSettingsStore(SettingsStore& store, const Uuid& uuid) {
  //@ daemon/counting/settings_store.h
  return absl::OkStatus();
}

void UseRotationFollower(MailboxSession& session, AuditSink& audit, const DeviceInfo& info, const Topology& topology,
                         uint64_t boot_id) {
  //@ daemon/counting/rotation_follower.h
}

absl::Status UseRotationRefusal(const mailbox::RotationRequest& request, const mailbox::Catalog& catalog) {
  //@ daemon/counting/rotation_refusal.h
}

void Answer(const absl::Status& status);

absl::Status UseRotationSink(RotationSink& sink, size_t device, const DeviceSnapshot& snapshot,
                             const mailbox::RotationRequest& request) {
  //@ daemon/counting/rotation_sink.h
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> Commit(const ConfigChange& change);

absl::Status UseCountingBook(SettingsFiles& settings_files, const DeviceSettings& file, MailboxSession& session,
                             const std::shared_ptr<const Topology>& topology, uint64_t boot_id,
                             const CountingSettings& settings) {
  //@ daemon/counting/counting_book.h
  return absl::OkStatus();
}

absl::Status UseCountingFollower(MailboxSession& session, SnapshotReader& reader, CountingBook* book, AuditSink& audit,
                                 CollectionMetrics& metrics, const std::shared_ptr<const Topology>& topology,
                                 uint64_t boot_id, uint32_t revision) {
  absl::StatusOr<TakenSnapshot> taken;
  std::optional<CommittedConfig> committed;
  //@ daemon/counting/counting_follower.h
  return absl::OkStatus();
}

void UseLineDriver(MailboxSession& session, const DeviceInfo& info) {
  //@ daemon/counting/line_driver.h
}

void UseGridFollower(MailboxSession& session, const DeviceInfo& info, const Topology& topology, uint64_t boot_id) {
  //@ daemon/counting/grid_follower.h
}

}  // namespace
}  // namespace sideband::daemon
