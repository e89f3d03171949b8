// SPDX-License-Identifier: Apache-2.0
//
// The method tables, by path and bytes as any client may send them.
#include "daemon/grpc/services.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/grpc/grpc_server_fixture.h"
#include "daemon/grpc/raw_client.h"
#include "daemon/metrics/expect_metric.h"

namespace sideband::daemon {
namespace {

using testing::HasSubstr;

template <typename Response>
std::string TextOf(const RawAnswer& answer) {
  Response response;
  if (answer.responses.empty() || !response.ParseFromString(answer.responses.front())) return "no such answer";
  return response.ShortDebugString();
}

// Those of the .proto file, so that a method without a row is found.
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

}  // namespace
}  // namespace sideband::daemon
