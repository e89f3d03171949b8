// SPDX-License-Identifier: Apache-2.0
//
// The virtual bus on a Unix socket (proto/smbus/README.md).
//   UnixBusTransport transport("/run/sideband/gpu0.sock", {});
//   SIDEBAND_ASSIGN_OR_RETURN(const smbus::TransferResult result, transport.Execute(transfer));
#ifndef SIDEBAND_DAEMON_TRANSPORT_UNIX_BUS_TRANSPORT_H_
#define SIDEBAND_DAEMON_TRANSPORT_UNIX_BUS_TRANSPORT_H_

#include <string>
#include <utility>

#include "absl/time/time.h"
#include "daemon/transport/transport.h"
#include "proto/base/file.h"
#include "proto/smbus/bus_frame.h"

namespace sideband::daemon {

class UnixBusTransport final : public Transport {
 public:
  struct Options {
    // Time limit for one transaction, after which the connection is closed.
    absl::Duration timeout = absl::Seconds(2);
  };

  // Connects at the first transaction, and again after an error.
  UnixBusTransport(std::string path, Options options) : path_(std::move(path)), options_(options) {}
  UnixBusTransport(const UnixBusTransport&) = delete;
  UnixBusTransport& operator=(const UnixBusTransport&) = delete;

  absl::StatusOr<smbus::TransferResult> Execute(const smbus::Transfer& transfer) override;
  LockFile lock_file() const override { return {.path = smbus::LockPathOf(path_), .is_made = true}; }

 private:
  absl::Status Connect();

  const std::string path_;
  const Options options_;
  Descriptor socket_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_TRANSPORT_UNIX_BUS_TRANSPORT_H_
