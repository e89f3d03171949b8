// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/guest_view/guest_views.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <vector>

#include "proto/base/file.h"
#include "proto/envelope/record.h"
#include "secure_mcu/guest_view/example_device.h"
#include "secure_mcu/guest_view/reader.h"

namespace sideband::mcu {
namespace {

std::set<std::string> FilesIn(const std::string& dir) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(dir)) names.insert(entry.path().filename());
  return names;
}

TEST(GuestViewsTest, EachVmThatIsNotConfidentialHasItsOwn) {
  const std::string dir = FreshFolder("each");
  const auto views = GuestViews::Create(dir, 42);
  ASSERT_TRUE(views.ok()) << views.status();
  ASSERT_TRUE((*views)->Publish(ExampleCatalog(), ExampleSnapshot(ExampleCatalog(), 7)).ok());
  EXPECT_EQ(FilesIn(dir), (std::set<std::string>{"alpha-vm.sbv", "beta-vm.sbv"}));
  const auto sample = (*GuestViewReader::Open(dir + "/beta-vm.sbv"))->Read();
  ASSERT_TRUE(sample.ok()) << sample.status();
  ASSERT_EQ(sample->blocks.size(), 2);
  EXPECT_EQ(sample->Counters(1)[2], ExampleCount(5, 2, 7)) << "beta-train is the sixth block";
}

TEST(GuestViewsTest, AConfidentialVmHasItsNewestRecords) {
  const std::string dir = FreshFolder("sealed");
  const auto views = GuestViews::Create(dir, 42);
  mailbox::Catalog catalog = ExampleCatalog();
  catalog.vms[0].confidential = true;
  const auto records = [&] {
    const std::string file = *ReadFile(dir + "/alpha-vm.sbs");
    const auto views_of_file = envelope::DecodeSealedView(AsBytes(file));
    std::vector<Bytes> found;
    for (const ByteSpan record : *views_of_file) found.emplace_back(record.begin(), record.end());
    return found;
  };
  mailbox::Snapshot snapshot = ExampleSnapshot(catalog, 7);
  ASSERT_TRUE((*views)->Publish(catalog, snapshot).ok());
  EXPECT_EQ(FilesIn(dir), std::set<std::string>{"beta-vm.sbv"}) << "its guest has exchanged no keys";
  snapshot.sealed = {{.vm = 1, .record = {1, 2, 3}}, {.vm = 1, .record = {4}}};
  ASSERT_TRUE((*views)->Publish(catalog, snapshot).ok());
  EXPECT_EQ(records(), (std::vector<Bytes>{{1, 2, 3}, {4}}));
  snapshot.sealed = {{.vm = 1, .record = {5}}};
  ASSERT_TRUE((*views)->Publish(catalog, snapshot).ok());
  EXPECT_EQ(records(), (std::vector<Bytes>{{5}}));
  snapshot.sealed.clear();
  ASSERT_TRUE((*views)->Publish(catalog, snapshot).ok());
  EXPECT_EQ(FilesIn(dir), std::set<std::string>{"beta-vm.sbv"}) << "the keys have ended";
}

TEST(GuestViewsTest, EventsOfTheDeviceAreInNoView) {
  const std::string dir = FreshFolder("device_scope");
  const auto views = GuestViews::Create(dir, 42);
  mailbox::Catalog catalog = ExampleCatalog();
  catalog.events[1].scope = mailbox::EventScope::kDevice;
  ASSERT_TRUE((*views)->Publish(catalog, ExampleSnapshot(catalog, 7)).ok());
  const auto reader = GuestViewReader::Open(dir + "/beta-vm.sbv");
  ASSERT_EQ((*reader)->directory().catalog.events.size(), 2u);
  EXPECT_EQ((*reader)->directory().catalog.events[1].name, "pcie_bytes");
  const auto sample = (*reader)->Read();
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_EQ(sample->Counters(1)[0], ExampleCount(5, 0, 7));
  EXPECT_EQ(sample->Counters(1)[1], ExampleCount(5, 2, 7));
}

TEST(GuestViewsTest, VmsComeAndGo) {
  const std::string dir = FreshFolder("come_and_go");
  const auto views = GuestViews::Create(dir, 42);
  mailbox::Catalog catalog = ExampleCatalog();
  ASSERT_TRUE((*views)->Publish(catalog, ExampleSnapshot(catalog, 1)).ok());
  catalog.vms.erase(catalog.vms.begin());
  std::erase_if(catalog.contexts, [](const auto& context) { return context.vm == 1; });
  catalog.vms.push_back({4, ExampleUuid(4), "delta-vm", false, 0, 1});
  ASSERT_TRUE((*views)->Publish(catalog, ExampleSnapshot(catalog, 2)).ok());
  EXPECT_EQ(FilesIn(dir), (std::set<std::string>{"beta-vm.sbv", "delta-vm.sbv"}));
}

TEST(GuestViewsTest, AVmThatBecomesConfidentialLosesItsView) {
  const std::string dir = FreshFolder("becomes");
  const auto views = GuestViews::Create(dir, 42);
  mailbox::Catalog catalog = ExampleCatalog();
  ASSERT_TRUE((*views)->Publish(catalog, ExampleSnapshot(catalog, 1)).ok());
  catalog.vms[0].confidential = true;
  ASSERT_TRUE((*views)->Publish(catalog, ExampleSnapshot(catalog, 2)).ok());
  EXPECT_EQ(FilesIn(dir), std::set<std::string>{"beta-vm.sbv"});
}

TEST(GuestViewsTest, AnotherVmOfTheSameNameIsAnother) {
  const std::string dir = FreshFolder("another");
  const auto views = GuestViews::Create(dir, 42);
  mailbox::Catalog catalog = ExampleCatalog();
  ASSERT_TRUE((*views)->Publish(catalog, ExampleSnapshot(catalog, 1)).ok());
  const auto old_reader = GuestViewReader::Open(dir + "/alpha-vm.sbv");
  catalog.vms[0].id = 8;
  for (auto& context : catalog.contexts) context.vm = context.vm == 1 ? 8 : context.vm;
  ASSERT_TRUE((*views)->Publish(catalog, ExampleSnapshot(catalog, 2)).ok());
  EXPECT_EQ((*old_reader)->Read().status().code(), absl::StatusCode::kAborted);
  const auto sample = (*GuestViewReader::Open(dir + "/alpha-vm.sbv"))->Read();
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_EQ(sample->blocks[0].vm, 8);
}

TEST(GuestViewsTest, OneVmThatCannotBeShownKeepsNoOtherFromIt) {
  const std::string dir = FreshFolder("one_fails");
  std::filesystem::create_directories(dir + "/alpha-vm.sbv/full");  // blocks the file's name with a folder
  const auto views = GuestViews::Create(dir, 42);
  EXPECT_FALSE((*views)->Publish(ExampleCatalog(), ExampleSnapshot(ExampleCatalog(), 1)).ok());
  EXPECT_TRUE((*GuestViewReader::Open(dir + "/beta-vm.sbv"))->Read().ok());
  std::filesystem::remove_all(dir + "/alpha-vm.sbv");
  EXPECT_TRUE((*views)->Publish(ExampleCatalog(), ExampleSnapshot(ExampleCatalog(), 2)).ok()) << "it tries again";
  EXPECT_TRUE((*GuestViewReader::Open(dir + "/alpha-vm.sbv"))->Read().ok());
}

TEST(GuestViewsTest, FilesGoWithIt) {
  const std::string dir = FreshFolder("go");
  { ASSERT_TRUE((*GuestViews::Create(dir, 1))->Publish(ExampleCatalog(), ExampleSnapshot(ExampleCatalog(), 1)).ok()); }
  EXPECT_TRUE(FilesIn(dir).empty());
}

TEST(GuestViewsTest, TheFolderMustExist) {
  const std::string dir = FreshFolder("exists");
  EXPECT_EQ(GuestViews::Create(dir + "/none", 1).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(GuestViews::Create("/proc/self/status", 1).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sideband::mcu
