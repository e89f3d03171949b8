// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "client/bus/bus_monitor.h"
#include "client/bus/config_text.h"
#include "client/bus/mailbox_follower.h"
#include "client/bus/stream_follower.h"
#include "client/bus/trace_decoder.h"
#include "client/bus/wire.h"
#include "client/lib/cancellation.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/mailbox/word.h"
#include "proto/smbus/monitor_frame.h"

namespace sideband::client {
namespace {

absl::Status UseBusMonitor(Cancellation& cancellation) {
  //@ client/bus/bus_monitor.h
  return absl::OkStatus();
}

void Print(const std::string& text);

void UseConfigText(const mailbox::CommandWord& command, const DataRegisters& in) {
  //@ client/bus/config_text.h
}

void UseMailboxFollower(StreamFollower::Budget& budget, WireMessage& message, uint8_t pec, bool is_pointer,
                        std::vector<std::string>& notes) {
  //@ client/bus/mailbox_follower.h
}

void UseStreamFollower(const mailbox::CommandWord& read_command, ByteSpan bytes) {
  //@ client/bus/stream_follower.h
}

void UseTraceDecoder(const smbus::BusRecord& record) {
  //@ client/bus/trace_decoder.h
}

void UseWire(const smbus::BusRecord& record) {
  //@ client/bus/wire.h
}

}  // namespace
}  // namespace sideband::client
