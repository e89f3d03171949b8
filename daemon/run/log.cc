// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/log.h"

#include <grpc/support/log.h>
#include <spdlog/spdlog.h>

#include "proto/base/visible.h"

namespace sideband::daemon {
namespace {

// gRPC's messages may quote a peer: escaped, a line feed in them makes no line that reads like the daemon's.
void LogOfGrpc(gpr_log_func_args* said) { spdlog::debug("grpc: {}", Visible(said->message)); }

}  // namespace

void StartLog(LogLevel level) {
  constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
                                                   spdlog::level::err};
  spdlog::set_level(kLevels[static_cast<int>(level)]);
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
  spdlog::flush_on(spdlog::level::debug);
  gpr_set_log_function(&LogOfGrpc);
}

}  // namespace sideband::daemon
