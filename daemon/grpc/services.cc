// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/services.h"

#include <google/protobuf/io/coded_stream.h>
#include <grpcpp/support/slice.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/grpc/admission.h"
#include "daemon/grpc/grpc_message.h"
#include "daemon/grpc/service_host.h"
#include "daemon/grpc/stream_reactor.h"
#include "daemon/grpc/subscription.h"
#include "daemon/view/admin.h"
#include "daemon/view/exchange_queries.h"
#include "daemon/view/history_reader.h"
#include "daemon/view/mark_queries.h"
#include "daemon/view/sensor_queries.h"
#include "daemon/view/telemetry_queries.h"
#include "proto/base/status_macros.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {
namespace {

// https://protobuf.dev/programming-guides/encoding/#structure
constexpr uint32_t kLengthDelimited = 2;

void AppendVarint(std::string& to, uint32_t value) {
  uint8_t bytes[5];
  const uint8_t* const end = google::protobuf::io::CodedOutputStream::WriteVarint32ToArray(value, bytes);
  to.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(end - bytes));
}

// The body's bytes as a slice that holds the body.
grpc::Slice SliceOf(const std::shared_ptr<const SnapshotBody>& body) {
  using Owner = std::shared_ptr<const SnapshotBody>;
  // gRPC's signature; it does not write to a slice that it sends.
  auto* const bytes = const_cast<char*>(body->bytes.data());
  return grpc::Slice(
      bytes, body->bytes.size(), [](void* owner) { delete static_cast<Owner*>(owner); }, new Owner(body));
}

// A message being put together from the bytes of its fields.
class Pieces {
 public:
  // The snapshot as the submessage `field`.
  void Add(int field, const SharedSnapshot& snapshot) {
    const size_t size = snapshot.body->bytes.size() + snapshot.moment.size();
    is_whole_ = is_whole_ && snapshot.body->is_whole && size <= kMessageBytesMost;
    AppendVarint(own_, static_cast<uint32_t>(field) << 3 | kLengthDelimited);
    AppendVarint(own_, static_cast<uint32_t>(size));
    EndSlice();
    Append(SliceOf(snapshot.body));
    own_ += snapshot.moment;
  }
  void Add(const google::protobuf::Message& fields) { fields.AppendToString(&own_); }

  absl::StatusOr<grpc::ByteBuffer> Take(size_t bytes_max) {
    EndSlice();
    if (!is_whole_ || size_ > bytes_max) return SerialisationError();
    return grpc::ByteBuffer(slices_.data(), slices_.size());
  }

 private:
  void EndSlice() {
    if (!own_.empty()) Append(grpc::Slice(own_));
    own_.clear();
  }
  void Append(grpc::Slice slice) {
    size_ += slice.size();
    slices_.push_back(std::move(slice));
  }

  std::string own_;  // what is not shared, since the last slice
  std::vector<grpc::Slice> slices_;
  size_t size_ = 0;
  bool is_whole_ = true;
};

}  // namespace

absl::StatusOr<grpc::ByteBuffer> Serialized(const StreamMessage& message, size_t bytes_max) {
  Pieces pieces;
  if (message.update) pieces.Add(sideband::v1::SubscribeResponse::kUpdateFieldNumber, *message.update);
  pieces.Add(message.fields);
  return pieces.Take(bytes_max);
}

absl::StatusOr<grpc::ByteBuffer> Serialized(const std::vector<SharedSnapshot>& snapshots, size_t bytes_max) {
  Pieces pieces;
  for (const SharedSnapshot& snapshot : snapshots) {
    pieces.Add(sideband::v1::GetSnapshotResponse::kSnapshotsFieldNumber, snapshot);
  }
  return pieces.Take(bytes_max);
}

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
    // Answers that were made since it was admitted.
    if (const absl::Status room = incoming->admission.share->Check(); !room.ok()) return pending->Answer(room);
    pending->Answer(Ask<Request, Response>(reader, incoming->admission.asked.peer, incoming->request, query));
  };
  if (context.parts.work == nullptr) {
    work(absl::OkStatus());
  } else {
    const Caller& caller = *incoming->admission.asked.caller;
    context.parts.work->Add(lane, {caller.principal.identity, caller.May(Resource::SelfMetrics(), Right::kRead)}, work);
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

// The daemon or the device goes on, although the caller no longer waits for the answer.
bool CannotBeWithdrawn() { return false; }

// Rows for methods that a part of the daemon answers as they are; `lacking` is the answer of a daemon without the part.
template <typename Part, typename Request, typename Response>
RawService::Method Unary(const ServiceContext& context, Method method, const Part* part,
                         absl::StatusOr<Response> (Part::*query)(const Caller&, const Request&) const,
                         const absl::Status& lacking, WorkQueue::Lane lane = WorkQueue::Lane::kQueries) {
  return Unary<Request, Response>(
      context, method,
      std::function<Query<Request, Response>>(
          [=](Reader&, const Caller& caller, const Request& request) -> absl::StatusOr<Response> {
            return part == nullptr ? lacking : (part->*query)(caller, request);
          }),
      lane);
}

template <typename Response>
using Done = std::function<void(const absl::StatusOr<Response>& response)>;

template <typename Part, typename Request, typename Response>
RawService::Method LateUnary(const ServiceContext& context, Method method, const Part* part,
                             absl::Status (Part::*query)(const Caller&, const Request&, Done<Response>) const,
                             const absl::Status& lacking) {
  return LateUnary<Request, Response>(
      context, method,
      LateQuery<Request, Response>([=](const Asked& asked, const Request& request,
                                       Done<Response> done) -> absl::StatusOr<PendingAnswer::Cancel> {
        if (part == nullptr) return lacking;
        SIDEBAND_RETURN_IF_ERROR((part->*query)(*asked.caller, request, std::move(done)));
        return CannotBeWithdrawn;
      }));
}

template <typename Part, typename Request, typename Response>
RawService::Method LateUnary(const ServiceContext& context, Method method, const Part* part,
                             absl::Status (Part::*query)(const Caller&, const Credentials&, const Request&,
                                                         Done<Response>) const,
                             const absl::Status& lacking) {
  return LateUnary<Request, Response>(
      context, method,
      LateQuery<Request, Response>([=](const Asked& asked, const Request& request,
                                       Done<Response> done) -> absl::StatusOr<PendingAnswer::Cancel> {
        if (part == nullptr) return lacking;
        SIDEBAND_RETURN_IF_ERROR((part->*query)(*asked.caller, asked.peer, request, std::move(done)));
        return CannotBeWithdrawn;
      }));
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
                               .history = context.parts.history,
                               .sensors = context.parts.sensors,
                               .marks = context.parts.marks},
                              peer, request);
}

absl::StatusOr<SealedSubscription> MakeSealedSubscription(const ServiceContext& context, const Credentials& peer,
                                                          const sideband::v1::SubscribeSealedRequest& request) {
  return SealedSubscription(context.reader, context.parts.sealers, context.parts.exchanges, peer, request);
}

auto SnapshotQuery(const ServiceContext& context) {
  return [&bodies = context.bodies](Reader& reader, const Caller& caller,
                                    const sideband::v1::GetSnapshotRequest& request) {
    return GetSnapshot(reader, bodies, caller, request);
  };
}

auto HistoryQuery(const ServiceContext& context) {
  return [history = context.parts.history](
             Reader&, const Caller& caller,
             const sideband::v1::GetHistoryRequest& request) -> absl::StatusOr<sideband::v1::GetHistoryResponse> {
    return history == nullptr ? NoHistory() : history->Get(caller, request);
  };
}

absl::Status NoCounting() { return absl::FailedPreconditionError("this daemon cannot change what is counted"); }

auto LateSetRotation(const ServiceContext& context) {
  return [&reader = context.reader, sink = context.parts.rotation](
             const Asked& asked, const sideband::v1::SetRotationRequest& request,
             RotationDone<sideband::v1::SetRotationResponse> done) -> absl::StatusOr<PendingAnswer::Cancel> {
    SIDEBAND_RETURN_IF_ERROR(SetRotation(reader, sink, *asked.caller, request, std::move(done)));
    return CannotBeWithdrawn;
  };
}

auto LateLearnRotation(const ServiceContext& context) {
  return [&reader = context.reader, sink = context.parts.rotation](
             const Asked& asked, const sideband::v1::LearnRotationRequest& request,
             RotationDone<sideband::v1::LearnRotationResponse> done) -> absl::StatusOr<PendingAnswer::Cancel> {
    SIDEBAND_RETURN_IF_ERROR(LearnRotation(reader, sink, *asked.caller, request, std::move(done)));
    return CannotBeWithdrawn;
  };
}

absl::Status NoMarks() { return absl::FailedPreconditionError("the daemon keeps no marks"); }

auto LatePeek(const ServiceContext& context) {
  return [peeks = context.parts.peeks](const Asked& asked, const sideband::v1::PeekRequest& request,
                                       PeekReader::Done done) -> absl::StatusOr<PendingAnswer::Cancel> {
    if (peeks == nullptr) return absl::FailedPreconditionError("peeks are switched off");
    SIDEBAND_ASSIGN_OR_RETURN(const LiveReader::Ticket ticket, peeks->Ask(*asked.caller, request, std::move(done)));
    return [peeks, ticket] { return peeks->Cancel(ticket); };
  };
}

absl::Status NoExchanges() { return absl::FailedPreconditionError("this daemon does not exchange keys"); }

absl::Status NoSensors() { return absl::FailedPreconditionError("this daemon does not read boards"); }

absl::StatusOr<BoardEventSubscription> MakeBoardEventSubscription(
    const ServiceContext& context, const Credentials& peer, const sideband::v1::WatchBoardEventsRequest& request) {
  if (context.parts.sensors == nullptr) return NoSensors();
  return BoardEventSubscription(*context.parts.sensors, peer, request);
}

absl::Status NoAdmin() { return absl::FailedPreconditionError("the daemon has no Admin service"); }

}  // namespace

std::unique_ptr<grpc::Service> NewTelemetryService(const ServiceContext& context) {
  using sideband::v1::GetHistoryRequest, sideband::v1::GetHistoryResponse;
  using sideband::v1::GetSnapshotRequest, sideband::v1::SubscribeRequest;
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
          LateUnary(context, {"Telemetry/Mark"}, context.parts.marks, &MarkQueries::Mark, NoMarks()),
          Unary(context, {"Telemetry/ListMarks"}, context.parts.marks, &MarkQueries::ListMarks, NoMarks()),
          Unary(context, {"Telemetry/GetSpan"}, context.parts.marks, &MarkQueries::GetSpan, NoMarks()),
          Unary(context, {"Telemetry/ListClocks"}, &ListClocks),
          ServerStream<SubscribeRequest>(context, {"Telemetry/Subscribe"}, &MakeSubscription),
      });
}

std::unique_ptr<grpc::Service> NewSensorsService(const ServiceContext& context) {
  return std::make_unique<RawService>(
      "sideband.v1.Sensors",
      std::vector<RawService::Method>{
          Unary(context, {"Sensors/ListSensors"}, context.parts.sensors, &SensorQueries::List, NoSensors()),
          Unary(context, {"Sensors/GetSensors"}, context.parts.sensors, &SensorQueries::Get, NoSensors()),
          Unary(context, {"Sensors/GetSensorHistory"}, context.parts.sensor_history, &SensorHistoryReader::Get,
                NoHistory(), WorkQueue::Lane::kHistories),
          ServerStream<sideband::v1::WatchBoardEventsRequest>(context, {"Sensors/WatchBoardEvents"},
                                                              &MakeBoardEventSubscription),
      });
}

std::unique_ptr<grpc::Service> NewConfidentialService(const ServiceContext& context) {
  return std::make_unique<RawService>("sideband.v1.Confidential",
                                      std::vector<RawService::Method>{
                                          LateUnary(context, {"Confidential/Challenge"}, context.parts.exchange_queries,
                                                    &ExchangeQueries::Challenge, NoExchanges()),
                                          LateUnary(context, {"Confidential/Exchange"}, context.parts.exchange_queries,
                                                    &ExchangeQueries::Exchange, NoExchanges()),
                                          ServerStream<sideband::v1::SubscribeSealedRequest>(
                                              context, {"Confidential/SubscribeSealed"}, &MakeSealedSubscription),
                                      });
}

std::unique_ptr<grpc::Service> NewCountingService(const ServiceContext& context) {
  using sideband::v1::GetRotationRequest, sideband::v1::GetRotationResponse;
  using sideband::v1::LearnRotationRequest, sideband::v1::LearnRotationResponse;
  using sideband::v1::SetRotationRequest, sideband::v1::SetRotationResponse;
  return std::make_unique<RawService>(
      "sideband.v1.Counting",
      std::vector<RawService::Method>{
          Unary(context, {"Counting/GetCounting"}, context.parts.counting, &CountingQueries::Get, NoCounting()),
          Unary(context, {"Counting/SetCounting"}, context.parts.counting, &CountingQueries::Set, NoCounting()),
          Unary<GetRotationRequest, GetRotationResponse>(context, {"Counting/GetRotation"}, &GetRotation),
          LateUnary<SetRotationRequest, SetRotationResponse>(context, {"Counting/SetRotation"},
                                                             LateSetRotation(context)),
          LateUnary<LearnRotationRequest, LearnRotationResponse>(context, {"Counting/LearnRotation"},
                                                                 LateLearnRotation(context)),
      });
}

std::unique_ptr<grpc::Service> NewAdminService(const ServiceContext& context) {
  return std::make_unique<RawService>(
      "sideband.v1.Admin",
      std::vector<RawService::Method>{
          LateUnary(context, {"Admin/Reload"}, context.parts.admin, &Admin::Reload, NoAdmin()),
          LateUnary(context, {"Admin/Trigger"}, context.parts.admin, &Admin::Trigger, NoAdmin()),
          LateUnary(context, {"Admin/RotateKeys"}, context.parts.admin, &Admin::RotateKeys, NoAdmin()),
      });
}

}  // namespace sideband::daemon
