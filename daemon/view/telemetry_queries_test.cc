// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/telemetry_queries.h"

#include <gtest/gtest.h>

#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "daemon/base/retry_after.h"
#include "daemon/metrics/self_metrics.h"
#include "daemon/view/fake_world.h"
#include "daemon/view/row_filter.h"

namespace sideband::daemon {
namespace {

using absl::StatusCode;
using sideband::v1::PeekRequest;
using sideband::v1::PeekResponse;

class QueriesTest : public testing::Test {
 protected:
  QueriesTest() { world_.Publish(0, 1); }

  Caller As(const std::string& who) { return *world_.reader.Identify(CredentialsOf(who)); }

  std::string Events(const std::string& who, const std::string& device) {
    sideband::v1::ListEventsRequest request;
    request.set_device(device);
    const auto response = ListEvents(world_.reader, As(who), request);
    if (!response.ok()) return std::string(response.status().message());
    std::string text;
    for (const auto& entry : response->devices()) {
      absl::StrAppend(&text, entry.device(), ":");
      for (const auto& event : entry.events()) absl::StrAppend(&text, " ", event.name());
      absl::StrAppend(&text, "; ");
    }
    return text;
  }

  size_t Scopes(const std::string& who, const std::string& device) {
    sideband::v1::ListScopesRequest request;
    request.set_device(device);
    return ListScopes(world_.reader, As(who), request)->scopes_size();
  }

  FakeWorld world_;
  const std::unique_ptr<SelfMetrics> metrics_ = *SelfMetrics::Create({.version = "1"});
  SnapshotBodies bodies_{world_.reader, *metrics_};
};

TEST_F(QueriesTest, DevicesAreThoseOfTheCaller) {
  EXPECT_EQ(ListDevices(world_.reader, As("ops"), {})->devices_size(), 2);
  EXPECT_EQ(ListDevices(world_.reader, As("tenant-a"), {})->devices_size(), 1);
}

TEST_F(QueriesTest, EventsAreThoseOfTheCaller) {
  EXPECT_EQ(Events("ops", ""), "gpu0: cycles dram_bytes pcie_bytes; ");
  EXPECT_EQ(Events("tenant-a", "gpu0"), "gpu0: cycles dram_bytes; ");
  EXPECT_EQ(Events("tenant-b", "gpu0"), "gpu0: cycles; ");
}

TEST_F(QueriesTest, AbsentAndDeniedDevicesAnswerAlike) {
  EXPECT_EQ(Events("tenant-a", "gpu1"), NotFound().message());
  EXPECT_EQ(Events("tenant-a", "gpu9"), NotFound().message());
  EXPECT_EQ(Events("ops", "gpu1"), "") << "away, but the operator's";
}

TEST_F(QueriesTest, ScopesAreThoseOfTheCaller) {
  EXPECT_EQ(Scopes("ops", ""), 4u);
  EXPECT_EQ(Scopes("tenant-a", "gpu0"), 3u);
}

TEST_F(QueriesTest, SnapshotsLeaveOutWhatIsEmpty) {
  world_.Publish(1, 1);
  EXPECT_EQ(GetSnapshot(world_.reader, bodies_, As("ops"), {})->size(), 2u);
  sideband::v1::GetSnapshotRequest request;
  request.mutable_filter()->set_device("gpu1");
  EXPECT_EQ(GetSnapshot(world_.reader, bodies_, As("ops"), request)->size(), 1u);
  EXPECT_EQ(GetSnapshot(world_.reader, bodies_, As("tenant-c"), {})->size(), 0u) << "only sealed";
}

TEST_F(QueriesTest, SnapshotOfAnotherTenantsVmIsNotFound) {
  sideband::v1::GetSnapshotRequest request;
  request.mutable_filter()->set_vm("vm1");
  EXPECT_EQ(GetSnapshot(world_.reader, bodies_, As("tenant-a"), request).status(), NotFound());
}

class ClockQueriesTest : public testing::Test {
 protected:
  ClockQueriesTest() {
    mailbox::Catalog catalog = world_.topology->catalog();
    catalog.clock_domains = {{.name = "core", .nominal_hz = 1000, .slice = 1, .announces = true},
                             {.name = "dram", .nominal_hz = 500, .period_max = 9}};
    world_.topology = std::make_shared<Topology>(catalog, /*hash=*/6);
    world_.Publish(0, 1);
    auto snapshot = std::make_shared<DeviceSnapshot>(*world_.store.Newest(0));
    snapshot->clocks = {{.frequency = ClockState::Frequency{999, 1001}, .error_bound_s = 1e-9, .segments = 3},
                        {.is_withheld = true}};
    snapshot->reference_rate = ReferenceRate{-1, 2};
    snapshot->reference_is_unsound = true;
    world_.store.Publish(0, std::move(snapshot));
  }

  absl::StatusOr<sideband::v1::ListClocksResponse> List(const std::string& who, const std::string& device = "") {
    sideband::v1::ListClocksRequest request;
    request.set_device(device);
    return ListClocks(world_.reader, *world_.reader.Identify(CredentialsOf(who)), request);
  }

  FakeWorld world_;
};

TEST_F(ClockQueriesTest, AnOperatorSeesWhatIsKnown) {
  const auto response = List("ops");
  ASSERT_TRUE(response.ok()) << response.status();
  ASSERT_EQ(response->devices_size(), 1) << "gpu1 is away";
  const sideband::v1::DeviceClocks& device = response->devices(0);
  EXPECT_EQ(device.device(), "gpu0");
  EXPECT_EQ(device.reference_ppm_upper(), 2);
  EXPECT_TRUE(device.reference_unsound());
  EXPECT_EQ(device.host_time_error().nanos(), 2'000'000);
  ASSERT_EQ(device.clocks_size(), 2);
  EXPECT_EQ(device.clocks(0).name(), "core");
  EXPECT_EQ(device.clocks(0).slice(), 1u);
  EXPECT_EQ(device.clocks(0).hertz_lower(), 999);
  EXPECT_EQ(device.clocks(0).error_bound_seconds(), 1e-9);
  EXPECT_EQ(device.clocks(0).segments(), 3u);
  EXPECT_TRUE(device.clocks(1).withheld());
  EXPECT_FALSE(device.clocks(1).has_slice());
  EXPECT_FALSE(device.clocks(1).has_hertz_lower());
}

TEST_F(ClockQueriesTest, OthersSeeNone) {
  for (const std::string who : {"tenant-a", "auditor"}) {
    EXPECT_EQ(List(who)->devices_size(), 0) << who;
    EXPECT_EQ(List(who, "gpu0").status(), NotFound()) << who;
  }
  EXPECT_EQ(List("ops", "gpu7").status(), NotFound());
  EXPECT_EQ(List("ops", "gpu1")->devices_size(), 0);
}

// The world's policy, with peeks: tenant-a may peek at all of vm0, tenant-b at one context and event of vm1, tenant-c
// at the confidential VM, as far as that goes.
std::shared_ptr<const Policy> PeekPolicy() {
  return *Policy::Parse(R"(version: 1
operators: [{name: ops, identities: ["spiffe://example.org/ops"]}]
tenants:
  - name: a
    identities: ["spiffe://example.org/tenant-a"]
    vms: [{uuid: 00000000-0000-0000-0000-0000000000a0, rights: [read, peek]}]
  - name: b
    identities: ["spiffe://example.org/tenant-b"]
    vms: [{uuid: 00000000-0000-0000-0000-0000000000a1, contexts: [train], events: [cycles], rights: [read, peek]}]
  - name: c
    identities: ["spiffe://example.org/tenant-c"]
    vms: [{uuid: 00000000-0000-0000-0000-0000000000a2, rights: [read, peek, seal]}]
auditors: [{name: audit, identities: ["spiffe://example.org/auditor"]}]
)",
                        "policy.yaml");
}

std::shared_ptr<const Policy> OneRightPolicy(const std::string& right) {
  return *Policy::Parse(
      "version: 1\ntenants: [{name: a, identities: [\"spiffe://example.org/tenant-a\"], "
      "vms: [{uuid: 00000000-0000-0000-0000-0000000000a0, rights: [" +
          right + "]}]}]\n",
      "policy.yaml");
}

PeekRequest Request(const std::string& vm, const std::string& context, const std::vector<std::string>& events) {
  PeekRequest request;
  request.set_device("gpu0");
  request.set_vm(vm);
  request.set_context(context);
  for (const std::string& event : events) request.add_events(event);
  return request;
}

class PeekReaderTest : public testing::Test {
 protected:
  PeekReaderTest() {
    world_.policy.Replace(PeekPolicy());
    world_.Publish(0, 1);
  }

  absl::Status Ask(const std::string& who, const PeekRequest& request) {
    response_.reset();
    return peeks_
        .Ask(*world_.reader.Identify(CredentialsOf(who)), request,
             [this](const absl::StatusOr<PeekResponse>& response) { response_ = response; })
        .status();
  }
  // Publishes gpu0 without the confidential VM.
  void PublishOpen() {
    mailbox::Catalog catalog = world_.topology->catalog();
    catalog.vms.pop_back();
    catalog.contexts.pop_back();
    world_.topology = std::make_shared<const Topology>(catalog, 6);
    auto snapshot = std::make_shared<DeviceSnapshot>(*world_.store.Newest(0));
    snapshot->topology = world_.topology;
    snapshot->device_scope_withheld = false;
    world_.store.Publish(0, snapshot);
  }

  FakeWorld world_;
  FakeLiveReader live_;
  const PeekReader peeks_{world_.reader, live_};
  std::optional<absl::StatusOr<PeekResponse>> response_;
};

TEST_F(PeekReaderTest, AnAnswerHasTheScopeItsCountsAndItsTimes) {
  ASSERT_TRUE(Ask("tenant-a", Request("vm0", "compute", {"dram_bytes", "cycles", "dram_bytes"})).ok());
  const PeekQuery query = live_.Await(0).query;
  EXPECT_EQ(query.vm, 1);
  EXPECT_EQ(query.context, 11);
  EXPECT_EQ(query.boot_id, 77u);
  EXPECT_EQ(query.generation, 1u);
  EXPECT_EQ(query.events, (std::vector<uint16_t>{0, 1})) << "in the catalogue's order, each once";
  EXPECT_EQ(query.asker, world_.reader.Identify(CredentialsOf("tenant-a"))->principal.group());
  EXPECT_FALSE(response_) << "not before the device has answered";
  live_.Answer(0, PeekedBlock{.counters = {5, 6},
                              .reference_time_ns = 7,
                              .flags = mailbox::kFlagOverflow,
                              .host_time = absl::FromUnixSeconds(1'800'000'001),
                              .host_time_error = absl::Milliseconds(2)});
  ASSERT_TRUE(response_ && response_->ok());
  const PeekResponse& response = **response_;
  EXPECT_EQ(response.counters().scope().vm(), "vm0");
  EXPECT_EQ(response.counters().scope().context(), "compute");
  EXPECT_EQ(response.counters().scope().generation(), 1u);
  ASSERT_EQ(response.counters().counters_size(), 2);
  EXPECT_EQ(response.counters().counters(0).ShortDebugString(), "event: \"cycles\" count: 5");
  EXPECT_EQ(response.counters().counters(1).ShortDebugString(), "event: \"dram_bytes\" count: 6");
  EXPECT_EQ(response.counters().flags_size(), 1) << "those of the answer, not of the snapshot";
  EXPECT_EQ(response.counters().flags(0), "overflow");
  EXPECT_EQ(response.counters().state(), sideband::v1::ScopeCounters::STATE_UNSPECIFIED);
  EXPECT_EQ(response.reference_time_ns(), 7u);
  EXPECT_EQ(response.boot_id(), 77u);
  EXPECT_EQ(response.host_time().seconds(), 1'800'000'001);
  EXPECT_EQ(response.host_time_error().nanos(), 2'000'000);
}

TEST_F(PeekReaderTest, DeniedIsAbsent) {
  struct Row {
    const char* who;
    PeekRequest request;
  };
  PeekRequest other_device = Request("vm0", "", {"cycles"}), away = other_device;
  other_device.set_device("gpu9");
  away.set_device("gpu1");
  for (const Row& row : std::vector<Row>{
           {"tenant-a", Request("vm9", "", {"cycles"})},                     // absent
           {"tenant-a", Request("vm0", "nothing", {"cycles"})},              // absent
           {"tenant-a", Request("vm0", "", {"nothing"})},                    // absent
           {"tenant-a", Request("vm0", "", {"cycles", "nothing"})},          // one of them
           {"tenant-a", other_device},                                       // absent
           {"tenant-a", away},                                               // not read yet
           {"tenant-a", Request("", "", {"cycles"})},                        // the device's own
           {"tenant-a", Request("vm1", "", {"cycles"})},                     // another tenant's
           {"tenant-a", Request("vm1", "train", {"cycles"})},                //
           {"tenant-a", Request("secret", "", {"cycles"})},                  // confidential, another tenant's
           {"tenant-a", Request("vm0", "", {"pcie_bytes"})},                 // an event of the device
           {"tenant-b", Request("vm1", "", {"cycles"})},                     // the VM, of one context
           {"tenant-b", Request("vm1", "train", {"dram_bytes"})},            // another event
           {"tenant-b", Request("vm1", "train", {"cycles", "dram_bytes"})},  //
           {"tenant-c", Request("secret", "", {"cycles"})},                  // confidential, the tenant's own
           {"tenant-c", Request("secret", "inner", {"cycles"})},             //
           {"ops", Request("secret", "", {"cycles"})},                       // confidential
           {"ops", Request("vm0", "render", {"cycles"})},                    // a context
           {"auditor", Request("vm0", "", {"cycles"})},                      //
       }) {
    EXPECT_EQ(Ask(row.who, row.request), NotFound()) << row.who << ": " << row.request.ShortDebugString();
  }
  EXPECT_EQ(live_.count(), 0u);
}

TEST_F(PeekReaderTest, EachRoleHasItsScopes) {
  EXPECT_TRUE(Ask("tenant-a", Request("vm0", "", {"cycles"})).ok());
  EXPECT_TRUE(Ask("tenant-a", Request(kVm0Uuid, "render", {"cycles", "dram_bytes"})).ok());
  EXPECT_TRUE(Ask("tenant-b", Request("vm1", "train", {"cycles"})).ok());
  EXPECT_TRUE(Ask("ops", Request("vm0", "", {"cycles"})).ok());
  EXPECT_TRUE(Ask("ops", Request("vm1", "", {"cycles"})).ok());
  PublishOpen();
  EXPECT_TRUE(Ask("ops", Request("", "", {"cycles", "pcie_bytes"})).ok());
}

TEST_F(PeekReaderTest, AnEventIsFoundByTheNameThatScreensShow) {
  mailbox::Catalog catalog = world_.topology->catalog();
  catalog.events[1].name = "dram_read_cycles";
  world_.topology = std::make_shared<const Topology>(catalog, 6);
  world_.Publish(0, 2);
  ASSERT_TRUE(Ask("tenant-a", Request("vm0", "", {"dram_read", "dram_read_cycles"})).ok());
  EXPECT_EQ(live_.Await(0).query.events, (std::vector<uint16_t>{1}));
  EXPECT_EQ(Ask("tenant-a", Request("vm0", "", {"dram"})), NotFound());
  EXPECT_EQ(Ask("tenant-b", Request("vm1", "train", {"dram_read"})), NotFound()) << "denied";
}

TEST_F(PeekReaderTest, TheRightIsNeeded) {
  for (const auto& [right, code] :
       {std::pair("read", StatusCode::kNotFound), std::pair("mark", StatusCode::kNotFound),
        std::pair("read, mark, seal", StatusCode::kNotFound), std::pair("read, peek", StatusCode::kOk)}) {
    world_.policy.Replace(OneRightPolicy(right));
    EXPECT_EQ(Ask("tenant-a", Request("vm0", "", {"cycles"})).code(), code) << right;
  }
}

TEST_F(PeekReaderTest, TheFormIsCheckedBeforeAnythingElse) {
  PeekRequest no_device = Request("vm0", "", {"cycles"});
  no_device.clear_device();
  PeekRequest many = Request("vm0", "", std::vector<std::string>(65, "cycles"));
  for (const char* who : {"tenant-a", "ops", "auditor"}) {
    EXPECT_EQ(Ask(who, no_device), absl::InvalidArgumentError("device: must be given"));
    EXPECT_EQ(Ask(who, Request("vm0", "", {})), absl::InvalidArgumentError("events: must be 1 to 64"));
    EXPECT_EQ(Ask(who, many), absl::InvalidArgumentError("events: must be 1 to 64"));
    EXPECT_EQ(Ask(who, Request("", "train", {"cycles"})), absl::InvalidArgumentError("context: needs a VM"));
  }
  many.mutable_events()->RemoveLast();
  EXPECT_TRUE(Ask("tenant-a", many).ok());
}

TEST_F(PeekReaderTest, WhatCannotBeAnsweredIsSaidToWhomItMayConcern) {
  EXPECT_EQ(Ask("ops", Request("", "", {"cycles"})),
            absl::FailedPreconditionError("the device's own counters are withheld because of a confidential VM"));
  mailbox::Catalog catalog = world_.topology->catalog();
  catalog.events[1].masked = true;
  catalog.contexts[1].name = "render";  // as the one before it
  world_.topology = std::make_shared<const Topology>(catalog, 6);
  world_.Publish(0, 2);
  EXPECT_EQ(Ask("tenant-a", Request("vm0", "", {"cycles", "dram_bytes"})),
            absl::FailedPreconditionError("the device does not count dram_bytes"));
  EXPECT_EQ(Ask("tenant-a", Request("vm0", "render", {"cycles"})),
            absl::FailedPreconditionError("context: several contexts have this name"));
  EXPECT_EQ(Ask("ops", Request("vm0", "render", {"cycles"})), NotFound());
  world_.clock.Advance(absl::Seconds(4));
  EXPECT_EQ(Ask("tenant-a", Request("vm0", "", {"cycles"})), absl::UnavailableError("the device does not answer"));
  EXPECT_EQ(live_.count(), 0u);
}

TEST_F(PeekReaderTest, BesidePrivateVmsTheDeviceIsPeekedAtButForItsOwnEvents) {
  mailbox::Catalog catalog = world_.topology->catalog();
  catalog.vms[2].is_private = true;
  catalog.has_had_confidential_vm = catalog.confidential_vms_were_private = true;
  world_.topology = std::make_shared<const Topology>(catalog, 6);
  world_.Publish(0, 2);
  ASSERT_TRUE(Ask("ops", Request("", "", {"cycles"})).ok());
  live_.Answer(0, PeekedBlock{.counters = {5}});
  ASSERT_TRUE(response_ && response_->ok());
  EXPECT_EQ((*response_)->counters().counters(0).count(), 5u);
  EXPECT_EQ(Ask("ops", Request("", "", {"cycles", "pcie_bytes"})),
            absl::FailedPreconditionError("pcie_bytes is withheld because of a confidential VM"));
  world_.policy.Replace(*Policy::Parse(
      "version: 1\noperators: [{name: ops, identities: [\"spiffe://example.org/ops\"]}]\ntenants: [{name: a, "
      "identities: [\"spiffe://example.org/a\"], vms: [{uuid: 00000000-0000-0000-0000-0000000000a0, rights: "
      "[seal]}]}]\n",
      "policy.yaml"));
  EXPECT_EQ(Ask("ops", Request("", "", {"cycles"})),
            absl::FailedPreconditionError("the device's own counters are withheld because of a confidential VM"))
      << "the policy makes a VM confidential that is not private";
}

TEST_F(PeekReaderTest, ErrorsOfTheBusDoNotDescribeIt) {
  const struct {
    absl::Status of_bus;
    absl::Status of_caller;
  } kRows[] = {
      {absl::NotFoundError("PEEK: no block"), NotFound()},
      {absl::UnavailableError("device at 0x4f: refused a byte"),
       absl::UnavailableError("the device cannot be read now")},
      {absl::DataLossError("device at 0x4f: wrong PEC"), absl::UnavailableError("the device cannot be read now")},
      {absl::CancelledError("stopping"), absl::UnavailableError("the device cannot be read now")},
      {absl::DeadlineExceededError("device at 0x4f: held the clock"),
       absl::DeadlineExceededError("the device's bus was busy for too long")},
      {absl::UnimplementedError("PEEK: ERR_OPCODE"), absl::UnimplementedError("the device does not answer peeks")},
      {absl::AbortedError("PEEK: interference"),
       absl::AbortedError(
           "the counters have started from 0 again, or other controllers have interfered each time; ask again")},
  };
  for (size_t i = 0; i < std::size(kRows); ++i) {
    ASSERT_TRUE(Ask("tenant-a", Request("vm0", "", {"cycles"})).ok());
    live_.Answer(i, kRows[i].of_bus);
    ASSERT_TRUE(response_);
    EXPECT_EQ(response_->status(), kRows[i].of_caller);
  }
}

TEST_F(PeekReaderTest, ARefusalKeepsItsRetryTime) {
  live_.Refuse(WithRetryAfter(absl::ResourceExhaustedError("used up"), absl::Milliseconds(70)));
  const absl::Status refused = Ask("tenant-a", Request("vm0", "", {"cycles"}));
  EXPECT_EQ(refused.message(), "used up; retry in 70ms");
  EXPECT_EQ(RetryAfter(refused), absl::Milliseconds(70));
  live_.Refuse(absl::InvalidArgumentError("events: of too many extends"));
  EXPECT_EQ(Ask("tenant-a", Request("vm0", "", {"cycles"})), absl::InvalidArgumentError("events: of too many extends"));
  live_.Refuse(absl::FailedPreconditionError("peeks are switched off"));
  EXPECT_EQ(Ask("tenant-a", Request("vm0", "", {"cycles"})), absl::FailedPreconditionError("peeks are switched off"));
}

TEST_F(PeekReaderTest, AnotherPolicyMeanwhileEndsIt) {
  ASSERT_TRUE(Ask("tenant-a", Request("vm0", "", {"cycles"})).ok());
  world_.policy.Replace(PeekPolicy());
  live_.Answer(0, PeekedBlock{.counters = {5}});
  ASSERT_TRUE(response_);
  EXPECT_EQ(response_->status(), absl::AbortedError("the policy has changed meanwhile; ask again"));
}

TEST_F(PeekReaderTest, WhatThePolicyMakesConfidentialIsHiddenBeforeTheNextSnapshot) {
  PublishOpen();
  world_.policy.Replace(OneRightPolicy("read, peek, seal"));
  EXPECT_EQ(Ask("tenant-a", Request("vm0", "", {"cycles"})), NotFound());
  world_.policy.Replace(*Policy::Parse(
      "version: 1\noperators: [{name: ops, identities: [\"spiffe://example.org/ops\"]}]\ntenants: [{name: a, "
      "identities: "
      "[\"spiffe://example.org/a\"], vms: [{uuid: 00000000-0000-0000-0000-0000000000a0, rights: [seal]}]}]\n",
      "policy.yaml"));
  EXPECT_EQ(Ask("ops", Request("vm0", "", {"cycles"})), NotFound());
  EXPECT_EQ(Ask("ops", Request("", "", {"cycles"})).code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(Ask("ops", Request("vm1", "", {"cycles"})).ok());
}

TEST_F(PeekReaderTest, ARequestCanBeCancelled) {
  const auto ticket = peeks_.Ask(*world_.reader.Identify(CredentialsOf("tenant-a")), Request("vm0", "", {"cycles"}),
                                 [](const absl::StatusOr<PeekResponse>&) { FAIL(); });
  ASSERT_TRUE(ticket.ok());
  EXPECT_TRUE(peeks_.Cancel(*ticket));
  EXPECT_FALSE(live_.IsPending(0));
}

TEST_F(PeekReaderTest, OfWhatTakesTurnsACountIsALowerBound) {
  world_.topology = RotatingTopology();
  world_.Publish(0, 2);
  ASSERT_TRUE(Ask("tenant-a", Request("vm0", "", {"cycles", "dram_bytes"})).ok());
  live_.Answer(0, PeekedBlock{.counters = {1000, 42}, .host_time = absl::FromUnixSeconds(1'800'000'001)});
  const sideband::v1::ScopeCounters& row = (**response_).counters();
  EXPECT_EQ(row.flags(0), "partial");
  EXPECT_FALSE(row.counters(0).has_estimate()) << "cycles are always counted";
  EXPECT_EQ(row.counters(1).estimate().lower(), 42u);
  EXPECT_EQ(row.counters(1).estimate().method(), sideband::v1::Estimate::METHOD_COUNTED);
}

class GatedPeekReaderTest : public PeekReaderTest {
 protected:
  GatedPeekReaderTest() {
    world_.topology = GatedTopology();
    world_.Publish(0, 2);
  }
  PeekResponse Answer(const std::vector<uint64_t>& counters) {
    EXPECT_TRUE(Ask("tenant-b", Request("vm1", "train", {"cycles"})).ok());
    EXPECT_EQ(live_.Await(asked_).query.events, (std::vector<uint16_t>{0, 1, 2})) << "with the cycles of its gate";
    live_.Answer(asked_++, PeekedBlock{.counters = counters, .host_time = absl::FromUnixSeconds(1'800'000'001)});
    return **response_;
  }

  size_t asked_ = 0;
};

TEST_F(GatedPeekReaderTest, ACountHasItsCoverage) {
  const PeekResponse partial = Answer({70, 1000, 900});
  ASSERT_EQ(partial.counters().counters_size(), 1);
  EXPECT_DOUBLE_EQ(partial.counters().counters(0).coverage(), 0.9);
  EXPECT_EQ(partial.counters().flags(0), "partial");
  const PeekResponse whole = Answer({70, 1000, 1000});
  EXPECT_EQ(whole.counters().counters(0).coverage(), 1);
  EXPECT_EQ(whole.counters().flags_size(), 0);
}

TEST_F(GatedPeekReaderTest, AnEventThatWasNeverCountedHasNoCount) {
  const PeekResponse never = Answer({0, 1000, 0});
  EXPECT_EQ(never.counters().counters_size(), 0);
  EXPECT_EQ(never.counters().flags(0), "partial");
}

}  // namespace
}  // namespace sideband::daemon
