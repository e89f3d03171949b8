// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/sealed_subscription.h"

#include <gtest/gtest.h>

#include "daemon/api/fake_world.h"

namespace sideband::daemon {
namespace {

class SealedSubscriptionTest : public testing::Test {
 protected:
  SealedSubscriptionTest() { world_.Publish(0, 1); }

  SealedSubscription Open(const std::string& who, const std::string& device, const std::string& vm) {
    sideband::v1::SubscribeSealedRequest request;
    request.set_device(device);
    request.set_vm(vm);
    return SealedSubscription(world_.reader, CredentialsOf(who), request);
  }

  static std::string Describe(const StreamStep<SealedSubscription::Message>& step) {
    if (std::holds_alternative<StreamWait>(step)) return "wait";
    if (const auto* end = std::get_if<StreamEnd>(&step)) return absl::StatusCodeToString(end->status.code());
    return std::get<SealedSubscription::Message>(step).record();
  }

  FakeWorld world_;
};

TEST_F(SealedSubscriptionTest, EachRecordOnceTheNewestFirst) {
  for (const char* name : {"secret", kSecretUuid}) {
    SealedSubscription subscription = Open("tenant-c", "gpu0", name);
    const uint64_t first = world_.store.Newest(0)->publication;
    EXPECT_EQ(Describe(subscription.Next()), "sealed-" + std::to_string(first));
    EXPECT_EQ(Describe(subscription.Next()), "wait");
    world_.Publish(0, first + 2);
    EXPECT_EQ(Describe(subscription.Next()), "sealed-" + std::to_string(first + 2));
  }
}

TEST_F(SealedSubscriptionTest, EverythingElseIsNotFound) {
  EXPECT_EQ(Describe(Open("ops", "gpu0", "secret").Next()), "NOT_FOUND");
  EXPECT_EQ(Describe(Open("tenant-a", "gpu0", "secret").Next()), "NOT_FOUND");
  EXPECT_EQ(Describe(Open("tenant-a", "gpu0", "vm0").Next()), "NOT_FOUND") << "not confidential";
  EXPECT_EQ(Describe(Open("tenant-c", "gpu1", "secret").Next()), "NOT_FOUND");
  EXPECT_EQ(Describe(Open("tenant-c", "gpu0", "").Next()), "NOT_FOUND");
  EXPECT_EQ(Describe(Open("stranger", "gpu0", "secret").Next()), "UNAUTHENTICATED");
}

TEST_F(SealedSubscriptionTest, WithoutADeviceTheVmIsLookedFor) {
  const uint64_t first = world_.store.Newest(0)->publication;
  EXPECT_EQ(Describe(Open("tenant-c", "", "secret").Next()), "sealed-" + std::to_string(first));
  EXPECT_EQ(Describe(Open("tenant-a", "", "secret").Next()), "NOT_FOUND");
}

TEST_F(SealedSubscriptionTest, ARecordThatIsNotMadeYetIsWaitedFor) {
  auto without = std::make_shared<DeviceSnapshot>(*world_.store.Newest(0));
  without->sealed.clear();
  world_.store.Publish(0, without);
  SealedSubscription subscription = Open("tenant-c", "gpu0", "secret");
  EXPECT_EQ(Describe(subscription.Next()), "wait");
  world_.Publish(0, 2);
  EXPECT_EQ(Describe(subscription.Next()), "sealed-2");
}

TEST_F(SealedSubscriptionTest, ARightThatIsTakenEndsTheStream) {
  SealedSubscription subscription = Open("tenant-c", "gpu0", "secret");
  subscription.Next();
  world_.policy.Replace(
      *Policy::Parse("version: 1\n"
                     "tenants:\n"
                     "  - name: c\n"
                     "    identities: ['spiffe://example.org/tenant-c']\n"
                     "    vms: [{uuid: 00000000-0000-0000-0000-0000000000a2}]\n",
                     "policy.yaml"));
  EXPECT_EQ(Describe(subscription.Next()), "NOT_FOUND");
}

}  // namespace
}  // namespace sideband::daemon
