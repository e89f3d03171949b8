// SPDX-License-Identifier: Apache-2.0
#include "client/cpp/subscription.h"

#include <grpcpp/support/status.h>
#include <grpcpp/support/string_ref.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cpp/parsed_message.h"
#include "client/lib/rpc_status.h"
#include "sideband/client.h"

namespace sideband::library {
namespace {

constexpr Backoff::Options kOptions{.min = absl::Seconds(1), .max = absl::Seconds(5)};

TEST(BackoffTest, DelaysDoubleUpToTheBound) {
  Backoff backoff(kOptions, [] { return 0.0; });
  for (const int seconds : {1, 2, 4, 5, 5}) EXPECT_EQ(backoff.Next(), absl::Seconds(seconds));
  EXPECT_EQ(backoff.attempts(), 5u);
  backoff.Reset();
  EXPECT_EQ(backoff.attempts(), 0u);
  EXPECT_EQ(backoff.Next(), absl::Seconds(1));
}

TEST(BackoffTest, APartOfEachIsLeftOutAtRandom) {
  double number = 0;
  Backoff backoff(kOptions, [&] { return number; });
  number = 0.5;
  EXPECT_EQ(backoff.Next(), absl::Milliseconds(750));
  number = 0.999;
  const absl::Duration delay = backoff.Next();
  EXPECT_GT(delay, absl::Seconds(1));
  EXPECT_LT(delay, absl::Milliseconds(1002));
}

ScopeCounters Row(uint32_t generation, uint64_t count, const std::string& vm = "vm1") {
  return {.scope = {.device = "gpu0", .vm = vm, .generation = generation},
          .status = ScopeStatus::kActive,
          .counters = {{.event = "reads", .count = count}}};
}

Snapshot Of(std::vector<ScopeCounters> rows, int time = 1, uint64_t boot = 7) {
  return {.device = "gpu0", .boot_id = boot, .reference_time = Duration(time), .scopes = std::move(rows)};
}

class PlausibilityTest : public testing::Test {
 protected:
  absl::Status Check(const Snapshot& snapshot, bool is_whole = true) { return plausibility_.Check(snapshot, is_whole); }
  bool Accepts(const Snapshot& snapshot, bool is_whole = true) { return Check(snapshot, is_whole).ok(); }

  Plausibility plausibility_;
};

TEST_F(PlausibilityTest, CountsMayStandOrRise) {
  const uint64_t most = ~uint64_t{0};
  for (const uint64_t count : {uint64_t{10}, uint64_t{10}, uint64_t{11}, most - 1, most}) {
    EXPECT_TRUE(Accepts(Of({Row(1, count)})));
  }
  EXPECT_EQ(Check(Of({Row(1, most - 1)})).message(),
            "gpu0: vm1: the count of reads fell from 18446744073709551615 to 18446744073709551614 within generation 1");
}

TEST_F(PlausibilityTest, CountsBeginAnewInANewGenerationAndBoot) {
  EXPECT_TRUE(Accepts(Of({Row(1, 10)}, 100)));
  EXPECT_TRUE(Accepts(Of({Row(2, 0)}, 101)));
  EXPECT_TRUE(Accepts(Of({Row(1, 0)}, 1, /*boot=*/8))) << "generations and the clock begin anew, too";
  EXPECT_FALSE(Accepts(Of({Row(1, 0)}, 0, 8)));
}

TEST_F(PlausibilityTest, AScopeThatEndedAndBeganAgainMayBeThereTwice) {
  ScopeCounters ended = Row(1, 10);
  ended.status = ScopeStatus::kRetired;
  EXPECT_TRUE(Accepts(Of({Row(1, 9)})));
  EXPECT_TRUE(Accepts(Of({Row(2, 1), ended})));
  EXPECT_TRUE(Accepts(Of({ended, Row(2, 2)})));
  EXPECT_FALSE(Accepts(Of({Row(2, 1), ended}))) << "the count of generation 2 fell";
  EXPECT_FALSE(Accepts(Of({Row(1, 11)}))) << "generation 1 is over";
}

TEST_F(PlausibilityTest, ScopesAreTheirOwn) {
  EXPECT_TRUE(Accepts(Of({Row(1, 10), Row(5, 3, "vm2")})));
  ScopeCounters bound = Row(1, 1);
  bound.scope.slice = 1;
  ScopeCounters host = Row(0, 1, "");
  host.scope.host = true;
  EXPECT_TRUE(Accepts(Of({bound, host, Row(0, 50, "")})));
}

TEST_F(PlausibilityTest, EventsMayChangePlaces) {
  ScopeCounters row = Row(1, 10);
  row.counters.push_back({.event = "writes", .count = 5});
  EXPECT_TRUE(Accepts(Of({row})));
  std::swap(row.counters[0], row.counters[1]);
  EXPECT_TRUE(Accepts(Of({row})));
  row.counters[0].count = 4;
  EXPECT_FALSE(Accepts(Of({row})));
}

TEST_F(PlausibilityTest, EstimatesMayFall) {
  ScopeCounters row = Row(1, 10);
  row.counters[0].estimate = Estimate{.lower = 1};
  EXPECT_TRUE(Accepts(Of({row})));
  row.counters[0].count = 9;
  EXPECT_TRUE(Accepts(Of({row})));
}

TEST_F(PlausibilityTest, ADeviceBesideConfidentialVmsMayBeSummedUpAnew) {
  ScopeCounters device = Row(0, 10, "");
  device.flags = {"confidential_excluded"};
  EXPECT_TRUE(Accepts(Of({device})));
  device.counters[0].count = 9;
  EXPECT_TRUE(Accepts(Of({device})));
}

TEST_F(PlausibilityTest, WhatIsLeftOutIsRemembered) {
  EXPECT_TRUE(Accepts(Of({Row(1, 10), Row(1, 5, "vm2")})));
  EXPECT_TRUE(Accepts(Of({Row(1, 6, "vm2")}), /*is_whole=*/false));
  EXPECT_FALSE(Accepts(Of({Row(1, 9)}), /*is_whole=*/false));
  EXPECT_TRUE(Accepts(Of({})));
  EXPECT_TRUE(Accepts(Of({Row(1, 9)}))) << "what a whole snapshot does not have has ended";
}

TEST_F(PlausibilityTest, DevicesAreBounded) {
  for (size_t i = 0; i < kDevicesMax; ++i) EXPECT_TRUE(Accepts({.device = absl::StrCat("gpu", i)}));
  EXPECT_TRUE(Accepts({.device = "gpu0"}));
  EXPECT_EQ(Check({.device = "another"}).message(), "a stream of more than 4096 devices");
}

using Outcome = ResponseSource::Outcome;
using std::chrono::milliseconds;
using std::chrono::seconds;

v1::SubscribeResponse Parse(const std::string& text) { return Parsed<v1::SubscribeResponse>(text); }

absl::Status Remote(absl::StatusCode code) { return client::MarkRemote(absl::Status(code, "host:1: gone")); }

// The messages of one connection.
struct Connection {
  absl::Status opened;
  std::vector<v1::SubscribeResponse> messages;
  bool falls_silent = false;
  absl::Status ended = Remote(absl::StatusCode::kUnavailable);
};

class ScriptedSource final : public ResponseSource {
 public:
  ScriptedSource(Connection connection, std::vector<absl::Duration>& patiences)
      : connection_(std::move(connection)), patiences_(patiences) {}

  Outcome Read(absl::Duration patience, v1::SubscribeResponse& response) override {
    patiences_.push_back(patience);
    if (next_ == connection_.messages.size()) return connection_.falls_silent ? Outcome::kSilence : Outcome::kEnded;
    response = connection_.messages[next_++];
    return Outcome::kMessage;
  }
  absl::Status Finish() override { return connection_.ended; }

 private:
  const Connection connection_;
  std::vector<absl::Duration>& patiences_;
  size_t next_ = 0;
};

// A snapshot of an hour that is `id` s old; the test's numbers are small, so that each stands in an expectation.
std::string Snapshot(int id, uint64_t count, const std::string& more = "") {
  return absl::StrCat("update { device: 'gpu0' boot_id: 7 snapshot_id: ", id, " reference_time_ns: ", id,
                      " host_time { seconds: ", id, " } scopes { scope { device: 'gpu0' vm: 'vm1' generation: 1 } ",
                      "counters { event: 'reads' count: ", count, " } } } ", more);
}

class SubscriptionTest : public testing::Test {
 protected:
  // Runs the connections in turn; the last is repeated.
  Subscription& Begin(std::vector<Connection> connections, StreamOptions options = {}) {
    connections_ = std::move(connections);
    requests_.clear();
    subscription_.emplace(
        std::move(options),
        Subscription::Environment{.peer = "host:1",
                                  .open = [this](const v1::SubscribeRequest& request) { return Open(request); },
                                  .wait = [this](absl::Duration delay) { waits_.push_back(delay); },
                                  .is_cancelled = [this] { return cancelled_; },
                                  .has_new_credentials = [this] { return has_new_credentials_; },
                                  .random = [] { return 0.5; }});
    return *subscription_;
  }

  absl::StatusOr<std::unique_ptr<ResponseSource>> Open(const v1::SubscribeRequest& request) {
    requests_.push_back(request);
    const Connection& connection = connections_[std::min(requests_.size(), connections_.size()) - 1];
    if (!connection.opened.ok()) return connection.opened;
    return std::make_unique<ScriptedSource>(connection, patiences_);
  }

  // A short text of each of the next items: "3" for a snapshot, "gap", …; the text of the end is its message.
  std::vector<std::string> Items(size_t count) {
    std::vector<std::string> texts;
    while (texts.size() < count) {
      absl::StatusOr<StreamItem> item = subscription_->Next();
      texts.push_back(item.ok() ? TextOf(*item) : std::string(item.status().message()));
      if (!item.ok()) break;
    }
    return texts;
  }

  static std::string TextOf(const StreamItem& item) {
    if (const auto* update = std::get_if<Update>(&item)) {
      return absl::StrCat(update->snapshot.snapshot_id, update->replayed ? " replayed" : "",
                          update->heartbeat ? " heartbeat" : "");
    }
    if (std::holds_alternative<Synced>(item)) return "synced";
    if (const auto* resumed = std::get_if<Resumed>(&item)) return absl::StrCat("resumed ", resumed->device);
    if (const auto* gap = std::get_if<Gap>(&item)) return GapText(*gap);
    if (std::holds_alternative<Change>(item)) return "change";
    if (std::holds_alternative<SensorUpdate>(item)) return "sensors";
    const auto& interrupted = std::get<Interrupted>(item);
    return absl::StrCat("interrupted ", interrupted.attempt, " ", interrupted.delay / milliseconds(1));
  }

  static std::string GapText(const Gap& gap) {
    const auto text = [](const std::optional<Time>& time) {
      return time ? absl::StrCat(time->time_since_epoch() / seconds(1)) : "-";
    };
    return absl::StrCat("gap ", gap.device, " ", text(gap.from), " ", text(gap.to), " ", static_cast<int>(gap.reason));
  }

  // The text of a gap that the library itself reports.
  static std::string OwnGap(const std::string& device, const std::string& times) {
    return absl::StrCat("gap ", device, " ", times, " ", static_cast<int>(GapReason::kNotResumed));
  }

  using Texts = std::vector<std::string>;

  std::vector<Connection> connections_;
  std::vector<v1::SubscribeRequest> requests_;
  std::vector<absl::Duration> waits_;
  std::vector<absl::Duration> patiences_;
  bool cancelled_ = false;
  bool has_new_credentials_ = false;
  std::optional<Subscription> subscription_;
};

TEST_F(SubscriptionTest, TheRequestHasTheOptions) {
  Begin({{}}, {.filter = {.device = "gpu0", .vm = "vm1", .context = "train", .events = {"reads"}},
               .interval = milliseconds(1500),
               .sensors = true,
               .suppress_redundant = true,
               .heartbeat = seconds(5),
               .resume_token = "t"});
  Items(1);
  EXPECT_EQ(requests_.at(0).ShortDebugString(),
            "filter { device: \"gpu0\" vm: \"vm1\" context: \"train\" events: \"reads\" } mode: MODE_STREAM "
            "stream_mode: STREAM_MODE_SAMPLE sample_interval { seconds: 1 nanos: 500000000 } sensors: true "
            "heartbeat_interval { seconds: 5 } suppress_redundant: true resume_token: \"t\"");
  Begin({{}}, {.kind = StreamKind::kOnChange, .heartbeat = {}});
  Items(1);
  EXPECT_EQ(requests_.at(0).ShortDebugString(), "filter { } mode: MODE_STREAM stream_mode: STREAM_MODE_ON_CHANGE");
}

TEST_F(SubscriptionTest, ACutStreamResumes) {
  Begin({{.messages = {Parse(Snapshot(1, 10, "sequence: 1 resume_token: 'a'")),
                       Parse("sync_response: true sequence: 2 resume_token: 'b'"),
                       Parse(Snapshot(2, 20, "sequence: 3 resume_token: 'c'"))}},
         {.messages = {Parse("resumed { device: 'gpu0' } sequence: 1 resume_token: 'd'"),
                       Parse(Snapshot(3, 30, "replayed: true sequence: 2 resume_token: 'e'")),
                       Parse(Snapshot(4, 40, "sequence: 3 resume_token: 'f'"))}}});
  EXPECT_EQ(Items(4), (Texts{"1", "synced", "2", "interrupted 1 375"}));
  EXPECT_EQ(subscription_->resume_token(), "c");
  EXPECT_EQ(Items(3), (Texts{"resumed gpu0", "3 replayed", "4"}));
  EXPECT_EQ(subscription_->resume_token(), "f");
  ASSERT_EQ(requests_.size(), 2u);
  EXPECT_EQ(requests_[0].resume_token(), "");
  EXPECT_EQ(requests_[1].resume_token(), "c");
  EXPECT_EQ(waits_, (std::vector{absl::Milliseconds(375)}));
}

// A program that drops what did not come before Synced would drop everything.
TEST_F(SubscriptionTest, AResumedConnectionIsNotSynced) {
  const std::string change = "change { items { device { name: 'gpu0' } } } ";
  Begin({{.messages = {Parse(change + "sequence: 1 resume_token: 'a'"), Parse("sync_response: true sequence: 2")}},
         {.messages = {Parse("resumed {} sequence: 1 resume_token: 'b'"),
                       Parse("gap { device: 'gpu0' reason: REASON_NOT_KEPT } sequence: 2 resume_token: 'c'"),
                       Parse("sync_response: true sequence: 3 resume_token: 'd'"),
                       Parse(change + "sequence: 4 heartbeat: true resume_token: 'e'"),
                       Parse("sync_response: true sequence: 5 heartbeat: true resume_token: 'f'")}},
         {.messages = {Parse("gap { reason: REASON_STATE_CHANGED } sequence: 1"), Parse(change + "sequence: 2"),
                       Parse("sync_response: true sequence: 3")}}},
        {.kind = StreamKind::kOnChange});
  EXPECT_EQ(Items(3), (Texts{"change", "synced", "interrupted 1 375"}));
  const std::string board = absl::StrCat("gap gpu0 - - ", static_cast<int>(GapReason::kNotKept));
  EXPECT_EQ(Items(4), (Texts{"resumed ", board, "change", "synced"})) << "of the heartbeat alone";
  EXPECT_EQ(Items(1), (Texts{"interrupted 1 375"}));
  EXPECT_EQ(Items(3),
            (Texts{absl::StrCat("gap  - - ", static_cast<int>(GapReason::kStateChanged)), "change", "synced"}));
  EXPECT_EQ(requests_.at(2).resume_token(), "f");
}

TEST_F(SubscriptionTest, AGapOfTheDaemonIsATypedValue) {
  Begin({{.messages = {Parse(Snapshot(1, 10, "sequence: 1 resume_token: 'a'"))}},
         {.messages = {Parse("gap { device: 'gpu0' from { seconds: 1 } to { seconds: 9 } reason: REASON_NOT_KEPT } "
                             "sequence: 1"),
                       Parse(Snapshot(9, 90, "sequence: 2"))}}});
  EXPECT_EQ(Items(4), (Texts{"1", "interrupted 1 375",
                             absl::StrCat("gap gpu0 1 9 ", static_cast<int>(GapReason::kNotKept)), "9"}));
}

TEST_F(SubscriptionTest, OfAnOlderDaemonTheGapIsTheLibrarys) {
  Begin({{.messages = {Parse(Snapshot(1, 10)), Parse("sync_response: true")}},
         {.messages = {Parse(Snapshot(5, 50)), Parse("sync_response: true"), Parse(Snapshot(6, 60))}}});
  EXPECT_EQ(Items(7), (Texts{"1", "synced", "interrupted 1 375", OwnGap("gpu0", "1 5"), "5", "synced", "6"}));
  EXPECT_EQ(requests_.at(1).resume_token(), "");
}

TEST_F(SubscriptionTest, TheSameSnapshotAgainIsNoGap) {
  Begin({{.messages = {Parse(Snapshot(1, 10))}}, {.messages = {Parse(Snapshot(1, 10)), Parse(Snapshot(2, 20))}}});
  EXPECT_EQ(Items(3), (Texts{"1", "interrupted 1 375", "2"}));
}

TEST_F(SubscriptionTest, ADeviceThatComesBackLateHasItsGapThen) {
  Begin({{.messages = {Parse(Snapshot(1, 10))}},
         {.messages = {Parse("sync_response: true")}},
         {.messages = {Parse("sync_response: true"), Parse(Snapshot(8, 80))}}});
  EXPECT_EQ(Items(7),
            (Texts{"1", "interrupted 1 375", "synced", "interrupted 1 375", "synced", OwnGap("gpu0", "1 8"), "8"}));
}

TEST_F(SubscriptionTest, ATokenOfAnotherProcessThatIsIgnoredIsAGap) {
  for (const std::string& first : {Snapshot(5, 50), std::string("sync_response: true")}) {
    Begin({{.messages = {Parse(first)}}}, {.resume_token = "old"});
    EXPECT_EQ(Items(1).at(0), OwnGap("", first[0] == 'u' ? "- 5" : "- -"));
  }
  Begin({{.messages = {Parse("resumed {} sequence: 1"), Parse(Snapshot(5, 50, "sequence: 2"))}}},
        {.resume_token = "old"});
  EXPECT_EQ(Items(2), (Texts{"resumed ", "5"}));
}

TEST_F(SubscriptionTest, ChangesOfAnOlderDaemonHaveAGapOfAll) {
  const std::string change = "change { items { device { name: 'gpu0' } } }";
  Begin({{.messages = {Parse(change)}}, {.messages = {Parse(change)}}}, {.kind = StreamKind::kOnChange});
  EXPECT_EQ(Items(4), (Texts{"change", "interrupted 1 375", OwnGap("", "- -"), "change"}));
}

TEST_F(SubscriptionTest, SensorsHaveTheirTimesInGaps) {
  const auto sensors = [](int time) {
    return Parse(absl::StrCat(
        "sensors { device: 'b' groups { host_time { seconds: 1 } } groups { host_time { seconds: ", time, " } } }"));
  };
  Begin({{.messages = {sensors(3)}}, {.messages = {sensors(7)}}});
  EXPECT_EQ(Items(4), (Texts{"sensors", "interrupted 1 375", OwnGap("b", "3 7"), "sensors"}));
}

TEST_F(SubscriptionTest, TwoHeartbeatsOfSilenceAreALoss) {
  Begin({{.messages = {Parse(Snapshot(1, 10, "sequence: 1"))}, .falls_silent = true}}, {.heartbeat = seconds(15)});
  EXPECT_EQ(Items(1), Texts{"1"});
  const auto item = subscription_->Next();
  EXPECT_EQ(std::get<Interrupted>(*item).error,
            (Error{ErrorCode::kUnavailable, "host:1: nothing was received for 30s, two heartbeats"}));
  EXPECT_EQ(patiences_, (std::vector{absl::Seconds(30), absl::Seconds(30)}));
}

TEST_F(SubscriptionTest, TheFirstMessageMayTakeTheTimeOfConnecting) {
  Begin({{.falls_silent = true}}, {.heartbeat = seconds(1), .waits_for_first = true});
  Items(1);
  EXPECT_EQ(patiences_, (std::vector{Subscription::kFirstMessagePatience}));
}

TEST_F(SubscriptionTest, SilenceMeansNothingWithoutHeartbeats) {
  Begin({{.messages = {Parse(Snapshot(1, 10))}}}, {.heartbeat = seconds(1)});
  Items(2);
  EXPECT_EQ(patiences_.at(1), absl::InfiniteDuration()) << "an older daemon";
  patiences_.clear();
  Begin({{.messages = {Parse(Snapshot(1, 10, "sequence: 1"))}}}, {.heartbeat = {}});
  Items(1);
  EXPECT_EQ(patiences_.at(0), absl::InfiniteDuration());
}

TEST_F(SubscriptionTest, HeartbeatsAreItems) {
  Begin({{.messages = {Parse(Snapshot(1, 10, "sequence: 1")), Parse(Snapshot(1, 10, "sequence: 2 heartbeat: true"))}}});
  EXPECT_EQ(Items(2), (Texts{"1", "1 heartbeat"}));
}

TEST_F(SubscriptionTest, DelaysGrowToTheirBoundAndBeginAnew) {
  Begin({{.messages = {Parse(Snapshot(1, 10))}},
         {},
         {},
         {},
         {.messages = {Parse(Snapshot(1, 10)), Parse("sync_response: true"), Parse(Snapshot(2, 20))}}},
        {.delay_min = milliseconds(1000), .delay_max = milliseconds(3000)});
  EXPECT_EQ(Items(8), (Texts{"1", "interrupted 1 750", "interrupted 2 1500", "interrupted 3 2250", "interrupted 4 2250",
                             "synced", "2", "interrupted 1 750"}));
  EXPECT_EQ(waits_.size(), 4u);
}

// Such as a proxy makes whose daemon is gone: each connection brings its first message, and ends.
TEST_F(SubscriptionTest, AMessageAloneDoesNotMakeDelaysShort) {
  const Connection brief{.messages = {Parse("resumed {} sequence: 1")}};
  const Connection steady{
      .messages = {Parse("resumed {} sequence: 1"), Parse(Snapshot(2, 20, "sequence: 2 heartbeat: true"))}};
  Begin({{.messages = {Parse(Snapshot(1, 10, "sequence: 1"))}}, brief, brief, steady, brief});
  EXPECT_EQ(Items(9), (Texts{"1", "interrupted 1 375", "resumed ", "interrupted 2 750", "resumed ",
                             "interrupted 3 1500", "resumed ", "2 heartbeat", "interrupted 1 375"}));
}

TEST_F(SubscriptionTest, ADaemonWithoutRoomSaysForHowLong) {
  const auto refused = [](const char* milliseconds) {
    return Connection{.ended = client::FromRpc(grpc::Status(grpc::RESOURCE_EXHAUSTED, "at most 64 streams at a time"),
                                               "host:1", {{"grpc-retry-pushback-ms", milliseconds}})};
  };
  Begin({{.messages = {Parse(Snapshot(1, 10))}}, refused("5000"), refused("1"), refused("999999999")});
  EXPECT_EQ(Items(5),
            (Texts{"1", "interrupted 1 375", "interrupted 2 5000", "interrupted 3 1500", "interrupted 4 3600000"}));
}

TEST_F(SubscriptionTest, TheFirstConnectionMustSucceedUnlessToldOtherwise) {
  Begin({{}});
  EXPECT_EQ(Items(2), Texts{"host:1: gone"});
  EXPECT_EQ(Items(1), Texts{"host:1: gone"}) << "the end stays";
  EXPECT_EQ(requests_.size(), 1u);
  Begin({{}, {.messages = {Parse(Snapshot(1, 10))}}}, {.waits_for_first = true});
  EXPECT_EQ(Items(2), (Texts{"interrupted 1 375", "1"}));
}

// Each with whether a stream that was open is made again.
TEST_F(SubscriptionTest, WhatIsALoss) {
  const std::pair<absl::Status, bool> rows[] = {
      {absl::OkStatus(), true},
      {Remote(absl::StatusCode::kUnavailable), true},
      {Remote(absl::StatusCode::kCancelled), true},
      {Remote(absl::StatusCode::kDeadlineExceeded), true},
      {Remote(absl::StatusCode::kResourceExhausted), true},
      {client::MarkRemote(absl::ResourceExhaustedError("Received message larger than max (20 vs. 10)")), false},
      {Remote(absl::StatusCode::kNotFound), false},
      {Remote(absl::StatusCode::kPermissionDenied), false},
      {Remote(absl::StatusCode::kUnauthenticated), false},
      {Remote(absl::StatusCode::kInvalidArgument), false},
      {Remote(absl::StatusCode::kUnimplemented), false},
  };
  for (const auto& [ended, is_loss] : rows) {
    Begin({{.messages = {Parse(Snapshot(1, 10))}, .ended = ended}});
    Items(1);
    EXPECT_EQ(subscription_->Next().ok(), is_loss) << ended;
  }
}

TEST_F(SubscriptionTest, AnExpiredTokenIsALossIfThereIsANewOne) {
  has_new_credentials_ = true;
  Begin({{.messages = {Parse(Snapshot(1, 10))}, .ended = Remote(absl::StatusCode::kUnauthenticated)}});
  EXPECT_EQ(Items(2), (Texts{"1", "interrupted 1 375"}));
}

TEST_F(SubscriptionTest, FilesThatAreBeingRenewedAreWaitedFor) {
  const absl::Status broken = absl::InvalidArgumentError("client.key: not that of client.pem");
  Begin({{.messages = {Parse(Snapshot(1, 10))}}, {.opened = broken}, {.messages = {Parse(Snapshot(2, 20))}}});
  EXPECT_EQ(Items(4), (Texts{"1", "interrupted 1 375", "interrupted 2 750", OwnGap("gpu0", "1 2")}));
  Begin({{.opened = broken}}, {.waits_for_first = true});
  Items(1);
  EXPECT_EQ(Items(1), (Texts{"client.key: not that of client.pem"})) << "at first it is a mistake";
}

TEST_F(SubscriptionTest, ADaemonThatHasJustStartedMayNotKnowItsDevices) {
  const Connection starting{.ended = Remote(absl::StatusCode::kNotFound)};
  Begin({{.messages = {Parse(Snapshot(1, 10))}}, starting}, {.delay_min = seconds(10), .delay_max = seconds(10)});
  // Delays of 7.5 s, until 30 s are over.
  EXPECT_EQ(Items(9), (Texts{"1", "interrupted 1 7500", "interrupted 2 7500", "interrupted 3 7500",
                             "interrupted 4 7500", "host:1: gone"}));
}

TEST_F(SubscriptionTest, SoItMayAfterItWasAwayForLong) {
  const Connection away, starting{.ended = Remote(absl::StatusCode::kNotFound)};
  Begin({{.messages = {Parse(Snapshot(1, 10))}},
         away,
         away,
         away,
         away,
         away,
         starting,
         {.messages = {Parse(Snapshot(1, 10)), Parse(Snapshot(2, 20))}}},
        {.delay_min = seconds(10), .delay_max = seconds(10)});
  EXPECT_EQ(Items(9).back(), "2");
}

TEST_F(SubscriptionTest, ACancellationEndsIt) {
  Begin({{.messages = {Parse(Snapshot(1, 10))}}});
  Items(2);
  cancelled_ = true;
  EXPECT_EQ(subscription_->Next().status().code(), absl::StatusCode::kCancelled);
}

// Each row: a lying daemon's message after a first snapshot, and the client's error.
TEST_F(SubscriptionTest, AContradictionIsTheEndAndSaysWhatItWas) {
  const auto scope = [](const std::string& row) {
    return absl::StrCat("update { device: 'gpu0' boot_id: 7 snapshot_id: 2 reference_time_ns: 2 ", row, " }");
  };
  const std::pair<std::string, std::string> rows[] = {
      {Snapshot(2, 9), "host:1: gpu0: vm1: the count of reads fell from 10 to 9 within generation 1"},
      {scope("scopes { scope { device: 'gpu0' vm: 'vm1' generation: 0 } state: STATE_ACTIVE }"),
       "host:1: gpu0: vm1: the generation went back from 1 to 0"},
      {Snapshot(0, 10), "host:1: gpu0: the device's clock went back from 1 ns to 0 ns in boot 0000000000000007"},
      {Snapshot(2, 10, "sequence: 2"), "host:1: the message after 0 has the number 2"},
      {scope("host_time { seconds: 10000000000 }"), "host:1: host_time is out of range: 10000000000 s, 0 ns"},
  };
  for (const auto& [lie, message] : rows) {
    Begin({{.messages = {Parse(Snapshot(1, 10)), Parse(lie)}}});
    EXPECT_EQ(Items(3), (Texts{"1", message}));
    EXPECT_EQ(subscription_->Next().status().code(), absl::StatusCode::kDataLoss);
  }
}

TEST_F(SubscriptionTest, ALieAfterALossIsSeenToo) {
  Begin({{.messages = {Parse(Snapshot(1, 10))}}, {.messages = {Parse(Snapshot(2, 5))}}});
  EXPECT_EQ(Items(3), (Texts{"1", "interrupted 1 375",
                             "host:1: gpu0: vm1: the count of reads fell from 10 to 5 within generation 1"}));
}

TEST_F(SubscriptionTest, AMillionRowsAreRefused) {
  v1::SubscribeResponse flood;
  flood.mutable_update()->set_device("gpu0");
  for (int i = 0; i < 1'000'000; ++i) flood.mutable_update()->add_scopes();
  Begin({{.messages = {flood}}});
  EXPECT_EQ(Items(1), Texts{"host:1: an answer has 1000000 scopes or more; this library accepts 65536"});
}

TEST_F(SubscriptionTest, MessagesAreNumberedThroughout) {
  for (const auto& [first, second] : {std::pair(1, 3), std::pair(1, 1), std::pair(1, 0), std::pair(2, 3)}) {
    Begin({{.messages = {Parse(Snapshot(1, 10, absl::StrCat("sequence: ", first))),
                         Parse(Snapshot(2, 20, absl::StrCat("sequence: ", second)))}}});
    const Texts items = Items(3);
    EXPECT_EQ(items.size(), first == 1 ? 2u : 1u);
    EXPECT_NE(items.back().find("the message after"), std::string::npos) << items.back();
  }
}

TEST_F(SubscriptionTest, WhatANewerDaemonSaysIsPassedOver) {
  Begin({{.messages = {Parse(Snapshot(1, 10, "sequence: 1 resume_token: 'a'")),
                       Parse("sequence: 2 resume_token: 'x'")}}});
  EXPECT_EQ(Items(1), Texts{"1"});
  EXPECT_EQ(subscription_->resume_token(), "a");
  EXPECT_EQ(Items(1), Texts{"interrupted 1 375"});
  EXPECT_EQ(subscription_->resume_token(), "x");
}

TEST_F(SubscriptionTest, AnEarlierTokenIsNotUsedWhereTheLastResponseHasNone) {
  Begin({{.messages = {Parse(Snapshot(1, 10, "sequence: 1 resume_token: 'a'")), Parse(Snapshot(2, 20, "sequence: 2"))}},
         {.messages = {Parse(Snapshot(5, 50, "sequence: 1"))}}});
  EXPECT_EQ(Items(4), (Texts{"1", "2", "interrupted 1 375", OwnGap("gpu0", "2 5")}));
  EXPECT_EQ(requests_.at(1).resume_token(), "");
  EXPECT_EQ(Items(1), Texts{"5"});
}

}  // namespace

}  // namespace sideband::library
