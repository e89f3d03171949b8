// SPDX-License-Identifier: Apache-2.0
#include "client/cli/stream.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/past_options.h"
#include "client/lib/rpc_status.h"

namespace sideband::client {
namespace {

constexpr absl::Duration kIntervalMin = absl::Milliseconds(10);  // the daemon rejects shorter intervals
constexpr absl::Duration kIntervalMax = absl::Hours(24);

// A CLI11 validator: returns the error message, or an empty text.
std::string CheckInterval(const std::string& text) {
  const auto interval = ParseLength(text);
  return interval && *interval >= kIntervalMin && *interval <= kIntervalMax
             ? ""
             : absl::StrCat("'", text, "' is not a duration from 10ms to 24h, such as 5s");
}

}  // namespace

void IntervalOption::AddTo(CLI::App& app) {
  app.add_option("--interval", text, "Time between updates, such as 500ms, or seconds; default: the device's own")
      ->check(CheckInterval)
      ->type_name("DURATION");
}

absl::Duration IntervalOption::value() const { return ParseLength(text).value_or(absl::ZeroDuration()); }

void SetSampleInterval(absl::Duration interval, v1::SubscribeRequest& request) {
  if (interval <= absl::ZeroDuration()) return;
  request.mutable_sample_interval()->set_seconds(absl::IDivDuration(interval, absl::Seconds(1), &interval));
  request.mutable_sample_interval()->set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(interval)));
}

bool StreamPrinter::Write(const std::string& text) {
  absl::Status written = context_.out().Write(text);
  return written.ok() || Fail(std::move(written));
}

bool StreamPrinter::Count() {
  ++count_;
  return !IsComplete();
}

bool StreamPrinter::Fail(absl::Status error) {
  error_ = std::move(error);
  return false;
}

absl::Status StreamPrinter::End(const absl::Status& stream) const {
  if (!error_.ok()) return error_;
  if (!stream.ok() || IsComplete() || context_.cancellation().cancelled()) return stream;
  // The call ended with OK although neither the printer nor the user had ended it.
  return MarkRemote(absl::UnavailableError("the server ended the stream"));
}

}  // namespace sideband::client
