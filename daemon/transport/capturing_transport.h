// SPDX-License-Identifier: Apache-2.0
//
// Records all bus traffic in a capture file (proto/smbus/capture_file.h) for `sideband bus trace`. The bus is used as
// without a capture: a write error or a full file ends the capture and nothing else.
//   SIDEBAND_ASSIGN_OR_RETURN(auto transport,
//                             CapturingTransport::Create(std::move(inner), "gpu0.sbt", clock, on_end));
#ifndef SIDEBAND_DAEMON_TRANSPORT_CAPTURING_TRANSPORT_H_
#define SIDEBAND_DAEMON_TRANSPORT_CAPTURING_TRANSPORT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "daemon/base/clock.h"
#include "daemon/transport/transport.h"
#include "proto/smbus/capture_file.h"

namespace sideband::daemon {

class CapturingTransport final : public Transport {
 public:
  static constexpr uint64_t kFileBytesMax = 64 << 20;
  // Called once, with the reason, when the capture ends; on the thread that uses the transport.
  using OnEnd = std::function<void(const absl::Status&)>;

  // The file is readable by its owner only. It replaces an older capture at the first transaction. Errors are those of
  // CaptureWriter; those known at creation are returned here. `clock` must outlive the transport.
  static absl::StatusOr<std::unique_ptr<CapturingTransport>> Create(std::unique_ptr<Transport> inner,
                                                                    const std::string& path, const Clock& clock,
                                                                    OnEnd on_end,
                                                                    uint64_t file_bytes_max = kFileBytesMax);

  absl::StatusOr<smbus::TransferResult> Execute(const smbus::Transfer& transfer) override;
  size_t block_bytes_max() const override { return inner_->block_bytes_max(); }
  LockFile lock_file() const override { return inner_->lock_file(); }

 private:
  CapturingTransport(std::unique_ptr<Transport> inner, std::unique_ptr<smbus::CaptureWriter> writer, const Clock& clock,
                     absl::Duration start, OnEnd on_end)
      : inner_(std::move(inner)),
        writer_(std::move(writer)),
        clock_(clock),
        start_(start),
        on_end_(std::move(on_end)) {}

  void Capture(const smbus::BusRecord& record);

  const std::unique_ptr<Transport> inner_;
  std::unique_ptr<smbus::CaptureWriter> writer_;  // nullptr after the end of the capture
  const Clock& clock_;
  const absl::Duration start_;  // of the records' clock
  const OnEnd on_end_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_TRANSPORT_CAPTURING_TRANSPORT_H_
