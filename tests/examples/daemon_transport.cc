// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/base/clock.h"
#include "daemon/mailbox/register_port.h"
#include "daemon/transport/bus_lock.h"
#include "daemon/transport/capturing_transport.h"
#include "daemon/transport/i2c_dev_transport.h"
#include "daemon/transport/transport.h"
#include "daemon/transport/unix_bus_transport.h"
#include "proto/base/status_macros.h"
#include "proto/smbus/transfer.h"

namespace sideband::daemon {
namespace {

absl::Status Write(const BlockWrite& write);
absl::Status Read(const BlockRead& read);

absl::Status UseCapturingTransport(std::unique_ptr<Transport> inner, const Clock& clock,
                                   const CapturingTransport::OnEnd& on_end) {
  //@ daemon/transport/capturing_transport.h
  return absl::OkStatus();
}

absl::Status UseBusLock(const Transport& transport) {
  //@ daemon/transport/bus_lock.h
  return absl::OkStatus();
}

absl::Status UseI2cDevTransport(const smbus::Transfer& transfer) {
  //@ daemon/transport/i2c_dev_transport.h
  return absl::OkStatus();
}

absl::Status UseTransport(std::unique_ptr<Transport> inner, const RegisterPort::OnOutcome& on_outcome,
                          const smbus::Transfer& transfer) {
  //@ daemon/transport/transport.h
  return absl::UnimplementedError("");
}

absl::Status UseUnixBusTransport(const smbus::Transfer& transfer) {
  //@ daemon/transport/unix_bus_transport.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::daemon
