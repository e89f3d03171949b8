// SPDX-License-Identifier: Apache-2.0
//
// `sideband watch` and `top`: rounds, reconnection, notes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "client/cli_fixture.h"

namespace sideband::client {
namespace {

using nlohmann::json;

TEST_F(CliTest, WatchPrintsUpdatesUpToItsCount) {
  Serve(Updates(2, true));
  EXPECT_EQ(Printed({"watch", "--count", "2", "--interval", "1500ms", "--format", "table"}),
            std::string(kSnapshotTable) + "\n1 snapshot skipped, no counts lost\n" +
                absl::StrReplaceAll(kSnapshotTable, {{"snapshot 17", "snapshot 18"}}) + "\n");
  EXPECT_EQ(daemon_->requests().subscribe,
            "filter { } mode: MODE_STREAM stream_mode: STREAM_MODE_SAMPLE "
            "sample_interval { seconds: 1 nanos: 500000000 } heartbeat_interval { seconds: 10 }");
}

// The number of each device's updates that were printed; `devices` is the order in which they come, "" the sync
// response.
std::map<std::string, int> PrintedUpdates(const std::string& lines) {
  std::map<std::string, int> updates;
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);)
    ++updates[json::parse(line)["update"]["device"].get<std::string>()];
  return updates;
}

TEST_F(CliTest, WatchCountsRounds) {
  const auto printed = [&](const char* count, const std::vector<std::string>& devices) {
    Serve(UpdatesOf(devices));
    return PrintedUpdates(Printed({"watch", "--count", count, "--format", "json"}));
  };
  using Counted = std::map<std::string, int>;
  const std::vector<std::string> both = {"gpu0", "gpu1", "", "gpu1", "gpu0", "gpu0", "gpu1"};
  EXPECT_EQ(printed("1", both), (Counted{{"gpu0", 1}, {"gpu1", 1}})) << "no second update is waited for";
  EXPECT_EQ(printed("2", both), (Counted{{"gpu0", 2}, {"gpu1", 2}}));
  EXPECT_EQ(printed("3", both), (Counted{{"gpu0", 3}, {"gpu1", 3}}));
  // gpu1 falls silent and comes again.
  const std::vector<std::string> silent = {"gpu0", "gpu1", "", "gpu0", "gpu0", "gpu0", "gpu1", "gpu0"};
  EXPECT_EQ(printed("2", silent), (Counted{{"gpu0", 2}, {"gpu1", 1}})) << "the third update of gpu0 ends it";
  EXPECT_EQ(printed("4", silent), (Counted{{"gpu0", 4}, {"gpu1", 1}}));
  EXPECT_EQ(printed("5", silent), (Counted{{"gpu0", 5}, {"gpu1", 2}}));
  EXPECT_EQ(printed("1", {"", "gpu0", "gpu0"}), (Counted{{"gpu0", 1}})) << "there was none at first";
}

TEST_F(CliTest, WatchGoesOnWhereAStreamWasCut) {
  FakeDaemon::Script script = Updates(1, false);
  script.updates.back().set_resume_token("here");
  Serve(script);
  wait_ = [&](absl::Duration) {
    FakeDaemon::Script rest;
    rest.updates.emplace_back().mutable_resumed()->set_device("gpu0");
    rest.updates.push_back(Updates(1, true).updates[0]);
    rest.updates.back().mutable_update()->set_snapshot_id(18);
    rest.updates.back().set_replayed(true);
    rest.updates.push_back(rest.updates.back());
    rest.updates.back().mutable_update()->set_snapshot_id(19);
    rest.updates.back().set_resume_token("there");
    rest.keeps_streams = true;
    Serve(rest);
    return false;
  };
  const std::string printed = Printed({"watch", "--count", "3", "--format", "json"});
  EXPECT_THAT(daemon_->requests().subscribe, testing::HasSubstr("resume_token: \"here\""));
  EXPECT_EQ(err_.text(),
            "sideband: the server ended the stream; connecting again\n"
            "sideband: connected again\n")
      << "there is no gap";
  EXPECT_THAT(printed, testing::HasSubstr("\"replayed\":true"));
  EXPECT_THAT(printed, testing::HasSubstr("\"resume_token\":\"\"")) << "the token is for the command alone";
}

TEST_F(CliTest, WatchNotesAGapOnce) {
  FakeDaemon::Script script = Updates(1, true);
  v1::Gap& gap = *script.updates.emplace_back().mutable_gap();
  gap.set_device("gpu0");
  gap.set_reason(v1::Gap::REASON_NOT_KEPT);
  script.updates.push_back(script.updates[0]);
  script.updates.back().mutable_update()->set_snapshot_id(29);
  script.updates.back().mutable_update()->mutable_host_time()->set_seconds(1'700'000'012);
  Serve(script);
  Printed({"watch", "--count", "2"});
  EXPECT_EQ(err_.text(),
            "sideband: gpu0: no updates from 2023-11-14T22:13:20.000Z to 2023-11-14T22:13:32.000Z, snapshots 17 to 29; "
            "no counts are lost\n");
}

// They have nothing that was not sent before.
TEST_F(CliTest, WatchDoesNotPrintHeartbeats) {
  FakeDaemon::Script script = Updates(2, true);
  script.updates[0].set_heartbeat(true);
  Serve(script);
  EXPECT_THAT(Printed({"watch", "--count", "1", "--format", "json"}), testing::HasSubstr("\"snapshot_id\":18"));
}

TEST_F(CliTest, WatchPrintsChanges) {
  FakeDaemon::Script script{.keeps_streams = true};
  v1::StateChange& change = *script.updates.emplace_back().mutable_change();
  for (const char* device : {"gpu0", "gpu1"}) {
    change.add_items()->mutable_device()->set_name(device);
    change.mutable_items()->rbegin()->mutable_device()->set_state(v1::Device::STATE_STALE);
  }
  script.updates.push_back(script.updates[0]);
  script.updates[0].set_heartbeat(true);
  for (const char* device : {"gpu0", "gpu1", "gpu2"}) script.devices.add_devices()->set_name(device);
  Serve(script);
  EXPECT_THAT(Printed({"watch", "--on-change", "--count", "1"}), testing::HasSubstr(" gpu0 is stale\n"));
  EXPECT_EQ(daemon_->requests().subscribe,
            "filter { } mode: MODE_STREAM stream_mode: STREAM_MODE_ON_CHANGE heartbeat_interval { seconds: 10 }");
  EXPECT_THAT(Printed({"watch", "--on-change", "--count", "1", "--device", "gpu1", "--device", "gpu2"}),
              testing::Not(testing::HasSubstr("gpu0")));
  EXPECT_THAT(Printed({"watch", "--on-change", "--count", "1", "--format", "json"}), testing::HasSubstr("\"change\""));
  EXPECT_THAT(Mistake({"watch", "--on-change", "--interval", "1s"}), testing::HasSubstr("--on-change"));
  EXPECT_THAT(Mistake({"watch", "--on-change", "--format", "csv"}), testing::HasSubstr("lines or json"));
}

TEST_F(CliTest, WatchPrintsALinePerUpdate) {
  Serve(Updates(2, true));
  EXPECT_EQ(Printed({"watch", "--count", "2", "--contexts"}),
            "                                     sm     dram\n"
            "TIME (UTC) DEVICE VM   CONTEXT   active     read\n"
            "22:13:20.0 gpu0   -    -              -        -\n"
            "22:13:20.0 gpu0   vm0  train          - ~1.23k/s *\n"
            "22:13:20.0 gpu0   -    -              -        -\n"
            "22:13:20.0 gpu0   vm0  train          - ~1.23k/s *\n");
  EXPECT_THAT(Printed({"watch", "--count", "1", "--contexts", "--event", "dram*", "--value", "count"}),
              testing::HasSubstr("vm0  train        ~42 *"));
  EXPECT_NE(Mistake({"watch", "--value", "much"}).find("--value"), std::string::npos);
}

TEST_F(CliTest, WatchSaysWhatDoesNotFit) {
  FakeDaemon::Script script = Updates(1, true);
  for (int i = 0; i < 9; ++i) {
    script.updates[0].mutable_update()->mutable_scopes(0)->add_counters()->set_event(absl::StrCat("event_", i));
  }
  Serve(script);
  Printed({"watch", "--count", "1"});
  EXPECT_EQ(err_.text(), "sideband: 7 of 10 events fit the line: --event chooses, --wide shows all\n");
  terminal_ = TerminalSize{.rows = 24, .columns = 200};
  Printed({"watch", "--count", "1"});
  EXPECT_EQ(err_.text(), "");
}

TEST_F(CliTest, WatchSaysThatADeviceIsSilent) {
  FakeDaemon::Script script = Updates(1, true);
  for (const auto& [name, state] : {std::pair("gpu0", v1::Device::STATE_STALE), {"gpu1", v1::Device::STATE_AWAY}}) {
    v1::Device& device = *script.devices.add_devices();
    device.set_name(name);
    device.set_state(state);
    device.mutable_interval()->set_seconds(1);
  }
  script.updates[0].mutable_update()->mutable_age()->set_seconds(74);
  script.updates.push_back(script.updates[0]);
  script.updates.back().mutable_update()->set_snapshot_id(99);
  Serve(script);
  Printed({"watch", "--count", "2"});
  EXPECT_EQ(err_.text(),
            "sideband: gpu0 is stale: its newest snapshot is 1m14s old\n"
            "sideband: gpu1 has not answered yet: there is no snapshot\n");
}

TEST_F(CliTest, WatchOfABoardWithoutCountersEnds) {
  FakeDaemon::Script script{.keeps_streams = true};
  v1::Device& board = *script.devices.add_devices();
  board.set_name("gpu2");
  board.set_state(v1::Device::STATE_FRESH);
  script.updates.emplace_back().set_sync_response(true);
  Serve(script);
  EXPECT_EQ(Printed({"watch"}), "");
  EXPECT_EQ(err_.text(), "sideband: gpu2 is a board without counters: see sideband sensors --device gpu2\n");
}

TEST_F(CliTest, WatchEndsWellIfInterruptedWhileItLooksNamesUp) {
  Serve(Updates(1, true));
  on_connect_ = [this] { cancellation_.Cancel(); };
  EXPECT_EQ(Printed({"watch", "--device", "g*"}), "");
  EXPECT_EQ(err_.text(), "");
}

TEST_F(CliTest, WatchAsJsonIsALinePerUpdate) {
  Serve(Updates(2, true));
  std::istringstream lines(Printed({"watch", "--count", "2", "--format", "json"}));
  std::string line;
  for (const char* skipped : {"0", "1"}) {
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_EQ(json::parse(line)["skipped"], skipped);
    EXPECT_EQ(json::parse(line)["update"]["device"], "gpu0");
  }
  EXPECT_FALSE(std::getline(lines, line));
}

TEST_F(CliTest, WatchEndsWellWhenInterrupted) {
  cancellation_.Cancel();
  Serve(Updates(1, true));
  EXPECT_EQ(Run({"watch"}), absl::OkStatus());
}

TEST_F(CliTest, AStreamThatJustEndsIsAFailure) {
  Serve(Updates(1, false));
  const absl::Status status = Run({"watch", "--no-reconnect"});
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ReportCli(status), 1);
  Serve({.status = grpc::Status(grpc::StatusCode::UNAVAILABLE, "not yet")});
  EXPECT_EQ(Run({"watch", "--address", "h:1"}).message(), "h:1: not yet") << "it was never there";
}

TEST_F(CliTest, WatchGoesOnAfterTheDaemonHasRestarted) {
  Serve(Updates(1, false));
  std::vector<absl::Duration> waits;
  wait_ = [&](absl::Duration wait) {
    waits.push_back(wait);
    // First no daemon, then a daemon that does not know its devices yet, then a ready daemon.
    Serve({.status = grpc::Status(grpc::StatusCode::UNAVAILABLE, "refused")});
    if (waits.size() == 2) Serve({.status = grpc::Status(grpc::StatusCode::NOT_FOUND, "no such VM")});
    if (waits.size() < 3) return false;
    FakeDaemon::Script script = Updates(2, true);
    script.updates.back().mutable_update()->set_snapshot_id(29);
    script.updates.back().mutable_update()->mutable_host_time()->set_seconds(1'700'000'012);
    Serve(script);
    return false;
  };
  EXPECT_EQ(
      Printed({"watch", "--count", "2", "--vm", "vm0", "--format", "table"}).substr(0, std::size(kSnapshotTable) - 1),
      kSnapshotTable);
  EXPECT_THAT(out_.text(), testing::HasSubstr("snapshot 29")) << "snapshot 17 is not shown again";
  EXPECT_EQ(err_.text(),
            "sideband: the server ended the stream; connecting again\n"
            "sideband: connected again\n"
            "sideband: gpu0: no updates from 2023-11-14T22:13:20.000Z to 2023-11-14T22:13:32.000Z, snapshots 17 to 29; "
            "no counts are lost\n");
  EXPECT_EQ(waits, (std::vector{absl::Milliseconds(500), absl::Seconds(1), absl::Seconds(2)}));
}

// Each with how the next connection fares, before one that prints snapshot 18.
TEST_F(CliTest, WatchOutlastsWhatPasses) {
  for (const grpc::StatusCode code : {grpc::StatusCode::DEADLINE_EXCEEDED, grpc::StatusCode::RESOURCE_EXHAUSTED,
                                      grpc::StatusCode::CANCELLED, grpc::StatusCode::UNAVAILABLE}) {
    FakeDaemon::Script first = Updates(1, false);
    first.status = grpc::Status(code, "the reader has taken nothing");
    Serve(first);
    int waits = 0;
    wait_ = [&](absl::Duration) {
      FakeDaemon::Script next = Updates(2, true);
      if (++waits == 1) next.status = grpc::Status(code, "at most 64 streams at a time");
      if (waits == 1) next.updates.clear(), next.keeps_streams = false;
      Serve(next);
      return false;
    };
    EXPECT_THAT(Printed({"watch", "--count", "2", "--format", "json"}), testing::HasSubstr("\"snapshot_id\":18"));
    EXPECT_EQ(waits, 2);
    Serve({.status = grpc::Status(code, "at first")});
    EXPECT_EQ(Run({"watch", "--address", "h:1"}).message(), "h:1: at first") << "it was never there";
  }
}

TEST_F(CliTest, WatchGoesOnWithANewToken) {
  const std::string token = absl::StrCat(testing::TempDir(), "/watch.token");
  std::ofstream(token) << "first";
  FakeDaemon::Script expired = Updates(1, false);
  expired.status = grpc::Status(grpc::StatusCode::UNAUTHENTICATED, "who are you?");
  Serve(expired);
  int waits = 0;
  wait_ = [&](absl::Duration) { return ++waits, false; };
  EXPECT_TRUE(absl::IsUnauthenticated(Run({"watch", "--token-file", token})));
  EXPECT_EQ(waits, 0) << "the token is the one that has expired";
  // It is renewed while the stream is open.
  on_connect_ = [&] {
    if (waits == 0) std::ofstream(token) << "the second";
  };
  EXPECT_TRUE(absl::IsUnauthenticated(Run({"watch", "--token-file", token})));
  EXPECT_EQ(waits, 1) << "once for each token";
  waits = 0;
  std::ofstream(token) << "first";
  wait_ = [&](absl::Duration) {
    Serve(Updates(2, true));
    return ++waits, false;
  };
  EXPECT_THAT(Printed({"watch", "--token-file", token, "--count", "2", "--format", "json"}),
              testing::HasSubstr("\"snapshot_id\":18"));
}

// The key is not there yet when the first one connects again.
TEST_F(CliTest, WatchWaitsForFilesThatAreBeingReplaced) {
  Serve(Updates(1, false));
  int waits = 0;
  wait_ = [&](absl::Duration) {
    ++waits;
    connect_error_ = waits == 1 ? absl::NotFoundError("client.key: no such file") : absl::OkStatus();
    Serve(Updates(2, true));
    return false;
  };
  EXPECT_THAT(Printed({"watch", "--count", "2", "--format", "json"}), testing::HasSubstr("\"snapshot_id\":18"));
  EXPECT_EQ(waits, 2);
  Serve(Updates(1, false));
  absl::Duration waited;
  wait_ = [&](absl::Duration delay) {
    waited += delay;
    connect_error_ = absl::NotFoundError("client.key: no such file");
    return false;
  };
  EXPECT_EQ(Mistake({"watch"}), "client.key: no such file");
  EXPECT_GE(waited, absl::Seconds(30));
  EXPECT_LE(waited, absl::Seconds(45));
}

TEST_F(CliTest, WatchSaysThatADeviceHasRestarted) {
  FakeDaemon::Script script = Updates(2, true);
  script.updates.back().mutable_update()->set_boot_id(0xb008);
  Serve(script);
  Printed({"watch", "--count", "2"});
  EXPECT_EQ(
      err_.text(),
      "sideband: gpu0 has restarted: boot 000000000000b008 after 000000000000b007; its counts start from 0 again\n");
}

TEST_F(CliTest, WatchWaitsForNamesOnlySoLong) {
  Serve(Updates(1, false));
  absl::Duration waited;
  wait_ = [&](absl::Duration wait) {
    waited += wait;
    Serve({.status = grpc::Status(grpc::StatusCode::NOT_FOUND, "no such VM")});
    return false;
  };
  EXPECT_EQ(Run({"watch", "--vm", "vm0", "--address", "h:1"}).message().substr(0, 15), "h:1: no such VM");
  EXPECT_GE(waited, absl::Seconds(30));
  EXPECT_LE(waited, absl::Seconds(45));
}

TEST_F(CliTest, TopPrintsRounds) {
  Serve(Updates(1, true));
  wait_ = [](absl::Duration) { return false; };
  EXPECT_THAT(
      Printed({"top", "--batch", "--count", "2", "--event", "dram_read", "--interval", "5s", "--address", "h:1"}),
      testing::ContainsRegex("^sideband top  h:1  22:23:20 UTC  dram_read\n"
                             "NAME +STATE +READS +UTIL +RATE\n"
                             "gpu0 +fresh 0.0s +- +- +-\n"
                             "  vm0 +- +- +- +-\n"
                             "    train +idle +- +- +~1.23k/s\n"
                             "\nsideband top  h:1  22:23:20 UTC  dram_read\n"));
  EXPECT_THAT(daemon_->requests().subscribe, testing::HasSubstr("sample_interval { seconds: 5 }"));
  EXPECT_EQ(err_.text(), "");
}

TEST_F(CliTest, TopEndsWellWhenInterrupted) {
  Serve(Updates(1, true));
  std::vector<absl::Duration> waits;
  wait_ = [&](absl::Duration wait) {
    waits.push_back(wait);
    return true;
  };
  EXPECT_THAT(Printed({"top", "-b"}), testing::StartsWith("sideband top  127.0.0.1:9878  22:23:20 UTC  sm_active\n"));
  EXPECT_EQ(waits, std::vector{absl::Seconds(1)});
}

TEST_F(CliTest, TopRefusesWhatIsNoOption) {
  EXPECT_THAT(Mistake({"top", "--count", "3"}), testing::HasSubstr("--count requires --batch"));
  EXPECT_THAT(Mistake({"top", "--batch", "--interval", "9ms"}), testing::HasSubstr("not a duration from 10ms to 24h"));
}

}  // namespace
}  // namespace sideband::client
