// SPDX-License-Identifier: Apache-2.0
//
// Options, output and termination of the commands that print streams.
//   StreamPrinter printer(context, count_max);
//   return printer.End(client->Subscribe(request, [&](const auto& r) { return printer.Print(Render(r)); }));
#ifndef SIDEBAND_CLIENT_CLI_STREAM_H_
#define SIDEBAND_CLIENT_CLI_STREAM_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/cli/command.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

// --interval: the time between two updates of a device, from 10 ms to 24 h. The object must outlive the parsing.
struct IntervalOption {
  std::string text;

  void AddTo(CLI::App& app);
  // Zero if it was not given.
  absl::Duration value() const;
};

// Zero leaves the device's own interval.
void SetSampleInterval(absl::Duration interval, v1::SubscribeRequest& request);

class StreamPrinter {
 public:
  // count_max 0 is unlimited.
  StreamPrinter(CommandContext& context, uint64_t count_max) : context_(context), count_max_(count_max) {}

  // Returns whether the stream continues.
  bool Print(const std::string& text) { return Write(text) && Count(); }
  // The two halves, where several texts count as one.
  bool Write(const std::string& text);
  bool Count();
  // Ends the stream with `error`.
  bool Fail(absl::Status error);
  // The command's result: OK after count_max counts or a cancellation; the error of Print or Fail; the error of the
  // stream; UNAVAILABLE, marked as remote, if the server ended the stream.
  absl::Status End(const absl::Status& stream) const;

 private:
  bool IsComplete() const { return count_max_ != 0 && count_ >= count_max_; }

  CommandContext& context_;
  const uint64_t count_max_;
  uint64_t count_ = 0;
  absl::Status error_;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_STREAM_H_
