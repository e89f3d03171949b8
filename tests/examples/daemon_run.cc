// SPDX-License-Identifier: Apache-2.0
#include <spdlog/sinks/sink.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "daemon/authz/policy_holder.h"
#include "daemon/base/clock.h"
#include "daemon/board/board_store.h"
#include "daemon/config/config.h"
#include "daemon/grpc/grpc_server.h"
#include "daemon/http/http_server.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/run/device_set.h"
#include "daemon/run/process.h"
#include "daemon/run/reload.h"
#include "daemon/run/service.h"
#include "daemon/run/startup.h"
#include "daemon/snapshot/store.h"
#include "daemon/transport/i2c_dev_transport.h"
#include "daemon/view/absent_name_notice.h"
#include "daemon/view/reader.h"
#include "proto/base/command_line.h"
#include "proto/base/errors.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

void Log(absl::string_view line);

absl::Status UseStartup(const Config& config, const Clock& clock, const std::unique_ptr<SelfMetrics>& metrics, int argc,
                        char** argv, const std::unique_ptr<GrpcServer>& grpc, const std::unique_ptr<HttpServer>& http) {
  //@ daemon/run/startup.h
  return absl::OkStatus();
}

absl::Status UseDeviceSet(Store& store, BoardStore& boards, CountingBook& counting, MarkBook& marks,
                          const std::unique_ptr<SelfMetrics>& metrics, const Clock& clock,
                          decltype(DeviceSet::Parts::make_transport) make_transport,
                          decltype(DeviceSet::Parts::make_collector) make_collector, const Config& config,
                          I2cDev& i2c_dev) {
  //@ daemon/run/device_set.h
  return absl::OkStatus();
}

void UseProcess(const Config& config) {
  //@ daemon/run/process.h
}

int UseReload(const std::string& config_file, Reader& reader, PolicyHolder& policy, DeviceSet& devices,
              CountingBook& counting, KeptHistory& history, TargetList& targets, AbsentNameNotice& notice,
              const std::unique_ptr<SelfMetrics>& metrics, const Config& config, Signals& signals,
              ReloadRequests::Done done, const ReloadOutcome& outcome) {
  //@ daemon/run/reload.h
  return 0;
}

absl::Status UseService(HttpServer::Options& options, const Pulse::Post& post, const Clock& clock,
                        const std::unique_ptr<HttpServer>& http) {
  //@ daemon/run/service.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::daemon
