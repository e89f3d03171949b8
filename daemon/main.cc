// SPDX-License-Identifier: Apache-2.0
//
// sidebandd: the composition root. Everything is made here, in the order in which it depends on each other, and stopped
// in the opposite order.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "daemon/api/absent_name_notice.h"
#include "daemon/api/reader.h"
#include "daemon/authz/policy_holder.h"
#include "daemon/authz/token_verifier.h"
#include "daemon/base/clock.h"
#include "daemon/base/periodic_thread.h"
#include "daemon/collector/collector_thread.h"
#include "daemon/config/config.h"
#include "daemon/grpc/grpc_server.h"
#include "daemon/http/http_server.h"
#include "daemon/http/site.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/run/audit.h"
#include "daemon/run/device_transport.h"
#include "daemon/run/kept_history.h"
#include "daemon/run/log.h"
#include "daemon/run/process.h"
#include "daemon/run/rules.h"
#include "daemon/run/signals.h"
#include "daemon/sealing/epoch_source.h"
#include "daemon/sealing/sealer_set.h"
#include "daemon/store/publication_thread.h"
#include "daemon/store/store.h"
#include "daemon/transport/i2c_dev.h"
#include "proto/base/status_macros.h"
#include "proto/base/text.h"
#include "proto/base/usage_error.h"

namespace sideband::daemon {
namespace {

constexpr char kProgram[] = "sidebandd";
constexpr char kVersion[] = "0.1.0";
constexpr absl::Duration kDrain = absl::Seconds(3);
// How long new certificates may lie there before they are taken.
constexpr absl::Duration kCertificateCheck = absl::Seconds(1);

std::vector<DeviceInfo> DeviceInfos(const Config& config) {
  std::vector<DeviceInfo> devices;
  for (const DeviceConfig& device : config.devices)
    devices.push_back({device.name, device.interval, device.bus_hz, config.ratios});
  return devices;
}

std::vector<VmKeyFile> KeyFiles(const Config& config) {
  std::vector<VmKeyFile> files;
  for (const VmKeyConfig& key : config.vm_keys) files.push_back({key.vm, key.key_file});
  return files;
}

std::vector<NamedVm> VmsWithKeys(const Config& config) {
  std::vector<NamedVm> vms;
  for (const VmKeyConfig& key : config.vm_keys) vms.push_back({key.vm, key.place});
  return vms;
}

absl::Status WritePorts(const std::string& path, uint16_t grpc_port, uint16_t http_port) {
  if (path.empty()) return absl::OkStatus();
  const std::string partial = path + ".partial";
  std::ofstream(partial) << "grpc: " << grpc_port << "\nhttp: " << http_port << "\n";
  // Renamed, so that whoever waits for the file never reads half of it.
  if (std::rename(partial.c_str(), path.c_str()) == 0) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(path, ": cannot be written"));
}

// Where a listener is found, for the log; there is no TLS on a Unix socket.
std::string Places(const ListenerConfig& listener, uint16_t port, absl::string_view with_tls, absl::string_view plain) {
  if (!listener.on_network) return absl::StrCat(plain, " on ", listener.unix_socket);
  const std::string on_network = absl::StrCat(with_tls, " on port ", port);
  if (listener.unix_socket.empty()) return on_network;
  return absl::StrCat(on_network, " and ", with_tls == plain ? "" : absl::StrCat(plain, " on "), listener.unix_socket);
}

std::unique_ptr<TokenVerifier> MakeTokenVerifier(const Config& config, const Clock& clock) {
  if (!config.tokens) return nullptr;
  return std::make_unique<TokenVerifier>(
      TokenExpectations{.audience = config.tokens->audience, .issuer = config.tokens->issuer}, clock);
}

absl::StatusOr<std::vector<std::unique_ptr<CollectorThread>>> MakeCollectors(const Config& config, I2cDev& i2c_dev,
                                                                             Store& store, SealerSet& sealers,
                                                                             SelfMetrics& metrics, const Clock& clock) {
  std::vector<std::unique_ptr<CollectorThread>> collectors;
  for (size_t i = 0; i < config.devices.size(); ++i) {
    SIDEBAND_ASSIGN_OR_RETURN(DeviceTransport to, MakeDeviceTransport(config.devices[i], i2c_dev, clock));
    collectors.push_back(
        std::make_unique<CollectorThread>(i, std::move(to.transport), to.address, store, sealers, metrics, clock));
  }
  return collectors;
}

absl::Status Run(const std::string& config_file, Signals& signals) {
  SIDEBAND_ASSIGN_OR_RETURN(const Config config, LoadConfig(config_file));
  StartLog(config.log_level);
  SIDEBAND_ASSIGN_OR_RETURN(Rules rules, LoadRules(config));
  const SystemClock clock;
  EpochSource epochs(clock, SystemRandom16);
  SIDEBAND_ASSIGN_OR_RETURN(const auto sealers, SealerSet::Load(KeyFiles(config), epochs));
  SIDEBAND_ASSIGN_OR_RETURN(const auto metrics, SelfMetrics::Create({.version = kVersion}));
  metrics->ConfigReloaded(true);

  SIDEBAND_ASSIGN_OR_RETURN(const Audit audit,
                            StartAudit(config.audit, absl::StrCat(kProgram, " ", kVersion), clock, *metrics));

  SystemI2cDev i2c_dev;
  Store store(DeviceInfos(config));
  const KeptHistory history(config.history, store, *metrics);
  PolicyHolder policy(std::move(rules.policy), std::move(rules.keys));
  const std::unique_ptr<TokenVerifier> tokens = MakeTokenVerifier(config, clock);
  Reader reader(store, policy, clock, *audit.sink, tokens.get());
  TellRulesInForce(config, reader);
  const AbsentNameNotice notice(reader, VmsWithKeys(config), [](const std::string& line) { spdlog::warn("{}", line); });
  Site site(reader, *metrics, clock, LogReader(audit));
  SIDEBAND_ASSIGN_OR_RETURN(const auto collectors, MakeCollectors(config, i2c_dev, store, *sealers, *metrics, clock));
  SIDEBAND_ASSIGN_OR_RETURN(const auto http,
                            HttpServer::Start(
                                {.listener = config.http, .local_operators = config.local_operators},
                                [&site](const HttpRequest& request) { return site.Handle(request); }, *metrics));
  SIDEBAND_ASSIGN_OR_RETURN(
      const auto grpc,
      GrpcServer::Start({.config = config.grpc, .local_operators = config.local_operators, .history = history.get()},
                        reader, *metrics));
  SIDEBAND_RETURN_IF_ERROR(WritePorts(config.ports_file, grpc->port(), http->port()));
  spdlog::info("sidebandd {}: {}, {}, {} devices", kVersion, Places(config.grpc.listener, grpc->port(), "gRPC", "gRPC"),
               Places(config.http, http->port(), "HTTPS", "HTTP"), config.devices.size());
  if (config.audit.file.empty()) spdlog::warn("no audit log is configured: who sees what is not kept");
  PeriodicThread certificates(kCertificateCheck, [&] {
    http->CheckCertificates();
    grpc->CheckCertificates();
  });
  certificates.Start();
  PublicationThread expositions(store, [&site] { site.RefreshExpositions(); });
  expositions.Start();
  for (const auto& collector : collectors) collector->Start();

  while (signals.Wait() == SIGHUP) {
    Reload(config, reader, *metrics);
    http->ReloadCertificates();
    grpc->ReloadCertificates();
  }

  spdlog::info("stopping");
  certificates.Stop();
  expositions.Stop();
  for (const auto& collector : collectors) collector->RequestStop();
  http->Stop();
  grpc->Stop(kDrain);
  for (const auto& collector : collectors) collector->Stop();
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Out-of-band performance telemetry for shared accelerators: reads devices over their management bus and "
      "serves operators and tenants over gRPC and HTTPS, each exactly what is theirs.",
      kProgram);
  std::string config_file;
  app.add_option("--config", config_file, "configuration (YAML)")->required();
  app.set_version_flag("--version", absl::StrCat(kProgram, " ", kVersion));
  app.footer("SIGHUP reloads the policy, the keys of tokens and the certificates; SIGTERM drains and stops.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return ReportAndExitCode(kProgram, UsageError(app, error));
  }
  PrepareProcess();
  Signals signals;
  return ReportAndExitCode(kProgram, Run(config_file, signals));
}

}  // namespace
}  // namespace sideband::daemon

int main(int argc, char** argv) { return sideband::daemon::Main(argc, argv); }
