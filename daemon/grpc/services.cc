// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/services.h"

#include <functional>
#include <memory>
#include <utility>

#include "daemon/grpc/admission.h"
#include "daemon/grpc/answer_reactor.h"
#include "daemon/grpc/grpc_status.h"
#include "daemon/grpc/history_query.h"
#include "daemon/grpc/message_bytes.h"
#include "daemon/grpc/queries.h"
#include "daemon/grpc/sealed_subscription.h"
#include "daemon/grpc/stream_reactor.h"
#include "daemon/grpc/subscription.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

// A method's name: for the audit log, and for metrics.
struct Method {
  const char* endpoint;
  const char* name;
};

// A call with what it asks for.
template <typename Request>
struct Incoming {
  Admission admission;
  Request request;
};

template <typename Request>
Incoming<Request> Receive(const ServiceContext& context, grpc::CallbackServerContext& call, Method method,
                          const grpc::ByteBuffer& bytes) {
  Request request;
  const bool is_whole = FromBytes(bytes, request);
  Admission admission = Admit(context, call, method.endpoint, request);
  if (admission.status.ok() && !is_whole) admission.status = absl::InvalidArgumentError("the request is malformed");
  return {std::move(admission), std::move(request)};
}

// One of queries.h, or as they are.
template <typename Request, typename Response>
using Query = absl::StatusOr<Response>(Reader& reader, const Caller& caller, const Request& request);

template <typename Request, typename Response>
absl::Status Ask(Reader& reader, const Incoming<Request>& incoming, std::function<Query<Request, Response>> query,
                 grpc::ByteBuffer& bytes) {
  const Admission& admission = incoming.admission;
  if (!admission.status.ok()) return admission.status;
  const absl::StatusOr<Response> answer = query(reader, *admission.asked.caller, incoming.request);
  if (!answer.ok()) return answer.status();
  SIDEBAND_ASSIGN_OR_RETURN(bytes, Serialized(*answer));
  admission.share->Hold(bytes.Length());
  return absl::OkStatus();
}

template <typename Request, typename Response>
UnaryReactor* Answer(const ServiceContext& context, grpc::CallbackServerContext& call, Method method,
                     std::function<Query<Request, Response>> query, const grpc::ByteBuffer& request,
                     grpc::ByteBuffer& response) {
  Incoming<Request> incoming = Receive<Request>(context, call, method, request);
  const absl::Status status = Ask<Request, Response>(context.reader, incoming, std::move(query), response);
  context.metrics.GrpcRequest(method.name, status.code());
  Tell(context.reader, incoming.admission, status);
  return new AnswerReactor(status, std::move(incoming.admission.share));
}

// A stream that ends before it begins. Owns itself until gRPC is done with it.
class RefusedStream final : public WriteReactor {
 public:
  explicit RefusedStream(const absl::Status& status) { Finish(ToGrpcStatus(status)); }
  void OnDone() override { delete this; }
};

WriteReactor* Refuse(const ServiceContext& context, Method method, const Admission& admission,
                     const absl::Status& status) {
  context.metrics.GrpcRequest(method.name, status.code());
  Tell(context.reader, admission, status);
  return new RefusedStream(status);
}

template <typename Source>
WriteReactor* Open(const ServiceContext& context, Method method, Admission admission, Source source) {
  SelfMetrics& metrics = context.metrics;
  const Reader& reader = context.reader;
  const auto on_done = [&metrics, &reader, method, asked = admission.asked](const absl::Status& status) {
    metrics.GrpcRequest(method.name, status.code());
    metrics.GrpcStreamEnded();
    TellEnd(reader, asked, status);
  };
  auto stream =
      std::make_shared<StreamReactor<Source>>(std::move(source), context.streams, std::move(admission.share), on_done);
  const absl::Status added = context.streams.Add(admission.asked.caller->principal.identity, stream);
  if (!added.ok()) return Refuse(context, method, admission, added);
  metrics.GrpcStreamStarted();
  admission.asked.access.note = "stream began";
  Tell(reader, admission, absl::OkStatus());
  stream->Wake();
  return stream.get();
}

}  // namespace

UnaryReactor* TelemetryService::ListDevices(grpc::CallbackServerContext* call, const grpc::ByteBuffer* request,
                                            grpc::ByteBuffer* response) {
  return Answer<sideband::v1::ListDevicesRequest, sideband::v1::ListDevicesResponse>(
      context_, *call, {"Telemetry/ListDevices", "ListDevices"}, &daemon::ListDevices, *request, *response);
}

UnaryReactor* TelemetryService::ListEvents(grpc::CallbackServerContext* call, const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* response) {
  return Answer<sideband::v1::ListEventsRequest, sideband::v1::ListEventsResponse>(
      context_, *call, {"Telemetry/ListEvents", "ListEvents"}, &daemon::ListEvents, *request, *response);
}

UnaryReactor* TelemetryService::ListScopes(grpc::CallbackServerContext* call, const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* response) {
  return Answer<sideband::v1::ListScopesRequest, sideband::v1::ListScopesResponse>(
      context_, *call, {"Telemetry/ListScopes", "ListScopes"}, &daemon::ListScopes, *request, *response);
}

UnaryReactor* TelemetryService::GetSnapshot(grpc::CallbackServerContext* call, const grpc::ByteBuffer* request,
                                            grpc::ByteBuffer* response) {
  return Answer<sideband::v1::GetSnapshotRequest, sideband::v1::GetSnapshotResponse>(
      context_, *call, {"Telemetry/GetSnapshot", "GetSnapshot"}, &daemon::GetSnapshot, *request, *response);
}

UnaryReactor* TelemetryService::GetHistory(grpc::CallbackServerContext* call, const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* response) {
  const auto query = [this](Reader& reader, const Caller& caller, const sideband::v1::GetHistoryRequest& asked) {
    return daemon::GetHistory(reader, context_.history, caller, asked);
  };
  return Answer<sideband::v1::GetHistoryRequest, sideband::v1::GetHistoryResponse>(
      context_, *call, {"Telemetry/GetHistory", "GetHistory"}, query, *request, *response);
}

WriteReactor* TelemetryService::Subscribe(grpc::CallbackServerContext* call, const grpc::ByteBuffer* request) {
  constexpr Method kMethod{"Telemetry/Subscribe", "Subscribe"};
  auto [admission, asked] = Receive<sideband::v1::SubscribeRequest>(context_, *call, kMethod, *request);
  if (!admission.status.ok()) return Refuse(context_, kMethod, admission, admission.status);
  absl::StatusOr<Subscription> source = Subscription::Create(context_.reader, admission.asked.peer, asked);
  if (!source.ok()) return Refuse(context_, kMethod, admission, source.status());
  return Open(context_, kMethod, std::move(admission), *std::move(source));
}

WriteReactor* ConfidentialService::SubscribeSealed(grpc::CallbackServerContext* call, const grpc::ByteBuffer* request) {
  constexpr Method kMethod{"Confidential/SubscribeSealed", "SubscribeSealed"};
  auto [admission, asked] = Receive<sideband::v1::SubscribeSealedRequest>(context_, *call, kMethod, *request);
  if (!admission.status.ok()) return Refuse(context_, kMethod, admission, admission.status);
  SealedSubscription source(context_.reader, admission.asked.peer, asked);
  return Open(context_, kMethod, std::move(admission), std::move(source));
}

}  // namespace sideband::daemon
