// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/mailbox/block_peeker.h"
#include "daemon/mailbox/bus_budget.h"
#include "daemon/mailbox/clock_reader.h"
#include "daemon/mailbox/config_writer.h"
#include "daemon/mailbox/fake_mailbox.h"
#include "daemon/mailbox/mailbox_session.h"
#include "daemon/mailbox/pausing_clock.h"
#include "daemon/mailbox/register_port.h"
#include "daemon/mailbox/rotation_writer.h"
#include "daemon/mailbox/seal_writer.h"
#include "daemon/mailbox/snapshot_reader.h"
#include "daemon/mailbox/wall_reading.h"
#include "daemon/snapshot/topology.h"
#include "daemon/transport/transport.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/snapshot.h"
#include "proto/mailbox/word.h"

namespace sideband::daemon {
namespace {

void Keep(TakenSnapshot taken);
absl::Status Refuse(absl::Duration interval, absl::Duration least);

void TakeASnapshot();

void UseBlockPeeker(MailboxSession& session, const Clock& clock, uint64_t boot, int& retries, absl::Duration next) {
  //@ daemon/mailbox/block_peeker.h
}

absl::Status UseBusBudget(const std::shared_ptr<const Topology>& topology, absl::Duration interval) {
  //@ daemon/mailbox/bus_budget.h
  return absl::OkStatus();
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

absl::Status UseSnapshotReader(MailboxSession& session, const Clock& clock) {
  //@ daemon/mailbox/snapshot_reader.h
  return absl::OkStatus();
}

absl::Status UseRotationWriter(MailboxSession& session, const mailbox::EventSet& wanted, size_t events) {
  //@ daemon/mailbox/rotation_writer.h
  return absl::OkStatus();
}

absl::Status UseClockReader(MailboxSession& session, uint32_t next_trigger, size_t domains) {
  //@ daemon/mailbox/clock_reader.h
  return absl::OkStatus();
}

void Read(uint32_t closing_id);

absl::Status UseConfigWriter(MailboxSession& session, const mailbox::Snapshot& snapshot,
                             const std::vector<mailbox::ConfigWrite>& writes) {
  //@ daemon/mailbox/config_writer.h
  return absl::OkStatus();
}

void Exchange();
void Publish(absl::Time time, absl::Duration error);

void UseWallReading(const Clock& clock) {
  //@ daemon/mailbox/wall_reading.h
}

void UsePausingClock(MailboxSession& session, const PeekQuery& query, const std::function<void()>& on_retry) {
  //@ daemon/mailbox/pausing_clock.h
}

absl::Status UseSealWriter(MailboxSession& session, uint16_t vm, ByteSpan request) {
  //@ daemon/mailbox/seal_writer.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::daemon
