// SPDX-License-Identifier: Apache-2.0
#include "client/cli/exit_code.h"

#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace sideband::client {
namespace {

constexpr char kExitCodeUrl[] = "sideband.client/exit_code";

}  // namespace

absl::Status WithExitCode(absl::Status status, int code) {
  // A view, not a string: clang from 18 on names Cord's constructor for strings otherwise than g++, by which Debian's
  // Abseil is compiled, and programs would not link.
  status.SetPayload(kExitCodeUrl, absl::Cord(absl::AlphaNum(code).Piece()));
  return status;
}

std::optional<int> ExitCode(const absl::Status& status) {
  const auto payload = status.GetPayload(kExitCodeUrl);
  int code = 0;
  if (!payload || !absl::SimpleAtoi(std::string(*payload), &code)) return std::nullopt;
  return code;
}

}  // namespace sideband::client
