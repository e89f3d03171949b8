// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/grpc_server.h"

#include <grpc/support/time.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "daemon/grpc/listen_probe.h"
#include "daemon/grpc/reloading_credentials.h"
#include "daemon/grpc/services.h"
#include "daemon/grpc/stream_registry.h"
#include "daemon/listen/listener_tls.h"
#include "daemon/listen/local_listener.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

constexpr char kListener[] = "grpc";
constexpr int kResponseBytesMax = 16 << 20;
// Per connection; what is beyond waits for its turn.
constexpr int kConcurrentCallsMax = 128;
constexpr int kMetadataBytesMax = 8 << 10;
constexpr int kHandshakeTimeoutMs = 10'000;
// Of what gRPC counts of its connections and of requests that are coming in, about a fifth of what they take. Beyond it
// idle connections are closed, then calls are ended, and new connections are not taken.
constexpr size_t kConnectionBytesMax = 16 << 20;
// Without a call; a stream is one.
constexpr int kIdleMs = 5 * 60'000;
// Finds peers that have gone without a word.
constexpr int kKeepaliveMs = 60'000;
constexpr int kKeepaliveTimeoutMs = 20'000;
// A client that pings more often than this, three times, is sent away.
constexpr int kPingIntervalMinMs = 10'000;
constexpr int kPingStrikesMax = 2;

// gRPC 1.51 cannot be told a minimum version. Its list of cipher suites, though, is for TLS 1.2 alone: with one that
// needs a pre-shared key, of which there is none, only TLS 1.3 can be agreed on. gRPC reads the variable once per
// process.
void AllowOnlyTls13() { setenv("GRPC_SSL_CIPHER_SUITES", "PSK-AES256-GCM-SHA384", /*overwrite=*/1); }

void Configure(grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(kGrpcRequestBytesMax);
  builder.SetMaxSendMessageSize(kResponseBytesMax);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kConcurrentCallsMax);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMetadataBytesMax);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kPingIntervalMinMs);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, kPingStrikesMax);
  builder.SetResourceQuota(grpc::ResourceQuota("connections").Resize(kConnectionBytesMax));
  // Otherwise two daemons could share a port, each seeing half of the requests.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
}

}  // namespace

class GrpcServer::Impl {
 public:
  Impl(Options options, Reader& reader, SelfMetrics& metrics)
      : options_(std::move(options)),
        metrics_(metrics),
        quota_(options_.requests, reader.clock()),
        under_way_(options_.under_way),
        registry_(reader.store(), reader.policy(), options_.streams_per_identity_max),
        telemetry_({reader, metrics, registry_, quota_, under_way_, options_.history}),
        confidential_({reader, metrics, registry_, quota_, under_way_, options_.history}) {}
  ~Impl() { Stop(absl::ZeroDuration()); }

  absl::Status Start();
  void Stop(absl::Duration grace);
  uint16_t port() const { return static_cast<uint16_t>(port_); }
  ListenerTls* tls() const { return tls_.get(); }

 private:
  using Acceptor = grpc::experimental::ExternalConnectionAcceptor;

  absl::Status ListenOnNetwork(grpc::ServerBuilder& builder);
  absl::Status ListenLocally(grpc::ServerBuilder& builder);

  const Options options_;
  SelfMetrics& metrics_;
  std::unique_ptr<ListenerTls> tls_;                      // nullptr without a network listener
  std::shared_ptr<grpc::ServerCredentials> credentials_;  // as gRPC has them
  // What the services refer to, the services, and what refers to them.
  RequestQuota quota_;
  CallsUnderWay under_way_;
  StreamRegistry registry_;
  TelemetryService telemetry_;
  ConfidentialService confidential_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<Acceptor> acceptor_;    // of the server; nullptr without a Unix socket
  std::unique_ptr<LocalListener> local_;  // likewise; it uses the acceptor
  absl::Mutex stop_mu_;
  bool stopped_ ABSL_GUARDED_BY(stop_mu_) = false;
};

absl::Status GrpcServer::Impl::ListenOnNetwork(grpc::ServerBuilder& builder) {
  const ListenerConfig& listener = options_.config.listener;
  SIDEBAND_ASSIGN_OR_RETURN(tls_, ListenerTls::Create(kListener, listener.tls, metrics_));
  if (listener.tls.min_version == TlsVersion::kTls13) AllowOnlyTls13();
  SIDEBAND_RETURN_IF_ERROR(ProbeListen(listener.listen));
  credentials_ = ReloadingCredentials(*tls_);
  builder.AddListeningPort(listener.listen.ToString(), credentials_, &port_);
  return absl::OkStatus();
}

absl::Status GrpcServer::Impl::ListenLocally(grpc::ServerBuilder& builder) {
  SIDEBAND_ASSIGN_OR_RETURN(
      local_,
      LocalListener::Listen({kListener, options_.config.listener.unix_socket, options_.local_operators}, metrics_));
  // With these credentials services.cc knows whom the listener has let in.
  acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      grpc::experimental::LocalServerCredentials(UDS));
  return absl::OkStatus();
}

absl::Status GrpcServer::Impl::Start() {
  const ListenerConfig& listener = options_.config.listener;
  grpc::EnableDefaultHealthCheckService(true);
  if (options_.config.reflection) grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  Configure(builder);
  if (listener.on_network) SIDEBAND_RETURN_IF_ERROR(ListenOnNetwork(builder));
  if (!listener.unix_socket.empty()) SIDEBAND_RETURN_IF_ERROR(ListenLocally(builder));
  builder.RegisterService(&telemetry_);
  builder.RegisterService(&confidential_);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr || (listener.on_network && port_ == 0)) {
    return absl::UnavailableError(absl::StrCat("grpc: cannot listen on ", listener.listen.ToString()));
  }
  if (local_ == nullptr) return absl::OkStatus();
  local_->Start([this](int fd) {
    Acceptor::NewConnectionParameters connection;
    connection.fd = fd;
    acceptor_->HandleNewConnection(&connection);
  });
  return absl::OkStatus();
}

void GrpcServer::Impl::Stop(absl::Duration grace) {
  absl::MutexLock lock(&stop_mu_);
  if (std::exchange(stopped_, true)) return;
  // A connection that came later would be lost.
  if (local_ != nullptr) local_->Stop();
  registry_.Stop();
  if (server_ == nullptr) return;
  server_->GetHealthCheckService()->Shutdown();
  server_->Shutdown(
      gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(absl::ToInt64Nanoseconds(grace), GPR_TIMESPAN)));
  server_->Wait();
}

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(Options options, Reader& reader, SelfMetrics& metrics) {
  auto impl = std::make_unique<Impl>(std::move(options), reader, metrics);
  SIDEBAND_RETURN_IF_ERROR(impl->Start());
  return std::unique_ptr<GrpcServer>(new GrpcServer(std::move(impl)));
}

GrpcServer::GrpcServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GrpcServer::~GrpcServer() = default;

uint16_t GrpcServer::port() const { return impl_->port(); }

void GrpcServer::CheckCertificates() {
  if (impl_->tls() != nullptr) impl_->tls()->Check();
}

void GrpcServer::ReloadCertificates() {
  if (impl_->tls() != nullptr) impl_->tls()->Reload();
}

void GrpcServer::Stop(absl::Duration grace) { impl_->Stop(grace); }

}  // namespace sideband::daemon
