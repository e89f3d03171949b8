// SPDX-License-Identifier: Apache-2.0
#include "daemon/transport/capturing_transport.h"

#include <optional>
#include <utility>

#include "proto/base/status_macros.h"

namespace sideband::daemon {

absl::StatusOr<std::unique_ptr<CapturingTransport>> CapturingTransport::Create(std::unique_ptr<Transport> inner,
                                                                               const std::string& path,
                                                                               const Clock& clock, OnEnd on_end,
                                                                               uint64_t file_bytes_max) {
  // By both clocks, before anything else takes time.
  const absl::Duration start = clock.Steady();
  const auto host_time_us = static_cast<uint64_t>(absl::ToUnixMicros(clock.Now()));
  SIDEBAND_ASSIGN_OR_RETURN(auto writer, smbus::CaptureWriter::Create(path, {.host_time_us = host_time_us,
                                                                             .size_max = file_bytes_max,
                                                                             .replaces_at_first_event = true}));
  return std::unique_ptr<CapturingTransport>(
      new CapturingTransport(std::move(inner), std::move(writer), clock, start, std::move(on_end)));
}

void CapturingTransport::Capture(const smbus::BusRecord& record) {
  const absl::Status status = writer_->Append(record);
  if (status.ok()) return;
  // No further attempts: `on_end` is called once, and the bus stays in use.
  writer_.reset();
  on_end_(status);
}

absl::StatusOr<smbus::TransferResult> CapturingTransport::Execute(const smbus::Transfer& transfer) {
  const absl::Duration begin = clock_.Steady() - start_;
  auto result = inner_->Execute(transfer);
  if (writer_ != nullptr) {
    Capture({.time_us = static_cast<uint64_t>(absl::ToInt64Microseconds(begin)),
             .transfer = transfer,
             .result = result.ok() ? std::optional(*result) : std::nullopt});
  }
  return result;
}

}  // namespace sideband::daemon
