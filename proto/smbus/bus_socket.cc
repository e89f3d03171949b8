// SPDX-License-Identifier: Apache-2.0
#include "proto/smbus/bus_socket.h"

#include "absl/strings/string_view.h"
#include "proto/base/status_macros.h"
#include "proto/base/unix_socket.h"
#include "proto/smbus/bus_frame.h"

namespace sideband::smbus {
namespace {

constexpr absl::string_view kKind = "bus";

}  // namespace

absl::Status BusError(const std::string& path, int error) { return UnixSocketError(kKind, path, error); }

int ConnectToBus(const std::string& path) { return ConnectToUnixSocket(path); }

absl::StatusOr<TransferResult> ExchangeOnBus(int socket, const std::string& path, const Transfer& transfer,
                                             absl::Duration timeout) {
  UnixExchange exchange(socket, kKind, path, timeout);
  SIDEBAND_RETURN_IF_ERROR(exchange.Send(EncodeTransfer(transfer)));
  SIDEBAND_ASSIGN_OR_RETURN(const Bytes header, exchange.Receive(kFrameHeaderBytes));
  SIDEBAND_ASSIGN_OR_RETURN(const size_t body_size, FrameBodySize(header));
  SIDEBAND_ASSIGN_OR_RETURN(const Bytes body, exchange.Receive(body_size));
  return DecodeResult(body);
}

}  // namespace sideband::smbus
