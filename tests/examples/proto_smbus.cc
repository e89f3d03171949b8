// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/base/bytes.h"
#include "proto/base/status_macros.h"
#include "proto/smbus/bus_frame.h"
#include "proto/smbus/bus_name.h"
#include "proto/smbus/capture_file.h"
#include "proto/smbus/transfer.h"

namespace sideband::smbus {
namespace {

absl::Status Send(int fd, ByteSpan frame);
absl::StatusOr<Bytes> Receive(int fd, size_t size);

absl::Status UseBusFrame(int fd, const Transfer& transfer, ByteSpan first_body, ByteSpan next_body) {
  //@ proto/smbus/bus_frame.h
  return absl::OkStatus();
}

absl::Status UseCaptureFile(uint64_t now, const BusRecord& record) {
  //@ proto/smbus/capture_file.h
  return absl::OkStatus();
}

absl::Status UseBusName(const std::string& text) {
  //@ proto/smbus/bus_name.h
  return absl::OkStatus();
}

void UseTransfer(Bus& bus) {
  //@ proto/smbus/transfer.h
}

}  // namespace
}  // namespace sideband::smbus
