// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/grpc_server_fixture.h"

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include "absl/strings/str_cat.h"
#include "proto/base/file.h"

namespace sideband::daemon {

using sideband::v1::SubscribeRequest;
using sideband::v1::Telemetry;

SubscribeRequest EndlessRequest(const std::string& device, const std::string& vm) {
  SubscribeRequest request;
  request.set_mode(SubscribeRequest::MODE_STREAM);
  request.mutable_filter()->set_device(device);
  request.mutable_filter()->set_vm(vm);
  return request;
}

GrpcServerFixture::GrpcServerFixture() {
  options_.config.listener = {.listen = {"127.0.0.1", 0}, .tls = ca_.Server()};
  options_.config.reflection = true;
  world_.Publish(0, 1);
}

void GrpcServerFixture::StartWith(Reader& reader) {
  auto server = GrpcServer::Start(options_, reader, *metrics_);
  ASSERT_TRUE(server.ok()) << server.status();
  server_ = *std::move(server);
}

std::shared_ptr<grpc::Channel> GrpcServerFixture::Channel(const std::string& alternative_names,
                                                          const grpc::ChannelArguments& arguments) const {
  grpc::SslCredentialsOptions tls{.pem_root_certs = *ReadFile(ca_.ca_file())};
  if (!alternative_names.empty()) {
    const CertificateFiles files = ca_.Issue("client", alternative_names);
    tls.pem_private_key = *ReadFile(files.key_file);
    tls.pem_cert_chain = *ReadFile(files.cert_file);
  }
  return grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", server_->port()), grpc::SslCredentials(tls), arguments);
}

std::unique_ptr<Telemetry::Stub> GrpcServerFixture::As(const std::string& who) const {
  return Telemetry::NewStub(Channel("URI:spiffe://example.org/" + who));
}

grpc::Status GrpcServerFixture::GetSnapshot(Telemetry::Stub& stub, const std::string& vm,
                                            sideband::v1::GetSnapshotResponse& response) {
  grpc::ClientContext context;
  sideband::v1::GetSnapshotRequest request;
  request.mutable_filter()->set_vm(vm);
  return stub.GetSnapshot(&context, request, &response);
}

}  // namespace sideband::daemon
