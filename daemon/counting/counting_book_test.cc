// SPDX-License-Identifier: Apache-2.0
#include "daemon/counting/counting_book.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "daemon/counting/settings.h"
#include "daemon/snapshot/fake_topology.h"
#include "proto/base/wait_until.h"

namespace sideband::daemon {
namespace {

// A SettingsStore in memory. While an error is set, it fails as a disk does.
class FakeSettingsStore final : public SettingsStore {
 public:
  absl::StatusOr<CountingSettings> Load(const Uuid& device) override {
    if (!read_error.ok()) return read_error;
    const auto found = stored.find(device);
    if (found == stored.end()) return absl::NotFoundError("nothing is stored");
    return found->second;
  }
  absl::Status Save(const Uuid& device, const CountingSettings& settings) override {
    ++saves;
    if (write_error.ok()) stored[device] = settings;
    return write_error;
  }

  std::map<Uuid, CountingSettings> stored;
  absl::Status read_error, write_error;
  int saves = 0;  // attempts
};

const Uuid kDevice = *Uuid::Parse("00000000-0000-0000-0000-0000000000d1");
constexpr char kOpenUuid[] = "00000000-0000-0000-0000-000000000001";

class CountingBookTest : public testing::Test {
 protected:
  CountingBookTest() {
    mailbox::Catalog catalog = SomeCatalog(/*with_secret=*/true);
    catalog.gate_groups = {{"tlb", 0}, {"tensor", 0}};
    catalog.device = kDevice;
    topology_ = std::make_shared<const Topology>(std::move(catalog), /*hash=*/77);
    device_ = {.revision = 1, .groups = {{{}, {}}}, .hosts = {{}}};
    device_.vms[kOpenVm];
    device_.vms[kSecretVm];
  }

  static CountingSettings Allow(GroupNames groups, const std::string& vm = "open") {
    CountingSettings settings;
    settings.vms[vm].allowed = std::move(groups);
    return settings;
  }
  // A restart of the daemon leaves the device and the store.
  void RestartDaemon() {
    book_.emplace(&store_);
    reads_ = 0;
  }
  // The device then has no settings.
  void ResetDevice() {
    device_.vms[kOpenVm] = {};
    device_.revision = 1;
  }
  // Does what the collector does in an interval.
  void Collect(uint64_t boot_id = 1) {
    if (const auto change = book_->Pending("gpu0")) {
      const auto now = WordsOf(device_);
      for (const auto& [address, word] : change->writes) {
        ASSERT_TRUE(WriteWord(address, Rebase(address, change->from.at(address), word, now.at(address)), device_).ok());
      }
      book_->Committed("gpu0", *change, ++device_.revision);
    }
    if (book_->IsNew("gpu0", *topology_, boot_id, device_.revision)) {
      ++reads_;
      book_->Observe("gpu0", {topology_, boot_id, device_});
    }
  }
  uint64_t Allowed() { return device_.vms[kOpenVm].allowed; }

  std::shared_ptr<const Topology> topology_;
  mailbox::CountingConfig device_;  // its configuration
  int reads_ = 0;
  FakeSettingsStore store_;
  std::optional<CountingBook> book_{&store_};
};

TEST_F(CountingBookTest, TheDeviceFollowsTheFile) {
  book_->Replace({{"gpu0", Allow({"tlb"})}});
  Collect();
  EXPECT_FALSE(book_->State("gpu0")->is_in_sync);
  Collect();
  EXPECT_EQ(Allowed(), 0b01u);
  EXPECT_TRUE(book_->State("gpu0")->is_in_sync);
  EXPECT_EQ(book_->State("gpu0")->actual.config, device_);
  Collect();
  EXPECT_EQ(device_.revision, 2u) << "one change";
  EXPECT_EQ(reads_, 1);
  book_->Replace({{"gpu0", Allow({"tlb", "tensor"})}});
  Collect();
  EXPECT_EQ(Allowed(), 0b11u);
}

TEST_F(CountingBookTest, SettingsAreWrittenAgainAfterADeviceReset) {
  book_->Replace({{"gpu0", Allow({"tlb"})}});
  Collect();
  ASSERT_TRUE(book_->Set("gpu0", Allow({"tensor"}), 0, false).ok());
  Collect();
  EXPECT_EQ(Allowed(), 0b10u) << "a caller's setting is above the file's";
  ResetDevice();
  Collect(/*boot_id=*/2);
  EXPECT_FALSE(book_->State("gpu0")->is_in_sync);
  Collect(/*boot_id=*/2);
  EXPECT_EQ(Allowed(), 0b10u);
}

TEST_F(CountingBookTest, ARefusedSettingChangesNothing) {
  Collect();
  CountingSettings settings = Allow({"tlb"});
  settings.groups["x"].valid = true;
  const auto refusals = book_->Set("gpu0", settings, 0, false);
  ASSERT_TRUE(refusals.ok());
  EXPECT_EQ(refusals->at(0).field, "groups.x");
  EXPECT_FALSE(book_->Pending("gpu0").has_value());
}

TEST_F(CountingBookTest, AValidationChangesNothing) {
  Collect();
  EXPECT_TRUE(book_->Set("gpu0", Allow({"tlb"}), 1, /*validate_only=*/true)->empty());
  EXPECT_FALSE(book_->Pending("gpu0").has_value());
}

TEST_F(CountingBookTest, AnotherRevisionIsRefused) {
  Collect();
  EXPECT_EQ(book_->Set("gpu0", Allow({"tlb"}), 2, false).status().code(), absl::StatusCode::kAborted);
  EXPECT_EQ(book_->Set("gpu1", Allow({"tlb"}), 0, false).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(CountingBookTest, AChangeIsOfTheBootAndTheCatalogueThatItWasMadeFrom) {
  Collect(/*boot_id=*/5);
  ASSERT_TRUE(book_->Set("gpu0", Allow({"tlb"}), 0, false).ok());
  const auto change = book_->Pending("gpu0");
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(change->boot_id, 5u);
  EXPECT_EQ(change->catalog_hash, 77u);
}

TEST_F(CountingBookTest, ADeviceThatIsForgottenHasNoPendingChange) {
  Collect();
  ASSERT_TRUE(book_->Set("gpu0", Allow({"tlb"}), 0, false).ok());
  book_->Forget("gpu0");
  EXPECT_FALSE(book_->Pending("gpu0").has_value());
  EXPECT_FALSE(book_->State("gpu0").has_value());
}

TEST_F(CountingBookTest, ASettingWhoseBasisHasChangedIsAborted) {
  Collect();
  const mailbox::CountingConfig basis = book_->State("gpu0")->desired;
  ASSERT_TRUE(book_->Set("gpu0", Allow({"tlb"}), 0, false, &basis)->empty());
  EXPECT_EQ(book_->State("gpu0")->desired.vms[kOpenVm].allowed, 0b01u) << "while it is pending";
  EXPECT_EQ(book_->Set("gpu0", Allow({"tensor"}), 0, false, &basis).status().code(), absl::StatusCode::kAborted);
}

TEST_F(CountingBookTest, AfterAnotherControllerTheConfigurationIsReadAgain) {
  Collect();
  ASSERT_TRUE(book_->Set("gpu0", Allow({"tlb"}), 0, false).ok());
  const auto change = book_->Pending("gpu0");
  device_.vms[kOpenVm].pinned = 1;  // by another controller
  ++device_.revision;
  book_->Committed("gpu0", *change, absl::AbortedError("another revision"));
  EXPECT_TRUE(book_->IsNew("gpu0", *topology_, 1, 1));
  book_->Observe("gpu0", {topology_, 1, device_});
  Collect();
  EXPECT_EQ(Allowed(), 0b01u);
  EXPECT_EQ(device_.vms[kOpenVm].pinned, 1u) << "a change by another controller stays";
}

TEST_F(CountingBookTest, AConfigurationThatCannotBeReadIsOutOfSync) {
  Collect();
  ASSERT_TRUE(book_->State("gpu0")->is_in_sync);
  book_->Outdate("gpu0");
  EXPECT_FALSE(book_->State("gpu0")->is_in_sync);
  ASSERT_TRUE(book_->Set("gpu0", Allow({"tlb"}), 0, false).ok());
  EXPECT_FALSE(book_->Pending("gpu0").has_value()) << "it would build on a configuration that is gone";
  Collect();
  Collect();
  EXPECT_EQ(Allowed(), 0b01u);
  EXPECT_TRUE(book_->State("gpu0")->is_in_sync);
  book_->Outdate("gpu1");
  EXPECT_FALSE(book_->State("gpu1").has_value());
}

TEST_F(CountingBookTest, WhatTheDeviceRefusesIsGivenUpUntilTheSettingsChange) {
  Collect();
  ASSERT_TRUE(book_->Set("gpu0", Allow({"tlb"}), 0, false).ok());
  book_->Committed("gpu0", *book_->Pending("gpu0"), absl::InvalidArgumentError("ERR_DATA"));
  EXPECT_FALSE(book_->Pending("gpu0").has_value());
  EXPECT_FALSE(book_->State("gpu0")->is_in_sync);
  ASSERT_TRUE(book_->Set("gpu0", Allow({"tensor"}), 0, false).ok());
  EXPECT_TRUE(book_->Pending("gpu0").has_value());
}

TEST_F(CountingBookTest, WhatAGuestChangesItselfIsNotUndone) {
  Collect();
  CountingSettings settings;
  settings.vms["open"].value = {.groups = {{"tlb"}}};
  ASSERT_TRUE(book_->Set("gpu0", settings, 0, false).ok());
  Collect();
  device_.vms[kOpenVm].guest_value.vector = 0b10;  // stored at an exit
  Collect();
  EXPECT_EQ(device_.vms[kOpenVm].guest_value.vector, 0b10u);
}

// By its page a guest changes fields without a new revision.
TEST_F(CountingBookTest, WhatAGuestChoseStaysWhenAnotherFieldIsSet) {
  device_.selections = {{1}, {2}};
  Collect();
  const mailbox::GateValue own = {.vector_enable = true, .vector = 0b01};
  device_.vms[kOpenVm].selection = 1;
  device_.vms[kOpenVm].guest_load = true;
  device_.vms[kOpenVm].guest_value = own;
  CountingSettings settings;
  settings.vms["open"].guest_access = true;
  ASSERT_TRUE(book_->Set("gpu0", settings, 0, false)->empty());
  Collect();
  EXPECT_EQ(device_.vms[kOpenVm],
            (mailbox::VmControl{.guest_value = own, .guest_load = true, .guest_access = true, .selection = 1}));
}

TEST_F(CountingBookTest, CallersSettingsOutlastTheDaemon) {
  Collect();
  ASSERT_TRUE(book_->Set("gpu0", Allow({"tlb"}, kOpenUuid), 0, false).ok());
  EXPECT_EQ(store_.stored[kDevice], Allow({"tlb"}, kOpenUuid)) << "stored when the call returns";
  EXPECT_TRUE(book_->State("gpu0")->is_stored);
  RestartDaemon();
  ResetDevice();
  book_->Replace({{"gpu0", Allow({"tensor"})}});
  Collect(/*boot_id=*/2);
  EXPECT_FALSE(book_->State("gpu0")->is_in_sync);
  Collect(/*boot_id=*/2);
  EXPECT_EQ(Allowed(), 0b01u) << "a caller's setting is above the file's";
  EXPECT_EQ(reads_, 1);
  ASSERT_TRUE(book_->Set("gpu0", Allow({"tlb", "tensor"}, kOpenUuid), 0, false).ok());
  EXPECT_EQ(store_.stored[kDevice], Allow({"tlb", "tensor"}, kOpenUuid)) << "laid over the loaded ones";
}

TEST_F(CountingBookTest, NothingIsStoredWithoutAChange) {
  Collect();
  book_->Replace({{"gpu0", Allow({"tensor"})}});
  ASSERT_TRUE(book_->Set("gpu0", Allow({"tlb"}), 0, /*validate_only=*/true).ok());
  ASSERT_FALSE(book_->Set("gpu0", Allow({"x"}), 0, false)->empty());
  CountingSettings nothing;
  nothing.groups["tlb"];
  nothing.vms["open"];
  ASSERT_TRUE(book_->Set("gpu0", nothing, 0, false)->empty());
  EXPECT_EQ(store_.saves, 0);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(book_->Set("gpu0", Allow({"tlb"}), 0, false).ok());
  EXPECT_EQ(store_.saves, 1) << "the same settings again";
}

// Another tenant's VM has the number and the name of one that has gone.
TEST_F(CountingBookTest, StoredSettingsPassToNoOtherVm) {
  store_.stored[kDevice] = Allow({"tlb"}, kOpenUuid);
  mailbox::Catalog catalog = topology_->catalog();
  catalog.vms[0].uuid = *Uuid::Parse("00000000-0000-0000-0000-000000000009");
  ++catalog.vms[0].generation;
  const auto before = std::exchange(topology_, std::make_shared<const Topology>(std::move(catalog), /*hash=*/78));
  Collect();
  EXPECT_FALSE(book_->Pending("gpu0").has_value());
  EXPECT_TRUE(book_->State("gpu0")->is_in_sync);
  topology_ = before;
  Collect();
  Collect();
  EXPECT_EQ(Allowed(), 0b01u) << "the VM is back";
}

TEST_F(CountingBookTest, StoredSettingsPassToNoOtherDeviceOfTheSameName) {
  Collect();
  ASSERT_TRUE(book_->Set("gpu0", Allow({"tlb"}), 0, false).ok());
  mailbox::Catalog catalog = topology_->catalog();
  catalog.device = *Uuid::Parse("00000000-0000-0000-0000-0000000000d2");
  const auto before = std::exchange(topology_, std::make_shared<const Topology>(std::move(catalog), /*hash=*/78));
  ResetDevice();
  book_->Observe("gpu0", {topology_, 5, device_});
  EXPECT_FALSE(book_->Pending("gpu0").has_value());
  book_->Observe("gpu0", {before, 1, device_});
  EXPECT_TRUE(book_->Pending("gpu0").has_value());
}

// Settings made while it was open hold only as far as it may open.
TEST_F(CountingBookTest, StoredSettingsOfAVmThatHasBecomeConfidentialAreRefused) {
  CountingSettings settings = Allow({"tlb"}, "00000000-0000-0000-0000-000000000002");
  settings.vms.begin()->second.pinned = {"tlb"};
  settings.vms.begin()->second.useren = true;
  store_.stored[kDevice] = settings;
  Collect();
  Collect();
  EXPECT_EQ(device_.vms[kSecretVm].allowed, 0b01u);
  EXPECT_EQ(device_.vms[kSecretVm].pinned, 0u);
  EXPECT_FALSE(device_.vms[kSecretVm].useren);
  EXPECT_FALSE(book_->State("gpu0")->is_in_sync) << "the others are not in force";
}

// The device has come back with other gate groups.
TEST_F(CountingBookTest, ARestrictionWhoseGroupIsGoneIsOutOfSyncUntilItIsSetAnew) {
  store_.stored[kDevice] = Allow({"tlb"}, kOpenUuid);
  mailbox::Catalog catalog = topology_->catalog();
  catalog.gate_groups[0].name = "tlbs";
  topology_ = std::make_shared<const Topology>(std::move(catalog), /*hash=*/78);
  Collect();
  const auto state = book_->State("gpu0");
  EXPECT_FALSE(state->is_in_sync);
  ASSERT_EQ(state->refusals.size(), 1u);
  EXPECT_EQ(state->refusals[0].field, std::string("vms.") + kOpenUuid + ".allowed");
  ASSERT_TRUE(book_->Set("gpu0", Allow({"tlbs"}, kOpenUuid), 0, false)->empty());
  Collect();
  EXPECT_TRUE(book_->State("gpu0")->is_in_sync);
  EXPECT_EQ(Allowed(), 0b01u);
}

// The chip file has swapped two of them.
TEST_F(CountingBookTest, AStoredSelectionWhoseNumberHasAnotherNameIsRefused) {
  mailbox::Catalog catalog = topology_->catalog();
  catalog.selections = {{"tensor"}, {"tlb"}, {"fp"}};
  mailbox::Catalog swapped = catalog;
  std::swap(swapped.selections[1], swapped.selections[2]);
  topology_ = std::make_shared<const Topology>(std::move(catalog), /*hash=*/78);
  device_.selections = {{1}, {2}, {4}};
  Collect();
  CountingSettings settings;
  settings.vms[kOpenUuid].selection = 1;
  ASSERT_TRUE(book_->Set("gpu0", settings, 0, false)->empty());
  Collect();
  ASSERT_EQ(device_.vms[kOpenVm].selection, 1);
  RestartDaemon();
  ResetDevice();
  topology_ = std::make_shared<const Topology>(std::move(swapped), /*hash=*/79);
  for (int i = 0; i < 2; ++i) Collect(/*boot_id=*/2);
  EXPECT_EQ(device_.vms[kOpenVm].selection, 0);
  const auto state = book_->State("gpu0");
  EXPECT_FALSE(state->is_in_sync);
  ASSERT_EQ(state->refusals.size(), 1u);
  EXPECT_EQ(state->refusals[0].reason, "selection 1 is no longer 'tlb'");
  ASSERT_TRUE(book_->Set("gpu0", settings, 0, false)->empty()) << "by its number of today";
  Collect(/*boot_id=*/2);
  EXPECT_EQ(device_.vms[kOpenVm].selection, 1);
  EXPECT_TRUE(book_->State("gpu0")->is_in_sync);
}

TEST_F(CountingBookTest, ASelectionWithoutANameIsItsNumber) {
  device_.selections = {{1}, {2}};
  Collect();
  CountingSettings settings;
  settings.vms[kOpenUuid].selection = 1;
  ASSERT_TRUE(book_->Set("gpu0", settings, 0, false)->empty());
  EXPECT_EQ(store_.stored[kDevice], settings);
  Collect();
  EXPECT_EQ(device_.vms[kOpenVm].selection, 1);
}

TEST_F(CountingBookTest, SettingsOfAbsentVmsAndContextsAreInSync) {
  CountingSettings settings = Allow({"tlb"}, "00000000-0000-0000-0000-000000000009");
  settings.vms[kOpenUuid].contexts["gone"] = {};
  store_.stored[kDevice] = settings;
  Collect();
  EXPECT_TRUE(book_->State("gpu0")->is_in_sync);
}

TEST_F(CountingBookTest, WithoutReadableSettingsItStarts) {
  store_.stored[kDevice] = Allow({"tlb"}, kOpenUuid);
  store_.read_error = absl::InvalidArgumentError("counting-…:1: the checksum is wrong: cut or changed");
  Collect();
  EXPECT_FALSE(book_->Pending("gpu0").has_value());
  ASSERT_TRUE(book_->Set("gpu0", Allow({"tensor"}, kOpenUuid), 0, false).ok());
  EXPECT_EQ(store_.stored[kDevice], Allow({"tensor"}, kOpenUuid));
}

TEST_F(CountingBookTest, OnAFullDiskSettingsHoldAndAreStoredLater) {
  Collect();
  store_.write_error = absl::ResourceExhaustedError("counting-…: No space left on device");
  ASSERT_TRUE(book_->Set("gpu0", Allow({"tlb"}), 0, false)->empty());
  Collect();
  EXPECT_EQ(Allowed(), 0b01u);
  EXPECT_TRUE(book_->State("gpu0")->is_in_sync);
  EXPECT_FALSE(book_->State("gpu0")->is_stored);
  book_->StoreAgain("gpu0");
  EXPECT_FALSE(book_->State("gpu0")->is_stored);
  store_.write_error = absl::OkStatus();
  book_->StoreAgain("gpu0");
  EXPECT_TRUE(book_->State("gpu0")->is_stored);
  EXPECT_EQ(store_.stored[kDevice], Allow({"tlb"}));
  book_->StoreAgain("gpu0");
  EXPECT_EQ(store_.saves, 3) << "nothing is left to store";
}

TEST_F(CountingBookTest, SettingsThatCannotBeStoredOutlastTheirDevicesAbsence) {
  store_.write_error = absl::UnavailableError("full");
  Collect();
  ASSERT_TRUE(book_->Set("gpu0", Allow({"tlb"}, kOpenUuid), 0, false).ok());
  book_->Forget("gpu0");
  ResetDevice();
  for (int i = 0; i < 2; ++i) Collect(/*boot_id=*/2);
  EXPECT_EQ(Allowed(), 0b01u);
  EXPECT_FALSE(book_->State("gpu0")->is_stored);
  // Meanwhile another device has the name.
  mailbox::Catalog catalog = topology_->catalog();
  catalog.device = *Uuid::Parse("00000000-0000-0000-0000-0000000000d2");
  const auto before = std::exchange(topology_, std::make_shared<const Topology>(std::move(catalog), /*hash=*/78));
  ResetDevice();
  for (int i = 0; i < 2; ++i) Collect(/*boot_id=*/3);
  EXPECT_NE(Allowed(), 0b01u);
  topology_ = before;
  for (int i = 0; i < 2; ++i) Collect(/*boot_id=*/4);
  EXPECT_EQ(Allowed(), 0b01u);
  store_.write_error = absl::OkStatus();
  book_->StoreAgain("gpu0");
  EXPECT_EQ(store_.stored[kDevice], Allow({"tlb"}, kOpenUuid));
}

TEST_F(CountingBookTest, WithoutAStoreSettingsLastAsLongAsTheBook) {
  book_.emplace();
  Collect();
  ASSERT_TRUE(book_->Set("gpu0", Allow({"tlb"}), 0, false)->empty());
  book_->StoreAgain("gpu0");
  Collect();
  EXPECT_EQ(Allowed(), 0b01u);
  EXPECT_FALSE(book_->State("gpu0")->is_stored);
}

TEST_F(CountingBookTest, CallersAndTheCollectorMayCallAtOnce) {
  Collect();
  std::thread caller([this] {
    for (int i = 0; i < 1000; ++i) {
      EXPECT_TRUE(book_->Set("gpu0", Allow(i % 2 == 0 ? GroupNames{"tlb"} : GroupNames{}), 0, false).ok());
      EXPECT_TRUE(book_->State("gpu0").has_value());
    }
  });
  for (int i = 0; i < 1000; ++i) {
    Collect();
    book_->StoreAgain("gpu0");
  }
  const TimeLimit limit("the caller's end");
  caller.join();
  Collect();
  EXPECT_EQ(Allowed(), 0u);
  EXPECT_EQ(store_.stored[kDevice], Allow({}));
}

}  // namespace

}  // namespace sideband::daemon
