// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/stream_reactor.h"

#include <gtest/gtest.h>

#include <string>

#include "daemon/view/fake_world.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {
namespace {

using Verdict = WriteWatch::Verdict;

class WriteWatchTest : public testing::Test {
 protected:
  FakeClock clock_{absl::UnixEpoch()};
  WriteWatch watch_{&clock_, absl::Seconds(20)};
};

TEST_F(WriteWatchTest, AStreamIsFinishedOnceThenCancelledOnce) {
  watch_.Begin();
  clock_.Advance(absl::Seconds(20) - absl::Nanoseconds(1));
  EXPECT_EQ(watch_.Check(), Verdict::kGood);
  clock_.Advance(absl::Nanoseconds(1));
  EXPECT_EQ(watch_.Check(), Verdict::kFinish);
  EXPECT_TRUE(watch_.is_finished());
  clock_.Advance(absl::Seconds(19));
  EXPECT_EQ(watch_.Check(), Verdict::kGood);
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(watch_.Check(), Verdict::kCancel);
  clock_.Advance(absl::Hours(1));
  EXPECT_EQ(watch_.Check(), Verdict::kGood);
}

TEST_F(WriteWatchTest, EachWriteHasItsOwnTime) {
  for (int i = 0; i < 5; ++i) {
    watch_.Begin();
    clock_.Advance(absl::Seconds(15));
    EXPECT_EQ(watch_.Check(), Verdict::kGood);
    watch_.End();
  }
  clock_.Advance(absl::Hours(1));
  EXPECT_EQ(watch_.Check(), Verdict::kGood) << "nothing is being written";
}

TEST_F(WriteWatchTest, WithoutHeartbeatsPatienceIsEndless) {
  WriteWatch endless(&clock_, absl::InfiniteDuration()), without_clock(nullptr, absl::Seconds(1));
  endless.Begin();
  without_clock.Begin();
  clock_.Advance(absl::Hours(10'000));
  EXPECT_EQ(endless.Check(), Verdict::kGood);
  EXPECT_EQ(without_clock.Check(), Verdict::kGood);
}

// Always has a message of 100 bytes.
struct EagerSource {
  using Message = sideband::v1::SealedRecord;

  StreamStep<Message> Next() {
    ++*asked;
    Message message;
    message.set_record(std::string(100, 'x'));
    return message;
  }
  StreamStep<Message> Wait() const {
    if (*is_somebody) return StreamWait{};
    return StreamEnd{absl::UnauthenticatedError("nobody")};
  }

  int* asked;
  const bool* is_somebody;
};

class StreamReactorTest : public testing::Test {
 protected:
  std::shared_ptr<StreamReactor<EagerSource>> Open(int& asked) {
    return std::make_shared<StreamReactor<EagerSource>>(EagerSource{&asked, &is_somebody_}, registry_,
                                                        *under_way_.Begin("a"), nullptr, [](const absl::Status&) {});
  }

  FakeWorld world_;
  bool is_somebody_ = true;
  StreamRegistry registry_{world_.reader, /*per_identity_max=*/8};
  CallsUnderWay under_way_{{.bytes_max = 150}};
};

TEST_F(StreamReactorTest, WhoTakesWhatComesGetsTheNext) {
  int asked = 0;
  const auto stream = Open(asked);
  stream->Wake();
  for (int i = 1; i < 10; ++i) {
    EXPECT_EQ(asked, i);
    stream->OnWriteDone(true);
  }
}

TEST_F(StreamReactorTest, WhoIsNobodyAnyMoreWaitsNoLonger) {
  int asked[] = {0, 0, 0};
  absl::Status ended = absl::OkStatus();
  const auto first = Open(asked[0]), second = Open(asked[1]);
  const auto third = std::make_shared<StreamReactor<EagerSource>>(EagerSource{&asked[2], &is_somebody_}, registry_,
                                                                  *under_way_.Begin("a"), nullptr,
                                                                  [&](const absl::Status& status) { ended = status; });
  for (const auto& stream : {first, second, third}) stream->Wake();
  is_somebody_ = false;
  third->Wake();
  third->OnDone();
  EXPECT_EQ(ended, absl::UnauthenticatedError("nobody"));
}

TEST_F(StreamReactorTest, WhoTakesNothingForTooLongIsFinishedThenCancelled) {
  int asked = 0, cancelled = 0;
  absl::Status ended = absl::OkStatus();
  const auto stream = std::make_shared<StreamReactor<EagerSource>>(
      EagerSource{&asked, &is_somebody_}, registry_, *under_way_.Begin("a"), nullptr,
      [&](const absl::Status& status) { ended = status; },
      StreamReactor<EagerSource>::ReaderDeadline{
          .clock = &world_.clock, .patience = absl::Seconds(20), .cancel = [&] { ++cancelled; }});
  stream->Wake();
  world_.clock.Advance(absl::Seconds(19));
  stream->OnWriteDone(true);
  EXPECT_EQ(asked, 2) << "it has taken one in time";
  world_.clock.Advance(absl::Seconds(20));
  stream->Wake();
  EXPECT_EQ(cancelled, 0);
  world_.clock.Advance(absl::Seconds(20));
  stream->Wake();
  stream->Wake();
  EXPECT_EQ(cancelled, 1);
  stream->OnWriteDone(false);
  stream->Wake();
  EXPECT_EQ(asked, 2) << "nothing is made for it any more";
  stream->OnDone();
  EXPECT_EQ(ended, ReaderTooSlowError());
  world_.clock.Advance(absl::Hours(1));
  stream->Wake();
  EXPECT_EQ(cancelled, 1);
}

TEST_F(StreamReactorTest, WhoDoesNotReadGetsNoMoreOnAnyStream) {
  int asked[] = {0, 0, 0};
  const auto first = Open(asked[0]), second = Open(asked[1]), third = Open(asked[2]);
  first->Wake();
  second->Wake();
  third->Wake();
  EXPECT_EQ(asked[0], 1);
  EXPECT_EQ(asked[1], 1) << "the one that fills it";
  EXPECT_EQ(asked[2], 0);
  EXPECT_FALSE(under_way_.Begin("a").ok());
  EXPECT_TRUE(under_way_.Begin("b").ok());
  third->Wake();
  EXPECT_EQ(asked[2], 0);
  first->Stop();
  first->OnWriteDone(false);
  third->Wake();
  EXPECT_EQ(asked[2], 1) << "there is room again";
}

}  // namespace

}  // namespace sideband::daemon
