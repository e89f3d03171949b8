// SPDX-License-Identifier: Apache-2.0
#include "daemon/transport/unix_bus_transport.h"

#include <unistd.h>

#include "absl/time/clock.h"
#include "proto/base/status_macros.h"
#include "proto/smbus/bus_socket.h"

namespace sideband::daemon {

UnixBusTransport::~UnixBusTransport() { Disconnect(); }

absl::Status UnixBusTransport::Connect() {
  if (socket_ >= 0) return absl::OkStatus();
  socket_ = smbus::ConnectToBus(path_);
  return socket_ >= 0 ? absl::OkStatus() : smbus::BusError(path_, -socket_);
}

void UnixBusTransport::Disconnect() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
}

absl::StatusOr<smbus::TransferResult> UnixBusTransport::Execute(const smbus::Transfer& transfer) {
  const absl::Time deadline = absl::Now() + options_.timeout;
  SIDEBAND_RETURN_IF_ERROR(Connect());
  auto result = smbus::ExchangeOnBus(socket_, path_, transfer, deadline);
  if (!result.ok()) Disconnect();  // whatever is still on its way belongs to nobody
  return result;
}

}  // namespace sideband::daemon
