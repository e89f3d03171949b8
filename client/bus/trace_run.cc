// SPDX-License-Identifier: Apache-2.0
#include "client/bus/trace_run.h"

#include <algorithm>

#include "client/bus/trace_decoder.h"
#include "client/bus/trace_text.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

using smbus::BusLoss;
using smbus::BusRecord;
using smbus::MonitorEvent;

class TraceRun {
 public:
  TraceRun(const TraceOptions& options, HostTimeZero zero, smbus::CaptureWriter* writer, Output& out)
      : options_(options), zero_(zero), writer_(writer), out_(out), decoder_(options.bus_hz) {}

  bool IsComplete() const { return options_.count_max != 0 && shown_ >= options_.count_max; }

  absl::Status Begin() { return options_.json ? absl::OkStatus() : out_.Write(TraceTitle(zero_)); }

  absl::Status Show(const MonitorEvent& event) {
    const auto* const record = std::get_if<BusRecord>(&event);
    if (record != nullptr && !IsWanted(*record)) return absl::OkStatus();
    if (writer_ != nullptr) SIDEBAND_RETURN_IF_ERROR(writer_->Append(event));
    return out_.Write(record != nullptr ? RecordText(*record) : Loss(std::get<BusLoss>(event)));
  }

 private:
  bool IsWanted(const BusRecord& record) const {
    return !options_.address.has_value() ||
           std::ranges::any_of(record.transfer.messages,
                               [&](const smbus::Message& message) { return message.address == *options_.address; });
  }

  std::string RecordText(const BusRecord& record) {
    ++shown_;
    const TraceEntry entry = decoder_.Decode(record);
    return options_.json ? TraceJson(shown_, record, entry, zero_) : TraceText(shown_, entry, zero_);
  }

  std::string Loss(const BusLoss& loss) {
    decoder_.Lost();
    return options_.json ? LossJson(loss.transactions) : LossText(loss.transactions, zero_);
  }

  const TraceOptions& options_;
  const HostTimeZero zero_;
  smbus::CaptureWriter* const writer_;
  Output& out_;
  TraceDecoder decoder_;
  uint64_t shown_ = 0;
};

}  // namespace

absl::Status RunTrace(TraceSource& source, const TraceOptions& options, smbus::CaptureWriter* writer, Output& out) {
  const uint64_t host_time_us = source.host_time_us();
  if (options.host_time && host_time_us == 0) {
    return absl::FailedPreconditionError("--time host: the start time of the capture is unknown");
  }
  TraceRun run(options, options.host_time ? HostTimeZero(host_time_us) : std::nullopt, writer, out);
  SIDEBAND_RETURN_IF_ERROR(run.Begin());
  while (!run.IsComplete()) {
    SIDEBAND_ASSIGN_OR_RETURN(const auto event, source.Next());
    if (!event.has_value()) break;
    SIDEBAND_RETURN_IF_ERROR(run.Show(*event));
  }
  return absl::OkStatus();
}

}  // namespace sideband::client
