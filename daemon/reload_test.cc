// SPDX-License-Identifier: Apache-2.0
#include "daemon/reload.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "daemon/base/socket_folder.h"
#include "proto/base/errors.h"

namespace sideband::daemon {
namespace {

class ReloadRequestsTest : public testing::Test {
 protected:
  ReloadRequests::Done Note() {
    return [this](const absl::StatusOr<ReloadOutcome>& outcome) {
      answers_.push_back(outcome.ok() ? "reloaded" : std::string(outcome.status().message()));
    };
  }

  int wakes_ = 0;
  ReloadRequests requests_{[this] { ++wakes_; }};
  std::vector<std::string> answers_;
};

TEST_F(ReloadRequestsTest, OneReloadAnswersAllWhoHaveAsked) {
  requests_.Ask(Note());
  requests_.Ask(Note());
  EXPECT_EQ(wakes_, 2);
  const auto asked = requests_.Take();
  requests_.Ask(Note());
  for (const auto& done : asked) done(ReloadOutcome());
  EXPECT_EQ(answers_, std::vector<std::string>(2, "reloaded"));
  EXPECT_EQ(requests_.Take().size(), 1u) << "who asks later is answered by the next";
}

TEST_F(ReloadRequestsTest, NobodyWaitsForAnEndedDaemon) {
  requests_.Ask(Note());
  requests_.Close();
  requests_.Ask(Note());
  EXPECT_EQ(answers_, std::vector<std::string>(2, "shutting down"));
  EXPECT_EQ(wakes_, 1);
  EXPECT_TRUE(requests_.Take().empty());
}

using Names = std::vector<std::string>;

TEST(RestartNeedsTest, NamesEachSettingThatIsNotTaken) {
  struct Row {
    const char* name;
    std::function<void(Config&)> change;
  };
  const Row kRows[] = {
      {"grpc.listen", [](Config& c) { c.grpc.listener.listen.port = 1; }},
      {"grpc.listen", [](Config& c) { c.grpc.listener.on_network = false; }},
      {"grpc.tls_server_config", [](Config& c) { c.grpc.listener.tls.cert_file = "x"; }},
      {"grpc.unix_socket", [](Config& c) { c.grpc.listener.unix_socket = "x"; }},
      {"grpc.reflection", [](Config& c) { c.grpc.reflection = true; }},
      {"grpc.max_connection_age", [](Config& c) { c.grpc.listener.max_connection_age = absl::Hours(1); }},
      {"http.listen", [](Config& c) { c.http.listener.listen.host = "::1"; }},
      {"http.tls_server_config", [](Config& c) { c.http.listener.tls.min_version = TlsVersion::kTls12; }},
      {"http.unix_socket", [](Config& c) { c.http.listener.unix_socket = "x"; }},
      {"http.redfish", [](Config& c) { c.http.redfish = true; }},
      {"http.max_connection_age", [](Config& c) { c.http.listener.max_connection_age = absl::Hours(1); }},
      {"local_operators", [](Config& c) { c.local_operators.users = {1}; }},
      {"log.format", [](Config& c) { c.log.format = LogFormat::kJson; }},
      {"local_operators", [](Config& c) { c.local_operators.groups = {1}; }},
      {"marks", [](Config& c) { c.marks.kept = 99; }},
      {"quotas", [](Config& c) { c.quotas.streams = 1; }},
      {"tokens", [](Config& c) { c.tokens.reset(); }},
      {"tokens.audience", [](Config& c) { c.tokens->audience = "x"; }},
      {"tokens.issuer", [](Config& c) { c.tokens->issuer = "x"; }},
      {"sealing.vm_keys", [](Config& c) { c.vm_keys[0].key_file = "x"; }},
      {"sealing.vm_keys", [](Config& c) { c.vm_keys.clear(); }},
      {"sealing.exchange", [](Config& c) { c.sealing_file = "s.yaml"; }},
      {"audit", [](Config& c) { c.audit.files = 1; }},
      {"state_dir", [](Config& c) { c.state_dir = "x"; }},
      {"ports_file", [](Config& c) { c.ports_file = "x"; }},
  };
  const Config in_force{.tokens = TokenConfig(), .vm_keys = {{.key_file = "k"}}};
  for (const Row& row : kRows) {
    Config wanted = in_force;
    row.change(wanted);
    EXPECT_EQ(RestartNeeds(in_force, wanted), Names{row.name});
  }
}

TEST(RestartNeedsTest, TheRestIsTaken) {
  const Config in_force{.tokens = TokenConfig(), .vm_keys = {{.key_file = "k"}}};
  Config wanted = in_force;
  wanted.devices = {{.name = "gpu0"}};
  wanted.ratios.ratios = {{.name = "r"}};
  wanted.devices[0].clocks.trigger_hz = 1;
  wanted.history.max_bytes = 0;
  wanted.log.level = LogLevel::kDebug;
  wanted.policy_file = "x";
  wanted.tokens->jwks_file = "x";
  wanted.vm_keys[0].place = "c.yaml:9";
  EXPECT_EQ(RestartNeeds(in_force, wanted), Names{});
  EXPECT_EQ(RestartNeeds(wanted, in_force), Names{});
}

TEST(BmcChangesTest, NamesEachBmcThatIsNotTheSame) {
  const BmcConfig one{.name = "one", .url = "https://192.0.2.1"}, two{.name = "two", .url = "https://192.0.2.2"};
  BmcConfig other = two;
  other.interval = absl::Seconds(30);
  EXPECT_EQ(BmcChanges({one}, {one, two}), Names{"bmc two: added, https://192.0.2.2"});
  EXPECT_EQ(BmcChanges({one, two}, {two}), Names{"bmc one: removed"});
  EXPECT_EQ(BmcChanges({one, two}, {other, one}), Names{"bmc two: changed, https://192.0.2.2"});
  EXPECT_EQ(BmcChanges({one}, {one}), Names{});
}

// Without TLS: the listeners are Unix sockets.
class StartupFilesTest : public testing::Test {
 protected:
  StartupFilesTest() {
    Write("ca.pem", "no certificate\n");
    Write("token", "looked at elsewhere\n");
    chmod((folder_ + "token").c_str(), 0600);
  }

  void Write(const std::string& name, const std::string& text) const { std::ofstream(folder_ + name) << text; }

  // The errors of a site with `keys` among a BMC's, and a grant of `device` or of a partition of it.
  Names Errors(const std::string& keys, const std::string& device, bool is_whole = false) const {
    Write("c.yaml",
          absl::StrCat("devices: [{name: gpu0, bus: 'unix:b@0x4f'}]\nbmcs: [{name: b, url: 'https://h', ", keys,
                       ", session_token_file: token}]\ngrpc: {unix_socket: g}\nhttp: {unix_socket: h}\n"
                       "policy_file: policy.yaml\n"));
    Write("policy.yaml", absl::StrCat("version: 1\ntenants:\n  - name: t\n    identities: ['jwt:t']\n"
                                      "    ",
                                      is_whole ? "devices" : "partitions", ": [{device: ", device,
                                      is_whole ? "}]\n" : ", gpu_instance: 1}]\n"));
    ErrorList errors;
    ReadStartupFiles(folder_ + "c.yaml", errors);
    Names lines;
    for (const absl::Status& error : errors.All()) {
      lines.push_back(absl::StrReplaceAll(std::string(error.message()), {{folder_, ""}}));
    }
    return lines;
  }

  const SocketFolder socket_folder_;
  const std::string folder_ = socket_folder_.path() + "/";
};

TEST_F(StartupFilesTest, PartitionsAreOfDevicesThatMayBe) {
  const std::string pin = absl::StrCat("pin_sha256: ", std::string(64, 'a'));
  const std::string listed = absl::StrCat(pin, ", devices: [{name: gpu7, id: GPU_SXM_7}]");
  for (const char* device : {"gpu0", "b-gpu3"}) EXPECT_EQ(Errors(pin, device), Names{}) << device;
  for (const char* device : {"gpu0", "gpu7"}) EXPECT_EQ(Errors(listed, device), Names{}) << device;
  EXPECT_EQ(Errors(pin, "b-gpu"), Names{"policy.yaml:5: device 'b-gpu' is not configured"});
  EXPECT_EQ(Errors(listed, "gpu70"), Names{"policy.yaml:5: device 'gpu70' is not configured (did you mean 'gpu0'?)"});
}

TEST_F(StartupFilesTest, WholeDevicesAreThoseOfBmcs) {
  const std::string pin = absl::StrCat("pin_sha256: ", std::string(64, 'a'));
  const std::string listed = absl::StrCat(pin, ", devices: [{name: gpu7, id: GPU_SXM_7}]");
  EXPECT_EQ(Errors(pin, "b-gpu3", /*is_whole=*/true), Names{});
  EXPECT_EQ(Errors(listed, "gpu7", /*is_whole=*/true), Names{});
  EXPECT_EQ(Errors(pin, "gpu0", /*is_whole=*/true),
            Names{"policy.yaml:5: device 'gpu0' is not behind a BMC: grant its VMs or partitions"});
  EXPECT_EQ(Errors(listed, "gpu70", /*is_whole=*/true),
            Names{"policy.yaml:5: device 'gpu70' is not configured (did you mean 'gpu0'?)"});
}

TEST_F(StartupFilesTest, TheCaOfABmcIsRead) {
  EXPECT_EQ(Errors("ca_file: ca.pem", "gpu0"), Names{"ca.pem: no certificate in PEM form"});
}

}  // namespace

}  // namespace sideband::daemon
