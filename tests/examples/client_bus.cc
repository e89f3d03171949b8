// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "client/bus/board_command_text.h"
#include "client/bus/bus_monitor.h"
#include "client/bus/command_text_row.h"
#include "client/bus/config_text.h"
#include "client/bus/data_registers.h"
#include "client/bus/extension_command_text.h"
#include "client/bus/mailbox_follower.h"
#include "client/bus/memory_error_text.h"
#include "client/bus/monitoring_text.h"
#include "client/bus/nvlink_text.h"
#include "client/bus/pcie_text.h"
#include "client/bus/smbpbi_names.h"
#include "client/bus/stream_follower.h"
#include "client/bus/trace_decoder.h"
#include "client/bus/value_text.h"
#include "client/bus/wire.h"
#include "client/lib/cancellation.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/word.h"
#include "proto/smbus/monitor_frame.h"

namespace sideband::client {
namespace {

void Use(mailbox::Opcode opcode);

void UseBoardCommandText() {
  //@ client/bus/board_command_text.h
}

absl::Status UseBusMonitor(Cancellation& cancellation) {
  //@ client/bus/bus_monitor.h
  return absl::OkStatus();
}

std::string TempArguments(const mailbox::CommandWord& command, const DataRegisters& in);
std::string TempData(const mailbox::CommandWord& command, uint32_t value);

void UseCommandTextRow() {
  using mailbox::Opcode;
  //@ client/bus/command_text_row.h
}

void Print(const std::string& text);

void UseConfigText(const mailbox::CommandWord& command, const DataRegisters& in) {
  //@ client/bus/config_text.h
}

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

void UseMonitoringText(const mailbox::CommandWord& command, const DataRegisters& in) {
  //@ client/bus/monitoring_text.h
}

void UseNvlinkText(const mailbox::CommandWord& command, const DataRegisters& in, uint32_t word) {
  //@ client/bus/nvlink_text.h
}

void UsePcieText(const mailbox::CommandWord& command, const DataRegisters& in) {
  //@ client/bus/pcie_text.h
}

void UseSmbpbiNames() {
  //@ client/bus/smbpbi_names.h
}

void UseStreamFollower(const mailbox::CommandWord& read_command, ByteSpan bytes) {
  //@ client/bus/stream_follower.h
}

void UseTraceDecoder(const smbus::BusRecord& record) {
  //@ client/bus/trace_decoder.h
}

void UseValueText() {
  //@ client/bus/value_text.h
}

void UseWire(const smbus::BusRecord& record) {
  //@ client/bus/wire.h
}

}  // namespace
}  // namespace sideband::client
