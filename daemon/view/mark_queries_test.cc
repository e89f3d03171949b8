// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/mark_queries.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "daemon/base/retry_after.h"
#include "daemon/view/fake_world.h"
#include "daemon/view/row_filter.h"

namespace sideband::daemon {
namespace {

using absl::StatusCode;
using sideband::v1::GetSpanRequest;
using sideband::v1::GetSpanResponse;
using sideband::v1::ListMarksResponse;
using sideband::v1::MarkInfo;
using sideband::v1::MarkRequest;
using sideband::v1::MarkResponse;

constexpr size_t kGpu0 = 0;
constexpr uint64_t kBoot = 77;
constexpr uint16_t kRender = 10;

constexpr char kMarkPolicy[] = R"(version: 1
operators: [{name: ops, identities: ["spiffe://example.org/ops"]}]
tenants:
  - name: a
    identities: ["spiffe://example.org/tenant-a"]
    vms: [{uuid: 00000000-0000-0000-0000-0000000000a0, rights: [read, mark]}]
  - name: b
    identities: ["spiffe://example.org/tenant-b"]
    vms:
      - {uuid: 00000000-0000-0000-0000-0000000000a1, contexts: [train], events: [cycles], rights: [read, mark]}
  - name: c
    identities: ["spiffe://example.org/tenant-c"]
    vms: [{uuid: 00000000-0000-0000-0000-0000000000a2, rights: [read, mark, seal]}]
)";

class FakeBookmarkSink final : public BookmarkSink {
 public:
  absl::Status Ask(size_t device, const BookmarkOrder& order, Done done) override {
    EXPECT_EQ(device, kGpu0);
    orders.push_back(order);
    if (refused.ok()) done(answer);
    return refused;
  }
  std::vector<BookmarkOrder> orders;
  absl::Status refused;
  absl::StatusOr<uint64_t> answer = 500;
};

class MarkQueriesTest : public testing::Test {
 protected:
  MarkQueriesTest() {
    world_.policy.Replace(*Policy::Parse(kMarkPolicy, "policy.yaml"), nullptr);
    world_.Publish(kGpu0, 1);
  }

  Caller CallerOf(const std::string& who) const { return *world_.reader.Identify(CredentialsOf(who)); }

  absl::StatusOr<MarkInfo> Mark(const std::string& who, const std::string& vm, const std::string& context = "",
                                const std::string& label = "") {
    MarkRequest request;
    request.set_device("gpu0");
    request.set_vm(vm);
    request.set_context(context);
    request.set_label(label);
    absl::StatusOr<MarkResponse> response = absl::UnknownError("not answered");
    const absl::Status status =
        marks_.Mark(CallerOf(who), request, [&](const absl::StatusOr<MarkResponse>& answer) { response = answer; });
    if (!status.ok()) return status;
    if (!response.ok()) return response.status();
    return response->mark();
  }
  // The device's next snapshot has the newest bookmark, with these counts.
  void Serve(uint64_t served_ns, const std::vector<uint64_t>& counters) {
    const BookmarkOrder& order = sink_.orders.back();
    mailbox::Snapshot raw{.boot_id = kBoot, .reference_time_ns = served_ns + 1000, .counters_per_block = 3};
    raw.blocks = {{.vm = order.scope.vm,
                   .context = order.scope.context,
                   .generation = order.scope.generation,
                   .flags = mailbox::kFlagOverflow}};
    raw.bookmarks = {{.block = 0, .bookmark = order.bookmark, .asked_ns = 500, .served_ns = served_ns}};
    raw.bookmarks[0].counters.assign(counters.begin(), counters.end());
    book_.Read(kGpu0, raw, {{world_.clock.Now(), absl::Microseconds(3)}, 1e-3});
  }
  void BoundTimesOfTenants(absl::Duration bound) {
    DeviceInfo info = *world_.store.Info(kGpu0);
    info.clocks.tenant_bound = bound;
    world_.store.SetDevices({{kGpu0, std::make_shared<const DeviceInfo>(std::move(info))}});
  }
  std::vector<uint64_t> MarksOf(const std::string& who, const std::string& vm = "") {
    sideband::v1::ListMarksRequest request;
    request.set_vm(vm);
    const auto response = marks_.ListMarks(CallerOf(who), request);
    std::vector<uint64_t> ids;
    if (!response.ok()) return ids;
    for (const MarkInfo& mark : response->marks()) ids.push_back(mark.mark_id());
    return ids;
  }
  absl::StatusOr<GetSpanResponse> Span(const std::string& who, uint64_t from, uint64_t to,
                                       const std::string& vm = "vm0", const std::vector<std::string>& events = {}) {
    GetSpanRequest request;
    request.set_device("gpu0");
    request.set_vm(vm);
    request.set_from_mark(from);
    request.set_to_mark(to);
    for (const std::string& event : events) request.add_events(event);
    return marks_.GetSpan(CallerOf(who), request);
  }
  static std::string CountsOf(const GetSpanResponse& span) {
    std::string text;
    for (const auto& counter : span.counters()) absl::StrAppend(&text, counter.event(), "=", counter.count(), " ");
    return text;
  }

  FakeWorld world_;
  MarkBook book_{1000};
  FakeBookmarkSink sink_;
  const MarkQueries marks_{world_.reader, book_, sink_};
};

TEST_F(MarkQueriesTest, AMarkIsABookmarkOfItsScope) {
  const auto mark = Mark("tenant-a", "vm0", "render", "kernel begins");
  ASSERT_TRUE(mark.ok()) << mark.status();
  EXPECT_EQ(mark->mark_id(), 1u);
  EXPECT_EQ(mark->label(), "kernel begins");
  EXPECT_EQ(mark->state(), MarkInfo::STATE_PENDING);
  EXPECT_EQ(mark->requested_ns(), 500u);
  EXPECT_FALSE(mark->has_reference_time_ns());
  ASSERT_EQ(sink_.orders.size(), 1u);
  EXPECT_EQ(sink_.orders[0].scope, (MarkScope{.boot_id = kBoot, .vm = 1, .context = kRender, .generation = 1}));
  EXPECT_EQ(sink_.orders[0].bookmark, 1000u);
}

// Errors of the host's times, in nanoseconds, of each mark; -1: there is none.
std::vector<int64_t> ErrorsOf(const google::protobuf::RepeatedPtrField<MarkInfo>& marks) {
  std::vector<int64_t> errors;
  for (const MarkInfo& mark : marks) {
    EXPECT_EQ(mark.has_host_time(), mark.has_host_time_error());
    errors.push_back(mark.has_host_time_error() ? mark.host_time_error().nanos() : -1);
  }
  return errors;
}

TEST_F(MarkQueriesTest, TenantsSeeAConstantErrorOrNoTime) {
  ASSERT_TRUE(Mark("tenant-a", "vm0").ok());
  Serve(2000, {100, 7, 5});
  ASSERT_TRUE(Mark("tenant-a", "vm0").ok());
  Serve(5000, {160, 7, 5});
  const auto errors = [&](const std::string& who) { return ErrorsOf(marks_.ListMarks(CallerOf(who), {})->marks()); };
  // 3 us, and what clocks may diverge by in a microsecond since, rounded.
  EXPECT_EQ(errors("tenant-a"), (std::vector<int64_t>{3002, 3002}));
  BoundTimesOfTenants(absl::Microseconds(10));
  EXPECT_EQ(errors("tenant-a"), (std::vector<int64_t>{10'000, 10'000}));
  EXPECT_EQ(errors("ops"), (std::vector<int64_t>{3002, 3002}));
  EXPECT_EQ(Span("tenant-a", 1, 2)->from().host_time_error().nanos(), 10'000);
  EXPECT_EQ(Span("ops", 1, 2)->to().host_time_error().nanos(), 3002);
  BoundTimesOfTenants(absl::Microseconds(3));
  EXPECT_EQ(errors("tenant-a"), (std::vector<int64_t>{-1, -1})) << "known less closely";
  EXPECT_FALSE(Span("tenant-a", 1, 2)->to().has_host_time());
  EXPECT_EQ(errors("ops"), (std::vector<int64_t>{3002, 3002}));
}

TEST_F(MarkQueriesTest, ASpanIsWhatWasCountedBetweenTwoMarks) {
  ASSERT_TRUE(Mark("tenant-a", "vm0").ok());
  Serve(2000, {100, 7, 5});
  ASSERT_TRUE(Mark("tenant-a", "vm0").ok());
  Serve(5000, {160, 7, 5});
  const auto span = Span("tenant-a", 1, 2);
  ASSERT_TRUE(span.ok()) << span.status();
  EXPECT_EQ(CountsOf(*span), "cycles=60 dram_bytes=0 ");
  EXPECT_EQ(span->duration_ns(), 3000u);
  EXPECT_EQ(span->duration_error_ns(), 1u);
  EXPECT_DOUBLE_EQ(span->counters(0).rate_per_second(), 60 / 3e-6);
  ASSERT_EQ(span->flags_size(), 1);
  EXPECT_EQ(span->flags(0), "overflow");
  EXPECT_EQ(span->from().reference_time_ns(), 2000u);
  EXPECT_EQ(CountsOf(*Span("tenant-a", 2, 1)), CountsOf(*span)) << "in either order";
  EXPECT_EQ(CountsOf(*Span("tenant-a", 1, 2, kVm0Uuid, {"dram_bytes"})), "dram_bytes=0 ");
  EXPECT_EQ(Span("tenant-a", 1, 2, "vm0", {"pcie_bits"}).status(), NotFound());
}

TEST_F(MarkQueriesTest, ASpanTakesTheNamesThatScreensShow) {
  world_.topology = GatedTopology();
  world_.Publish(kGpu0, 2);
  for (const uint64_t resident : {100, 140}) {
    ASSERT_TRUE(Mark("tenant-a", "vm0").ok());
    Serve(20 * resident, {100, resident, 10});
  }
  EXPECT_EQ(CountsOf(*Span("tenant-a", 1, 2, "vm0", {"resident"})), "resident_cycles=40 ");
  EXPECT_EQ(Span("tenant-a", 1, 2, "vm0", {"residen"}).status(), NotFound());
}

// resident_cycles are 40 of both; the gate was open in 10 of the first 100 cycles, and in none of the next.
TEST_F(MarkQueriesTest, WhatWasNotCountedIsNoZero) {
  world_.topology = GatedTopology();
  world_.Publish(kGpu0, 2);
  const std::vector<uint64_t> counts[] = {{100, 100, 10}, {107, 140, 20}, {107, 180, 20}};
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(Mark("tenant-a", "vm0").ok());
    Serve(2000 * (i + 1), counts[i]);
  }
  const auto part = Span("tenant-a", 1, 2, "vm0", {"cycles"});
  ASSERT_TRUE(part.ok()) << part.status();
  ASSERT_EQ(part->counters_size(), 1);
  EXPECT_EQ(part->counters(0).count(), 7u);
  EXPECT_EQ(part->flags_size(), 2) << "overflow and partial";
  const auto none = Span("tenant-a", 2, 3, "vm0", {"cycles"});
  EXPECT_EQ(none->counters_size(), 0);
  EXPECT_EQ(none->flags_size(), 2);
}

TEST_F(MarkQueriesTest, OfWhatTakesTurnsTheCountIsALowerBound) {
  world_.topology = RotatingTopology();
  world_.Publish(kGpu0, 2);
  for (uint64_t i = 1; i <= 2; ++i) {
    ASSERT_TRUE(Mark("tenant-a", "vm0").ok());
    Serve(2000 * i, {100 * i, 7 * i, 5});
  }
  const auto span = Span("tenant-a", 1, 2);
  EXPECT_EQ(CountsOf(*span), "cycles=100 dram_bytes=7 ");
  EXPECT_FALSE(span->counters(0).has_estimate());
  EXPECT_EQ(span->counters(1).estimate().method(), sideband::v1::Estimate::METHOD_COUNTED);
}

TEST_F(MarkQueriesTest, OthersMarksAreNotThere) {
  ASSERT_TRUE(Mark("tenant-a", "vm0").ok());
  Serve(2000, {100, 7, 5});
  EXPECT_EQ(MarksOf("tenant-a"), std::vector<uint64_t>{1});
  EXPECT_EQ(MarksOf("ops"), std::vector<uint64_t>{1}) << "who reads the VM, reads its marks";
  EXPECT_TRUE(MarksOf("tenant-b").empty());
  EXPECT_EQ(Span("tenant-b", 1, 1).status(), NotFound());
  EXPECT_EQ(Span("tenant-b", 1, 1, "vm1").status(), NotFound());
  const auto of_b = Mark("tenant-b", "vm1", "train");
  ASSERT_TRUE(of_b.ok());
  EXPECT_EQ(of_b->mark_id(), 1u) << "numbers do not tell of others' marks";
}

TEST_F(MarkQueriesTest, AMarkNeedsItsRight) {
  EXPECT_EQ(Mark("ops", "vm0").status(), NotFound());
  EXPECT_EQ(Mark("tenant-a", "vm1").status(), NotFound());
  EXPECT_EQ(Mark("tenant-a", "vm7").status(), NotFound());
  EXPECT_EQ(Mark("tenant-a", "vm0", "train").status(), NotFound());
  EXPECT_EQ(Mark("tenant-b", "vm1").status(), NotFound()) << "of one context alone";
  EXPECT_TRUE(sink_.orders.empty());
}

TEST_F(MarkQueriesTest, EventsThatMayNotBeReadAreNotInASpan) {
  ASSERT_TRUE(Mark("tenant-b", "vm1", "train").ok());
  Serve(2000, {100, 7, 5});
  ASSERT_TRUE(Mark("tenant-b", "vm1", "train").ok());
  Serve(5000, {160, 9, 5});
  EXPECT_EQ(CountsOf(*Span("tenant-b", 1, 2, "vm1")), "cycles=60 ");
  EXPECT_EQ(Span("tenant-b", 1, 2, "vm1", {"dram_bytes"}).status(), NotFound());
}

TEST_F(MarkQueriesTest, AConfidentialVmHasNone) {
  const absl::Status status = Mark("tenant-c", "secret").status();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition) << "to whom it belongs";
  EXPECT_EQ(Mark("tenant-a", "secret").status(), NotFound());
  EXPECT_TRUE(sink_.orders.empty());
}

TEST_F(MarkQueriesTest, ASpanNeedsMarksThatWereRead) {
  ASSERT_TRUE(Mark("tenant-a", "vm0", "render").ok());
  EXPECT_EQ(Span("tenant-a", 1, 1).status().message(),
            "mark 1 is pending: it comes with the next snapshot; retry in 1s");
  EXPECT_TRUE(RetryAfter(Span("tenant-a", 1, 1).status()).has_value());
  EXPECT_EQ(Span("tenant-a", 1, 2).status(), NotFound());
  Serve(2000, {100, 7, 5});
  ASSERT_TRUE(Mark("tenant-a", "vm0").ok());
  Serve(2500, {100, 7, 5});
  EXPECT_EQ(Span("tenant-a", 1, 2).status().message(),
            "the marks belong to different counters: another scope, boot or generation");
}

TEST_F(MarkQueriesTest, ADeviceThatContradictsItselfIsNotBelieved) {
  ASSERT_TRUE(Mark("tenant-a", "vm0").ok());
  Serve(2000, {100, 7, 5});
  ASSERT_TRUE(Mark("tenant-a", "vm0").ok());
  Serve(5000, {99, 8, 5});
  EXPECT_EQ(Span("tenant-a", 1, 2).status().code(), StatusCode::kFailedPrecondition);
}

TEST_F(MarkQueriesTest, WhatTheDeviceRefusesIsNoMark) {
  const struct {
    absl::Status device;
    StatusCode caller;
  } cases[] = {{absl::NotFoundError("x"), StatusCode::kNotFound},
               {absl::UnimplementedError("x"), StatusCode::kFailedPrecondition},
               {absl::FailedPreconditionError("x"), StatusCode::kFailedPrecondition},
               {absl::ResourceExhaustedError("x"), StatusCode::kResourceExhausted},
               {absl::DataLossError("x"), StatusCode::kUnavailable}};
  for (const auto& [device, caller] : cases) {
    sink_.answer = device;
    EXPECT_EQ(Mark("tenant-a", "vm0").status().code(), caller);
  }
  sink_.refused = absl::UnavailableError("the device cannot be reached now");
  EXPECT_EQ(Mark("tenant-a", "vm0").status(), sink_.refused);
  EXPECT_TRUE(MarksOf("tenant-a").empty());
}

TEST_F(MarkQueriesTest, BadRequestsAreNamed) {
  MarkRequest request;
  EXPECT_EQ(marks_.Mark(CallerOf("tenant-a"), request, nullptr).message(), "device: must be given");
  EXPECT_EQ(Mark("tenant-a", "vm0", "", std::string(65, 'x')).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Mark("tenant-a", "vm0", "", "a\nb").status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(Mark("tenant-a", "vm0", "", std::string(64, 'x')).ok());
}

}  // namespace
}  // namespace sideband::daemon
