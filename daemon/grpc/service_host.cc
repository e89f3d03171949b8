// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/service_host.h"

#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/impl/codegen/rpc_method.h>
#include <grpcpp/impl/codegen/rpc_service_method.h>
#include <grpcpp/impl/codegen/server_callback_handlers.h>
#include <grpcpp/impl/server_builder_option.h>
#include <grpcpp/impl/server_builder_plugin.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

constexpr int kResponseBytesMax = 16 << 20;
// Per connection. Clients queue further calls.
constexpr int kConcurrentCallsMax = 128;
constexpr int kMetadataBytesMax = 8 << 10;
// Until the client's SETTINGS frame.
constexpr int kHandshakeTimeoutMs = 10'000;
// gRPC accounts for its connections and incoming requests, at about a fifth of their actual size. Beyond this limit it
// closes idle connections, then ends calls, and rejects new connections.
constexpr size_t kConnectionBytesMax = 16 << 20;
// Without a call; an open stream is a call.
constexpr int kIdleMs = 5 * 60'000;
// Detects peers that vanished without closing the connection.
constexpr int kKeepaliveMs = 60'000;
constexpr int kKeepaliveTimeoutMs = 20'000;
// gRPC closes the connection of a client at its third ping within this interval of the previous one.
constexpr int kPingIntervalMinMs = 10'000;
constexpr int kPingStrikesMax = 2;

void Configure(grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(kGrpcRequestBytesMax);
  builder.SetMaxSendMessageSize(kResponseBytesMax);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kConcurrentCallsMax);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMetadataBytesMax);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  // Peers without a call vanish, too.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kPingIntervalMinMs);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, kPingStrikesMax);
  // A compressed request would be inflated, to a thousand times its size, before its caller is authenticated. gRPC
  // refuses it as UNIMPLEMENTED, and must not inflate what comes beside the refusal.
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  for (const grpc_compression_algorithm algorithm : {GRPC_COMPRESS_DEFLATE, GRPC_COMPRESS_GZIP}) {
    builder.SetCompressionAlgorithmSupportStatus(algorithm, false);
  }
  builder.SetResourceQuota(grpc::ResourceQuota("connections").Resize(kConnectionBytesMax));
}

// Linking the reflection library registers it with every server of the process; this removes it again.
class WithoutReflection final : public grpc::ServerBuilderOption {
 public:
  void UpdateArguments(grpc::ChannelArguments*) override {}
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>* plugins) override {
    std::erase_if(*plugins, [](const auto& plugin) { return plugin->name() == "proto_server_reflection"; });
  }
};

}  // namespace

std::unique_ptr<ServiceHost> ServiceHost::Create(const ServiceContext& context, bool reflection) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  Configure(builder);
  if (!reflection) builder.SetOption(std::make_unique<WithoutReflection>());
  std::unique_ptr<ServiceHost> host(new ServiceHost(context));
  builder.RegisterService(host->telemetry_.get());
  builder.RegisterService(host->sensors_.get());
  builder.RegisterService(host->confidential_.get());
  builder.RegisterService(host->counting_.get());
  builder.RegisterService(host->admin_.get());
  // Nothing but the gate has a way to it.
  host->acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, grpc::InsecureServerCredentials());
  host->server_ = builder.BuildAndStart();
  return host->server_ == nullptr ? nullptr : std::move(host);
}

void ServiceHost::Serve(int fd) {
  Acceptor::NewConnectionParameters connection;
  connection.fd = fd;
  acceptor_->HandleNewConnection(&connection);
}

void ServiceHost::MarkUnhealthy() { health().Shutdown(); }

void ServiceHost::Stop(gpr_timespec deadline) {
  server_->Shutdown(deadline);
  server_->Wait();
}

using grpc::internal::RpcMethod;
using grpc::internal::RpcServiceMethod;

RawService::RawService(const std::string& name, std::vector<Method> methods) {
  for (Method& method : methods) {
    const std::string& path = paths_.emplace_back(absl::StrCat("/", name, "/", method.name));
    std::visit([&](auto& handler) { Add(path, std::move(handler)); }, method.handler);
  }
}

void RawService::Add(const std::string& path, UnaryHandler handler) {
  // Without a synchronous handler, as in the generated templates: the next call sets the callback's.
  AddMethod(new RpcServiceMethod(path.c_str(), RpcMethod::NORMAL_RPC, nullptr));
  MarkMethodRawCallback(
      methods_++, new grpc::internal::CallbackUnaryHandler<grpc::ByteBuffer, grpc::ByteBuffer>(std::move(handler)));
}

void RawService::Add(const std::string& path, StreamHandler handler) {
  AddMethod(new RpcServiceMethod(path.c_str(), RpcMethod::SERVER_STREAMING, nullptr));
  MarkMethodRawCallback(
      methods_++,
      new grpc::internal::CallbackServerStreamingHandler<grpc::ByteBuffer, grpc::ByteBuffer>(std::move(handler)));
}

}  // namespace sideband::daemon
