// SPDX-License-Identifier: Apache-2.0
#include <spdlog/sinks/sink.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
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
#include "daemon/run/audit.h"
#include "daemon/run/device_set.h"
#include "daemon/run/device_transport.h"
#include "daemon/run/flags.h"
#include "daemon/run/kept_history.h"
#include "daemon/run/log.h"
#include "daemon/run/ports_file.h"
#include "daemon/run/process.h"
#include "daemon/run/reload.h"
#include "daemon/run/reload_requests.h"
#include "daemon/run/signals.h"
#include "daemon/run/startup_files.h"
#include "daemon/run/state_folder.h"
#include "daemon/snapshot/store.h"
#include "daemon/transport/i2c_dev.h"
#include "daemon/view/absent_name_notice.h"
#include "daemon/view/reader.h"
#include "proto/base/command_line.h"
#include "proto/base/errors.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

void Log(absl::string_view line);

absl::Status UseAudit(const Config& config, const Clock& clock, const std::unique_ptr<SelfMetrics>& metrics) {
  //@ daemon/run/audit.h
  return absl::OkStatus();
}

void UseReloadRequests(ReloadRequests::Done done, const ReloadOutcome& outcome) {
  //@ daemon/run/reload_requests.h
}

absl::Status UseDeviceSet(Store& store, BoardStore& boards, KeptHistory& history, CountingBook& counting,
                          MarkBook& marks, const std::unique_ptr<SelfMetrics>& metrics, const Clock& clock,
                          decltype(DeviceSet::Parts::make_transport) make_transport,
                          decltype(DeviceSet::Parts::make_collector) make_collector, const Config& config) {
  //@ daemon/run/device_set.h
  return absl::OkStatus();
}

absl::Status UseDeviceTransport(const Config& config, I2cDev& i2c_dev, const Clock& clock) {
  //@ daemon/run/device_transport.h
  return absl::OkStatus();
}

absl::Status UseFlags(int argc, char** argv) {
  //@ daemon/run/flags.h
  return absl::OkStatus();
}

void UseKeptHistory(const Config& config, Store& store, BoardStore& boards,
                    const std::unique_ptr<SelfMetrics>& metrics) {
  //@ daemon/run/kept_history.h
}

void UseLog(const Config& config) {
  //@ daemon/run/log.h
}

absl::Status UsePortsFile(const std::unique_ptr<GrpcServer>& grpc, const std::unique_ptr<HttpServer>& http) {
  //@ daemon/run/ports_file.h
  return absl::OkStatus();
}

void UseProcess() {
  //@ daemon/run/process.h
}

void UseReload(const std::string& config_file, Reader& reader, PolicyHolder& policy, DeviceSet& devices,
               CountingBook& counting, KeptHistory& history, TargetList& targets, AbsentNameNotice& notice,
               const std::unique_ptr<SelfMetrics>& metrics, const Config& config, Signals& signals) {
  //@ daemon/run/reload.h
}

void UseSignals() {
  //@ daemon/run/signals.h
}

int UseStartupFiles() {
  //@ daemon/run/startup_files.h
  return 0;
}

absl::Status UseStateFolder(const Config& config) {
  //@ daemon/run/state_folder.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::daemon
