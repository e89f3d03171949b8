// SPDX-License-Identifier: Apache-2.0
#include "daemon/stream/sample_pacer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace sideband::daemon {
namespace {

using testing::ElementsAre;

DeviceSnapshot At(uint64_t publication, absl::Duration time) {
  DeviceSnapshot snapshot;
  snapshot.publication = publication;
  snapshot.steady_time = time;
  return snapshot;
}

// The publications taken of 1, 2, …, latched one second apart with alternating `jitter`.
std::vector<uint64_t> Taken(absl::Duration sample_interval, int publications, absl::Duration jitter = {}) {
  SamplePacer pacer(sample_interval);
  std::vector<uint64_t> taken;
  for (int p = 1; p <= publications; ++p) {
    const auto snapshot = At(p, absl::Seconds(p) + (p % 2 == 0 ? jitter : -jitter));
    if (!pacer.Wants(snapshot, absl::Seconds(1))) continue;
    pacer.Take(snapshot);
    taken.push_back(p);
  }
  return taken;
}

TEST(SamplePacerTest, NoIntervalIsEveryPublication) {
  EXPECT_THAT(Taken(absl::ZeroDuration(), 4), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Taken(absl::Seconds(1), 4, absl::Milliseconds(20)), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Taken(absl::Milliseconds(10), 4), ElementsAre(1, 2, 3, 4)) << "more there are not";
}

TEST(SamplePacerTest, LongerIntervalsTakeTheNearest) {
  EXPECT_THAT(Taken(absl::Seconds(2), 7), ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(Taken(absl::Seconds(2), 7, absl::Milliseconds(20)), ElementsAre(1, 3, 5, 7)) << "jitter does not matter";
  EXPECT_THAT(Taken(absl::Milliseconds(1500), 8), ElementsAre(1, 2, 4, 5, 7, 8));
}

TEST(SamplePacerTest, NothingIsTakenTwiceOrBackwards) {
  SamplePacer pacer(absl::ZeroDuration());
  pacer.Take(At(5, absl::Seconds(5)));
  EXPECT_FALSE(pacer.Wants(At(5, absl::Seconds(5)), absl::Seconds(1)));
  EXPECT_FALSE(pacer.Wants(At(4, absl::Seconds(9)), absl::Seconds(1)));
  EXPECT_TRUE(pacer.Wants(At(6, absl::Seconds(6)), absl::Seconds(1)));
}

TEST(SamplePacerTest, SkippedIsWhatLiesBetween) {
  SamplePacer pacer(absl::ZeroDuration());
  EXPECT_EQ(pacer.Take(At(7, absl::Seconds(7))), 0u) << "what was before the stream is not skipped";
  EXPECT_EQ(pacer.Take(At(8, absl::Seconds(8))), 0u);
  EXPECT_EQ(pacer.Take(At(12, absl::Seconds(12))), 3u);
}

TEST(SamplePacerTest, ADeviceThatIsReadMoreOftenIsStillSampledAtTheInterval) {
  SamplePacer pacer(absl::Seconds(1));
  EXPECT_TRUE(pacer.Wants(At(1, absl::Seconds(1)), absl::Seconds(1)));
  pacer.Take(At(1, absl::Seconds(1)));
  EXPECT_FALSE(pacer.Wants(At(2, absl::Milliseconds(1100)), absl::Milliseconds(100)));
  EXPECT_TRUE(pacer.Wants(At(11, absl::Seconds(2)), absl::Milliseconds(100)));
}

TEST(SamplePacerTest, AfterAPauseTheGridStartsAnew) {
  SamplePacer pacer(absl::Seconds(10));
  pacer.Take(At(1, absl::Seconds(1)));
  pacer.Take(At(2, absl::Seconds(100)));
  EXPECT_FALSE(pacer.Wants(At(3, absl::Seconds(101)), absl::Seconds(1)));
  EXPECT_TRUE(pacer.Wants(At(12, absl::Seconds(110)), absl::Seconds(1)));
}

}  // namespace
}  // namespace sideband::daemon
