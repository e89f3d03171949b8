// SPDX-License-Identifier: Apache-2.0
//
// Exit statuses for errors that need another value than ReportAndExitCode returns.
//   const absl::Status status = WithExitCode(absl::NotFoundError("i2cget: not found"), 127);
//   return ExitCode(status).value_or(ReportAndExitCode("sideband", status));
#ifndef SIDEBAND_CLIENT_CLI_EXIT_CODE_H_
#define SIDEBAND_CLIENT_CLI_EXIT_CODE_H_

#include <optional>

#include "absl/status/status.h"

namespace sideband::client {

// `status` must not be OK; `code` is from 1 to 255. A status without a message is one that has been reported already.
absl::Status WithExitCode(absl::Status status, int code);
std::optional<int> ExitCode(const absl::Status& status);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_EXIT_CODE_H_
