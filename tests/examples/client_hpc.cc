// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/cli/console.h"
#include "client/hpc/hpc_command.h"
#include "proto/base/status_macros.h"
#include "proto/registers/event_list.h"

namespace sideband::client {
namespace {}  // namespace
}  // namespace sideband::client
