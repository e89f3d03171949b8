// SPDX-License-Identifier: Apache-2.0
#include "sideband/client.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cpp/parsed_message.h"
#include "client/lib/fake_daemon.h"
#include "proto/base/wait_until.h"
#include "sideband/error.h"
#include "sideband/rates.h"
#include "sideband/time.h"

// The library over gRPC and TLS, against a scripted daemon.
namespace sideband {
namespace {

using client::FakeDaemon;
using std::chrono::seconds;

std::vector<v1::SubscribeResponse> Messages(const std::vector<std::string>& texts) {
  std::vector<v1::SubscribeResponse> messages;
  for (const std::string& text : texts) messages.push_back(library::Parsed<v1::SubscribeResponse>(text));
  return messages;
}

std::string UpdateText(int id, const std::string& more = "") {
  return absl::StrCat("update { device: 'gpu0' boot_id: 7 snapshot_id: ", id, " } ", more);
}

class ClientTest : public testing::Test {
 protected:
  void SetUp() override { ::unsetenv("SIDEBAND_CONFIG"); }

  // A connection to a daemon with this script.
  Client Connect(FakeDaemon::Script script) {
    daemon_.emplace(std::move(script), files_.ServerOnlyTls());
    auto client = Client::Connect(Options());
    EXPECT_TRUE(client) << client.error().message;
    return *std::move(client);
  }

  ClientOptions Options() const {
    return {.address = daemon_->address(),
            .ca_file = files_.ca_file,
            .cert_file = files_.client_cert_file,
            .key_file = files_.client_key_file,
            .timeout = std::chrono::minutes(1)};
  }

  static std::string Write(const std::string& name, const std::string& text) {
    const std::string path = testing::TempDir() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

  const client::TestCertificates files_ = client::TestCertificates::WriteTo(testing::TempDir());
  std::optional<FakeDaemon> daemon_;
};

TEST_F(ClientTest, CallsHaveTheirAnswers) {
  FakeDaemon::Script script;
  script.devices.add_devices()->set_name("gpu0");
  script.events.add_devices()->add_events()->set_name("reads");
  script.scopes.add_scopes()->set_vm("vm1");
  script.snapshots.add_snapshots()->set_snapshot_id(3);
  script.history.add_devices()->set_device("gpu1");
  const Client client = Connect(script);
  EXPECT_EQ(client.ListDevices()->at(0).name, "gpu0");
  EXPECT_EQ(client.ListEvents()->at(0).events.at(0).name, "reads");
  EXPECT_EQ(client.ListScopes()->at(0).vm, "vm1");
  EXPECT_EQ(client.GetSnapshots({.vm = "a", .events = {"reads"}})->at(0).snapshot_id, 3u);
  EXPECT_EQ(daemon_->requests().get_snapshot, "filter { vm: \"a\" events: \"reads\" }");
  EXPECT_EQ(client.GetHistory({.step = std::chrono::seconds(1)})->devices.at(0).device, "gpu1");
  EXPECT_EQ(daemon_->requests().get_history, "filter { } step { seconds: 1 }");
}

TEST_F(ClientTest, WhatADaemonDoesNotHaveIsUnimplemented) {
  const Client client = Connect({});
  EXPECT_EQ(client.GetSensors().error().code, ErrorCode::kUnimplemented);
  EXPECT_EQ(client.PlaceMark({}).error().code, ErrorCode::kUnimplemented);
  EXPECT_EQ(client.ListMarks().error().code, ErrorCode::kUnimplemented);
  EXPECT_EQ(client.GetSpan({}).error().code, ErrorCode::kUnimplemented);
}

TEST_F(ClientTest, ErrorsHaveTheAddressAndOneLine) {
  const Client client = Connect({.status = grpc::Status(grpc::StatusCode::NOT_FOUND, "no such\nVM")});
  EXPECT_EQ(client.GetSnapshots().error(),
            (Error{ErrorCode::kNotFound, absl::StrCat(daemon_->address(), ": no such\\x0aVM")}));
}

TEST_F(ClientTest, ALyingAnswerIsRefused) {
  FakeDaemon::Script script;
  script.snapshots.add_snapshots()->mutable_host_time()->set_nanos(-1);
  const Client client = Connect(script);
  EXPECT_EQ(client.GetSnapshots().error(),
            (Error{ErrorCode::kProtocol, absl::StrCat(daemon_->address(), ": host_time is out of range: 0 s, -1 ns")}));
}

TEST_F(ClientTest, AMessageBeyondTheLimitIsRefused) {
  FakeDaemon::Script script;
  script.snapshots.add_snapshots()->set_device(std::string(kAnswerBytesMax + 1, 'x'));
  const Client client = Connect(script);
  const Error error = client.GetSnapshots().error();
  EXPECT_EQ(error.code, ErrorCode::kProtocol);
  EXPECT_TRUE(absl::StrContains(error.message, "larger than max")) << error.message;
}

TEST_F(ClientTest, MistakesInOptionsAreErrors) {
  daemon_.emplace(FakeDaemon::Script(), files_.ServerOnlyTls());
  EXPECT_EQ(Client::Connect({.timeout = {}}).error().message, "timeout: must be above 0");
  EXPECT_EQ(Client::Connect({.config_file = "/nonexistent/client.yaml"}).error().code, ErrorCode::kNotFound);
  ClientOptions options = Options();
  options.key_file = files_.ca_file;
  EXPECT_EQ(Client::Connect(options).error().code, ErrorCode::kInvalidArgument);
  const auto client = Client::Connect(Options());
  EXPECT_EQ(client->Subscribe({.interval = Duration(1)}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(client->GetHistory({.step = Duration(-1)}).error().message, "step: must not be below 0");
}

TEST_F(ClientTest, TheFileAndTheEnvironmentConfigureIt) {
  FakeDaemon::Script script;
  script.devices.add_devices();
  Connect(script);
  const std::string file = Write("client.yaml", absl::StrCat("address: '", daemon_->address(), "'\nca_file: '",
                                                             files_.ca_file, "'\ntoken_file: token\n"));
  Write("token", "t");
  EXPECT_TRUE(Client::Connect({.config_file = file})->ListDevices());
  EXPECT_EQ(daemon_->requests().authorization, "Bearer t");
  ::setenv("SIDEBAND_CONFIG", file.c_str(), 1);
  EXPECT_TRUE(Client::Connect()->ListDevices());
  EXPECT_EQ(Client::Connect({.address = "127.0.0.1:1"})->ListDevices().error().code, ErrorCode::kUnavailable);
}

TEST_F(ClientTest, ATokenThatIsRenewedIsUsed) {
  daemon_.emplace(FakeDaemon::Script(), files_.ServerOnlyTls());
  ClientOptions options = Options();
  options.token_file = Write("token", "first");
  const auto client = Client::Connect(options);
  EXPECT_TRUE(client->ListDevices());
  EXPECT_EQ(daemon_->requests().authorization, "Bearer first");
  Write("token", "not one token");
  EXPECT_TRUE(client->ListDevices()) << "halfway: the connection goes on";
  EXPECT_EQ(daemon_->requests().authorization, "Bearer first");
  Write("token", "second");
  EXPECT_TRUE(client->ListDevices());
  EXPECT_EQ(daemon_->requests().authorization, "Bearer second");
}

TEST_F(ClientTest, ADaemonThatIsGoneIsUnavailable) {
  const Client client = Connect({});
  EXPECT_TRUE(client.ListDevices());
  daemon_.reset();
  EXPECT_EQ(client.ListDevices().error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(client.ListDevices().error().code, ErrorCode::kUnavailable);
}

TEST_F(ClientTest, ClientsMayBeMovedAndShared) {
  Client client = Connect({});
  Client moved = std::move(client);
  client = std::move(moved);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&client] { EXPECT_TRUE(client.ListDevices()); });
  for (std::thread& thread : threads) thread.join();
}

class StreamTest : public ClientTest {
 protected:
  // A stream that notes its delays in place of waiting.
  Stream Subscribe(const Client& client, StreamOptions options = {}) {
    options.sleep = [this](Duration delay) { delays_.push_back(delay); };
    auto stream = client.Subscribe(options);
    EXPECT_TRUE(stream);
    return *std::move(stream);
  }

  template <typename Item>
  static Item Expect(Stream& stream) {
    auto item = stream.Next();
    EXPECT_TRUE(item) << item.error().message;
    EXPECT_TRUE(std::holds_alternative<Item>(*item)) << "item " << item->index();
    return std::get<Item>(*item);
  }

  std::vector<Duration> delays_;
};

TEST_F(StreamTest, ACutIsBridgedByTheToken) {
  FakeDaemon::Script script;
  script.cut_streams = {
      Messages({UpdateText(1, "sequence: 1 resume_token: 'a'"), UpdateText(2, "sequence: 2 resume_token: 'b'")})};
  script.updates = Messages({"resumed { device: 'gpu0' } sequence: 1", UpdateText(3, "sequence: 2 replayed: true")});
  script.keeps_streams = true;
  Stream stream = Subscribe(Connect(script), {.filter = {.device = "gpu0"}});
  EXPECT_EQ(Expect<Update>(stream).snapshot.snapshot_id, 1u);
  EXPECT_EQ(Expect<Update>(stream).snapshot.snapshot_id, 2u);
  EXPECT_EQ(stream.resume_token(), "b");
  EXPECT_TRUE(delays_.empty());
  EXPECT_EQ(Expect<Interrupted>(stream).error.message,
            absl::StrCat(daemon_->address(), ": the daemon ended the stream"));
  EXPECT_EQ(Expect<Resumed>(stream).device, "gpu0");
  EXPECT_TRUE(Expect<Update>(stream).replayed);
  EXPECT_TRUE(absl::StrContains(daemon_->requests().subscribe, "resume_token: \"b\"")) << daemon_->requests().subscribe;
  ASSERT_EQ(delays_.size(), 1u);
  EXPECT_GT(delays_[0], std::chrono::milliseconds(249));
  EXPECT_LE(delays_[0], std::chrono::milliseconds(500));
}

TEST_F(StreamTest, SilenceIsALossOfTheConnection) {
  FakeDaemon::Script script;
  script.updates = Messages({UpdateText(1, "sequence: 1")});
  script.keeps_streams = true;
  Stream stream = Subscribe(Connect(script), {.heartbeat = std::chrono::seconds(1)});
  EXPECT_EQ(Expect<Update>(stream).snapshot.snapshot_id, 1u);
  EXPECT_TRUE(absl::StrContains(Expect<Interrupted>(stream).error.message, "nothing was received for 2s"));
}

TEST_F(StreamTest, ALieIsTheEnd) {
  constexpr char kRow[] =
      "update { device: 'gpu0' scopes { scope { vm: 'vm1' } counters { event: 'reads' count: %d } } }";
  FakeDaemon::Script script;
  script.updates = Messages({absl::StrFormat(kRow, 2), absl::StrFormat(kRow, 1)});
  Stream stream = Subscribe(Connect(script));
  Expect<Update>(stream);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(stream.Next().error().code, ErrorCode::kProtocol);
}

TEST_F(StreamTest, ItMayBeCancelledFromAnotherThread) {
  FakeDaemon::Script script;
  script.keeps_streams = true;
  Stream stream = Subscribe(Connect(script));
  const TimeLimit limit("the end of a stream that is cancelled");
  std::thread other([&stream] { stream.Cancel(); });
  EXPECT_EQ(stream.Next().error().code, ErrorCode::kCancelled);
  other.join();
}

TEST_F(StreamTest, ACancellationEndsTheWaitForAnotherAttempt) {
  const Client client = Connect({.updates = Messages({UpdateText(1)})});
  auto stream = client.Subscribe({.delay_min = std::chrono::hours(1), .delay_max = std::chrono::hours(1)});
  Expect<Update>(*stream);
  Expect<Interrupted>(*stream);
  const TimeLimit limit("the end of a stream that is cancelled");
  std::thread other([&stream] { stream->Cancel(); });
  EXPECT_EQ(stream->Next().error().code, ErrorCode::kCancelled);
  other.join();
}

TEST_F(StreamTest, AStreamOutlivesItsClient) {
  FakeDaemon::Script script;
  script.updates = Messages({UpdateText(1)});
  std::optional<Client> client(Connect(script));
  Stream stream = Subscribe(*client);
  client.reset();
  EXPECT_EQ(Expect<Update>(stream).snapshot.snapshot_id, 1u);
}

TEST(ResultTest, HasAValueOrAnError) {
  Result<std::string> good(std::string("a"));
  EXPECT_TRUE(good.ok());
  EXPECT_TRUE(good);
  EXPECT_EQ(*good, "a");
  EXPECT_EQ(good->size(), 1u);
  *good += "b";
  EXPECT_EQ(good.value(), "ab");
  const Result<std::string> bad(Error{ErrorCode::kNotFound, "no such VM"});
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.error(), (Error{ErrorCode::kNotFound, "no such VM"}));
}

TEST(ResultTest, HasValuesThatCannotBeCopied) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(3));
  EXPECT_EQ(*std::move(result).value(), 3);
}

TEST(ResultDeathTest, WhatIsNotThereEndsTheProcess) {
  const Result<int> bad(Error{ErrorCode::kNotFound, "no such VM"});
  EXPECT_DEATH(static_cast<void>(*bad), "the value of a failed Result was used: no such VM");
  const Result<int> good(1);
  EXPECT_DEATH(static_cast<void>(good.error()), "there is no error");
}

TEST(ErrorCodeTest, EachHasItsName) {
  EXPECT_STREQ(ErrorCodeName(ErrorCode::kInvalidArgument), "InvalidArgument");
  EXPECT_STREQ(ErrorCodeName(ErrorCode::kInternal), "Internal");
  EXPECT_STREQ(ErrorCodeName(static_cast<ErrorCode>(99)), "Unknown");
}

TEST(TimeTest, IsUtcToTheMillisecond) {
  EXPECT_EQ(FormatTime(Time()), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(FormatTime(Time(std::chrono::nanoseconds(1'763'728'447'958'999'999))), "2025-11-21T12:34:07.958Z");
  EXPECT_EQ(FormatTime(Time(std::chrono::nanoseconds(-1))), "1969-12-31T23:59:59.999Z");
}

Snapshot At(int second, uint64_t count, uint32_t generation = 1, uint64_t boot = 7) {
  return {.device = "gpu0",
          .boot_id = boot,
          .reference_time = seconds(second),
          .scopes = {{.scope = {.device = "gpu0", .vm = "vm1", .generation = generation},
                      .counters = {{.event = "reads", .count = count}}}}};
}

TEST(RatesTest, AnIncreaseIsPerSecondOfTheDevicesTime) {
  const auto rows = IncreasesBetween(At(10, 100), At(14, 300));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].scope.vm, "vm1");
  EXPECT_EQ(rows[0].increases, (std::vector<Increase>{{.event = "reads", .count = 200, .per_second = 50}}));
}

TEST(RatesTest, CountsAreExactTo64Bits) {
  const uint64_t most = ~uint64_t{0};
  EXPECT_EQ(IncreasesBetween(At(1, most - 1), At(2, most)).at(0).increases.at(0).count, 1u);
  EXPECT_EQ(IncreasesBetween(At(1, 0), At(2, most)).at(0).increases.at(0).count, most);
}

TEST(RatesTest, CountersThatBeganAnewHaveNone) {
  EXPECT_TRUE(IncreasesBetween(At(1, 100), At(2, 300, /*generation=*/2)).empty());
  EXPECT_TRUE(IncreasesBetween(At(1, 100), At(2, 300, 1, /*boot=*/8)).empty());
}

TEST(RatesTest, OfAScopeThatEndedAndBeganAgainTheEndedPartCounts) {
  Snapshot later = At(2, 150);
  later.scopes.push_back(At(2, 7, /*generation=*/2).scopes[0]);
  const auto rows = IncreasesBetween(At(1, 100), later);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].scope.generation, 1u);
  EXPECT_EQ(rows[0].increases.at(0).count, 50u);
}

TEST(RatesTest, ThereIsNoIncreaseBackwardsOrBetweenDevices) {
  EXPECT_TRUE(IncreasesBetween(At(2, 100), At(1, 100)).empty());
  EXPECT_TRUE(IncreasesBetween(At(1, 100), At(1, 100)).empty());
  Snapshot other = At(2, 200);
  other.device = "gpu1";
  EXPECT_TRUE(IncreasesBetween(At(1, 100), other).empty());
}

TEST(RatesTest, EventsOfOneSnapshotAloneHaveNone) {
  Snapshot later = At(2, 100);
  later.scopes[0].counters[0].event = "writes";
  EXPECT_TRUE(IncreasesBetween(At(1, 100), later).at(0).increases.empty());
}

TEST(RatesTest, EstimatesAndPartsAreNotExact) {
  Snapshot later = At(2, 200);
  Counter& counter = later.scopes[0].counters[0];
  counter.coverage = 1.0;
  EXPECT_TRUE(IncreasesBetween(At(1, 100), later).at(0).increases.at(0).exact);
  counter.coverage = 0.5;
  EXPECT_FALSE(IncreasesBetween(At(1, 100), later).at(0).increases.at(0).exact);
  counter.coverage.reset();
  counter.estimate = Estimate{};
  EXPECT_FALSE(IncreasesBetween(At(1, 100), later).at(0).increases.at(0).exact);
  counter.count = 99;
  EXPECT_TRUE(IncreasesBetween(At(1, 100), later).at(0).increases.empty());
}

}  // namespace

}  // namespace sideband
