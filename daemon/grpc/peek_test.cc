// SPDX-License-Identifier: Apache-2.0
//
// Telemetry.Peek over a real connection: an answer that comes later, from another thread, or never.
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "daemon/base/retry_after.h"
#include "daemon/grpc/grpc_server_fixture.h"
#include "daemon/metrics/expect_metric.h"
#include "daemon/view/fake_world.h"
#include "daemon/view/peek_reader.h"
#include "proto/base/wait_until.h"

namespace sideband::daemon {
namespace {

namespace v1 = sideband::v1;

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

// Of a host block beside a confidential VM, which withholds the device's own.
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
