// SPDX-License-Identifier: Apache-2.0
#include "daemon/counting/counting_book.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "absl/status/status.h"
#include "daemon/snapshot/fake_topology.h"

namespace sideband::daemon {
namespace {

class CountingBookTest : public testing::Test {
 protected:
  CountingBookTest() {
    mailbox::Catalog catalog = SomeCatalog(/*with_secret=*/true);
    catalog.gate_groups = {{"tlb", 0}, {"tensor", 0}};
    topology_ = std::make_shared<const Topology>(std::move(catalog), /*hash=*/77);
    device_ = {.revision = 1, .groups = {{{}, {}}}, .hosts = {{}}};
    device_.vms[kOpenVm];
    device_.vms[kSecretVm];
  }

  static CountingSettings Allow(GroupNames groups) {
    CountingSettings settings;
    settings.vms["open"].allowed = std::move(groups);
    return settings;
  }
  // What the collector does in an interval.
  void Collect(uint64_t boot_id = 1) {
    if (const auto change = book_.Pending("gpu0")) {
      for (const auto& [address, word] : change->writes) ASSERT_TRUE(WriteWord(address, word, device_).ok());
      book_.Committed("gpu0", *change, ++device_.revision);
    }
    if (book_.IsNew("gpu0", *topology_, boot_id, device_.revision)) {
      ++reads_;
      book_.Observe("gpu0", {topology_, boot_id, device_});
    }
  }
  uint64_t Allowed() { return device_.vms[kOpenVm].allowed; }

  std::shared_ptr<const Topology> topology_;
  mailbox::CountingConfig device_;  // its configuration
  int reads_ = 0;
  CountingBook book_;
};

TEST_F(CountingBookTest, TheDeviceFollowsTheFile) {
  book_.Replace({{"gpu0", Allow({"tlb"})}});
  Collect();
  EXPECT_FALSE(book_.State("gpu0")->is_in_sync);
  Collect();
  EXPECT_EQ(Allowed(), 0b01u);
  EXPECT_TRUE(book_.State("gpu0")->is_in_sync);
  EXPECT_EQ(book_.State("gpu0")->actual.config, device_);
  Collect();
  EXPECT_EQ(device_.revision, 2u) << "one change";
  EXPECT_EQ(reads_, 1);
  book_.Replace({{"gpu0", Allow({"tlb", "tensor"})}});
  Collect();
  EXPECT_EQ(Allowed(), 0b11u);
}

TEST_F(CountingBookTest, ARestartedDeviceIsToldAgain) {
  book_.Replace({{"gpu0", Allow({"tlb"})}});
  Collect();
  ASSERT_TRUE(book_.Set("gpu0", Allow({"tensor"}), 0, false).ok());
  Collect();
  EXPECT_EQ(Allowed(), 0b10u) << "a caller's setting is above the file's";
  device_.vms[kOpenVm] = {};
  device_.revision = 1;
  Collect(/*boot_id=*/2);
  EXPECT_FALSE(book_.State("gpu0")->is_in_sync);
  Collect(/*boot_id=*/2);
  EXPECT_EQ(Allowed(), 0b10u);
}

TEST_F(CountingBookTest, ARefusedSettingChangesNothing) {
  Collect();
  CountingSettings settings = Allow({"tlb"});
  settings.groups["x"].valid = true;
  const auto refusals = book_.Set("gpu0", settings, 0, false);
  ASSERT_TRUE(refusals.ok());
  EXPECT_EQ(refusals->at(0).field, "groups.x");
  EXPECT_FALSE(book_.Pending("gpu0").has_value());
}

TEST_F(CountingBookTest, AValidationChangesNothing) {
  Collect();
  EXPECT_TRUE(book_.Set("gpu0", Allow({"tlb"}), 1, /*validate_only=*/true)->empty());
  EXPECT_FALSE(book_.Pending("gpu0").has_value());
}

TEST_F(CountingBookTest, AnotherRevisionIsRefused) {
  Collect();
  EXPECT_EQ(book_.Set("gpu0", Allow({"tlb"}), 2, false).status().code(), absl::StatusCode::kAborted);
  EXPECT_EQ(book_.Set("gpu1", Allow({"tlb"}), 0, false).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(CountingBookTest, AfterAnotherControllerTheConfigurationIsReadAgain) {
  Collect();
  ASSERT_TRUE(book_.Set("gpu0", Allow({"tlb"}), 0, false).ok());
  const auto change = book_.Pending("gpu0");
  device_.vms[kOpenVm].pinned = 1;  // by another controller
  ++device_.revision;
  book_.Committed("gpu0", *change, absl::AbortedError("another revision"));
  EXPECT_TRUE(book_.IsNew("gpu0", *topology_, 1, 1));
  book_.Observe("gpu0", {topology_, 1, device_});
  Collect();
  EXPECT_EQ(Allowed(), 0b01u);
  EXPECT_EQ(device_.vms[kOpenVm].pinned, 1u) << "what nobody here asked for stays";
}

TEST_F(CountingBookTest, WhatTheDeviceRefusesIsGivenUpUntilTheSettingsChange) {
  Collect();
  ASSERT_TRUE(book_.Set("gpu0", Allow({"tlb"}), 0, false).ok());
  book_.Committed("gpu0", *book_.Pending("gpu0"), absl::InvalidArgumentError("ERR_DATA"));
  EXPECT_FALSE(book_.Pending("gpu0").has_value());
  EXPECT_FALSE(book_.State("gpu0")->is_in_sync);
  ASSERT_TRUE(book_.Set("gpu0", Allow({"tensor"}), 0, false).ok());
  EXPECT_TRUE(book_.Pending("gpu0").has_value());
}

TEST_F(CountingBookTest, WhatAGuestChangesItselfIsNotUndone) {
  Collect();
  CountingSettings settings;
  settings.vms["open"].value = {.groups = {{"tlb"}}};
  ASSERT_TRUE(book_.Set("gpu0", settings, 0, false).ok());
  Collect();
  device_.vms[kOpenVm].guest_value.vector = 0b10;  // stored at an exit
  Collect();
  EXPECT_EQ(device_.vms[kOpenVm].guest_value.vector, 0b10u);
}

TEST_F(CountingBookTest, CallersAndTheCollectorMayCallAtOnce) {
  Collect();
  std::thread caller([this] {
    for (int i = 0; i < 1000; ++i) {
      EXPECT_TRUE(book_.Set("gpu0", Allow(i % 2 == 0 ? GroupNames{"tlb"} : GroupNames{}), 0, false).ok());
      EXPECT_TRUE(book_.State("gpu0").has_value());
    }
  });
  for (int i = 0; i < 1000; ++i) Collect();
  caller.join();
  Collect();
  EXPECT_EQ(Allowed(), 0u);
}

}  // namespace
}  // namespace sideband::daemon
