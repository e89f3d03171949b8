// SPDX-License-Identifier: Apache-2.0
#include <grpcpp/server_context.h>
#include <openssl/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/config/config.h"
#include "daemon/gate/fake_frames.h"
#include "daemon/gate/frame_guard.h"
#include "daemon/gate/gate.h"
#include "daemon/gate/gate_connection.h"
#include "daemon/grpc/service_host.h"
#include "daemon/identity/identity.h"
#include "daemon/listen/connection_table.h"
#include "daemon/metrics/serving_metrics.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

void Close(absl::string_view reason = "");
void Forward(absl::string_view bytes, size_t count);

void UseFakeFrames(ByteLink& client) {
  //@ daemon/gate/fake_frames.h
}

void UseFrameGuard(const FrameGuard::Limits& limits, const Clock& clock, const std::string& bytes, std::string& unsent,
                   absl::string_view answer_bytes) {
  //@ daemon/gate/frame_guard.h
}

absl::Status UseGate(const Config& config, const Clock& clock, ListenerMetrics& metrics, ServiceHost& host,
                     const Gate::BreachFunction& on_breach, const grpc::ServerContextBase& call) {
  //@ daemon/gate/gate.h
  return absl::OkStatus();
}

void UseGateConnection(ConnectionTable::Id id, boost::asio::io_context& io, int fd,
                       const boost::asio::ip::address& address, GateConnectionContext context) {
  //@ daemon/gate/gate_connection.h
}

}  // namespace
}  // namespace sideband::daemon
