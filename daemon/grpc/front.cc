// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/front.h"

#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>

namespace sideband::daemon {
namespace {

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

bool Front::Start(grpc::ServerBuilder& builder) {
  builder.RegisterService(&telemetry_);
  builder.RegisterService(&confidential_);
  server_ = builder.BuildAndStart();
  return server_ != nullptr;
}

std::unique_ptr<Front> Front::Listen(const ServiceContext& context, const std::string& address,
                                     const std::shared_ptr<grpc::ServerCredentials>& credentials, int& port) {
  grpc::ServerBuilder builder;
  Configure(builder);
  builder.AddListeningPort(address, credentials, &port);
  std::unique_ptr<Front> front(new Front(context));
  return front->Start(builder) && port != 0 ? std::move(front) : nullptr;
}

std::unique_ptr<Front> Front::ForLocalConnections(const ServiceContext& context) {
  grpc::ServerBuilder builder;
  Configure(builder);
  std::unique_ptr<Front> front(new Front(context));
  // With these credentials admission.cc knows whom the listener has let in.
  front->acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      grpc::experimental::LocalServerCredentials(UDS));
  return front->Start(builder) ? std::move(front) : nullptr;
}

void Front::Serve(int fd) {
  Acceptor::NewConnectionParameters connection;
  connection.fd = fd;
  acceptor_->HandleNewConnection(&connection);
}

void Front::SayUnhealthy() { server_->GetHealthCheckService()->Shutdown(); }

void Front::Stop(gpr_timespec deadline) {
  server_->Shutdown(deadline);
  server_->Wait();
}

}  // namespace sideband::daemon
