// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/services.h"

#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "daemon/grpc/admission.h"
#include "daemon/grpc/board_event_subscription.h"
#include "daemon/grpc/grpc_status.h"
#include "daemon/grpc/message_bytes.h"
#include "daemon/grpc/pending_answer.h"
#include "daemon/grpc/raw_service.h"
#include "daemon/grpc/sealed_subscription.h"
#include "daemon/grpc/shared_answer.h"
#include "daemon/grpc/stream_reactor.h"
#include "daemon/grpc/subscription.h"
#include "daemon/view/admin.h"
#include "daemon/view/clock_queries.h"
#include "daemon/view/exchange_queries.h"
#include "daemon/view/history_reader.h"
#include "daemon/view/mark_queries.h"
#include "daemon/view/peek_reader.h"
#include "daemon/view/queries.h"
#include "daemon/view/sensor_history_reader.h"
#include "daemon/view/sensor_queries.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

// "Telemetry/GetSnapshot", as the audit log has it; metrics have what follows the slash.
struct Method {
  const char* endpoint;
  const char* name() const { return std::strchr(endpoint, '/') + 1; }
};

// A parsed call.
template <typename Request>
struct Incoming {
  Admission admission;
  Request request;
};

template <typename Request>
Incoming<Request> Receive(const ServiceContext& context, grpc::CallbackServerContext& call, Method method,
                          const grpc::ByteBuffer& bytes) {
  Request request;
  // Parses first, since the audit log records the request of rejected calls, too. The admission decides before
  // malformed requests are reported: unauthenticated callers learn nothing about them.
  const bool is_whole = FromBytes(bytes, request);
  Admission admission = Admit(context, call, method.endpoint, request);
  if (admission.status.ok() && !is_whole) admission.status = absl::InvalidArgumentError("the request is malformed");
  return {std::move(admission), std::move(request)};
}

// The signature of the functions in queries.h.
template <typename Request, typename Response>
using Query = absl::StatusOr<Response>(Reader& reader, const Caller& caller, const Request& request);

template <typename Response>
absl::StatusOr<grpc::ByteBuffer> BytesOf(const absl::StatusOr<Response>& answer) {
  if (!answer.ok()) return answer.status();
  return Serialized(*answer);
}

// The answer to come. It holds the call's share of its identity's limits until gRPC has finished the call. A call that
// was not admitted is answered already.
template <typename Request>
std::shared_ptr<PendingAnswer> Pend(const ServiceContext& context, grpc::CallbackServerContext& call, Method method,
                                    const std::shared_ptr<Incoming<Request>>& incoming, grpc::ByteBuffer& response) {
  const auto pending =
      PendingAnswer::Make(response, [context, &call, method, incoming](const absl::StatusOr<grpc::ByteBuffer>& answer) {
        if (answer.ok()) incoming->admission.share->Hold(answer->Length());
        context.metrics.GrpcRequest(method.name(), answer.status().code());
        Conclude(context.reader, call, incoming->admission, answer.status());
      });
  if (!incoming->admission.status.ok()) pending->Answer(incoming->admission.status);
  return pending;
}

// Asks on behalf of the caller as authenticated now: the policy may have changed while the call waited.
template <typename Request, typename Response>
absl::StatusOr<grpc::ByteBuffer> Ask(Reader& reader, const Credentials& peer, const Request& request,
                                     const std::function<Query<Request, Response>>& query) {
  const absl::StatusOr<Caller> caller = reader.Authenticate(peer);
  if (!caller.ok()) return UnknownCallerError();
  return BytesOf(query(reader, *caller, request));
}

template <typename Request, typename Response>
UnaryReactor* Answer(const ServiceContext& context, grpc::CallbackServerContext& call, Method method,
                     WorkQueue::Lane lane, const std::function<Query<Request, Response>>& query,
                     const grpc::ByteBuffer& request_bytes, grpc::ByteBuffer& response) {
  auto incoming = std::make_shared<Incoming<Request>>(Receive<Request>(context, call, method, request_bytes));
  const auto pending = Pend(context, call, method, incoming, response);
  if (!incoming->admission.status.ok()) return pending->reactor();
  const WorkQueue::Work work = [&reader = context.reader, query, incoming, pending](const absl::Status& may) {
    if (pending->is_cancelled()) return pending->Answer(absl::CancelledError("the client has cancelled the call"));
    if (!may.ok()) return pending->Answer(may);
    pending->Answer(Ask<Request, Response>(reader, incoming->admission.asked.peer, incoming->request, query));
  };
  if (context.work == nullptr) {
    work(absl::OkStatus());
  } else {
    const Caller& caller = *incoming->admission.asked.caller;
    context.work->Add(lane, {caller.principal.identity, caller.May(Resource::SelfMetrics(), Right::kRead)}, work);
  }
  return pending->reactor();
}

// Asks for the answer to an admitted call, which is given later: like PeekReader::Ask.
template <typename Request, typename Response>
using LateQuery = std::function<absl::StatusOr<PendingAnswer::Cancel>(
    const Asked& asked, const Request& request, std::function<void(const absl::StatusOr<Response>& answer)> done)>;

template <typename Request, typename Response>
UnaryReactor* AnswerLater(const ServiceContext& context, grpc::CallbackServerContext& call, Method method,
                          const LateQuery<Request, Response>& query, const grpc::ByteBuffer& request_bytes,
                          grpc::ByteBuffer& response) {
  auto incoming = std::make_shared<Incoming<Request>>(Receive<Request>(context, call, method, request_bytes));
  const Admission& admission = incoming->admission;
  const auto pending = Pend(context, call, method, incoming, response);
  if (!admission.status.ok()) return pending->reactor();
  auto cancel = query(admission.asked, incoming->request,
                      [pending](const absl::StatusOr<Response>& answer) { pending->Answer(BytesOf(answer)); });
  if (cancel.ok()) {
    pending->SetCancel(*std::move(cancel));
  } else {
    pending->Answer(cancel.status());
  }
  return pending->reactor();
}

// A stream that is rejected. Deletes itself when gRPC has finished the call.
class RefusedStream final : public WriteReactor {
 public:
  explicit RefusedStream(const absl::Status& status) { Finish(ToGrpcStatus(status)); }
  void OnDone() override { delete this; }
};

WriteReactor* Refuse(const ServiceContext& context, grpc::CallbackServerContext& call, Method method,
                     Admission& admission, const absl::Status& status) {
  context.metrics.GrpcRequest(method.name(), status.code());
  Conclude(context.reader, call, admission, status);
  return new RefusedStream(status);
}

// Infinite for streams without heartbeats.
template <typename Source>
absl::Duration PatienceOf(const Source& source) {
  if constexpr (requires { source.reader_patience(); }) return source.reader_patience();
  return absl::InfiniteDuration();
}

template <typename Source>
WriteReactor* Open(const ServiceContext& context, grpc::CallbackServerContext& call, Method method, Admission admission,
                   Source source) {
  RequestMetrics& metrics = context.metrics;
  const Reader& reader = context.reader;
  Identify(call, admission.asked);
  const auto on_done = [&metrics, &reader, method, asked = admission.asked](const absl::Status& status) {
    metrics.GrpcRequest(method.name(), status.code());
    metrics.GrpcStreamEnded();
    AuditStreamEnd(reader, asked, status);
  };
  const absl::Duration patience = PatienceOf(source);
  auto stream = std::make_shared<StreamReactor<Source>>(
      std::move(source), context.streams, std::move(admission.share), admission.asked.peer.connection, on_done,
      typename StreamReactor<Source>::ReaderDeadline{
          .clock = &reader.clock(), .patience = patience, .cancel = [&call] { call.TryCancel(); }});
  const absl::Status added = context.streams.Add(admission.asked.caller->principal.identity, stream);
  if (!added.ok()) return Refuse(context, call, method, admission, added);
  metrics.GrpcStreamStarted();
  admission.asked.access.note = "stream began";
  Conclude(reader, call, admission, absl::OkStatus());
  // Starts the pump without waiting for the next publication.
  stream->Wake();
  // gRPC uses the raw pointer until OnDone; the registry holds the reference.
  return stream.get();
}

// A row for a method with one answer.
template <typename Request, typename Response>
RawService::Method Unary(const ServiceContext& context, Method method, std::function<Query<Request, Response>> query,
                         WorkQueue::Lane lane = WorkQueue::Lane::kQueries) {
  return {method.name(),
          [context, method, lane, query = std::move(query)](
              grpc::CallbackServerContext* call, const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
            return Answer<Request, Response>(context, *call, method, lane, query, *request, *response);
          }};
}

template <typename Request, typename Response>
RawService::Method Unary(const ServiceContext& context, Method method, Query<Request, Response>* query) {
  return Unary<Request, Response>(context, method, std::function<Query<Request, Response>>(query));
}

// A row for a method whose answer takes time.
template <typename Request, typename Response>
RawService::Method LateUnary(const ServiceContext& context, Method method, LateQuery<Request, Response> query) {
  return {method.name(),
          [context, method, query = std::move(query)](grpc::CallbackServerContext* call,
                                                      const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
            return AnswerLater<Request, Response>(context, *call, method, query, *request, *response);
          }};
}

// A row for a stream. `make` returns its source, or why there is none.
template <typename Request, typename Make>
RawService::Method ServerStream(const ServiceContext& context, Method method, Make make) {
  return {method.name(), [context, method, make](grpc::CallbackServerContext* call, const grpc::ByteBuffer* bytes) {
            auto [admission, request] = Receive<Request>(context, *call, method, *bytes);
            if (!admission.status.ok()) return Refuse(context, *call, method, admission, admission.status);
            auto source = make(context, admission.asked.peer, request);
            if (!source.ok()) return Refuse(context, *call, method, admission, source.status());
            return Open(context, *call, method, std::move(admission), *std::move(source));
          }};
}

absl::StatusOr<Subscription> MakeSubscription(const ServiceContext& context, const Credentials& peer,
                                              const sideband::v1::SubscribeRequest& request) {
  return Subscription::Create({.reader = context.reader,
                               .tokens = *context.tokens,
                               .bodies = context.bodies,
                               .history = context.history,
                               .sensors = context.sensors,
                               .marks = context.marks},
                              peer, request);
}

absl::StatusOr<SealedSubscription> MakeSealedSubscription(const ServiceContext& context, const Credentials& peer,
                                                          const sideband::v1::SubscribeSealedRequest& request) {
  return SealedSubscription(context.reader, context.sealers, context.exchanges, peer, request);
}

auto SnapshotQuery(const ServiceContext& context) {
  return [&bodies = context.bodies](Reader& reader, const Caller& caller,
                                    const sideband::v1::GetSnapshotRequest& request) {
    return GetSnapshot(reader, bodies, caller, request);
  };
}

auto HistoryQuery(const ServiceContext& context) {
  return [history = context.history](
             Reader&, const Caller& caller,
             const sideband::v1::GetHistoryRequest& request) -> absl::StatusOr<sideband::v1::GetHistoryResponse> {
    return history == nullptr ? NoHistory() : history->Get(caller, request);
  };
}

absl::Status NoCounting() { return absl::FailedPreconditionError("what is counted cannot be changed"); }

auto GetCountingQuery(const ServiceContext& context) {
  return [counting = context.counting](
             Reader&, const Caller& caller,
             const sideband::v1::GetCountingRequest& request) -> absl::StatusOr<sideband::v1::GetCountingResponse> {
    return counting == nullptr ? NoCounting() : counting->Get(caller, request);
  };
}

auto SetCountingQuery(const ServiceContext& context) {
  return [counting = context.counting](
             Reader&, const Caller& caller,
             const sideband::v1::SetCountingRequest& request) -> absl::StatusOr<sideband::v1::SetCountingResponse> {
    return counting == nullptr ? NoCounting() : counting->Set(caller, request);
  };
}

// What was asked of the daemon or of a device goes on, though nobody waits for its answer.
bool CannotBeWithdrawn() { return false; }

auto LateSetRotation(const ServiceContext& context) {
  return [&reader = context.reader, sink = context.rotation](
             const Asked& asked, const sideband::v1::SetRotationRequest& request,
             RotationDone<sideband::v1::SetRotationResponse> done) -> absl::StatusOr<PendingAnswer::Cancel> {
    SIDEBAND_RETURN_IF_ERROR(SetRotation(reader, sink, *asked.caller, request, std::move(done)));
    return CannotBeWithdrawn;
  };
}

auto LateLearnRotation(const ServiceContext& context) {
  return [&reader = context.reader, sink = context.rotation](
             const Asked& asked, const sideband::v1::LearnRotationRequest& request,
             RotationDone<sideband::v1::LearnRotationResponse> done) -> absl::StatusOr<PendingAnswer::Cancel> {
    SIDEBAND_RETURN_IF_ERROR(LearnRotation(reader, sink, *asked.caller, request, std::move(done)));
    return CannotBeWithdrawn;
  };
}

absl::Status NoMarks() { return absl::FailedPreconditionError("the daemon keeps no marks"); }

auto LateMark(const ServiceContext& context) {
  return [marks = context.marks](const Asked& asked, const sideband::v1::MarkRequest& request,
                                 MarkQueries::Done done) -> absl::StatusOr<PendingAnswer::Cancel> {
    if (marks == nullptr) return NoMarks();
    SIDEBAND_RETURN_IF_ERROR(marks->Mark(*asked.caller, request, std::move(done)));
    return CannotBeWithdrawn;
  };
}

auto ListMarksQuery(const ServiceContext& context) {
  return [marks = context.marks](
             Reader&, const Caller& caller,
             const sideband::v1::ListMarksRequest& request) -> absl::StatusOr<sideband::v1::ListMarksResponse> {
    return marks == nullptr ? NoMarks() : marks->ListMarks(caller, request);
  };
}

auto GetSpanQuery(const ServiceContext& context) {
  return [marks = context.marks](
             Reader&, const Caller& caller,
             const sideband::v1::GetSpanRequest& request) -> absl::StatusOr<sideband::v1::GetSpanResponse> {
    return marks == nullptr ? NoMarks() : marks->GetSpan(caller, request);
  };
}

auto LatePeek(const ServiceContext& context) {
  return [peeks = context.peeks](const Asked& asked, const sideband::v1::PeekRequest& request,
                                 PeekReader::Done done) -> absl::StatusOr<PendingAnswer::Cancel> {
    if (peeks == nullptr) return absl::FailedPreconditionError("peeks are switched off");
    SIDEBAND_ASSIGN_OR_RETURN(const LiveReader::Ticket ticket, peeks->Ask(*asked.caller, request, std::move(done)));
    return [peeks, ticket] { return peeks->Cancel(ticket); };
  };
}

absl::Status NoExchanges() { return absl::FailedPreconditionError("this daemon exchanges no keys"); }

auto LateChallenge(const ServiceContext& context) {
  return [queries = context.exchange_queries](
             const Asked& asked, const sideband::v1::ChallengeRequest& request,
             ExchangeQueries::Done<sideband::v1::ChallengeResponse> done) -> absl::StatusOr<PendingAnswer::Cancel> {
    if (queries == nullptr) return NoExchanges();
    SIDEBAND_RETURN_IF_ERROR(queries->Challenge(*asked.caller, request, std::move(done)));
    return CannotBeWithdrawn;
  };
}

auto LateExchange(const ServiceContext& context) {
  return [queries = context.exchange_queries](
             const Asked& asked, const sideband::v1::ExchangeRequest& request,
             ExchangeQueries::Done<sideband::v1::ExchangeResponse> done) -> absl::StatusOr<PendingAnswer::Cancel> {
    if (queries == nullptr) return NoExchanges();
    SIDEBAND_RETURN_IF_ERROR(queries->Exchange(*asked.caller, request, std::move(done)));
    return CannotBeWithdrawn;
  };
}

absl::Status NoSensors() { return absl::FailedPreconditionError("this daemon reads no boards"); }

auto ListSensorsQuery(const ServiceContext& context) {
  return [sensors = context.sensors](
             Reader&, const Caller& caller,
             const sideband::v1::ListSensorsRequest& request) -> absl::StatusOr<sideband::v1::ListSensorsResponse> {
    return sensors == nullptr ? NoSensors() : sensors->List(caller, request);
  };
}

auto GetSensorsQuery(const ServiceContext& context) {
  return [sensors = context.sensors](
             Reader&, const Caller& caller,
             const sideband::v1::GetSensorsRequest& request) -> absl::StatusOr<sideband::v1::GetSensorsResponse> {
    return sensors == nullptr ? NoSensors() : sensors->Get(caller, request);
  };
}

auto SensorHistoryQuery(const ServiceContext& context) {
  return [history = context.sensor_history](Reader&, const Caller& caller,
                                            const sideband::v1::GetSensorHistoryRequest& request)
             -> absl::StatusOr<sideband::v1::GetSensorHistoryResponse> {
    return history == nullptr ? NoHistory() : history->Get(caller, request);
  };
}

absl::StatusOr<BoardEventSubscription> MakeBoardEventSubscription(
    const ServiceContext& context, const Credentials& peer, const sideband::v1::WatchBoardEventsRequest& request) {
  if (context.sensors == nullptr) return NoSensors();
  return BoardEventSubscription(*context.sensors, peer, request);
}

absl::Status NoAdmin() { return absl::FailedPreconditionError("the daemon has no Admin service"); }

auto LateReload(const ServiceContext& context) {
  return
      [admin = context.admin](const Asked& asked, const sideband::v1::ReloadRequest&,
                              Admin::Done<sideband::v1::ReloadResponse> done) -> absl::StatusOr<PendingAnswer::Cancel> {
        if (admin == nullptr) return NoAdmin();
        SIDEBAND_RETURN_IF_ERROR(admin->Reload(*asked.caller, asked.peer, std::move(done)));
        return CannotBeWithdrawn;
      };
}

auto LateRotateKeys(const ServiceContext& context) {
  return [admin = context.admin](
             const Asked& asked, const sideband::v1::RotateKeysRequest& request,
             Admin::Done<sideband::v1::RotateKeysResponse> done) -> absl::StatusOr<PendingAnswer::Cancel> {
    if (admin == nullptr) return NoAdmin();
    SIDEBAND_RETURN_IF_ERROR(admin->RotateKeys(*asked.caller, asked.peer, request, std::move(done)));
    return CannotBeWithdrawn;
  };
}

auto LateTrigger(const ServiceContext& context) {
  return [admin = context.admin](
             const Asked& asked, const sideband::v1::TriggerRequest& request,
             Admin::Done<sideband::v1::TriggerResponse> done) -> absl::StatusOr<PendingAnswer::Cancel> {
    if (admin == nullptr) return NoAdmin();
    SIDEBAND_RETURN_IF_ERROR(admin->Trigger(*asked.caller, asked.peer, request, std::move(done)));
    return CannotBeWithdrawn;
  };
}

}  // namespace

std::unique_ptr<grpc::Service> NewTelemetryService(const ServiceContext& context) {
  using sideband::v1::GetHistoryRequest, sideband::v1::GetHistoryResponse;
  using sideband::v1::GetSnapshotRequest, sideband::v1::SubscribeRequest;
  using sideband::v1::GetSpanRequest, sideband::v1::GetSpanResponse;
  using sideband::v1::ListMarksRequest, sideband::v1::ListMarksResponse;
  using sideband::v1::MarkRequest, sideband::v1::MarkResponse;
  using sideband::v1::PeekRequest, sideband::v1::PeekResponse;
  return std::make_unique<RawService>(
      "sideband.v1.Telemetry",
      std::vector<RawService::Method>{
          Unary(context, {"Telemetry/ListDevices"}, &ListDevices),
          Unary(context, {"Telemetry/ListEvents"}, &ListEvents),
          Unary(context, {"Telemetry/ListScopes"}, &ListScopes),
          Unary<GetSnapshotRequest, std::vector<SharedSnapshot>>(context, {"Telemetry/GetSnapshot"},
                                                                 SnapshotQuery(context)),
          Unary<GetHistoryRequest, GetHistoryResponse>(context, {"Telemetry/GetHistory"}, HistoryQuery(context),
                                                       WorkQueue::Lane::kHistories),
          LateUnary<PeekRequest, PeekResponse>(context, {"Telemetry/Peek"}, LatePeek(context)),
          LateUnary<MarkRequest, MarkResponse>(context, {"Telemetry/Mark"}, LateMark(context)),
          Unary<ListMarksRequest, ListMarksResponse>(context, {"Telemetry/ListMarks"}, ListMarksQuery(context)),
          Unary<GetSpanRequest, GetSpanResponse>(context, {"Telemetry/GetSpan"}, GetSpanQuery(context)),
          Unary(context, {"Telemetry/ListClocks"}, &ListClocks),
          ServerStream<SubscribeRequest>(context, {"Telemetry/Subscribe"}, &MakeSubscription),
      });
}

std::unique_ptr<grpc::Service> NewSensorsService(const ServiceContext& context) {
  using sideband::v1::GetSensorHistoryRequest, sideband::v1::GetSensorHistoryResponse;
  using sideband::v1::GetSensorsRequest, sideband::v1::GetSensorsResponse;
  using sideband::v1::ListSensorsRequest, sideband::v1::ListSensorsResponse;
  return std::make_unique<RawService>(
      "sideband.v1.Sensors",
      std::vector<RawService::Method>{
          Unary<ListSensorsRequest, ListSensorsResponse>(context, {"Sensors/ListSensors"}, ListSensorsQuery(context)),
          Unary<GetSensorsRequest, GetSensorsResponse>(context, {"Sensors/GetSensors"}, GetSensorsQuery(context)),
          Unary<GetSensorHistoryRequest, GetSensorHistoryResponse>(
              context, {"Sensors/GetSensorHistory"}, SensorHistoryQuery(context), WorkQueue::Lane::kHistories),
          ServerStream<sideband::v1::WatchBoardEventsRequest>(context, {"Sensors/WatchBoardEvents"},
                                                              &MakeBoardEventSubscription),
      });
}

std::unique_ptr<grpc::Service> NewConfidentialService(const ServiceContext& context) {
  using sideband::v1::ChallengeRequest, sideband::v1::ChallengeResponse;
  using sideband::v1::ExchangeRequest, sideband::v1::ExchangeResponse;
  return std::make_unique<RawService>(
      "sideband.v1.Confidential",
      std::vector<RawService::Method>{
          LateUnary<ChallengeRequest, ChallengeResponse>(context, {"Confidential/Challenge"}, LateChallenge(context)),
          LateUnary<ExchangeRequest, ExchangeResponse>(context, {"Confidential/Exchange"}, LateExchange(context)),
          ServerStream<sideband::v1::SubscribeSealedRequest>(context, {"Confidential/SubscribeSealed"},
                                                             &MakeSealedSubscription),
      });
}

std::unique_ptr<grpc::Service> NewCountingService(const ServiceContext& context) {
  using sideband::v1::GetCountingRequest, sideband::v1::GetCountingResponse;
  using sideband::v1::GetRotationRequest, sideband::v1::GetRotationResponse;
  using sideband::v1::LearnRotationRequest, sideband::v1::LearnRotationResponse;
  using sideband::v1::SetCountingRequest, sideband::v1::SetCountingResponse;
  using sideband::v1::SetRotationRequest, sideband::v1::SetRotationResponse;
  return std::make_unique<RawService>(
      "sideband.v1.Counting",
      std::vector<RawService::Method>{
          Unary<GetCountingRequest, GetCountingResponse>(context, {"Counting/GetCounting"}, GetCountingQuery(context)),
          Unary<SetCountingRequest, SetCountingResponse>(context, {"Counting/SetCounting"}, SetCountingQuery(context)),
          Unary<GetRotationRequest, GetRotationResponse>(context, {"Counting/GetRotation"}, &GetRotation),
          LateUnary<SetRotationRequest, SetRotationResponse>(context, {"Counting/SetRotation"},
                                                             LateSetRotation(context)),
          LateUnary<LearnRotationRequest, LearnRotationResponse>(context, {"Counting/LearnRotation"},
                                                                 LateLearnRotation(context)),
      });
}

std::unique_ptr<grpc::Service> NewAdminService(const ServiceContext& context) {
  using sideband::v1::ReloadRequest, sideband::v1::ReloadResponse;
  using sideband::v1::RotateKeysRequest, sideband::v1::RotateKeysResponse;
  using sideband::v1::TriggerRequest, sideband::v1::TriggerResponse;
  return std::make_unique<RawService>(
      "sideband.v1.Admin",
      std::vector<RawService::Method>{
          LateUnary<ReloadRequest, ReloadResponse>(context, {"Admin/Reload"}, LateReload(context)),
          LateUnary<TriggerRequest, TriggerResponse>(context, {"Admin/Trigger"}, LateTrigger(context)),
          LateUnary<RotateKeysRequest, RotateKeysResponse>(context, {"Admin/RotateKeys"}, LateRotateKeys(context)),
      });
}

}  // namespace sideband::daemon
