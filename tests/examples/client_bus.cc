// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "client/bus/board_command_text.h"
#include "client/bus/bus_command.h"
#include "client/bus/command_text_row.h"
#include "client/bus/data_registers.h"
#include "client/bus/extension_command_text.h"
#include "client/bus/link_text.h"
#include "client/bus/mailbox_follower.h"
#include "client/bus/memory_error_text.h"
#include "client/bus/smbpbi_names.h"
#include "client/bus/stream_follower.h"
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

void UseBoardCommandText() {
  //@ client/bus/board_command_text.h
}

std::string TempArguments(const mailbox::CommandWord& command, const DataRegisters& in);
std::string TempData(const mailbox::CommandWord& command, uint32_t value);

void UseCommandTextRow() {
  using mailbox::Opcode;
  //@ client/bus/command_text_row.h
}

void Print(const std::string& text);

void UseDataRegisters() {
  //@ client/bus/data_registers.h
}

void UseExtensionCommandText(const mailbox::CommandWord& command, const DataRegisters& in) {
  //@ client/bus/extension_command_text.h
}

void UseMailboxFollower(StreamFollower::Budget& budget, WireMessage& message, uint8_t pec, bool is_pointer,
                        std::vector<std::string>& notes) {
  //@ client/bus/mailbox_follower.h
}

void UseMemoryErrorText(const mailbox::CommandWord& command, const DataRegisters& in) {
  //@ client/bus/memory_error_text.h
}

void UseNvlinkText(const mailbox::CommandWord& command, const DataRegisters& in, uint32_t word) {
  //@ client/bus/link_text.h
}

void UseSmbpbiNames() {
  //@ client/bus/smbpbi_names.h
}

void UseStreamFollower(const mailbox::CommandWord& read_command, ByteSpan bytes) {
  //@ client/bus/stream_follower.h
}

void UseValueText() {
  //@ client/bus/value_text.h
}

void UseWire(const smbus::BusRecord& record) {
  //@ client/bus/wire.h
}

}  // namespace
}  // namespace sideband::client
