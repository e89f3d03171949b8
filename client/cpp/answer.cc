// SPDX-License-Identifier: Apache-2.0
#include "client/cpp/answer.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "client/lib/rpc_status.h"
#include "proto/base/text.h"
#include "sideband/client.h"

namespace sideband::library {
namespace {

constexpr int64_t kNanosPerSecond = 1'000'000'000;
constexpr int64_t kSecondsMax = std::numeric_limits<int64_t>::max() / kNanosPerSecond - 1;

// Whether seconds and nanoseconds fit 64 bits of nanoseconds.
bool Fits(int64_t seconds, int32_t nanos) {
  return seconds >= -kSecondsMax && seconds <= kSecondsMax && nanos > -kNanosPerSecond && nanos < kNanosPerSecond;
}

}  // namespace

Time Bounds::TimeOf(const google::protobuf::Timestamp& time, absl::string_view what) {
  if (Fits(time.seconds(), time.nanos()) && time.nanos() >= 0) {
    return Time(std::chrono::seconds(time.seconds()) + std::chrono::nanoseconds(time.nanos()));
  }
  Refuse(absl::StrCat(what, " is out of range: ", time.seconds(), " s, ", time.nanos(), " ns"));
  return {};
}

Duration Bounds::DurationOf(const google::protobuf::Duration& duration, absl::string_view what) {
  if (Fits(duration.seconds(), duration.nanos())) {
    return std::chrono::seconds(duration.seconds()) + std::chrono::nanoseconds(duration.nanos());
  }
  Refuse(absl::StrCat(what, " is out of range: ", duration.seconds(), " s, ", duration.nanos(), " ns"));
  return {};
}

Duration Bounds::NanosecondsOf(uint64_t nanoseconds, absl::string_view what) {
  if (nanoseconds <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return std::chrono::nanoseconds(static_cast<int64_t>(nanoseconds));
  }
  Refuse(absl::StrCat(what, " is out of range: ", nanoseconds, " ns"));
  return {};
}

bool Bounds::AddScopes(size_t scopes) { return Add(scopes, kScopesMax, "scopes", scopes_); }

bool Bounds::AddCounters(size_t counters) { return Add(counters, kCountersMax, "counters", counters_); }

bool Bounds::AddDevices(size_t devices) { return Add(devices, kDevicesMax, "devices", devices_); }

bool Bounds::Add(size_t more, size_t max, absl::string_view what, size_t& total) {
  total += more;
  if (total <= max) return true;
  Refuse(absl::StrCat("an answer has ", total, " ", what, " or more; this library accepts ", max));
  return false;
}

void Bounds::Refuse(const std::string& reason) {
  if (status_.ok()) status_ = absl::DataLossError(reason);
}

google::protobuf::Duration ToMessage(Duration duration) {
  google::protobuf::Duration message;
  message.set_seconds(duration.count() / kNanosPerSecond);
  message.set_nanos(static_cast<int32_t>(duration.count() % kNanosPerSecond));
  return message;
}

google::protobuf::Timestamp ToMessage(Time time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  google::protobuf::Timestamp message;
  message.set_seconds(seconds.time_since_epoch().count());
  message.set_nanos(static_cast<int32_t>((time - seconds).count()));
  return message;
}

namespace {

ErrorCode CodeOf(const absl::Status& status) {
  if (client::IsTooLarge(status)) return ErrorCode::kProtocol;
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return ErrorCode::kInvalidArgument;
    case absl::StatusCode::kNotFound:
      return ErrorCode::kNotFound;
    case absl::StatusCode::kUnauthenticated:
      return ErrorCode::kUnauthenticated;
    case absl::StatusCode::kPermissionDenied:
      return ErrorCode::kPermissionDenied;
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAlreadyExists:
      return ErrorCode::kFailedPrecondition;
    case absl::StatusCode::kResourceExhausted:
      return ErrorCode::kResourceExhausted;
    case absl::StatusCode::kUnavailable:
      return ErrorCode::kUnavailable;
    case absl::StatusCode::kDeadlineExceeded:
      return ErrorCode::kDeadlineExceeded;
    case absl::StatusCode::kCancelled:
      return ErrorCode::kCancelled;
    case absl::StatusCode::kAborted:
      return ErrorCode::kAborted;
    case absl::StatusCode::kUnimplemented:
      return ErrorCode::kUnimplemented;
    case absl::StatusCode::kDataLoss:
      return ErrorCode::kProtocol;
    default:
      return ErrorCode::kInternal;
  }
}

}  // namespace

Error ErrorOf(const absl::Status& status) { return {CodeOf(status), Visible(status.message())}; }

}  // namespace sideband::library
