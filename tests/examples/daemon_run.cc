// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <spdlog/sinks/sink.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/authz/policy.h"
#include "daemon/base/clock.h"
#include "daemon/base/replace_file.h"
#include "daemon/base/retry_after.h"
#include "daemon/base/socket_folder.h"
#include "daemon/bmc/bmc_set.h"
#include "daemon/board/board_store.h"
#include "daemon/config/bmc_config.h"
#include "daemon/config/config.h"
#include "daemon/config/config_context.h"
#include "daemon/config/device_config.h"
#include "daemon/config/fake_certificates.h"
#include "daemon/config/listener_config.h"
#include "daemon/device_set.h"
#include "daemon/exposition/exposition.h"
#include "daemon/exposition/text_buffer.h"
#include "daemon/grpc/grpc_server.h"
#include "daemon/http/fake_http_client.h"
#include "daemon/http/http_exchange.h"
#include "daemon/http/http_server.h"
#include "daemon/http/http_session.h"
#include "daemon/http/queries.h"
#include "daemon/http/site.h"
#include "daemon/http/status_page.h"
#include "daemon/identity/identity.h"
#include "daemon/listen/acceptor.h"
#include "daemon/listen/connection_table.h"
#include "daemon/listen/frame_guard.h"
#include "daemon/listen/listener_tls.h"
#include "daemon/listen/throttle.h"
#include "daemon/listen/tls_peer.h"
#include "daemon/listen/work_queue.h"
#include "daemon/metrics/area_metrics.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/reload.h"
#include "daemon/service.h"
#include "daemon/snapshot/store.h"
#include "daemon/startup.h"
#include "daemon/transport/bus_transport.h"
#include "daemon/view/reader.h"
#include "proto/base/command_line.h"
#include "proto/base/errors.h"
#include "proto/base/file.h"
#include "proto/base/status_macros.h"
#include "proto/base/yaml.h"
#include "proto/exposition/prometheus_text.h"

namespace sideband::daemon {
namespace {

void Log(absl::string_view line);

absl::Status UseStartup(const Config& config, const Clock& clock, const std::unique_ptr<SelfMetrics>& metrics, int argc,
                        char** argv, const std::unique_ptr<GrpcServer>& grpc, const std::unique_ptr<HttpServer>& http) {
  //@ daemon/startup.h
  return absl::OkStatus();
}

absl::Status UseDeviceSet(Store& store, BoardStore& boards, CountingBook& counting, MarkBook& marks,
                          const std::unique_ptr<SelfMetrics>& metrics, const Clock& clock,
                          decltype(DeviceSet::Parts::make_transport) make_transport,
                          decltype(DeviceSet::Parts::make_collector) make_collector, const Config& config,
                          I2cDev& i2c_dev) {
  //@ daemon/device_set.h
  return absl::OkStatus();
}

int UseReload(const std::string& config_file, Reader& reader, PolicyHolder& policy, DeviceSet& devices, BmcSet& bmcs,
              CountingBook& counting, KeptHistory& history, TargetList& targets, AbsentNameNotice& notice,
              const std::unique_ptr<SelfMetrics>& metrics, const Config& config, Signals& signals,
              ReloadRequests::Done done, const ReloadOutcome& outcome) {
  //@ daemon/reload.h
  return 0;
}

absl::Status UseService(HttpServer::Options& options, const Pulse::Post& post, const Clock& clock,
                        const std::unique_ptr<HttpServer>& http) {
  //@ daemon/service.h
  return absl::OkStatus();
}

void UseConfig() {
  //@ daemon/config/config.h
}

void UseConfigContext(const std::string& path, const std::filesystem::path& folder, const YamlMap& root,
                      Config& config) {
  //@ daemon/config/config_context.h
}

void UseBmcConfig(const YamlMap& root, const ConfigContext& context, Config& config) {
  //@ daemon/config/bmc_config.h
}

void UseDeviceConfig(const YamlMap& root, const ConfigContext& context, Config& config) {
  //@ daemon/config/device_config.h
}

void UseFakeCertificates() {
  //@ daemon/config/fake_certificates.h
}

absl::Status UseListenerConfig(const YamlMap& root, bool has_tokens, const ConfigContext& context, Config& config) {
  //@ daemon/config/listener_config.h
  return absl::OkStatus();
}

void Exchange();
void Publish(absl::Time time, absl::Duration error);

void UseClock(const Clock& clock) {
  //@ daemon/base/clock.h
}

absl::Status UseReplaceFile(const std::string& text) {
  //@ daemon/base/replace_file.h
  return absl::OkStatus();
}

void TellTheClient(absl::Duration after);

absl::Status UseRetryAfter(const absl::Status& status) {
  //@ daemon/base/retry_after.h
}

void UseSocketFolder(ListenerConfig& options) {
  //@ daemon/base/socket_folder.h
}

void ServeClient(int fd);
void ServeOperator(int fd, const SocketPeer& peer);
void CloseAnIdleOne();

absl::Status UseAcceptor(boost::asio::io_context& io, ListenerMetrics& metrics, const ListenerConfig& listener,
                         const LocalOperators& operators) {
  //@ daemon/listen/acceptor.h
  return absl::OkStatus();
}

void Close();
void Close(ConnectionTable::Id id);
void Refuse(absl::string_view reason);
void Serve(int fd);
void Serve(int fd, uint32_t user);

void UseConnectionTable(ConnectionTable& table, ConnectionTable::Id id, const Config& config,
                        HttpServer::Options& http) {
  //@ daemon/listen/connection_table.h
}

void UseThrottle(HolderThrottle& throttle, const ConnectionTable::Holder& holder, FrameGuard& guard,
                 const Clock& clock) {
  //@ daemon/listen/throttle.h
}

absl::Status UseListenerTls(const Config& config, ListenerMetrics& metrics) {
  //@ daemon/listen/listener_tls.h
  return absl::OkStatus();
}

void UseTlsPeer(const SSL* ssl, const ListenerTls& listener_tls, ConnectionLimits limits) {
  //@ daemon/listen/tls_peer.h
}

void Answer();
void Reject(absl::Duration retry_after);

void UseWorkQueue(const Clock& clock) {
  //@ daemon/listen/work_queue.h
}

void Write(const std::string& header, const Body& body);

void UseFakeHttpClient(const std::unique_ptr<HttpServer>& server, const FakeCa& ca,
                       const CertificateFiles& certificate) {
  //@ daemon/http/fake_http_client.h
}

void UseHttpExchange(const Credentials& credentials, absl::string_view bytes) {
  //@ daemon/http/http_exchange.h
}

absl::Status UseHttpServer(const Config& config, const HttpHandler& handler,
                           const std::unique_ptr<SelfMetrics>& metrics) {
  //@ daemon/http/http_server.h
  return absl::OkStatus();
}

void UseHttpSession(ConnectionTable::Id id, boost::asio::ip::tcp::socket socket,
                    std::shared_ptr<boost::asio::ssl::context> tls,
                    boost::asio::local::stream_protocol::socket local_socket, uint32_t user,
                    HttpSessionContext context) {
  //@ daemon/http/http_session.h
}

absl::Status UseScrapeQuery(const HttpRequest& request) {
  //@ daemon/http/queries.h
  return absl::OkStatus();
}

void Audit(const HttpRequest& request);

absl::Status UseSite(Reader& reader, const std::unique_ptr<SelfMetrics>& metrics, const Clock& clock,
                     PageData& page_data, const TargetList& targets, const HttpServer::Options& options) {
  //@ daemon/http/site.h
  return absl::OkStatus();
}

void UseStatusPage(Reader& reader, const HistoryReader& history, SelfMetrics& metrics, const Caller& caller,
                   const BoardStore& store, const Clock& clock, nlohmann::json& boards) {
  //@ daemon/http/status_page.h
}

}  // namespace
}  // namespace sideband::daemon
