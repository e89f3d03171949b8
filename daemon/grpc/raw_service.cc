// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/raw_service.h"

#include <grpcpp/impl/codegen/rpc_method.h>
#include <grpcpp/impl/codegen/rpc_service_method.h>
#include <grpcpp/impl/codegen/server_callback_handlers.h>

#include <utility>

#include "absl/strings/str_cat.h"

namespace sideband::daemon {

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
