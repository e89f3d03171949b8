// SPDX-License-Identifier: Apache-2.0
#include "daemon/exposition/exposition_cache.h"

#include <gtest/gtest.h>

#include <thread>

#include "absl/strings/match.h"
#include "daemon/api/fake_world.h"

namespace sideband::daemon {
namespace {

class ExpositionCacheTest : public testing::Test {
 protected:
  ExpositionCacheTest() { world_.Publish(0, 1); }

  std::shared_ptr<const std::string> Render(const std::string& who, absl::string_view more = "") {
    const Caller caller = *world_.reader.Identify(CredentialsOf(who));
    return cache_.Render(caller, world_.reader.Devices(caller), more);
  }

  FakeWorld world_;
  ExpositionCache cache_;
};

TEST_F(ExpositionCacheTest, ABodyThatIsBeingReadStays) {
  const auto first = Render("tenant-a");
  const std::string copy = *first;
  world_.Publish(0, 2);
  const auto second = Render("tenant-a");
  EXPECT_EQ(*first, copy);
  EXPECT_NE(*second, copy);
}

TEST_F(ExpositionCacheTest, ABufferIsUsedAgain) {
  auto first = Render("tenant-a");
  const std::string* address = first.get();
  first.reset();
  EXPECT_EQ(Render("tenant-a").get(), address);
}

TEST_F(ExpositionCacheTest, MoreComesLast) { EXPECT_TRUE(absl::EndsWith(*Render("ops", "own 1\n"), "\nown 1\n")); }

TEST_F(ExpositionCacheTest, ThreadsGetTheirOwn) {
  std::vector<std::jthread> threads;
  for (const char* who : {"tenant-a", "tenant-b", "tenant-a", "tenant-b"}) {
    threads.emplace_back([this, who] {
      for (int i = 0; i < 50; ++i) {
        const bool is_a = std::string(who) == "tenant-a";
        const auto body = Render(who);
        EXPECT_EQ(absl::StrContains(*body, "vm=\"vm0\""), is_a);
        EXPECT_EQ(absl::StrContains(*body, "vm=\"vm1\""), !is_a);
      }
    });
  }
  for (uint64_t p = 2; p < 50; ++p) world_.Publish(0, p);
}

}  // namespace
}  // namespace sideband::daemon
