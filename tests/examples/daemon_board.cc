// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/board/board_capabilities.h"
#include "daemon/board/board_groups.h"
#include "daemon/board/board_reader.h"
#include "daemon/board/board_reading.h"
#include "daemon/board/board_store.h"
#include "daemon/board/fake_board.h"
#include "daemon/board/group_plans.h"
#include "daemon/board/group_round.h"
#include "daemon/board/metric_words.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/board_items.h"
#include "proto/mailbox/capability.h"
#include "proto/mailbox/services.h"
#include "proto/mailbox/word.h"

namespace sideband::daemon {
namespace {

using mailbox::AsyncType;
using mailbox::Capability;
using mailbox::CommandWord;
using mailbox::MailboxStatus;
using mailbox::MetricId;
using mailbox::MonitoringAction;
using mailbox::Opcode;
using mailbox::PowerSource;

void Show(uint32_t dword);
void Show(double value);

void UseBoardCapabilities() {
  //@ daemon/board/board_capabilities.h
}

void UseBoardGroups(const BoardCapabilities& capabilities, BoardSchedule& schedule, absl::Duration now) {
  //@ daemon/board/board_groups.h
}

std::vector<uint64_t> Costs(BoardGroup group);

void UseGroupRound(BoardPort& port, const BoardTime& now, BoardMemory& memory, BoardReading& draft,
                   const BoardReport& report) {
  //@ daemon/board/group_round.h
}

void UseGroupPlans(GroupRound& round) {
  //@ daemon/board/group_plans.h
}

void UseMetricWords(const BoardReply& reply) {
  //@ daemon/board/metric_words.h
}

void WaitUntil(absl::Duration steady_time);

absl::Status UseBoardReader(size_t device, BoardPort& port, BoardStore& boards, const Clock& clock,
                            const BoardReport& log_change) {
  //@ daemon/board/board_reader.h
  return absl::OkStatus();
}

void Show(double watts);

void UseBoardReading(const BoardReading& reading, const BoardTime& now) {
  //@ daemon/board/board_reading.h
}

mailbox::CommandWord ReadStatus();
void RunNext();

void Show(const BoardReading& reading);

void UseBoardStore(size_t device, const BoardReader& reader, BoardStore& boards, BoardListener& history) {
  //@ daemon/board/board_store.h
}

void UseFakeBoard() {
  //@ daemon/board/fake_board.h
}

}  // namespace
}  // namespace sideband::daemon
