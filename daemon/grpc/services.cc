// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/services.h"

#include <memory>
#include <utility>

#include "daemon/grpc/admission.h"
#include "daemon/grpc/answer_reactor.h"
#include "daemon/grpc/grpc_status.h"
#include "daemon/grpc/history_query.h"
#include "daemon/grpc/queries.h"
#include "daemon/grpc/sealed_subscription.h"
#include "daemon/grpc/stream_reactor.h"
#include "daemon/grpc/subscription.h"

namespace sideband::daemon {
namespace {

// A method's name: for the audit log, and for metrics.
struct Method {
  const char* endpoint;
  const char* name;
};

// `query` is one of queries.h, or is called as they are.
template <typename Query, typename Request, typename Response>
absl::Status Ask(Reader& reader, const Admission& admission, const Query& query, const Request& request,
                 Response& response) {
  if (!admission.status.ok()) return admission.status;
  absl::StatusOr<Response> answer = query(reader, *admission.asked.caller, request);
  if (!answer.ok()) return answer.status();
  response = *std::move(answer);
  admission.share->Hold(response.ByteSizeLong());
  return absl::OkStatus();
}

template <typename Query, typename Request, typename Response>
grpc::ServerUnaryReactor* Answer(const ServiceContext& context, grpc::CallbackServerContext& call, Method method,
                                 const Query& query, const Request& request, Response& response) {
  Admission admission = Admit(context, call, method.endpoint, request);
  const absl::Status status = Ask(context.reader, admission, query, request, response);
  context.metrics.GrpcRequest(method.name, status.code());
  Tell(context.reader, admission, status);
  return new AnswerReactor(status, std::move(admission.share));
}

// A stream that ends before it begins. Owns itself until gRPC is done with it.
template <typename Message>
class RefusedStream final : public grpc::ServerWriteReactor<Message> {
 public:
  explicit RefusedStream(const absl::Status& status) { this->Finish(ToGrpcStatus(status)); }
  void OnDone() override { delete this; }
};

template <typename Message>
grpc::ServerWriteReactor<Message>* Refuse(const ServiceContext& context, Method method, const Admission& admission,
                                          const absl::Status& status) {
  context.metrics.GrpcRequest(method.name, status.code());
  Tell(context.reader, admission, status);
  return new RefusedStream<Message>(status);
}

template <typename Source>
grpc::ServerWriteReactor<typename Source::Message>* Open(const ServiceContext& context, Method method,
                                                         Admission admission, Source source) {
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
  if (!added.ok()) return Refuse<typename Source::Message>(context, method, admission, added);
  metrics.GrpcStreamStarted();
  admission.asked.access.note = "stream began";
  Tell(reader, admission, absl::OkStatus());
  stream->Wake();
  return stream.get();
}

}  // namespace

grpc::ServerUnaryReactor* TelemetryService::ListDevices(grpc::CallbackServerContext* call,
                                                        const sideband::v1::ListDevicesRequest* request,
                                                        sideband::v1::ListDevicesResponse* response) {
  return Answer(context_, *call, {"Telemetry/ListDevices", "ListDevices"}, &daemon::ListDevices, *request, *response);
}

grpc::ServerUnaryReactor* TelemetryService::ListEvents(grpc::CallbackServerContext* call,
                                                       const sideband::v1::ListEventsRequest* request,
                                                       sideband::v1::ListEventsResponse* response) {
  return Answer(context_, *call, {"Telemetry/ListEvents", "ListEvents"}, &daemon::ListEvents, *request, *response);
}

grpc::ServerUnaryReactor* TelemetryService::ListScopes(grpc::CallbackServerContext* call,
                                                       const sideband::v1::ListScopesRequest* request,
                                                       sideband::v1::ListScopesResponse* response) {
  return Answer(context_, *call, {"Telemetry/ListScopes", "ListScopes"}, &daemon::ListScopes, *request, *response);
}

grpc::ServerUnaryReactor* TelemetryService::GetSnapshot(grpc::CallbackServerContext* call,
                                                        const sideband::v1::GetSnapshotRequest* request,
                                                        sideband::v1::GetSnapshotResponse* response) {
  return Answer(context_, *call, {"Telemetry/GetSnapshot", "GetSnapshot"}, &daemon::GetSnapshot, *request, *response);
}

grpc::ServerUnaryReactor* TelemetryService::GetHistory(grpc::CallbackServerContext* call,
                                                       const sideband::v1::GetHistoryRequest* request,
                                                       sideband::v1::GetHistoryResponse* response) {
  const auto query = [this](Reader& reader, const Caller& caller, const sideband::v1::GetHistoryRequest& asked) {
    return daemon::GetHistory(reader, context_.history, caller, asked);
  };
  return Answer(context_, *call, {"Telemetry/GetHistory", "GetHistory"}, query, *request, *response);
}

grpc::ServerWriteReactor<sideband::v1::SubscribeResponse>* TelemetryService::Subscribe(
    grpc::CallbackServerContext* call, const sideband::v1::SubscribeRequest* request) {
  using Message = sideband::v1::SubscribeResponse;
  constexpr Method kMethod{"Telemetry/Subscribe", "Subscribe"};
  Admission admission = Admit(context_, *call, kMethod.endpoint, *request);
  if (!admission.status.ok()) return Refuse<Message>(context_, kMethod, admission, admission.status);
  absl::StatusOr<Subscription> source = Subscription::Create(context_.reader, admission.asked.peer, *request);
  if (!source.ok()) return Refuse<Message>(context_, kMethod, admission, source.status());
  return Open(context_, kMethod, std::move(admission), *std::move(source));
}

grpc::ServerWriteReactor<sideband::v1::SealedRecord>* ConfidentialService::SubscribeSealed(
    grpc::CallbackServerContext* call, const sideband::v1::SubscribeSealedRequest* request) {
  using Message = sideband::v1::SealedRecord;
  constexpr Method kMethod{"Confidential/SubscribeSealed", "SubscribeSealed"};
  Admission admission = Admit(context_, *call, kMethod.endpoint, *request);
  if (!admission.status.ok()) return Refuse<Message>(context_, kMethod, admission, admission.status);
  SealedSubscription source(context_.reader, admission.asked.peer, *request);
  return Open(context_, kMethod, std::move(admission), std::move(source));
}

}  // namespace sideband::daemon
