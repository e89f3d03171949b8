// SPDX-License-Identifier: Apache-2.0
//
// Statuses as the library's errors.
//   if (!response.ok()) return ErrorOf(response.status());
#ifndef SIDEBAND_CLIENT_CPP_ERROR_VALUES_H_
#define SIDEBAND_CLIENT_CPP_ERROR_VALUES_H_

#include "absl/status/status.h"
#include "sideband/error.h"

namespace sideband::library {

// Of a status that is not OK. The message is one line: control characters are escaped.
Error ErrorOf(const absl::Status& status);

}  // namespace sideband::library

#endif  // SIDEBAND_CLIENT_CPP_ERROR_VALUES_H_
