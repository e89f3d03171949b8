// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/grpc_server.h"

#include <grpc/support/time.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "daemon/config/tls_files.h"
#include "daemon/grpc/listen_probe.h"
#include "daemon/grpc/services.h"
#include "daemon/grpc/stream_registry.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

constexpr int kResponseBytesMax = 16 << 20;
// Per connection; what is beyond waits for its turn.
constexpr int kConcurrentCallsMax = 128;

// gRPC 1.51 cannot be told a minimum version. Its list of cipher suites, though, is for TLS 1.2 alone: with one that
// needs a pre-shared key, of which there is none, only TLS 1.3 can be agreed on. gRPC reads the variable once per
// process.
void AllowOnlyTls13() { setenv("GRPC_SSL_CIPHER_SUITES", "PSK-AES256-GCM-SHA384", /*overwrite=*/1); }

std::shared_ptr<grpc::ServerCredentials> TlsCredentials(const TlsFiles& files) {
  grpc::SslServerCredentialsOptions options(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = files.client_ca();
  options.pem_key_cert_pairs.push_back({files.key(), files.certificates()});
  return grpc::SslServerCredentials(options);
}

void Configure(grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(kGrpcRequestBytesMax);
  builder.SetMaxSendMessageSize(kResponseBytesMax);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kConcurrentCallsMax);
  // Otherwise two daemons could share a port, each seeing half of the requests.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
}

}  // namespace

class GrpcServer::Impl {
 public:
  Impl(const Options& options, Reader& reader, SelfMetrics& metrics)
      : registry_(reader.store(), reader.policy(), options.streams_per_identity_max),
        telemetry_({reader, metrics, registry_, options.history}),
        confidential_({reader, metrics, registry_, options.history}) {}
  ~Impl() { Stop(absl::ZeroDuration()); }

  absl::Status Start(const GrpcConfig& config, const TlsFiles& files);
  void Stop(absl::Duration grace);
  uint16_t port() const { return static_cast<uint16_t>(port_); }

 private:
  // The services refer to the registry, the server to the services.
  StreamRegistry registry_;
  TelemetryService telemetry_;
  ConfidentialService confidential_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  absl::Mutex stop_mu_;
  bool stopped_ ABSL_GUARDED_BY(stop_mu_) = false;
};

absl::Status GrpcServer::Impl::Start(const GrpcConfig& config, const TlsFiles& files) {
  const ListenAddress& listen = config.listener.listen;
  SIDEBAND_RETURN_IF_ERROR(ProbeListen(listen));
  grpc::EnableDefaultHealthCheckService(true);
  if (config.reflection) grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  Configure(builder);
  builder.AddListeningPort(listen.ToString(), TlsCredentials(files), &port_);
  builder.RegisterService(&telemetry_);
  builder.RegisterService(&confidential_);
  server_ = builder.BuildAndStart();
  if (server_ != nullptr && port_ != 0) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("grpc: cannot listen on ", listen.ToString()));
}

void GrpcServer::Impl::Stop(absl::Duration grace) {
  absl::MutexLock lock(&stop_mu_);
  if (std::exchange(stopped_, true)) return;
  registry_.Stop();
  if (server_ == nullptr) return;
  server_->GetHealthCheckService()->Shutdown();
  server_->Shutdown(
      gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(absl::ToInt64Nanoseconds(grace), GPR_TIMESPAN)));
  server_->Wait();
}

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(Options options, Reader& reader, SelfMetrics& metrics) {
  const TlsServerConfig& tls = options.config.listener.tls;
  SIDEBAND_ASSIGN_OR_RETURN(const std::unique_ptr<TlsFiles> files, TlsFiles::Load(tls));
  if (tls.min_version == TlsVersion::kTls13) AllowOnlyTls13();
  auto impl = std::make_unique<Impl>(options, reader, metrics);
  SIDEBAND_RETURN_IF_ERROR(impl->Start(options.config, *files));
  return std::unique_ptr<GrpcServer>(new GrpcServer(std::move(impl)));
}

GrpcServer::GrpcServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GrpcServer::~GrpcServer() = default;

uint16_t GrpcServer::port() const { return impl_->port(); }
void GrpcServer::Stop(absl::Duration grace) { impl_->Stop(grace); }

}  // namespace sideband::daemon
