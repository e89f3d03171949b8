// SPDX-License-Identifier: Apache-2.0
//
// Early return on errors for functions that return absl::Status or absl::StatusOr.
//   SIDEBAND_RETURN_IF_ERROR(file.Append(bytes));
//   SIDEBAND_ASSIGN_OR_RETURN(const Config config, LoadConfig(path));
// The macros evaluate their expression once. Debian's Abseil (20220623) does not provide such macros.
#ifndef SIDEBAND_PROTO_BASE_STATUS_MACROS_H_
#define SIDEBAND_PROTO_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define SIDEBAND_RETURN_IF_ERROR(expression)                                                        \
  do {                                                                                              \
    if (absl::Status sideband_status = (expression); !sideband_status.ok()) return sideband_status; \
  } while (false)

#define SIDEBAND_MACRO_JOIN_INNER(a, b) a##b
#define SIDEBAND_MACRO_JOIN(a, b) SIDEBAND_MACRO_JOIN_INNER(a, b)

#define SIDEBAND_ASSIGN_OR_RETURN(declaration, expression) \
  SIDEBAND_ASSIGN_OR_RETURN_INNER(SIDEBAND_MACRO_JOIN(sideband_statusor_, __LINE__), declaration, expression)

#define SIDEBAND_ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                            \
  if (!result.ok()) return std::move(result).status();                   \
  declaration = *std::move(result)

#endif  // SIDEBAND_PROTO_BASE_STATUS_MACROS_H_
