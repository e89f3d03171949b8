// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/services.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/slice.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "daemon/base/retry_after.h"
#include "daemon/grpc/grpc_message.h"
#include "daemon/grpc/grpc_server_fixture.h"
#include "daemon/grpc/subscription.h"
#include "daemon/metrics/expect_metric.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/stream/resume_token.h"
#include "daemon/stream/stream_content.h"
#include "daemon/view/fake_world.h"
#include "daemon/view/row_filter.h"
#include "daemon/view/snapshot_message.h"
#include "daemon/view/telemetry_queries.h"
#include "proto/base/wait_until.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {
namespace {

namespace v1 = sideband::v1;

using sideband::v1::GetSnapshotRequest;
using sideband::v1::GetSnapshotResponse;
using sideband::v1::ListEventsRequest;
using sideband::v1::SubscribeResponse;
using testing::HasSubstr;

// Answers of shared bytes must parse as the messages that would be built for each caller. A failure prints the seed.
// A FakeWorld of any topology, with any snapshots of any age.
struct RandomWorld : FakeWorld {
  RandomWorld() {
    topology = *rc::gen::element(FakeTopology(), GatedTopology(), RotatingTopology());
    if (*rc::gen::arbitrary<bool>()) AddHostBlocks();
    for (size_t device = 0; device < 2; ++device) {
      const auto publications = *rc::gen::inRange<uint64_t>(0, 4);
      for (uint64_t p = 1; p <= publications; ++p) {
        clock.Advance(absl::Microseconds(*rc::gen::inRange(1, 5'000'000)));
        Publish(device, p);
      }
    }
  }

  std::vector<VisibleDevice> Devices(const Caller& caller) { return reader.Devices(caller); }

  const std::unique_ptr<SelfMetrics> metrics = *SelfMetrics::Create({.version = "1"});
  SnapshotBodies bodies{reader, *metrics};
};

// Mostly of names that exist.
sideband::v1::Filter RandomFilter() {
  sideband::v1::Filter filter;
  filter.set_device(*rc::gen::element<std::string>("", "", "", "gpu0", "gpu1"));
  filter.set_vm(*rc::gen::element<std::string>("", "", "", "", "vm0", "vm1", kVm0Uuid));
  filter.set_context(*rc::gen::element<std::string>("", "", "", "render", "train"));
  for (const std::string& event :
       *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>("cycles", "dram_bytes"))) {
    filter.add_events(event);
  }
  return filter;
}

std::string RandomCaller() { return *rc::gen::element<std::string>("ops", "tenant-a", "tenant-b", "tenant-c"); }

template <typename Message>
void ExpectEqual(const absl::StatusOr<grpc::ByteBuffer>& bytes, const Message& wanted) {
  RC_ASSERT(bytes.ok());
  Message parsed;
  RC_ASSERT(FromBytes(*bytes, parsed));
  // Compared as bytes, in which a NaN equals itself.
  if (parsed.SerializeAsString() != wanted.SerializeAsString()) {
    RC_FAIL(absl::StrCat(parsed.DebugString(), "is not\n", wanted.DebugString()));
  }
  RC_ASSERT(bytes->Length() == wanted.ByteSizeLong());
}

TEST(SharedAnswerPropertyTest, SnapshotsAreThoseOfTheCaller) {
  size_t snapshots = 0;
  EXPECT_TRUE(rc::check("GetSnapshotResponse", [&] {
    RandomWorld world;
    // Several requests of each world: later ones find the bodies of earlier ones.
    for (int request_number = 0; request_number < 4; ++request_number) {
      if (*rc::gen::arbitrary<bool>()) world.clock.Advance(absl::Milliseconds(*rc::gen::inRange(0, 4000)));
      const Caller caller = *world.reader.Identify(CredentialsOf(RandomCaller()));
      GetSnapshotRequest request;
      *request.mutable_filter() = RandomFilter();
      const auto answer = GetSnapshot(world.reader, world.bodies, caller, request);
      if (!answer.ok()) continue;
      GetSnapshotResponse wanted;
      const RowFilter filter(request.filter());
      for (const VisibleDevice& device : world.reader.Devices(caller)) {
        if (device.snapshot == nullptr || !filter.SelectsDevice(device)) continue;
        sideband::v1::Snapshot snapshot = SnapshotMessage(device, filter);
        if (snapshot.scopes_size() > 0) *wanted.add_snapshots() = std::move(snapshot);
      }
      ExpectEqual(Serialized(*answer), wanted);
      snapshots += static_cast<size_t>(wanted.snapshots_size());
    }
  }));
  EXPECT_GT(snapshots, 10u) << "nearly all answers are empty";
}

TEST(SharedAnswerPropertyTest, UpdatesAreThoseOfTheCaller) {
  EXPECT_TRUE(rc::check("SubscribeResponse", [] {
    RandomWorld world;
    const RowFilter filter(RandomFilter());
    for (const VisibleDevice& device : world.reader.Devices(*world.reader.Identify(CredentialsOf(RandomCaller())))) {
      if (device.snapshot == nullptr) continue;
      StreamMessage message{.update = world.bodies.Get(device, filter)};
      message.fields.set_skipped(*rc::gen::arbitrary<uint64_t>());
      message.fields.set_sequence(*rc::gen::arbitrary<uint64_t>());
      message.fields.set_resume_token(*rc::gen::arbitrary<std::string>());
      message.fields.set_heartbeat(*rc::gen::arbitrary<bool>());
      SubscribeResponse wanted = message.fields;
      *wanted.mutable_update() = SnapshotMessage(device, filter);
      ExpectEqual(Serialized(message), wanted);
    }
  }));
}

class SharedAnswerTest : public testing::Test {
 protected:
  SharedAnswerTest() { world_.Publish(0, 1); }

  SharedSnapshot Get() {
    return bodies_.Get(world_.reader.Devices(*world_.reader.Identify(CredentialsOf("tenant-a"))).front(), {});
  }

  FakeWorld world_;
  const std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  SnapshotBodies bodies_{world_.reader, *metrics_};
  const std::unique_ptr<ResumeTokens> tokens_ = *ResumeTokens::Create();
};

TEST_F(SharedAnswerTest, OtherResponsesAreThemselves) {
  StreamMessage message;
  message.fields.set_sync_response(true);
  message.fields.set_sequence(7);
  SubscribeResponse parsed;
  ASSERT_TRUE(FromBytes(*Serialized(message), parsed));
  EXPECT_EQ(parsed.SerializeAsString(), message.fields.SerializeAsString());
  GetSnapshotResponse none;
  EXPECT_TRUE(FromBytes(*Serialized(std::vector<SharedSnapshot>()), none));
  EXPECT_EQ(none.snapshots_size(), 0);
}

TEST_F(SharedAnswerTest, TheBodyIsNotCopied) {
  const SharedSnapshot snapshot = Get();
  std::vector<grpc::Slice> slices;
  const grpc::ByteBuffer bytes = *Serialized(StreamMessage{.update = snapshot});
  ASSERT_TRUE(bytes.Dump(&slices).ok());
  ASSERT_EQ(slices.size(), 3u);
  EXPECT_EQ(static_cast<const void*>(slices[1].begin()), snapshot.body->bytes.data());
}

TEST_F(SharedAnswerTest, TheBufferHoldsTheBody) {
  std::weak_ptr<const SnapshotBody> body;
  {
    const grpc::ByteBuffer bytes = *Serialized(std::vector<SharedSnapshot>(2, Get()));
    body = Get().body;
    world_.Publish(0, 2);
    EXPECT_FALSE(body.expired()) << "what is being sent lives on";
    GetSnapshotResponse parsed;
    ASSERT_TRUE(FromBytes(bytes, parsed));
    EXPECT_EQ(parsed.snapshots(1).snapshot_id(), 1u);
  }
  EXPECT_TRUE(body.expired());
}

TEST_F(SharedAnswerTest, BeyondItsBoundThereIsNoMessage) {
  const StreamMessage message{.update = Get()};
  const size_t size = Serialized(message)->Length();
  EXPECT_TRUE(Serialized(message, size).ok());
  EXPECT_EQ(Serialized(message, size - 1).status(), SerialisationError());
  SharedSnapshot endless{.body = std::make_shared<SnapshotBody>(SnapshotBody{.is_whole = false})};
  EXPECT_EQ(Serialized(std::vector<SharedSnapshot>{endless}).status(), SerialisationError());
}

// Also of streams whose updates come at the same time, and at different times.
TEST_F(SharedAnswerTest, AThousandSubscribersOfAViewCostOneSerialisationPerSnapshot) {
  std::vector<Subscription> subscriptions;
  for (int i = 0; i < 1000; ++i) {
    subscriptions.push_back(*Subscription::Create({.reader = world_.reader, .tokens = *tokens_, .bodies = bodies_},
                                                  CredentialsOf("tenant-a"), EndlessRequest()));
  }
  for (uint64_t publication = 1; publication <= 3; ++publication) {
    world_.Publish(0, publication);
    for (Subscription& subscription : subscriptions) {
      const auto step = subscription.Next();
      const auto* message = std::get_if<StreamMessage>(&step);
      ASSERT_TRUE(message != nullptr && message->update) << publication;
      SubscribeResponse parsed;
      ASSERT_TRUE(FromBytes(*Serialized(*message), parsed));
      ASSERT_EQ(parsed.update().snapshot_id(), publication);
      if (publication == 1) subscription.Next();  // sync_response
    }
  }
  const std::string metrics = metrics_->Serialize();
  EXPECT_TRUE(absl::StrContains(metrics, "\nsideband_grpc_snapshot_serialisations_total 3\n"));
  EXPECT_TRUE(absl::StrContains(metrics, "\nsideband_grpc_snapshots_total 3000\n"));
}

// The method tables, by path and bytes as any client may send them.
template <typename Response>
std::string TextOf(const RawAnswer& answer) {
  Response response;
  if (answer.responses.empty() || !response.ParseFromString(answer.responses.front())) return "no such answer";
  return response.ShortDebugString();
}

// From the .proto file, so that a method without a row is found.
std::vector<const google::protobuf::MethodDescriptor*> AllMethods() {
  std::vector<const google::protobuf::MethodDescriptor*> methods;
  const auto& file = *v1::GetSnapshotRequest::descriptor()->file();
  for (int i = 0; i < file.service_count(); ++i) {
    for (int n = 0; n < file.service(i)->method_count(); ++n) methods.push_back(file.service(i)->method(n));
  }
  return methods;
}

std::string PathOf(const google::protobuf::MethodDescriptor& method) {
  return absl::StrCat("/", std::string(method.service()->full_name()), "/", std::string(method.name()));
}

std::string EndpointOf(const google::protobuf::MethodDescriptor& method) {
  return absl::StrCat(std::string(method.service()->name()), "/", std::string(method.name()));
}

class ServicesTest : public GrpcServerFixture {
 protected:
  ServicesTest() {
    options_.config.reflection = false;
    options_.requests.burst = 1000;
    Start();
  }
  std::shared_ptr<grpc::Channel> ChannelOf(const std::string& who) const {
    return Channel("URI:spiffe://example.org/" + who);
  }
  std::string LastEndpoint() const {
    const std::vector<AuditEntry> entries = world_.audit.Entries(AuditKind::kAccess);
    return entries.empty() ? "" : entries.back().endpoint;
  }
};

TEST_F(ServicesTest, EachRowAnswersUnderItsName) {
  v1::SubscribeRequest once;
  once.set_mode(v1::SubscribeRequest::MODE_ONCE);
  v1::SubscribeSealedRequest sealed;
  sealed.set_vm("vm0");  // not confidential
  v1::PeekRequest peek;
  peek.set_device("gpu0");
  peek.add_events("cycles");  // of the device, which has a confidential VM
  struct Row {
    const char* method;
    std::string request;
    std::string (*text)(const RawAnswer&);
    const char* part;  // of an answer that no other method gives
    grpc::StatusCode code;
    const char* code_name;
  };
  const auto channel = ChannelOf("ops");
  for (const Row& row : std::vector<Row>{
           {"Telemetry/ListDevices", "", TextOf<v1::ListDevicesResponse>, "\"gpu1\"", grpc::OK, "OK"},
           {"Telemetry/ListEvents", "", TextOf<v1::ListEventsResponse>, "\"Bytes over PCIe\"", grpc::OK, "OK"},
           {"Telemetry/ListScopes", "", TextOf<v1::ListScopesResponse>, "\"vm0\"", grpc::OK, "OK"},
           {"Telemetry/GetSnapshot", "", TextOf<v1::GetSnapshotResponse>, "counters", grpc::OK, "OK"},
           {"Telemetry/GetHistory", "", TextOf<v1::GetHistoryResponse>, "no such answer", grpc::FAILED_PRECONDITION,
            "FAILED_PRECONDITION"},
           {"Telemetry/Peek", peek.SerializeAsString(), TextOf<v1::PeekResponse>, "no such answer",
            grpc::FAILED_PRECONDITION, "FAILED_PRECONDITION"},
           {"Telemetry/Mark", "", TextOf<v1::MarkResponse>, "no such answer", grpc::FAILED_PRECONDITION,
            "FAILED_PRECONDITION"},
           {"Telemetry/ListMarks", "", TextOf<v1::ListMarksResponse>, "no such answer", grpc::FAILED_PRECONDITION,
            "FAILED_PRECONDITION"},
           {"Telemetry/GetSpan", "", TextOf<v1::GetSpanResponse>, "no such answer", grpc::FAILED_PRECONDITION,
            "FAILED_PRECONDITION"},
           {"Telemetry/ListClocks", "", TextOf<v1::ListClocksResponse>, "host_time_error", grpc::OK, "OK"},
           {"Telemetry/Subscribe", once.SerializeAsString(), TextOf<v1::SubscribeResponse>, "update", grpc::OK, "OK"},
           {"Confidential/Challenge", "", TextOf<v1::ChallengeResponse>, "no such answer", grpc::FAILED_PRECONDITION,
            "FAILED_PRECONDITION"},
           {"Confidential/Exchange", "", TextOf<v1::ExchangeResponse>, "no such answer", grpc::FAILED_PRECONDITION,
            "FAILED_PRECONDITION"},
           {"Confidential/SubscribeSealed", sealed.SerializeAsString(), TextOf<v1::SealedRecord>, "no such answer",
            grpc::NOT_FOUND, "NOT_FOUND"},
           {"Sensors/GetSensorHistory", "", TextOf<v1::GetSensorHistoryResponse>, "no such answer",
            grpc::FAILED_PRECONDITION, "FAILED_PRECONDITION"},
       }) {
    const RawAnswer answer = RawCall(channel, absl::StrCat("/sideband.v1.", row.method), BytesOf(row.request));
    EXPECT_EQ(answer.status.error_code(), row.code) << row.method << " " << answer.status.error_message();
    EXPECT_THAT(row.text(answer), HasSubstr(row.part)) << row.method;
    EXPECT_EQ(LastEndpoint(), row.method);
    const std::string name = std::string(row.method).substr(std::string(row.method).find('/') + 1);
    ExpectMetric(*metrics_,
                 absl::StrCat("sideband_grpc_requests_total{code=\"", row.code_name, "\",method=\"", name, "\"} 1"));
  }
}

TEST_F(ServicesTest, EachMethodOfTheApiHasARow) {
  ASSERT_EQ(AllMethods().size(), 14u) << "a new method: add it to EachRowAnswersUnderItsName";
  const auto channel = ChannelOf("stranger");
  for (const auto* method : AllMethods()) {
    const RawAnswer answer = RawCall(channel, PathOf(*method), BytesOf(""));
    EXPECT_EQ(answer.status.error_code(), grpc::UNAUTHENTICATED) << method->name();
    EXPECT_EQ(answer.status.error_message(), kUnknownCaller) << method->name();
    EXPECT_TRUE(answer.responses.empty()) << method->name();
    EXPECT_EQ(LastEndpoint(), EndpointOf(*method));
  }
}

TEST_F(ServicesTest, AnUnknownMethodIsUnimplementedAndNotAudited) {
  const auto channel = ChannelOf("ops");
  for (const char* path : {
           "/sideband.v1.Telemetry/GetSnapshots",                             // no such method
           "/sideband.v1.Telemetry/SubscribeSealed",                          // of the other service
           "/sideband.v1.Confidential/GetSnapshot",                           // likewise
           "/sideband.v1.Telemetry/getSnapshot",                              // names are case-sensitive
           "/sideband.v2.Telemetry/GetSnapshot",                              // no such package
           "/Telemetry/GetSnapshot",                                          // the audit log's name of it
           "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",  // not configured
       }) {
    EXPECT_EQ(RawCall(channel, path, BytesOf("")).status.error_code(), grpc::UNIMPLEMENTED) << path;
  }
  EXPECT_EQ(LastEndpoint(), "");
}

TEST_F(ServicesTest, AMalformedRequestIsInvalidForEachMethod) {
  const auto channel = ChannelOf("ops");
  for (const auto* method : AllMethods()) {
    const RawAnswer answer = RawCall(channel, PathOf(*method), BytesOf("\xff\xff\xff"));
    EXPECT_EQ(answer.status.error_code(), grpc::INVALID_ARGUMENT) << method->name();
    EXPECT_EQ(answer.status.error_message(), "the request is malformed") << method->name();
    EXPECT_TRUE(answer.responses.empty()) << method->name();
    const std::vector<AuditEntry> entries = world_.audit.Entries(AuditKind::kAccess);
    ASSERT_FALSE(entries.empty());
    EXPECT_EQ(entries.back().endpoint, EndpointOf(*method));
    EXPECT_EQ(entries.back().decision, AuditDecision::kDeny);
    EXPECT_EQ(entries.back().reason, "INVALID_ARGUMENT: the request is malformed");
  }
}

TEST_F(ServicesTest, UnauthenticatedCallersAreNotToldThatTheirRequestIsMalformed) {
  const auto channel = ChannelOf("stranger");
  for (const auto* method : AllMethods()) {
    const RawAnswer answer = RawCall(channel, PathOf(*method), BytesOf("\xff\xff\xff"));
    EXPECT_EQ(answer.status.error_code(), grpc::UNAUTHENTICATED) << method->name();
    EXPECT_EQ(answer.status.error_message(), kUnknownCaller) << method->name();
  }
}

TEST_F(ServicesTest, WhichBytesAreARequest) {
  struct Row {
    std::string bytes;
    grpc::StatusCode code;
  };
  const auto channel = ChannelOf("ops");
  for (const Row& row : std::vector<Row>{
           {"", grpc::OK},                                        // all defaults
           {std::string("\x0a\x00", 2), grpc::OK},                // an empty filter
           {"\x0a\x06\x0a\x04gpu0", grpc::OK},                    // filter.device
           {"\x0a\x06\x0a\x04gpu", grpc::INVALID_ARGUMENT},       // one byte less than it says
           {"\x0a\x06\x0a\x05gpu0", grpc::INVALID_ARGUMENT},      // the device is longer than the filter
           {"\x0a\x06\x0a\x04gpu9", grpc::NOT_FOUND},             // well-formed, but absent
           {"\x0a\x03\x0a\x01\xff", grpc::INVALID_ARGUMENT},      // not UTF-8
           {"\xf8\x07\x01", grpc::OK},                            // an unknown field
           {std::string("\x00\x01", 2), grpc::INVALID_ARGUMENT},  // field 0
           {std::string(200, '\x0b'), grpc::INVALID_ARGUMENT},    // groups without end
       }) {
    EXPECT_EQ(RawCall(channel, "/sideband.v1.Telemetry/GetSnapshot", BytesOf(row.bytes)).status.error_code(), row.code)
        << testing::PrintToString(row.bytes);
  }
}

// The audit log has a stream's beginning and, where the source rejects the request, that alone.
TEST_F(ServicesTest, AStreamIsAuditedWhenItBeginsOrIsRejected) {
  const auto channel = ChannelOf("ops");
  EXPECT_EQ(RawCall(channel, "/sideband.v1.Telemetry/Subscribe", BytesOf("")).status.error_code(),
            grpc::INVALID_ARGUMENT)
      << "without a mode";
  v1::SubscribeRequest once;
  once.set_mode(v1::SubscribeRequest::MODE_ONCE);
  const RawAnswer answer = RawCall(channel, "/sideband.v1.Telemetry/Subscribe", BytesOf(once.SerializeAsString()));
  EXPECT_EQ(answer.responses.size(), 2u) << "the snapshot, and the sync_response";
  const std::vector<AuditEntry> entries = world_.audit.Entries(AuditKind::kAccess);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].decision, AuditDecision::kDeny);
  EXPECT_THAT(entries[0].reason, HasSubstr("INVALID_ARGUMENT: "));
  EXPECT_EQ(entries[1].decision, AuditDecision::kAllow);
  EXPECT_EQ(entries[1].reason, "stream began: in the policy");
}

TEST(MessageBytesTest, BytesAreTheMessageAgain) {
  ListEventsRequest message, read;
  message.set_device("gpu0");
  const auto bytes = Serialized(message);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(bytes->Length(), message.ByteSizeLong());
  ASSERT_TRUE(FromBytes(*bytes, read));
  EXPECT_EQ(read.device(), "gpu0");
  EXPECT_EQ(Serialized(ListEventsRequest())->Length(), 0u) << "nothing is a message, too";
}

TEST(MessageBytesTest, WhatIsTooLongIsAnErrorAndNotEmpty) {
  ListEventsRequest message;
  message.set_device("gpu0");
  EXPECT_TRUE(Serialized(message, message.ByteSizeLong()).ok());
  const auto bytes = Serialized(message, message.ByteSizeLong() - 1);
  EXPECT_EQ(bytes.status(), absl::InternalError("the answer cannot be serialised"));
}

TEST(MessageBytesTest, OtherBytesAreNoMessage) {
  const grpc::Slice slice("\xff");
  ListEventsRequest message;
  EXPECT_FALSE(FromBytes(grpc::ByteBuffer(&slice, 1), message));
}

// Telemetry.Peek over a real connection: an answer that comes later, from another thread, or never.
class PeekTest : public GrpcServerFixture {
 protected:
  PeekTest() {
    options_.parts.peeks = &peeks_;
    Start();
    stub_ = As("ops");
  }
  ~PeekTest() override { server_.reset(); }

  // A call on a thread of its own.
  void Call(const std::string& vm = "vm0") {
    v1::PeekRequest request;
    request.set_vm(vm);
    Call(std::move(request));
  }
  void Call(v1::PeekRequest request) {
    request.set_device("gpu0");
    request.add_events("cycles");
    caller_ = std::thread([this, request] { status_ = stub_->Peek(&context_, request, &response_); });
  }
  const grpc::Status& Await() {
    const TimeLimit limit("the end of a call of Peek");
    caller_.join();
    return status_;
  }
  // The newest entry of the audit log, once there are as many.
  AuditEntry Audited(size_t count) {
    std::vector<AuditEntry> entries;
    const auto are_there = [&] { return (entries = world_.audit.Entries(AuditKind::kAccess)).size() >= count; };
    WaitUntil(are_there, absl::StrCat(count, " entries of the audit log"));
    return entries.back();
  }

  FakeLiveReader live_;
  const PeekReader peeks_{world_.reader, live_};
  std::unique_ptr<v1::Telemetry::Stub> stub_;
  grpc::ClientContext context_;
  v1::PeekResponse response_;
  grpc::Status status_;
  std::thread caller_;
};

TEST_F(PeekTest, TheAnswerComesWhenTheDeviceHasAnswered) {
  Call();
  live_.Await(0);
  EXPECT_TRUE(world_.audit.Entries(AuditKind::kAccess).empty()) << "the outcome is not known yet";
  live_.Answer(0, PeekedBlock{.counters = {42}, .reference_time_ns = 7});
  ASSERT_TRUE(Await().ok()) << status_.error_message();
  EXPECT_EQ(response_.counters().counters(0).count(), 42u);
  EXPECT_EQ(response_.reference_time_ns(), 7u);
  const AuditEntry entry = Audited(1);
  EXPECT_EQ(entry.endpoint, "Telemetry/Peek");
  EXPECT_EQ(entry.decision, AuditDecision::kAllow);
  EXPECT_EQ(entry.resource, "device: \"gpu0\" vm: \"vm0\" events: \"cycles\"");
  ExpectMetric(*metrics_, "sideband_grpc_requests_total{code=\"OK\",method=\"Peek\"} 1");
}

// A confidential VM withholds the device's own block, but not a host block.
TEST_F(PeekTest, TheHypervisorOnASliceIsPeekedAt) {
  world_.AddHostBlocks();
  world_.Publish(0, 3);
  v1::PeekRequest request;
  request.set_host_slice(1);
  Call(request);
  const FakeLiveReader::Request asked = live_.Await(0);
  EXPECT_EQ(asked.query.vm, mailbox::kHypervisorVm);
  EXPECT_EQ(asked.query.context, 1);
  live_.Answer(0, PeekedBlock{.counters = {42}});
  ASSERT_TRUE(Await().ok()) << status_.error_message();
  EXPECT_TRUE(response_.counters().scope().host());
  EXPECT_EQ(response_.counters().scope().slice(), 1u);
}

TEST_F(PeekTest, TheHypervisorIsPeekedAtByWhoSeesIt) {
  world_.AddHostBlocks();
  world_.Publish(0, 3);
  stub_ = As("tenant-a");
  v1::PeekRequest request;
  request.set_host_slice(1);
  Call(request);
  EXPECT_EQ(Await().error_code(), grpc::NOT_FOUND);
  EXPECT_EQ(live_.count(), 0u);
}

TEST_F(PeekTest, ARejectionHasTheTimeOfARetry) {
  live_.Refuse(WithRetryAfter(absl::ResourceExhaustedError("used up"), absl::Milliseconds(70)));
  Call();
  EXPECT_EQ(Await().error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_EQ(status_.error_message(), "used up; retry in 70ms");
  const auto pushback = context_.GetServerTrailingMetadata().find("grpc-retry-pushback-ms");
  ASSERT_NE(pushback, context_.GetServerTrailingMetadata().end());
  EXPECT_EQ(std::string(pushback->second.data(), pushback->second.size()), "70");
  EXPECT_EQ(Audited(1).decision, AuditDecision::kDeny);
}

TEST_F(PeekTest, WhatIsDeniedNeverReachesTheDevice) {
  Call("secret");
  EXPECT_EQ(Await().error_code(), grpc::NOT_FOUND);
  EXPECT_EQ(status_.error_message(), "no such device, VM, context or event");
  EXPECT_EQ(Audited(1).reason, "absent or denied");
  EXPECT_EQ(live_.count(), 0u);
}

TEST_F(PeekTest, AClientThatGivesUpWithdrawsItsPeek) {
  Call();
  live_.Await(0);
  context_.TryCancel();
  EXPECT_EQ(Await().error_code(), grpc::CANCELLED);
  EXPECT_EQ(Audited(1).reason, "CANCELLED: the client has cancelled the call");
  EXPECT_FALSE(live_.IsPending(0));
}

TEST_F(PeekTest, ADeadlineWithdrawsItToo) {
  // Long enough for a slow machine to connect and to ask.
  context_.set_deadline(gpr_time_from_seconds(1, GPR_TIMESPAN));
  Call();
  EXPECT_EQ(Await().error_code(), grpc::DEADLINE_EXCEEDED);
  Audited(1);
  EXPECT_EQ(live_.count(), 1u);
}

TEST_F(PeekTest, AnAnswerAfterTheCancellationIsDropped) {
  Call();
  const FakeLiveReader::Request request = live_.Await(0);
  context_.TryCancel();
  Await();
  Audited(1);
  request.done(PeekedBlock{.counters = {42}});
  EXPECT_EQ(world_.audit.Entries(AuditKind::kAccess).size(), 1u) << "one outcome";
}

TEST_F(PeekTest, AShutdownEndsIt) {
  Call();
  live_.Await(0);
  server_->Stop(absl::ZeroDuration());
  EXPECT_FALSE(Await().ok());
  EXPECT_FALSE(live_.IsPending(0));
}

}  // namespace
}  // namespace sideband::daemon
