// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/retry_after.h"

#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

constexpr char kPayload[] = "sideband/retry-after";

}  // namespace

absl::Status WithRetryAfter(const absl::Status& status, absl::Duration after) {
  const std::string text = absl::FormatDuration(absl::Ceil(after, absl::Milliseconds(1)));
  absl::Status with(status.code(), absl::StrCat(status.message(), "; retry in ", text));
  with.SetPayload(kPayload, absl::Cord(text));
  return with;
}

std::optional<absl::Duration> RetryAfter(const absl::Status& status) {
  const auto payload = status.GetPayload(kPayload);
  absl::Duration after;
  if (!payload || !absl::ParseDuration(std::string(*payload), &after)) return std::nullopt;
  return after;
}

}  // namespace sideband::daemon
