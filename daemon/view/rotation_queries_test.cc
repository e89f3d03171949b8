// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/rotation_queries.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <utility>
#include <variant>

#include "absl/strings/match.h"
#include "daemon/view/fake_world.h"
#include "daemon/view/row_filter.h"
#include "proto/mailbox/rotation_file.h"

namespace sideband::daemon {
namespace {

using sideband::v1::GetRotationRequest;
using sideband::v1::LearnRotationRequest;
using sideband::v1::SetRotationRequest;

class FakeRotationSink final : public RotationSink {
 public:
  absl::Status Ask(size_t device, RotationOrder order, Done done) override {
    applied.push_back({device, std::move(order)});
    if (asked.ok()) done(answer);
    return asked;
  }
  struct Applied {
    size_t device;
    RotationOrder order;
  };
  const mailbox::RotationSettings& Settings(size_t order) const {
    return std::get<mailbox::RotationRequest>(applied[order].order.what).settings;
  }
  std::vector<Applied> applied;
  absl::Status asked;   // of Ask
  absl::Status answer;  // of the device
};

// tenant-a may multiplex events of vm0, tenant-b may not.
constexpr char kRotationPolicy[] = R"(version: 1
operators: [{name: ops, identities: ["spiffe://example.org/ops"]}]
tenants:
  - name: a
    identities: ["spiffe://example.org/tenant-a"]
    vms: [{uuid: 00000000-0000-0000-0000-0000000000a0, rights: [read, rotate]}]
  - name: b
    identities: ["spiffe://example.org/tenant-b"]
    vms: [{uuid: 00000000-0000-0000-0000-0000000000a1, contexts: [train], events: [cycles, dram_bytes]}]
)";

class RotationQueriesTest : public testing::Test {
 protected:
  RotationQueriesTest() {
    world_.policy.Replace(*Policy::Parse(kRotationPolicy, "policy.yaml"), nullptr);
    world_.topology = RotatingTopology();
    world_.Publish(0, 1);
  }

  auto Get(const std::string& who, const std::string& vm = "", const std::string& device = "gpu0") {
    GetRotationRequest request;
    request.set_device(device);
    request.set_vm(vm);
    return GetRotation(world_.reader, *world_.reader.Identify(CredentialsOf(who)), request);
  }
  static SetRotationRequest Change(const std::string& vm) {
    SetRotationRequest request;
    request.set_device("gpu0");
    request.set_vm(vm);
    return request;
  }
  auto Set(const std::string& who, const SetRotationRequest& request) {
    return Answer([&](auto done) {
      return SetRotation(world_.reader, &sink_, *world_.reader.Identify(CredentialsOf(who)), request, std::move(done));
    });
  }
  absl::Status Learn(const std::string& who, const std::string& vm, const std::string& context) {
    LearnRotationRequest request;
    request.set_device("gpu0");
    request.set_vm(vm);
    request.set_context(context);
    absl::Status answer;
    const absl::Status asked = LearnRotation(world_.reader, &sink_, *world_.reader.Identify(CredentialsOf(who)),
                                             request, [&](const auto& response) { answer = response.status(); });
    return asked.ok() ? answer : asked;
  }
  // The call must be answered at once.
  template <typename Call>
  static absl::Status Answer(Call call) {
    absl::Status answer = absl::InternalError("not answered");
    const absl::Status asked = call(
        RotationDone<sideband::v1::SetRotationResponse>([&](const auto& response) { answer = response.status(); }));
    return asked.ok() ? answer : asked;
  }
  // The refusal of a change of vm0 by its tenant.
  template <typename Edit>
  std::string Refusal(Edit edit) {
    SetRotationRequest request = Change("vm0");
    edit(request);
    return std::string(Set("tenant-a", request).message());
  }

  FakeWorld world_;
  FakeRotationSink sink_;
};

TEST_F(RotationQueriesTest, RowsPlansAndCoverageAreThoseOfTheCaller) {
  const auto response = Get("tenant-a");
  ASSERT_TRUE(response.ok()) << response.status();
  ASSERT_EQ(response->rows_size(), 3) << "vm0 and its contexts";
  EXPECT_EQ(response->rows(0).scope().vm(), "vm0");
  ASSERT_EQ(response->rows(0).events_size(), 1) << "cycles are always counted";
  EXPECT_EQ(response->rows(0).events(0).event(), "dram_bytes");
  EXPECT_EQ(response->rows(0).events(0).coverage(), 0.5);
  EXPECT_EQ(response->rows(0).events(0).counting(), sideband::v1::Event::COUNTING_ROTATED);
  EXPECT_EQ(response->rows(0).parts(0).enabled_ns(), 1000u);
  EXPECT_EQ(response->rows(0).parts(0).set_running_ns(1), 500u);
  ASSERT_EQ(response->plans_size(), 1);
  EXPECT_EQ(response->plans(0).sets(0).events(0), "dram_bytes");
  EXPECT_EQ(response->plans(0).settings().stable_slot().nanos(), 200'000);
  EXPECT_EQ(Get("tenant-a", "vm0")->rows_size(), 3);
  EXPECT_EQ(Get("tenant-b")->rows_size(), 1);
}

TEST_F(RotationQueriesTest, APlanHasItsPasses) {
  EXPECT_EQ(Get("tenant-a")->plans(0).passes(), 1u);
  EXPECT_TRUE(Get("tenant-a")->plans(0).settings().has_sets_per_pass());
  mailbox::Catalog catalog = world_.topology->catalog();
  catalog.plans[0].sets = {{0b010}, {0}, {0}, {0}, {0}};
  catalog.plans[0].settings = SettingsOf(DefaultTerms(mailbox::RotationProfile::kTwoSet), catalog.reference_clock_hz);
  world_.topology = std::make_shared<Topology>(catalog, /*hash=*/80);
  world_.Publish(0, 2);
  const auto response = Get("tenant-a");
  EXPECT_EQ(response->plans(0).settings().sets_per_pass(), 2u);
  EXPECT_EQ(response->plans(0).passes(), 3u) << "one with a set, two with two";
}

// The device counts all plans of a boot: vm0 has its plans 4 and 9, vm1 7.
class ManyPlansTest : public RotationQueriesTest {
 protected:
  ManyPlansTest() {
    mailbox::Catalog catalog = world_.topology->catalog();
    catalog.events[0].details.counting = mailbox::Counting::kRotated;
    for (const uint16_t number : {4, 7, 9}) {
      mailbox::RotationPlan plan{.number = number, .sets = {{0b001}, {0b010}}, .derived = {}, .settings = {}};
      plan.settings.weights = {{0, 2000}, {1, 3000}};
      catalog.plans.push_back(plan);
    }
    world_.topology = std::make_shared<Topology>(catalog, /*hash=*/9);
    world_.Publish(0, 2);
    auto snapshot = std::make_shared<DeviceSnapshot>(*world_.store.Newest(0));
    for (size_t row = 0; row < snapshot->data.blocks.size(); ++row) {
      auto& numbers = snapshot->data.rotation[row];
      const uint16_t vm = snapshot->data.blocks[row].vm;
      numbers.events.resize(2);
      if (vm == 1) numbers.parts.push_back(PartOf(4)), numbers.parts.push_back(PartOf(9));
      if (vm == 2) numbers.parts.push_back(PartOf(7));
      numbers.parts.push_back({.plan = mailbox::kForgottenPlan, .enabled = {5}, .running = {}});
    }
    world_.store.Publish(0, std::move(snapshot));
  }
  static mailbox::RotationPart PartOf(uint16_t plan) { return {.plan = plan, .enabled = {10}, .running = {5, 5}}; }

  std::vector<uint32_t> PlansOf(const std::string& who, const std::string& vm = "") {
    const auto response = Get(who, vm);
    std::vector<uint32_t> numbers;
    for (const auto& plan : response->plans()) numbers.push_back(plan.number());
    return numbers;
  }
};

TEST_F(ManyPlansTest, ATenantsPlansAreCountedForItself) {
  EXPECT_EQ(PlansOf("ops"), (std::vector<uint32_t>{0, 4, 7, 9})) << "the device's numbers";
  EXPECT_EQ(PlansOf("tenant-a"), (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_EQ(PlansOf("tenant-b"), (std::vector<uint32_t>{0, 1}));
  const auto response = Get("tenant-a");
  std::vector<uint32_t> parts;
  for (const auto& part : response->rows(0).parts()) parts.push_back(part.plan());
  EXPECT_EQ(parts, (std::vector<uint32_t>{0, 1, 2, mailbox::kForgottenPlan}));
}

// tenant-both may read both events in vm0 and one of them in vm1.
TEST_F(ManyPlansTest, APlanHasTheEventsThatAreReadableInItsRows) {
  world_.policy.Replace(*Policy::Parse(R"(version: 1
tenants:
  - name: both
    identities: ["spiffe://example.org/both"]
    vms:
      - {uuid: 00000000-0000-0000-0000-0000000000a0, rights: [read]}
      - {uuid: 00000000-0000-0000-0000-0000000000a1, rights: [read], events: [cycles]}
)",
                                       "policy.yaml"),
                        nullptr);
  const auto response = Get("both");
  ASSERT_EQ(response->plans_size(), 4);
  const auto& of_vm1 = response->plans(3);
  EXPECT_EQ(of_vm1.number(), 3u) << "after those of vm0";
  EXPECT_EQ(of_vm1.sets(0).events_size(), 1);
  EXPECT_EQ(of_vm1.sets(1).events_size(), 0) << "dram_bytes";
  EXPECT_EQ(of_vm1.settings().weights_size(), 1);
  EXPECT_EQ(response->plans(1).sets(1).events(0), "dram_bytes") << "of vm0";
  const auto filtered = Get("both", "vm1");
  EXPECT_EQ(filtered->plans(1).number(), 3u) << "the same, whatever is asked for";
}

TEST_F(RotationQueriesTest, WhatIsNotTheCallersIsAbsent) {
  EXPECT_EQ(Get("tenant-a", "vm1").status(), Get("tenant-a", "nothing").status());
  EXPECT_TRUE(absl::IsNotFound(Get("tenant-a", "vm1").status()));
  EXPECT_TRUE(absl::IsNotFound(Get("tenant-a", "", "gpu7").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Get("tenant-a", "", "").status()));
  world_.topology = FakeTopology();
  world_.Publish(0, 2);
  EXPECT_TRUE(absl::IsNotFound(Get("ops").status())) << "nothing takes turns";
}

TEST_F(RotationQueriesTest, AChangeIsHandedOnAsTheDeviceHasIt) {
  SetRotationRequest request = Change("vm0");
  request.add_contexts("compute");
  request.add_contexts("render");
  request.add_events("dram_bytes");
  request.mutable_settings()->mutable_stable_slot()->set_nanos(50'000);
  request.mutable_settings()->set_threshold(0.1);
  request.mutable_settings()->set_adapt(false);
  (*request.mutable_settings()->mutable_weights())["dram_bytes"] = 2.5;
  ASSERT_TRUE(Set("tenant-a", request).ok()) << Set("tenant-a", request);
  ASSERT_GE(sink_.applied.size(), 1u);
  const auto& wanted = std::get<mailbox::RotationRequest>(sink_.applied[0].order.what);
  EXPECT_EQ(sink_.applied[0].device, 0u);
  EXPECT_EQ(sink_.applied[0].order.boot_id, 77u);
  EXPECT_EQ(sink_.applied[0].order.topology, world_.topology);
  EXPECT_EQ(sink_.applied[0].order.asker, world_.reader.Identify(CredentialsOf("tenant-a"))->principal.group());
  EXPECT_EQ(wanted.vm, 1);
  EXPECT_EQ(wanted.contexts, (std::vector<uint16_t>{10, 11}));
  EXPECT_EQ(wanted.events, (mailbox::EventSet{0b010}));
  EXPECT_EQ(wanted.settings.stable_slot, 50'000u);
  EXPECT_EQ(wanted.settings.fluctuating_slot, mailbox::RotationSettings().fluctuating_slot);
  EXPECT_EQ(wanted.settings.threshold_per_mille, 100u);
  EXPECT_FALSE(wanted.settings.adapt);
  EXPECT_EQ(wanted.settings.weights.at(1), 2500u);
}

TEST_F(RotationQueriesTest, DefaultsAreOfTheProfileAndTheClock) {
  mailbox::Catalog catalog = world_.topology->catalog();
  catalog.reference_clock_hz = 1'500'000'000;
  world_.topology = std::make_shared<Topology>(catalog, /*hash=*/78);
  world_.Publish(0, 2);
  SetRotationRequest request = Change("vm0");
  ASSERT_TRUE(Set("tenant-a", request).ok());
  EXPECT_EQ(sink_.Settings(0).stable_slot, 300'000u) << "200 us";
  EXPECT_EQ(sink_.Settings(0).sets_per_pass, 0u);
  EXPECT_TRUE(sink_.Settings(0).adapt);
  request.mutable_settings()->set_profile(sideband::v1::RotationSettings::PROFILE_TWO_SET);
  ASSERT_TRUE(Set("tenant-a", request).ok());
  EXPECT_EQ(sink_.Settings(1), SettingsOf(DefaultTerms(mailbox::RotationProfile::kTwoSet), 1'500'000'000));
  request.mutable_settings()->set_sets_per_pass(0);
  ASSERT_TRUE(Set("tenant-a", request).ok());
  EXPECT_EQ(sink_.Settings(2).sets_per_pass, 0u) << "all";
}

TEST_F(RotationQueriesTest, WithoutTheRightAVmIsAbsent) {
  EXPECT_TRUE(absl::IsNotFound(Set("tenant-b", Change("vm1")))) << "it may read it only";
  EXPECT_EQ(Set("tenant-a", Change("vm1")), Set("tenant-a", Change("nothing")));
  EXPECT_TRUE(absl::IsNotFound(Set("ops", Change("secret")))) << "which is confidential";
  EXPECT_TRUE(sink_.applied.empty());
  EXPECT_TRUE(Set("ops", Change("vm1")).ok());
  SetRotationRequest of_context = Change("vm1");
  of_context.add_contexts("train");
  EXPECT_TRUE(absl::IsNotFound(Set("ops", of_context))) << "a tenant's";
}

TEST_F(RotationQueriesTest, MistakesAreNamed) {
  EXPECT_EQ(Refusal([](auto& r) { r.add_events("cycles"); }), "events: cycles cannot be multiplexed");
  EXPECT_EQ(Refusal([](auto& r) { r.add_events("pcie_bytes"); }), NotFound().message());
  EXPECT_EQ(Refusal([](auto& r) { r.mutable_settings()->set_threshold(1.5); }),
            "settings.threshold: must be a number from 0 to 1, such as 0.05");
  EXPECT_EQ(Refusal([](auto& r) { r.mutable_settings()->set_threshold(std::nan("")); }),
            "settings.threshold: must be a number from 0 to 1, such as 0.05");
  EXPECT_EQ(Refusal([](auto& r) { r.mutable_settings()->set_step(0); }),
            "settings.step: must be a whole number from 1 to 1000");
  EXPECT_EQ(Refusal([](auto& r) { r.mutable_settings()->set_sets_per_pass(65); }),
            "settings.sets_per_pass: must be 0, which is all, or a whole number from 1 to 64");
  EXPECT_EQ(Refusal([](auto& r) { r.mutable_settings()->mutable_interval()->set_seconds(24 * 3600 + 1); }),
            "settings.interval: must be a time from 1ns to 24h, such as 200us");
  EXPECT_EQ(Refusal([](auto& r) { (*r.mutable_settings()->mutable_weights())["dram_bytes"] = -1; }),
            "settings.weights: dram_bytes must be a number from 0 to 1000");
  EXPECT_EQ(Refusal([](auto& r) {
              r.mutable_settings()->set_profile(sideband::v1::RotationSettings::PROFILE_TWO_SET);
              r.mutable_settings()->set_adapt(true);
            }),
            "settings.adapt: is for the profile fast only");
  EXPECT_TRUE(sink_.applied.empty());
}

TEST_F(RotationQueriesTest, EventsAreFoundByTheNamesThatScreensShow) {
  mailbox::Catalog catalog = world_.topology->catalog();
  catalog.events[0].name = "sm_active_cycles";
  catalog.events[1].name = "dram_read_cycles";
  world_.topology = std::make_shared<Topology>(catalog, /*hash=*/79);
  world_.Publish(0, 2);
  SetRotationRequest request = Change("vm0");
  request.add_events("dram_read");
  request.add_always("dram_read");
  (*request.mutable_settings()->mutable_weights())["dram_read"] = 2.5;
  ASSERT_TRUE(Set("tenant-a", request).ok());
  const auto& wanted = std::get<mailbox::RotationRequest>(sink_.applied[0].order.what);
  EXPECT_EQ(wanted.events, (mailbox::EventSet{0b010}));
  EXPECT_EQ(wanted.always, (mailbox::EventSet{0b010}));
  EXPECT_EQ(wanted.settings.weights.at(1), 2500u);
  EXPECT_EQ(Refusal([](auto& r) { r.add_events("sm_active"); }), "events: sm_active_cycles cannot be multiplexed");
  EXPECT_EQ(Refusal([](auto& r) { r.add_events("dram"); }), NotFound().message());
  (*request.mutable_settings()->mutable_weights())["dram_read_cycles"] = 3;
  EXPECT_EQ(Set("tenant-a", request).message(), "settings.weights: dram_read_cycles is given twice");
}

TEST_F(RotationQueriesTest, ThereIsAnEventThatTakesTurns) {
  mailbox::Catalog catalog = world_.topology->catalog();
  catalog.events[1].masked = true;
  world_.topology = std::make_shared<Topology>(catalog, /*hash=*/79);
  world_.Publish(0, 2);
  EXPECT_TRUE(absl::IsNotFound(Set("tenant-a", Change("vm0"))));
  EXPECT_TRUE(sink_.applied.empty());
}

TEST_F(RotationQueriesTest, ACheckChangesNothing) {
  SetRotationRequest request = Change("vm0");
  request.set_validate_only(true);
  EXPECT_TRUE(Set("tenant-a", request).ok());
  EXPECT_TRUE(sink_.applied.empty());
  request.set_validate_only(false);
  sink_.asked = absl::UnavailableError("busy");
  EXPECT_TRUE(absl::IsUnavailable(Set("tenant-a", request)));
  EXPECT_TRUE(absl::IsFailedPrecondition(Answer([&](auto done) {
    return SetRotation(world_.reader, nullptr, *world_.reader.Identify(CredentialsOf("tenant-a")), request, done);
  })));
}

TEST_F(RotationQueriesTest, WhatTheDeviceAnswersIsInTheCallersWords) {
  const auto answered = [&](const absl::Status& answer) {
    sink_.answer = answer;
    return Set("tenant-a", Change("vm0"));
  };
  const absl::Status refused = answered(absl::InvalidArgumentError("ROTATE: ERR_DATA"));
  EXPECT_TRUE(absl::IsFailedPrecondition(refused));
  EXPECT_TRUE(absl::StartsWith(refused.message(), "the device refuses this rotation: ")) << refused;
  EXPECT_EQ(refused.message().find("slots."), std::string::npos) << "turns as long as the device's own";
  SetRotationRequest shorter = Change("vm0");
  shorter.mutable_settings()->mutable_stable_slot()->set_nanos(500);
  EXPECT_TRUE(absl::StrContains(Set("tenant-a", shorter).message(),
                                "slots.stable: 500ns may be shorter than the device allows"));
  EXPECT_EQ(answered(absl::UnimplementedError("ROTATE: no")).message(),
            "the device's rotation cannot be changed: ROTATE: no");
  EXPECT_EQ(answered(absl::AbortedError("interference")),
            absl::UnavailableError("the device was not changed: interference"));
  EXPECT_TRUE(answered(absl::OkStatus()).ok());
}

TEST_F(RotationQueriesTest, LearningNeedsTheRightToChange) {
  ASSERT_TRUE(Learn("tenant-a", "vm0", "compute").ok());
  EXPECT_EQ(std::get<LearnRequest>(sink_.applied[0].order.what), (LearnRequest{.vm = 1, .context = 11}));
  ASSERT_TRUE(Learn("tenant-a", "vm0", "").ok());
  EXPECT_EQ(std::get<LearnRequest>(sink_.applied[1].order.what), (LearnRequest{.vm = 1}));
  EXPECT_TRUE(absl::IsNotFound(Learn("tenant-b", "vm1", "train"))) << "it may read it only";
  EXPECT_EQ(Learn("tenant-a", "vm1", "train"), Learn("tenant-a", "nothing", ""));
  EXPECT_EQ(sink_.applied.size(), 2u);
  for (const absl::Status& refused :
       {absl::NotFoundError("ROTATE: no event is multiplexed there"), absl::InvalidArgumentError("ROTATE: ERR_DATA"),
        absl::FailedPreconditionError("ROTATE: nothing to learn")}) {
    sink_.answer = refused;
    const absl::Status answer = Learn("tenant-a", "vm0", "compute");
    EXPECT_TRUE(absl::IsFailedPrecondition(answer)) << refused;
    EXPECT_TRUE(absl::StartsWith(answer.message(), "the device has nothing to learn there: ")) << answer;
  }
}

}  // namespace

}  // namespace sideband::daemon
