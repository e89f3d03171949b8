// SPDX-License-Identifier: Apache-2.0
#include "daemon/view/admin.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/view/fake_world.h"

namespace sideband::daemon {
namespace {

using mailbox::TriggerStep;
using sideband::v1::ReloadResponse;
using sideband::v1::TriggerRequest;
using sideband::v1::TriggerResponse;

class AdminTest : public testing::Test {
 protected:
  struct Asked {
    size_t device = 0;
    TriggerStep step{};
    uint64_t period = 0;
  };

  AdminTest() { world_.Publish(0, 1); }

  Caller CallerOf(const std::string& who) const { return *world_.reader.Identify(CredentialsOf(who)); }
  absl::Status Trigger(const std::string& device, std::optional<uint64_t> period = {}) {
    TriggerRequest request;
    request.set_device(device);
    if (period) request.set_period_cycles(*period);
    return admin_.Trigger(CallerOf("ops"), {.local_operator = 0}, request,
                          [this](const absl::StatusOr<TriggerResponse>& response) { triggered_ = response; });
  }

  FakeWorld world_;
  absl::StatusOr<uint32_t> number_ = 7;
  std::optional<Asked> asked_;
  absl::StatusOr<ReloadOutcome> outcome_ = ReloadOutcome();
  int reloads_ = 0;
  const Admin admin_{{.reader = world_.reader,
                      .trigger =
                          [this](size_t device, TriggerStep step, uint64_t period, auto done) {
                            asked_ = {device, step, period};
                            done(number_);
                            return absl::OkStatus();
                          },
                      .reload =
                          [this](auto done) {
                            ++reloads_;
                            done(outcome_);
                          }}};
  absl::StatusOr<TriggerResponse> triggered_;
};

TEST_F(AdminTest, OnlyLocalOperatorsAreServed) {
  const auto never = [](const auto&) { FAIL(); };
  const TriggerRequest request;
  for (const std::string who : {"ops", "auditor", "tenant-a"}) {
    EXPECT_TRUE(absl::IsPermissionDenied(admin_.Reload(CallerOf(who), {}, {}, never))) << who;
    EXPECT_TRUE(absl::IsPermissionDenied(admin_.Trigger(CallerOf(who), {}, request, never))) << who;
    const Credentials passed_on = {.bearer_token = "token", .local_operator = 0};
    EXPECT_TRUE(absl::IsPermissionDenied(admin_.Reload(CallerOf(who), passed_on, {}, never))) << who << " by a token";
    if (who == "ops") continue;
    EXPECT_TRUE(absl::IsPermissionDenied(admin_.Reload(CallerOf(who), {.local_operator = 0}, {}, never))) << who;
  }
  EXPECT_EQ(reloads_, 0);
  EXPECT_FALSE(asked_.has_value());
}

TEST_F(AdminTest, ATriggerIsOfTheNamedDevice) {
  ASSERT_TRUE(Trigger("gpu0").ok());
  EXPECT_EQ(asked_->device, 0u);
  EXPECT_EQ(asked_->step, TriggerStep::kOnce);
  ASSERT_TRUE(triggered_.ok());
  EXPECT_EQ(triggered_->trigger_id(), 7u);
  asked_.reset();
  EXPECT_TRUE(absl::IsNotFound(Trigger("gpu7")));
  EXPECT_FALSE(asked_.has_value());
}

TEST_F(AdminTest, APeriodStartsAGridAndZeroStopsIt) {
  ASSERT_TRUE(Trigger("gpu0", 1000).ok());
  EXPECT_EQ(asked_->step, TriggerStep::kStart);
  EXPECT_EQ(asked_->period, 1000u);
  EXPECT_FALSE(triggered_->has_trigger_id());
  ASSERT_TRUE(Trigger("gpu0", 0).ok());
  EXPECT_EQ(asked_->step, TriggerStep::kStop);
}

TEST_F(AdminTest, ASelectionIsOfDomainsThatTheDeviceHas) {
  const auto select = [this](const std::vector<std::string>& domains, bool with_period = false) {
    TriggerRequest request;
    request.set_device("gpu0");
    for (const std::string& domain : domains) request.mutable_select()->add_domains(domain);
    if (domains.empty()) request.mutable_select();
    if (with_period) request.set_period_cycles(5);
    return admin_.Trigger(CallerOf("ops"), {.local_operator = 0}, request,
                          [this](const absl::StatusOr<TriggerResponse>& response) { triggered_ = response; });
  };
  EXPECT_TRUE(absl::IsUnimplemented(select({"core"}))) << "no clocks";
  mailbox::Catalog catalog = world_.topology->catalog();
  catalog.clock_domains = {{.name = "core", .slice = 0}, {.name = "mem"}, {.name = "core", .slice = 1}};
  world_.topology = std::make_shared<Topology>(catalog, /*hash=*/78);
  world_.Publish(0, 2);
  ASSERT_TRUE(select({"core"}).ok());
  EXPECT_EQ(asked_->step, TriggerStep::kSelect);
  EXPECT_EQ(asked_->period, 0b101u);
  EXPECT_FALSE(triggered_->has_trigger_id());
  ASSERT_TRUE(select({}).ok());
  EXPECT_EQ(asked_->period, 0b111u);
  EXPECT_EQ(select({"core", "cor"}).message(), "select: no clock domain 'cor'");
  EXPECT_TRUE(absl::IsInvalidArgument(select({"core"}, /*with_period=*/true)));
}

TEST_F(AdminTest, ErrorsAreInTheRequestsWords) {
  number_ = absl::InvalidArgumentError("TRIGGER: ERR_DATA");
  ASSERT_TRUE(Trigger("gpu0", 1).ok());
  EXPECT_EQ(triggered_.status().message(), "period_cycles: too short for the device");
  ASSERT_TRUE(Trigger("gpu0").ok());
  EXPECT_EQ(triggered_.status().message(), "the device was not triggered: TRIGGER: ERR_DATA");
  number_ = absl::CancelledError("stopping");
  ASSERT_TRUE(Trigger("gpu0").ok());
  EXPECT_TRUE(absl::IsUnavailable(triggered_.status()));
  number_ = absl::UnimplementedError("TRIGGER: ERR_OPCODE");
  ASSERT_TRUE(Trigger("gpu0").ok());
  EXPECT_EQ(triggered_.status().message(), "the device cannot be triggered by a controller");
}

TEST_F(AdminTest, AReloadAnswersWhatWasRefused) {
  outcome_ = ReloadOutcome{.errors = {"policy.yaml:3: unknown"}, .needs_restart = {"grpc.listen"}};
  absl::StatusOr<ReloadResponse> response;
  const auto reload = [&] {
    return admin_.Reload(CallerOf("ops"), {.local_operator = 0}, {}, [&](const auto& answer) { response = answer; });
  };
  ASSERT_TRUE(reload().ok());
  EXPECT_EQ(response->errors(0), "policy.yaml:3: unknown");
  EXPECT_EQ(response->needs_restart(0), "grpc.listen");
  EXPECT_EQ(response->policy_version(), world_.reader.CurrentPolicy().version);
  outcome_ = absl::UnavailableError("shutting down");
  ASSERT_TRUE(reload().ok());
  EXPECT_TRUE(absl::IsUnavailable(response.status()));
}

}  // namespace
}  // namespace sideband::daemon
