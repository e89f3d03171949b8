// SPDX-License-Identifier: Apache-2.0
#include <grpcpp/server_context.h>
#include <openssl/types.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/audit/audit_sink.h"
#include "daemon/authz/policy.h"
#include "daemon/base/clock.h"
#include "daemon/base/pausing_clock.h"
#include "daemon/base/retry_after.h"
#include "daemon/board/board_reader.h"
#include "daemon/board/board_store.h"
#include "daemon/collector/bus_jobs.h"
#include "daemon/collector/collector_thread.h"
#include "daemon/collector/confidentiality.h"
#include "daemon/collector/creation_times.h"
#include "daemon/collector/device_board.h"
#include "daemon/collector/device_collector.h"
#include "daemon/collector/fake_context.h"
#include "daemon/collector/log_limit.h"
#include "daemon/collector/published_rows.h"
#include "daemon/collector/routers.h"
#include "daemon/config/config.h"
#include "daemon/counting/counting_book.h"
#include "daemon/counting/followers.h"
#include "daemon/counting/mark_book.h"
#include "daemon/counting/settings.h"
#include "daemon/counting/settings_file.h"
#include "daemon/grpc/service_host.h"
#include "daemon/identity/identity.h"
#include "daemon/listen/connection_table.h"
#include "daemon/listen/fake_frames.h"
#include "daemon/listen/frame_guard.h"
#include "daemon/listen/gate.h"
#include "daemon/listen/gate_connection.h"
#include "daemon/mailbox/block_peeker.h"
#include "daemon/mailbox/device_commands.h"
#include "daemon/mailbox/fake_mailbox.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/mailbox/register_port.h"
#include "daemon/mailbox/snapshot_reader.h"
#include "daemon/metrics/area_metrics.h"
#include "daemon/sealing/sealer_set.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/snapshot/store.h"
#include "daemon/snapshot/topology.h"
#include "daemon/transport/bus_transport.h"
#include "daemon/transport/transport.h"
#include "proto/base/status_macros.h"
#include "proto/base/uuid.h"
#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/word.h"
#include "proto/smbus/transfer.h"

namespace sideband::daemon {
namespace {

void UseBusJobs(MailboxSession& session, const Clock& clock, const std::function<void()>& wake,
                const std::function<void(const absl::Status&)>& done, bool is_readable, absl::Duration due) {
  //@ daemon/collector/bus_jobs.h
}

void UsePublishedRows(const Topology& topology, const std::shared_ptr<const DeviceSnapshot>& before,
                      const std::shared_ptr<DeviceSnapshot>& snapshot, CollectionMetrics& metrics,
                      const std::string& device, const mailbox::Snapshot& raw) {
  //@ daemon/collector/published_rows.h
}

void UseRouters(size_t device, const Store& store, CollectionMetrics& metrics, const Clock& clock,
                const PeekQuery& query, const LiveReader::Done& done) {
  //@ daemon/collector/routers.h
}

void UseCollectorThread(size_t device, std::unique_ptr<Transport> transport, Store& store, SealerSet& sealers,
                        ConfidentialityBook& book, const PolicyHolder& policy, AuditSink& audit,
                        CollectionMetrics& metrics, const Clock& clock) {
  //@ daemon/collector/collector_thread.h
}

void UseConfidentiality(const SealerSet& sealers, TakenSnapshot taken,
                        const std::shared_ptr<const DeviceSnapshot>& before, uint32_t seconds, bool is_first_of_boot) {
  //@ daemon/collector/confidentiality.h
}

absl::Status UseCreationTimes(const CreationFile& file, const Uuid& uuid,
                              const std::shared_ptr<DeviceSnapshot>& snapshot, absl::Time host_time,
                              absl::Duration host_time_error, absl::Duration steady_time, bool device_row_is_new) {
  //@ daemon/collector/creation_times.h
  return absl::OkStatus();
}

void UseDeviceCollector(MailboxSession& session, Store& store, SealerSet& sealers, ConfidentialityBook& book,
                        const PolicyHolder& policy, AuditSink& audit, CollectionMetrics& metrics, const Clock& clock) {
  //@ daemon/collector/device_collector.h
}

void UseFakeContext(const Uuid& vm, MailboxSession& session) {
  //@ daemon/collector/fake_context.h
}

void WaitUntil(absl::Duration steady_time);

absl::Status RunNext();

void UseLogLimit(LogLimit<5>& limit, const Clock& clock) {
  //@ daemon/collector/log_limit.h
}

void UseDeviceBoard(size_t device, MailboxSession& session, BusLock& lock, const Store& store, BoardStore* boards,
                    const Clock& clock, const absl::Status& status, absl::Duration next_snapshot) {
  //@ daemon/collector/device_board.h
}

absl::Status UseSettings(const mailbox::Catalog& catalog, mailbox::CountingConfig& config, SettingsStore& store,
                         const Uuid& uuid) {
  //@ daemon/counting/settings.h
  return absl::OkStatus();
}

void UseSettingsFile(const std::string& text, ErrorList& errors) {
  //@ daemon/counting/settings_file.h
}

absl::StatusOr<uint32_t> Commit(const ConfigChange& change);

absl::Status UseCountingBook(SettingsFiles& settings_files, const DeviceSettings& file, MailboxSession& session,
                             const std::shared_ptr<const Topology>& topology, uint64_t boot_id,
                             const CountingSettings& settings) {
  //@ daemon/counting/counting_book.h
  return absl::OkStatus();
}

absl::Status UseFollowers(MailboxSession& session, SnapshotReader& reader, CountingBook* book, AuditSink& audit,
                          CollectionMetrics& metrics, const std::shared_ptr<const Topology>& topology, uint64_t boot_id,
                          uint32_t revision, const DeviceInfo& info) {
  absl::StatusOr<TakenSnapshot> taken;
  std::optional<CommittedConfig> committed;
  //@ daemon/counting/followers.h
  return absl::OkStatus();
}

void Show(const Mark& mark);

absl::Status UseMarkBook(MarkBook& book, size_t device, const Uuid& vm, const Mark& mark, const Clock& clock,
                         uint64_t requested_ns, const mailbox::Snapshot& raw, absl::Time host_time,
                         absl::Duration host_time_error, double rate_max) {
  //@ daemon/counting/mark_book.h
  return absl::OkStatus();
}

void Keep(TakenSnapshot taken);
absl::Status Refuse(absl::Duration interval, absl::Duration least);

void TakeASnapshot();

void UseBlockPeeker(MailboxSession& session, const Clock& clock, uint64_t boot, int& retries, absl::Duration next) {
  //@ daemon/mailbox/block_peeker.h
}

void UseFakeMailbox(const RegisterPort::OnOutcome& on_outcome) {
  //@ daemon/mailbox/fake_mailbox.h
}

absl::Status UseMailboxSession(RegisterPort& port, const MailboxSession::Wait& wait) {
  //@ daemon/mailbox/mailbox_session.h
  return absl::OkStatus();
}

absl::Status UseRegisterPort(Transport& transport, const RegisterPort::OnOutcome& on_outcome, uint32_t offset) {
  //@ daemon/mailbox/register_port.h
  return absl::OkStatus();
}

absl::Status UseSnapshotReader(MailboxSession& session, const Clock& clock, absl::Duration interval) {
  //@ daemon/mailbox/snapshot_reader.h
  return absl::OkStatus();
}

void Read(uint32_t closing_id);

absl::Status UseDeviceCommands(MailboxSession& session, const mailbox::Snapshot& snapshot,
                               const std::vector<mailbox::ConfigWrite>& writes, const mailbox::EventSet& wanted,
                               uint32_t next_trigger, size_t domains, ByteSpan request) {
  //@ daemon/mailbox/device_commands.h
  return absl::OkStatus();
}

void UsePausingClock(MailboxSession& session, const PeekQuery& query, const std::function<void()>& on_retry) {
  //@ daemon/base/pausing_clock.h
}

void Close(absl::string_view reason = "");
void Forward(absl::string_view bytes, size_t count);

void UseFakeFrames(ByteLink& client) {
  //@ daemon/listen/fake_frames.h
}

void UseFrameGuard(const FrameGuard::Limits& limits, const Clock& clock, const std::string& bytes, std::string& unsent,
                   absl::string_view answer_bytes) {
  //@ daemon/listen/frame_guard.h
}

absl::Status UseGate(const Config& config, const Clock& clock, ListenerMetrics& metrics, ServiceHost& host,
                     const Gate::BreachFunction& on_breach, const grpc::ServerContextBase& call) {
  //@ daemon/listen/gate.h
  return absl::OkStatus();
}

void UseGateConnection(ConnectionTable::Id id, boost::asio::io_context& io, int fd,
                       const boost::asio::ip::address& address, GateConnectionContext context) {
  //@ daemon/listen/gate_connection.h
}

absl::Status Write(const BlockWrite& write);
absl::Status Read(const BlockRead& read);

absl::Status UseBusTransports(const smbus::Transfer& transfer) {
  //@ daemon/transport/bus_transport.h
  return absl::OkStatus();
}

absl::Status UseTransport(std::unique_ptr<Transport> inner, const RegisterPort::OnOutcome& on_outcome,
                          const smbus::Transfer& transfer) {
  //@ daemon/transport/transport.h
  return absl::UnimplementedError("");
}

}  // namespace
}  // namespace sideband::daemon
