// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "daemon/base/clock.h"
#include "daemon/counting/counting_book.h"
#include "daemon/counting/counting_follower.h"
#include "daemon/counting/mark_book.h"
#include "daemon/counting/rotation_follower.h"
#include "daemon/counting/settings.h"
#include "daemon/counting/settings_file.h"
#include "daemon/mailbox/snapshot_reader.h"
#include "daemon/snapshot/device_snapshot.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

absl::Status UseSettings(const mailbox::Catalog& catalog, mailbox::CountingConfig& config, SettingsStore& store,
                         const Uuid& uuid) {
  //@ daemon/counting/settings.h
  return absl::OkStatus();
}

void UseSettingsFile(const std::string& text, ErrorList& errors) {
  //@ daemon/counting/settings_file.h
}

void Answer(const absl::Status& status);

absl::Status UseRotationFollower(MailboxSession& session, AuditSink& audit, const DeviceInfo& info,
                                 const Topology& topology, uint64_t boot_id, const mailbox::RotationRequest& request,
                                 const mailbox::Catalog& catalog, RotationSink& sink, size_t device,
                                 const DeviceSnapshot& snapshot) {
  //@ daemon/counting/rotation_follower.h
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
                                 uint64_t boot_id, uint32_t revision, const DeviceInfo& info) {
  absl::StatusOr<TakenSnapshot> taken;
  std::optional<CommittedConfig> committed;
  //@ daemon/counting/counting_follower.h
  return absl::OkStatus();
}

void Show(const Mark& mark);

absl::Status UseMarkBook(MarkBook& book, size_t device, const Uuid& vm, const Mark& mark, const Clock& clock,
                         uint64_t requested_ns, const mailbox::Snapshot& raw, absl::Time host_time,
                         absl::Duration host_time_error, double rate_max) {
  //@ daemon/counting/mark_book.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::daemon
