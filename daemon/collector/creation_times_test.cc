// SPDX-License-Identifier: Apache-2.0
#include "daemon/collector/creation_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "absl/strings/match.h"

namespace sideband::daemon {
namespace {

using testing::ElementsAre;

absl::Time At(int seconds) { return absl::FromUnixSeconds(seconds); }

// An instant at `seconds` on both clocks.
CreationTimes::Instant On(double seconds) {
  return {.host = absl::UnixEpoch() + absl::Seconds(seconds),
          .error = absl::Milliseconds(1),
          .steady = absl::Seconds(seconds)};
}

mailbox::BlockHeader Block(uint16_t vm, uint32_t generation) { return {.vm = vm, .generation = generation}; }

mailbox::Snapshot SnapshotOf(uint64_t boot, int seconds_since_boot, std::vector<mailbox::BlockHeader> blocks) {
  return {.boot_id = boot, .reference_time_ns = seconds_since_boot * 1'000'000'000ull, .blocks = std::move(blocks)};
}

TEST(CreationTimesTest, WhatIsOlderThanTheDaemonDatesFromTheBoot) {
  CreationTimes times;
  EXPECT_THAT(times.Of(SnapshotOf(1, 40, {Block(0, 1), Block(1, 7)}), On(100)), ElementsAre(At(59), At(59)));
  EXPECT_THAT(times.Of(SnapshotOf(1, 42, {Block(0, 1), Block(1, 7)}), On(101)), ElementsAre(At(59), At(59)))
      << "the host's clock and the device's drift apart; the series must not restart for that";
}

TEST(CreationTimesTest, ANewBlockOrGenerationDatesFromTheSnapshotBefore) {
  CreationTimes times;
  times.Of(SnapshotOf(1, 40, {Block(0, 1), Block(1, 7)}), On(100));
  EXPECT_THAT(times.Of(SnapshotOf(1, 41, {Block(0, 1), Block(1, 8), Block(2, 1)}), On(101)),
              ElementsAre(At(59), At(100), At(100)));
}

TEST(CreationTimesTest, AnIdThatComesBackIsNew) {
  CreationTimes times;
  times.Of(SnapshotOf(1, 40, {Block(1, 7)}), On(100));
  times.Of(SnapshotOf(1, 41, {}), On(101));
  EXPECT_THAT(times.Of(SnapshotOf(1, 42, {Block(1, 7)}), On(102)), ElementsAre(At(101)));
}

TEST(CreationTimesTest, ADevicesRowThatIsNewStartsNow) {
  CreationTimes times;
  const std::vector<mailbox::BlockHeader> blocks = {Block(0, 1), Block(1, 7)};
  EXPECT_THAT(times.Of(SnapshotOf(1, 40, blocks), On(100), /*device_row_is_new=*/true), ElementsAre(At(100), At(59)));
  EXPECT_THAT(times.Of(SnapshotOf(1, 41, blocks), On(101)), ElementsAre(At(100), At(59)));
}

TEST(CreationTimesTest, TheBootKeepsItsTime) {
  CreationTimes times;
  times.Of(SnapshotOf(1, 40, {Block(0, 1)}), On(100));
  EXPECT_EQ(times.booted(), At(59));
  times.Of(SnapshotOf(1, 45, {Block(0, 1)}), On(101));
  EXPECT_EQ(times.booted(), At(59)) << "whatever the clocks do";
  EXPECT_FALSE(times.has_changed());
  times.Of(SnapshotOf(2, 3, {Block(0, 1)}), On(110));
  EXPECT_EQ(times.booted(), At(106));
}

TEST(CreationTimesTest, ABootOfAnEarlierVersionsFileIsEstimated) {
  CreationTimes times;
  times.Restore({.boot_id = 1, .last = At(90)});
  times.Of(SnapshotOf(1, 40, {Block(0, 1)}), On(100));
  EXPECT_EQ(times.booted(), At(59));
  EXPECT_TRUE(times.has_changed()) << "it must be saved";
}

TEST(CreationTimesTest, ABootIdOfZeroIsABootId) {
  CreationTimes times;
  EXPECT_THAT(times.Of(SnapshotOf(0, 40, {Block(0, 1)}), On(100)), ElementsAre(At(59)));
  EXPECT_TRUE(times.has_changed());
}

TEST(CreationTimesTest, ABootStartsOver) {
  CreationTimes times;
  times.Of(SnapshotOf(1, 40, {Block(1, 7)}), On(100));
  EXPECT_THAT(times.Of(SnapshotOf(2, 3, {Block(1, 7)}), On(110)), ElementsAre(At(106)));
}

TEST(CreationTimesTest, ABootWithinTheSameSecondIsLater) {
  CreationTimes times;
  times.Of(SnapshotOf(1, 40, {Block(1, 7)}), On(100.1));
  EXPECT_THAT(times.Of(SnapshotOf(2, 0, {Block(1, 7)}), On(100.9)),
              ElementsAre(absl::UnixEpoch() + absl::Seconds(100.1)));
}

TEST(CreationTimesTest, TheBootIsEstimatedToTheWholeSecondBelow) {
  for (const double host : {100.002, 100.5, 100.999, 101.0}) {
    CreationTimes times;
    EXPECT_THAT(times.Of(SnapshotOf(1, 40, {Block(0, 1)}), On(host)), ElementsAre(At(60))) << host;
  }
}

TEST(CreationTimesTest, AStepOfTheWallClockChangesNoTime) {
  CreationTimes times;
  times.Of(SnapshotOf(1, 40, {Block(0, 1)}), On(10'000));
  CreationTimes::Instant at = On(10'001);
  at.host -= absl::Seconds(3600);
  EXPECT_THAT(times.Of(SnapshotOf(1, 41, {Block(0, 1), Block(1, 1)}), at), ElementsAre(At(9959), At(6400)))
      << "what is new dates from the snapshot before, by the clock as it is now";
  EXPECT_THAT(times.Of(SnapshotOf(1, 42, {Block(0, 1), Block(1, 1)}), On(10'002)), ElementsAre(At(9959), At(6400)));
}

TEST(CreationTimesTest, AnotherRunOfTheDaemonGoesOn) {
  CreationTimes before;
  before.Of(SnapshotOf(1, 40, {Block(0, 1), Block(1, 7)}), On(100));
  const auto published = before.Of(SnapshotOf(1, 41, {Block(0, 1), Block(1, 8)}), On(101));
  ASSERT_TRUE(before.has_changed());

  CreationTimes after;
  after.Restore(before.known());
  // The device's clock is slow, so the boot would be estimated later than before. Block 2 is new.
  EXPECT_THAT(after.Of(SnapshotOf(1, 50, {Block(0, 1), Block(1, 8), Block(2, 1)}), On(150)),
              ElementsAre(published[0], published[1], At(101)));
}

TEST(CreationTimesTest, WhatIsKnownOfAnotherBootIsOfNoUse) {
  CreationTimes before;
  before.Of(SnapshotOf(1, 40, {Block(1, 7)}), On(100));
  CreationTimes after;
  after.Restore(before.known());
  EXPECT_THAT(after.Of(SnapshotOf(2, 3, {Block(1, 7)}), On(110)), ElementsAre(At(106)));
  EXPECT_TRUE(after.has_changed());
}

TEST(CreationTimesTest, ATimeOfAnEarlierRunIsNotInTheFuture) {
  CreationTimes before;
  before.Of(SnapshotOf(1, 40, {}), On(10'000));
  CreationTimes after;
  after.Restore(before.known());
  EXPECT_THAT(after.Of(SnapshotOf(1, 41, {Block(1, 1)}), On(6'401)), ElementsAre(At(6'401)));
}

TEST(CreationTimesTest, OnlyWhatIsNewIsAChange) {
  CreationTimes times;
  times.Of(SnapshotOf(1, 40, {Block(1, 7)}), On(100));
  EXPECT_TRUE(times.has_changed());
  times.Of(SnapshotOf(1, 41, {Block(1, 7)}), On(101));
  EXPECT_FALSE(times.has_changed());
  times.Of(SnapshotOf(1, 42, {Block(1, 8)}), On(102));
  EXPECT_TRUE(times.has_changed());
  times.Of(SnapshotOf(1, 43, {}), On(103));
  EXPECT_TRUE(times.has_changed()) << "an id that comes back is new, for the next run too";
}

class CreationFileTest : public testing::Test {
 protected:
  CreationFileTest() { std::filesystem::create_directories(folder_); }
  ~CreationFileTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& text) { std::ofstream(path_) << text; }

  const std::string folder_ = testing::TempDir() + "creation_file_test";
  const Uuid device_ = *Uuid::Parse("6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10");
  const std::string path_ = folder_ + "/created-6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10";
  const CreationFile file_{folder_};
  const Creations known_ = {.boot_id = 0xF123456789ABCDEF,
                            .booted = absl::FromUnixNanos(1'690'000'000'000'000'001),
                            .last = absl::FromUnixNanos(1'700'000'000'123'456'789),
                            .blocks = {{{0xFFFF, 0xFFFF}, {1, absl::FromUnixSeconds(1'700'000'000)}},
                                       {{1, 2}, {0xFFFFFFFF, absl::FromUnixNanos(-5)}}}};
};

TEST_F(CreationFileTest, WhatIsSavedIsLoaded) {
  EXPECT_EQ(file_.Load(device_).status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(file_.Save(device_, known_).ok());
  EXPECT_EQ(*file_.Load(device_), known_);
  ASSERT_TRUE(file_.Save(device_, {.boot_id = 2, .last = absl::UnixEpoch()}).ok());
  EXPECT_EQ(file_.Load(device_)->boot_id, 2u);
  EXPECT_TRUE(file_.Load(device_)->blocks.empty());
  EXPECT_EQ(file_.Load(device_)->booted, absl::InfinitePast());
}

TEST_F(CreationFileTest, AFileOfAnEarlierVersionHasNoBoot) {
  Write("sideband created 1\nboot 1\nlast 5\nblock 1 2 3 4\n");
  const auto known = file_.Load(device_);
  ASSERT_TRUE(known.ok()) << known.status();
  EXPECT_EQ(known->booted, absl::InfinitePast());
  EXPECT_EQ(known->blocks.size(), 1u);
}

TEST_F(CreationFileTest, IsItsOwnersAndFollowsNoLink) {
  const std::string elsewhere = folder_ + "/elsewhere";
  std::filesystem::create_symlink(elsewhere, path_ + ".partial");
  ASSERT_TRUE(file_.Save(device_, known_).ok());
  EXPECT_FALSE(std::filesystem::exists(elsewhere));
  struct stat status = {};
  ASSERT_EQ(lstat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode, mode_t{S_IFREG | 0600});
}

TEST_F(CreationFileTest, WhatItDidNotWriteIsRefusedWithItsLine) {
  const std::string start = "sideband created 1\nboot 1\nlast 5\n";
  const struct {
    std::string text;
    const char* line;
  } kRows[] = {
      {"", ":1:"},
      {"sideband created 2\nboot 1\nlast 5\n", ":1:"},
      {"sideband created 1\n", ":1:"},
      {"sideband created 1\nboot x\nlast 5\n", ":2:"},
      {"sideband created 1\nboot 1\n", ":2:"},
      {"sideband created 1\nboot 1\nlast soon\n", ":3:"},
      {start + "block 1 2 3\n", ":4:"},
      {start + "block 65536 2 3 4\n", ":4:"},
      {start + "block 1 2 4294967296 4\n", ":4:"},
      {start + "block 1 2 3 4\nblock 1 2 3 4\n", ":5:"},
      {start + "\n\n", ":4:"},
  };
  for (const auto& row : kRows) {
    Write(row.text);
    const absl::Status status = file_.Load(device_).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << row.text;
    EXPECT_TRUE(absl::StartsWith(status.message(), path_ + row.line)) << status << " of " << row.text;
  }
  Write(start);
  EXPECT_TRUE(file_.Load(device_).ok());
}

TEST_F(CreationFileTest, AFolderThatIsNotThereIsAnError) {
  std::filesystem::remove_all(folder_);
  EXPECT_FALSE(file_.Save(device_, known_).ok());
}

// The device and the daemon restart repeatedly while the wall clock jitters, drifts and is set. No block's created time
// ever changes.
TEST_F(CreationFileTest, NoTimeChangesOverAnyNumberOfRestarts) {
  for (uint32_t seed = 1; seed <= 5; ++seed) {
    std::minstd_rand random(seed);
    std::map<Creations::BlockId, std::pair<uint32_t, absl::Time>> published;  // generation, created
    std::vector<mailbox::BlockHeader> blocks = {{.vm = 0, .generation = 1}};
    auto times = std::make_unique<CreationTimes>();
    absl::Duration steady, ahead = absl::Hours(400'000);
    for (int i = 0; i < 500; ++i) {
      steady += absl::Milliseconds(random() % 2000);
      ahead += absl::Microseconds(static_cast<int>(random() % 10'001) - 5'000);
      if (random() % 50 == 0) ahead += absl::Minutes(static_cast<int>(random() % 121) - 60);
      if (random() % 10 == 0) blocks.push_back({.vm = static_cast<uint16_t>(i + 1), .generation = 1});
      if (random() % 10 == 0) ++blocks[random() % blocks.size()].generation;
      if (random() % 3 == 0) {
        times = std::make_unique<CreationTimes>();
        if (auto known = file_.Load(device_); known.ok()) times->Restore(*std::move(known));
      }
      const mailbox::Snapshot snapshot = {
          .boot_id = seed, .reference_time_ns = static_cast<uint64_t>(steady / absl::Nanoseconds(1)), .blocks = blocks};
      const auto created =
          times->Of(snapshot, {absl::UnixEpoch() + ahead + steady, absl::Milliseconds(random() % 3), steady});
      const absl::Status saved = times->has_changed() ? file_.Save(device_, times->known()) : absl::OkStatus();
      ASSERT_TRUE(saved.ok()) << saved;
      for (size_t row = 0; row < blocks.size(); ++row) {
        auto& [generation, time] = published[{blocks[row].vm, blocks[row].context}];
        const bool is_same = generation == blocks[row].generation;
        ASSERT_EQ(created[row], is_same ? time : created[row]) << "seed " << seed << ", turn " << i;
        generation = blocks[row].generation;
        time = created[row];
      }
    }
  }
}

}  // namespace

}  // namespace sideband::daemon
