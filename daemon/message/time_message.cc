// SPDX-License-Identifier: Apache-2.0
#include "daemon/message/time_message.h"

#include <limits>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

// The documented ranges of the well-known types: years 1 to 9999, and up to 10000 years.
constexpr int64_t kSecondsMin = -62'135'596'800, kSecondsMax = 253'402'300'799;
constexpr int64_t kDurationSecondsMax = 315'576'000'000;
constexpr int32_t kNanosMax = 999'999'999;

}  // namespace

void SetTime(absl::Time from, google::protobuf::Timestamp& to) {
  // Rounds towards the past, so that the nanoseconds count forwards.
  const int64_t seconds = absl::ToUnixSeconds(from);
  to.set_seconds(seconds);
  to.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(from - absl::FromUnixSeconds(seconds))));
}

void SetDuration(absl::Duration from, google::protobuf::Duration& to) {
  to.set_seconds(absl::IDivDuration(from, absl::Seconds(1), &from));
  to.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(from)));
}

uint64_t NanosecondsOf(uint64_t cycles, uint64_t hertz) {
  constexpr uint64_t kLongest = std::numeric_limits<uint64_t>::max();
  if (hertz == 0) return 0;
  const absl::uint128 time = absl::uint128(cycles) * 1'000'000'000 / hertz;
  return time > kLongest ? kLongest : static_cast<uint64_t>(time);
}

absl::StatusOr<absl::Time> TimeOf(const google::protobuf::Timestamp& from, absl::string_view field) {
  const bool good =
      from.seconds() >= kSecondsMin && from.seconds() <= kSecondsMax && from.nanos() >= 0 && from.nanos() <= kNanosMax;
  if (!good) return absl::InvalidArgumentError(absl::StrCat(field, ": is not a time"));
  return absl::FromUnixSeconds(from.seconds()) + absl::Nanoseconds(from.nanos());
}

absl::StatusOr<absl::Duration> PositiveDurationOf(const google::protobuf::Duration& from, absl::string_view field) {
  const bool good = from.seconds() >= 0 && from.seconds() <= kDurationSecondsMax && from.nanos() >= 0 &&
                    from.nanos() <= kNanosMax && (from.seconds() > 0 || from.nanos() > 0);
  if (!good) return absl::InvalidArgumentError(absl::StrCat(field, ": must be above zero"));
  return absl::Seconds(from.seconds()) + absl::Nanoseconds(from.nanos());
}

}  // namespace sideband::daemon
