// SPDX-License-Identifier: Apache-2.0
#include "daemon/transport/unix_bus_transport.h"

#include "proto/base/status_macros.h"
#include "proto/smbus/bus_frame.h"

namespace sideband::daemon {

absl::Status UnixBusTransport::Connect() {
  if (socket_.is_open()) return absl::OkStatus();
  const int socket = smbus::ConnectToBus(path_);
  if (socket < 0) return smbus::BusError(path_, -socket);
  socket_ = Descriptor(socket);
  return absl::OkStatus();
}

absl::StatusOr<smbus::TransferResult> UnixBusTransport::Execute(const smbus::Transfer& transfer) {
  SIDEBAND_RETURN_IF_ERROR(Connect());
  auto result = smbus::ExchangeOnBus(socket_.get(), path_, transfer, options_.timeout);
  if (!result.ok()) socket_ = Descriptor();  // whatever is still on its way belongs to nobody
  return result;
}

}  // namespace sideband::daemon
