// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "client/bus/bus_command.h"
#include "client/bus/command_text.h"
#include "client/bus/mailbox_follower.h"
#include "client/bus/trace_run.h"
#include "client/bus/value_text.h"
#include "client/bus/wire.h"
#include "client/lib/cancellation.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/word.h"
#include "proto/smbus/bus_frame.h"

namespace sideband::client {
namespace {

void Use(mailbox::Opcode opcode);

std::string TempArguments(const mailbox::CommandWord& command, const DataRegisters& in);
std::string TempData(const mailbox::CommandWord& command, uint32_t value);

void UseCommandText(const mailbox::CommandWord& command, const DataRegisters& in) {
  using mailbox::Opcode;
  //@ client/bus/command_text.h
}

void Print(const std::string& text);

void UseMailboxFollower(WireMessage& message, uint8_t pec, bool is_pointer, std::vector<std::string>& notes) {
  //@ client/bus/mailbox_follower.h
}

void UseValueText() {
  //@ client/bus/value_text.h
}

void UseWire(const smbus::BusRecord& record) {
  //@ client/bus/wire.h
}

}  // namespace
}  // namespace sideband::client
