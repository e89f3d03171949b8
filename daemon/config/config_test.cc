// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/config.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "daemon/base/socket_folder.h"

namespace sideband::daemon {
namespace {

constexpr char kGood[] = R"(devices:
  - name: gpu0
    bus: "unix:/run/sideband/gpu0.bus@0x4f"
    interval: 250ms
    # no capture
  - {name: gpu1, bus: "i2c:/dev/i2c-3@0x4f"}
grpc:
  listen: "127.0.0.1:0"
  tls_server_config: {cert_file: s.crt, key_file: s.key, client_ca_file: ca.crt, min_version: TLS12}
  reflection: true
http:
  listen: "[::1]:9877"
  tls_server_config: {cert_file: s.crt, key_file: s.key, client_ca_file: ca.crt, client_auth_type: RequireAndVerifyClientCert}
policy_file: policy.yaml
sealing:
  vm_keys:
    - {vm: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, key_file: vm.key}
log: {level: warn}
ports_file: ports.json
state_dir: state
)";

class ConfigTest : public testing::Test {
 protected:
  ConfigTest() {
    for (const char* name : {"s.crt", "s.key", "ca.crt", "policy.yaml", "vm.key"}) {
      std::ofstream(folder_ + name) << "content is looked at elsewhere\n";
      chmod((folder_ + name).c_str(), 0600);
    }
  }

  absl::StatusOr<Config> Load(const std::string& text) const {
    const std::string path = folder_ + "c.yaml";
    std::ofstream(path) << text;
    return LoadConfig(path);
  }

  // The message of kGood with `from` replaced by `to`, without the folder.
  std::string Error(const std::string& from, const std::string& to) const {
    const std::string text = absl::StrReplaceAll(kGood, {{from, to}});
    EXPECT_NE(text, kGood) << "the test changes nothing: " << from;
    return absl::StrReplaceAll(std::string(Load(text).status().message()), {{folder_, ""}});
  }

  const SocketFolder socket_folder_;  // sockets are named in it
  const std::string folder_ = socket_folder_.path() + "/";
};

TEST_F(ConfigTest, ReadsEverything) {
  const auto config = Load(kGood);
  ASSERT_TRUE(config.ok()) << config.status();
  ASSERT_EQ(config->devices.size(), 2u);
  EXPECT_EQ(config->devices[0].name, "gpu0");
  EXPECT_EQ(config->devices[0].bus, "unix:/run/sideband/gpu0.bus@0x4f");
  EXPECT_EQ(config->devices[0].interval, absl::Milliseconds(250));
  EXPECT_EQ(config->devices[1].interval, absl::Seconds(1)) << "default";
  EXPECT_EQ(config->devices[0].bus_hz, 0u) << "a virtual bus has no speed of its own";
  EXPECT_EQ(config->devices[1].bus_hz, 100'000u) << "default";
  EXPECT_EQ(config->grpc.listener.listen, (ListenAddress{"127.0.0.1", 0}));
  EXPECT_EQ(config->grpc.listener.tls.min_version, TlsVersion::kTls12);
  EXPECT_TRUE(config->grpc.reflection);
  EXPECT_EQ(config->http.listener.listen, (ListenAddress{"::1", 9877}));
  EXPECT_EQ(config->http.listener.tls.min_version, TlsVersion::kTls13) << "default";
  EXPECT_FALSE(config->http.redfish) << "default";
  EXPECT_EQ(config->http.listener.tls.cert_file, folder_ + "s.crt") << "relative to the configuration's folder";
  EXPECT_EQ(config->policy_file, folder_ + "policy.yaml");
  ASSERT_EQ(config->vm_keys.size(), 1u);
  EXPECT_EQ(config->vm_keys[0].key_file, folder_ + "vm.key");
  EXPECT_EQ(config->vm_keys[0].place, folder_ + "c.yaml:17");
  EXPECT_EQ(config->log.level, LogLevel::kWarn);
  EXPECT_EQ(config->ports_file, folder_ + "ports.json");
  EXPECT_EQ(config->state_dir, folder_ + "state");
}

TEST_F(ConfigTest, EveryMistakeHasItsLine) {
  struct Case {
    const char* from;
    const char* to;
    const char* message;
  };
  for (const Case& c : {
           Case{"  - name: gpu0", "  - name: gpu 0",
                "c.yaml:2: device name 'gpu 0' may hold letters, digits, _ . - only"},
           Case{"name: gpu1", "name: gpu0", "c.yaml:6: device 'gpu0' is given twice"},
           Case{"250ms", "9ms", "c.yaml:4: interval is 9ms, must be a duration from 10ms to 1h, such as 250ms or 1s"},
           Case{"interval: 250ms", "bus_hz: 9999", "c.yaml:4: expected a whole number from 10000 to 5000000"},
           Case{"250ms", "61m", "c.yaml:4: interval is 61m, must be a duration from 10ms to 1h, such as 250ms or 1s"},
           Case{"250ms", "1", "c.yaml:4: interval is 1, must be a duration from 10ms to 1h, such as 250ms or 1s"},
           Case{"250ms", "[]", "c.yaml:4: interval must be a duration from 10ms to 1h, such as 250ms or 1s"},
           Case{"interval:", "intervall:", "c.yaml:4: unknown key 'intervall' (did you mean 'interval'?)"},
           Case{", bus: \"i2c:/dev/i2c-3@0x4f\"", "", "c.yaml:6: key 'bus' is missing"},
           Case{"127.0.0.1:0", "localhost:0",
                "c.yaml:8: 'localhost:0' is not ADDRESS:PORT with an address in numbers, such as 127.0.0.1:9877, "
                "0.0.0.0:9877 or [::1]:0"},
           Case{"reflection: true", "reflection: yes", "c.yaml:10: expected true or false"},
           Case{"http:", "http:\n  redfish: 1", "c.yaml:12: expected true or false"},
           Case{"TLS12", "TLS11", "c.yaml:9: 'TLS11' is unknown, must be TLS12 or TLS13"},
           Case{"RequireAndVerifyClientCert", "NoClientCert",
                "c.yaml:13: a listener without mutual TLS is refused: no tokens are configured"},
           Case{"RequireAndVerifyClientCert", "VerifyClientCertIfGiven",
                "c.yaml:13: a listener without mutual TLS is refused: no tokens are configured"},
           Case{"RequireAndVerifyClientCert", "RequireAnyClientCert",
                "c.yaml:13: 'RequireAnyClientCert' is unknown, must be RequireAndVerifyClientCert, "
                "VerifyClientCertIfGiven or "
                "NoClientCert"},
           Case{", client_ca_file: ca.crt, min", ", min",
                "c.yaml:9: a listener without mutual TLS is refused: client_ca_file is missing"},
           Case{"key_file: s.key, client_ca_file: ca.crt, min", "key_file: x.key, client_ca_file: ca.crt, min",
                "c.yaml:9: x.key: No such file or directory"},
           Case{"policy_file: policy.yaml\n", "", "c.yaml:1: key 'policy_file' is missing"},
           Case{"policy.yaml", "absent.yaml", "c.yaml:14: absent.yaml: No such file or directory"},
           Case{"key_file: vm.key", "key_file: absent.key", "c.yaml:17: absent.key: No such file or directory"},
           Case{"level: warn", "level: loud", "c.yaml:18: 'loud' is unknown, must be debug, info, warn or error"},
           Case{"ports_file: ports.json", "ports_file: ''", "c.yaml:19: expected a text"},
       }) {
    EXPECT_EQ(Error(c.from, c.to), c.message);
  }
}

TEST_F(ConfigTest, AllErrorsAreReportedAtOnce) {
  const std::string text = absl::StrReplaceAll(kGood, {{"name: gpu0", "name: gpu 0"},
                                                       {"250ms", "1"},
                                                       {"name: gpu1", "nmae: gpu1"},
                                                       {"reflection: true", "reflection: yes"},
                                                       {"policy_file: policy.yaml", "policy_fil: absent.yaml"},
                                                       {"key_file: vm.key", "key_file: absent.key"},
                                                       {"level: warn", "level: loud"}});
  ErrorList errors;
  ParseConfig(text, folder_ + "c.yaml", errors);
  std::vector<std::string> messages;
  for (const absl::Status& error : errors.All()) {
    messages.push_back(absl::StrReplaceAll(std::string(error.message()), {{folder_, ""}}));
  }
  EXPECT_EQ(messages, (std::vector<std::string>{
                          "c.yaml:14: unknown key 'policy_fil' (did you mean 'policy_file'?)",
                          "c.yaml:2: device name 'gpu 0' may hold letters, digits, _ . - only",
                          "c.yaml:4: interval is 1, must be a duration from 10ms to 1h, such as 250ms or 1s",
                          "c.yaml:6: unknown key 'nmae' (did you mean 'name'?)",
                          "c.yaml:6: key 'name' is missing",
                          "c.yaml:10: expected true or false",
                          "c.yaml:1: key 'policy_file' is missing",
                          "c.yaml:17: absent.key: No such file or directory",
                          "c.yaml:18: 'loud' is unknown, must be debug, info, warn or error",
                      }));
}

TEST_F(ConfigTest, FilesThatOthersMayChangeAreRefused) {
  struct Case {
    const char* file;
    mode_t mode;
    const char* message;
  };
  for (const Case& c :
       {Case{"policy.yaml", 0602, "c.yaml:14: policy.yaml: everybody may write it (chmod o-w it)"},
        Case{"ca.crt", 0666, "c.yaml:9: ca.crt: everybody may write it (chmod o-w it)"},
        Case{"s.crt", 0602, "c.yaml:9: s.crt: everybody may write it (chmod o-w it)"},
        Case{"s.key", 0604, "c.yaml:9: s.key: a private key that other users may access: run chmod o= on it"},
        Case{"vm.key", 0604, "c.yaml:17: vm.key: a private key that other users may access: run chmod o= on it"}}) {
    chmod((folder_ + c.file).c_str(), c.mode);
    EXPECT_EQ(absl::StrReplaceAll(std::string(Load(kGood).status().message()), {{folder_, ""}}), c.message);
    chmod((folder_ + c.file).c_str(), 0640);
    EXPECT_TRUE(Load(kGood).ok()) << "its group is trusted: " << c.file;
  }
  Load(kGood).status().IgnoreError();
  chmod((folder_ + "c.yaml").c_str(), 0666);
  EXPECT_EQ(LoadConfig(folder_ + "c.yaml").status().message(),
            folder_ + "c.yaml: everybody may write it (chmod o-w it)");
}

TEST_F(ConfigTest, ASwappedKeyIsNotToldToBeOpenToOthers) {
  std::ofstream(folder_ + "s.crt") << "-----BEGIN PRIVATE KEY-----\n";
  std::ofstream(folder_ + "s.key") << "-----BEGIN CERTIFICATE-----\n";
  chmod((folder_ + "s.key").c_str(), 0644);
  EXPECT_EQ(absl::StrReplaceAll(std::string(Load(kGood).status().message()), {{folder_, ""}}),
            "c.yaml:9: s.crt: a private key, not a certificate: are cert_file and key_file swapped?");
}

TEST_F(ConfigTest, AKeyInPlaceOfTheClientsCaIsSaidToBeOne) {
  std::ofstream(folder_ + "ca.crt") << "-----BEGIN PRIVATE KEY-----\n";
  EXPECT_EQ(absl::StrReplaceAll(std::string(Load(kGood).status().message()), {{folder_, ""}}),
            "c.yaml:9: ca.crt: a private key, not a certificate");
}

TEST_F(ConfigTest, ALikelyNameOfTheTlsSectionIsUnderstood) {
  EXPECT_EQ(Error("  tls_server_config: {cert_file: s.crt, key_file: s.key, client_ca_file: ca.crt, min",
                  "  tls_config: {cert_file: s.crt, key_file: s.key, client_ca_file: ca.crt, min"),
            "c.yaml:9: unknown key 'tls_config' (did you mean 'tls_server_config'?)");
}

TEST_F(ConfigTest, AFifoIsRefusedAtTheKeyThatNamesIt) {
  ASSERT_EQ(mkfifo((folder_ + "fifo").c_str(), 0600), 0);
  EXPECT_EQ(Error("policy.yaml", "fifo"), "c.yaml:14: fifo: is not a regular file");
}

TEST_F(ConfigTest, ACaptureMustBeMeant) {
  const std::string device = "    interval: 250ms\n", capture = device + "    capture: gpu0.sbt\n",
                    meant = capture + "    capture_plaintext: true\n";
  EXPECT_EQ(Load(kGood)->devices[0].capture_file, "") << "default";
  EXPECT_EQ(Load(absl::StrReplaceAll(kGood, {{device, meant}}))->devices[0].capture_file, folder_ + "gpu0.sbt");
  constexpr char kRefused[] =
      "c.yaml:5: capture writes the counters of confidential VMs in the clear; it needs capture_plaintext: true";
  EXPECT_EQ(Error(device, capture), kRefused);
  EXPECT_EQ(Error(device, capture + "    capture_plaintext: false\n"), kRefused);
  EXPECT_EQ(Error("4f\"}", "4f\", capture: g.sbt, capture_plaintext: 1}"), "c.yaml:6: expected true or false");
}

TEST_F(ConfigTest, TurnsOfADeviceAreAFile) {
  EXPECT_FALSE(Load(kGood)->devices[0].rotation) << "default";
  const std::string device = "    interval: 250ms\n", turns = device + "    rotation: {file: r.yaml}\n";
  const auto write = [&](const std::string& text) {
    std::ofstream(folder_ + "r.yaml") << text;
    chmod((folder_ + "r.yaml").c_str(), 0600);
  };
  write("slots: {stable: 50us}\n");
  const auto config = Load(absl::StrReplaceAll(kGood, {{device, turns}}));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->devices[0].rotation->terms.stable_slot, absl::Microseconds(50));
  write("slots: {stabel: 50us}\n");
  EXPECT_EQ(Error(device, turns).substr(0, 31), "r.yaml:1: unknown key 'stabel' ");
  EXPECT_EQ(Error(device, device + "    rotation: {file: fifo.yaml}\n").substr(0, 19), "c.yaml:5: fifo.yaml");
  EXPECT_EQ(Error(device, device + "    rotation: {}\n").substr(0, 8), "c.yaml:5");
}

TEST_F(ConfigTest, SealingByTheDeviceMayBeRequired) {
  EXPECT_EQ(Load(kGood)->devices[0].sealed_by, SealedBy::kDaemon);
  const std::string device = "    interval: 250ms\n";
  const auto with = [&](const std::string& word) { return device + "    sealing: " + word + "\n"; };
  EXPECT_EQ(Load(absl::StrReplaceAll(kGood, {{device, with("device")}}))->devices[0].sealed_by, SealedBy::kDevice);
  EXPECT_EQ(Error(device, with("nobody")).substr(0, 9), "c.yaml:5:");
}

TEST_F(ConfigTest, TheMailboxOfABoardMayBeShared) {
  const std::string device = "    interval: 250ms\n";
  const auto with = [&](const std::string& keys) { return device + "    board: {" + keys + "}\n"; };
  const auto board = [&](const std::string& keys) {
    const auto config = Load(absl::StrReplaceAll(kGood, {{device, with(keys)}}));
    EXPECT_TRUE(config.ok()) << config.status();
    return config.ok() ? config->devices[0].board : BoardSettings();
  };
  const BoardSettings shared = {.is_read = true, .is_shared = true};
  EXPECT_EQ(Load(kGood)->devices[0].board, shared) << "harmless to others on the mailbox";
  EXPECT_EQ(board("bus_share: 0.3"), shared);
  EXPECT_EQ(board("mailbox: off"), BoardSettings());
  EXPECT_EQ(board("mailbox: exclusive, bus_share: 0.1"), (BoardSettings{.is_read = true, .bus_share = 0.1}));
  EXPECT_EQ(board("mailbox: shared"), shared);
  EXPECT_EQ(board("mailbox: shared, burst: 1, quiet: 10s"),
            (BoardSettings{.is_read = true, .is_shared = true, .burst = 1, .quiet = absl::Seconds(10)}));
  EXPECT_EQ(board("mailbox: shared, burst: 1000, quiet: 1ms"),
            (BoardSettings{.is_read = true, .is_shared = true, .burst = 1000, .quiet = absl::Milliseconds(1)}));
  for (const char* keys : {"mailbox: shared, burst: 0", "mailbox: shared, burst: 1001", "mailbox: shared, quiet: 999us",
                           "mailbox: shared, quiet: 11s", "mailbox: sharde", "mailbox: shared, quite: 1s"}) {
    EXPECT_EQ(Error(device, with(keys)).substr(0, 9), "c.yaml:5:") << keys;
  }
  EXPECT_EQ(Error(device, with("mailbox: exclusive, burst: 4")), "c.yaml:5: burst needs mailbox: shared");
  EXPECT_EQ(Error(device, with("mailbox: off, quiet: 1s")), "c.yaml:5: quiet needs mailbox: shared");
}

TEST_F(ConfigTest, ABoardMayLackThePec) {
  const std::string device = "    interval: 250ms\n";
  EXPECT_TRUE(Load(kGood)->devices[0].has_pec);
  EXPECT_FALSE(Load(absl::StrReplaceAll(kGood, {{device, device + "    pec: false\n"}}))->devices[0].has_pec);
  EXPECT_EQ(Error(device, device + "    pec: none\n").substr(0, 9), "c.yaml:5:");
}

TEST_F(ConfigTest, ComplementOfADeviceMayBeGiven) {
  EXPECT_EQ(Load(kGood)->devices[0].complement.counters, Complement::kExclude);
  const std::string device = "    interval: 250ms\n";
  const auto with = [&](const std::string& keys) { return device + "    complement: {" + keys + "}\n"; };
  const auto rule = [&](const std::string& word) {
    return Load(absl::StrReplaceAll(kGood, {{device, with("counters: " + word)}}))->devices[0].complement.counters;
  };
  EXPECT_EQ(rule("exclude"), Complement::kExclude);
  EXPECT_EQ(rule("withhold"), Complement::kWithhold);
  EXPECT_EQ(rule("allow"), Complement::kAllow);
  // Sensors are not the daemon's.
  for (const char* keys : {"counters: hide", "power: allow"}) {
    EXPECT_EQ(Error(device, with(keys)).substr(0, 9), "c.yaml:5:") << keys;
  }
}

TEST_F(ConfigTest, ClocksOfADeviceMayBeGiven) {
  const ClockSettings defaults = Load(kGood)->devices[0].clocks;
  EXPECT_FALSE(defaults.trigger_hz) << "the device's grid is left alone";
  EXPECT_EQ(defaults.host_ppm_max, 200u);
  const std::string device = "    interval: 250ms\n";
  const auto clocks = [&](const std::string& keys) { return device + "    clocks: {" + keys + "}\n"; };
  const auto config =
      Load(absl::StrReplaceAll(kGood, {{device, clocks("trigger_hz: 1000, host_ppm_max: 10000, host_wander_ppb: 1000, "
                                                       "segment_max: 10s, tenant_bound: 1ms")}}));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->devices[0].clocks, (ClockSettings{.trigger_hz = 1000,
                                                      .host_ppm_max = 10'000,
                                                      .host_wander_ppb = 1000,
                                                      .segment_max = absl::Seconds(10),
                                                      .tenant_bound = absl::Milliseconds(1)}));
  EXPECT_EQ(Load(absl::StrReplaceAll(kGood, {{device, clocks("trigger_hz: 0")}}))->devices[0].clocks.trigger_hz, 0u);
  for (const char* keys : {"trigger_hz: 100001", "host_ppm_max: 0", "host_ppm_max: 10001", "host_wander_ppb: 1001",
                           "trigger_hz: fast", "hz: 1", "segment_max: 31s", "segment_max: 999ms", "tenant_bound: 999ns",
                           "trigger_line: a b", "trigger_line: rack", "drives_line: true", "wire_ns: [1, 2]",
                           "trigger_line: rack, wire_ns: [2, 1]", "trigger_line: rack, wire_ns: 5"}) {
    EXPECT_EQ(Error(device, clocks(keys)).substr(0, 9), "c.yaml:5:") << keys;
  }
}

TEST_F(ConfigTest, ATriggerLineHasSeveralDevicesAndOneDriver) {
  const std::string device = "    interval: 250ms\n";
  const std::string drives = "{trigger_line: rack, drives_line: true}",
                    receives = "{trigger_line: rack, wire_ns: [10, 50]}";
  const auto first = [&](const std::string& clocks) { return device + "    clocks: " + clocks + "\n"; };
  const auto second = [](const std::string& clocks) {
    return "  - {name: gpu9, bus: \"unix:/run/gpu9.sock@0x4f\", clocks: " + clocks + "}\n";
  };
  const auto load = [&](const std::string& lines) { return Load(absl::StrReplaceAll(kGood, {{device, lines}})); };
  const auto config = load(first(drives) + second(receives));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->devices[0].clocks.line, (TriggerLineSettings{.name = "rack", .drives = true, .driver = "gpu0"}));
  EXPECT_EQ(
      config->devices[1].clocks.line,
      (TriggerLineSettings{
          .name = "rack", .driver = "gpu0", .wire_min = absl::Nanoseconds(10), .wire_max = absl::Nanoseconds(50)}));
  EXPECT_EQ(load(first(receives) + second(receives))->devices[0].clocks.line.driver, "");
  EXPECT_NE(Error(device, first(drives) + second(drives)).find("two devices drive trigger line 'rack'"),
            std::string::npos);
  EXPECT_NE(Error(device, first(drives)).find("trigger line 'rack' has only one device"), std::string::npos);
}

TEST_F(ConfigTest, MarksAreLimited) {
  EXPECT_EQ(Load(kGood)->marks, MarkConfig());
  const auto config = Load(absl::StrCat(kGood, "marks: {per_vm_per_second: 1000, kept: 16}\n"));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->marks, (MarkConfig{.per_vm_per_second = 1000, .kept = 16}));
  for (const char* keys : {"per_vm_per_second: 0", "per_vm_per_second: 1001", "kept: 15", "kept: 65537", "keep: 20"}) {
    EXPECT_FALSE(Load(absl::StrCat(kGood, "marks: {", keys, "}\n")).ok()) << keys;
  }
}

TEST_F(ConfigTest, OneCaptureFileIsOneDevices) {
  const std::string capture = ", capture: g.sbt, capture_plaintext: true}\n";
  EXPECT_EQ(Error("4f\"}\n", "4f\"" + capture + "  - {name: gpu2, bus: \"unix:x\"" + capture),
            "c.yaml:7: two devices have the same capture file");
}

TEST_F(ConfigTest, AListenerWithoutTlsIsRefused) {
  const std::string tls =
      "  tls_server_config: {cert_file: s.crt, key_file: s.key, client_ca_file: ca.crt, min_version: TLS12}\n";
  EXPECT_EQ(Error(tls, ""), "c.yaml:8: a listener without mutual TLS is refused: tls_server_config is missing");
}

TEST_F(ConfigTest, AUnixSocketNeedsNoTls) {
  EXPECT_EQ(Load(kGood)->http.listener.unix_socket, "") << "default";
  const std::string listen = "  listen: \"127.0.0.1:0\"\n",
                    tls =
                        "  tls_server_config: {cert_file: s.crt, key_file: s.key, client_ca_file: ca.crt, "
                        "min_version: TLS12}\n",
                    unix_socket = "  unix_socket: grpc.sock\n";
  const auto both = Load(absl::StrReplaceAll(kGood, {{listen, listen + unix_socket}}));
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_TRUE(both->grpc.listener.on_network);
  EXPECT_EQ(both->grpc.listener.unix_socket, folder_ + "grpc.sock");
  const auto alone = Load(absl::StrReplaceAll(kGood, {{listen + tls, unix_socket}}));
  ASSERT_TRUE(alone.ok()) << alone.status();
  EXPECT_FALSE(alone->grpc.listener.on_network);
  EXPECT_EQ(Error(tls, unix_socket), "c.yaml:8: a listener without mutual TLS is refused: tls_server_config is missing")
      << "it listens on the network too";
  EXPECT_EQ(Error(listen, "  unix_socket: " + std::string(120, 'x') + "\n"),
            "c.yaml:8: the path of a Unix socket has at most 107 bytes");
  const std::string http = "  listen: \"[::1]:9877\"\n";
  const auto same = Load(absl::StrReplaceAll(kGood, {{listen + tls, unix_socket}, {http, http + unix_socket}}));
  EXPECT_EQ(same.status().message(), folder_ + "c.yaml:11: grpc and http have the same unix_socket");
}

TEST_F(ConfigTest, LocalOperatorsAreNamedOrNumbered) {
  const std::string log = "log: {level: warn}\n";
  EXPECT_TRUE(Load(kGood)->local_operators.users.empty()) << "default";
  const auto config =
      Load(absl::StrReplaceAll(kGood, {{log, "local_operators: {users: [root, 1000], groups: [root, 4242]}\n"}}));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->local_operators.users, (std::vector<uint32_t>{0, 1000}));
  EXPECT_EQ(config->local_operators.groups, (std::vector<uint32_t>{0, 4242}));
  EXPECT_EQ(Error(log, "local_operators: {users: [no-one-here]}\n"), "c.yaml:18: user 'no-one-here' is unknown");
  EXPECT_EQ(Error(log, "local_operators: {groups: [no-one-here]}\n"), "c.yaml:18: group 'no-one-here' is unknown");
}

TEST_F(ConfigTest, WithTokensACertificateIsOptional) {
  const std::string tokens = std::string(kGood) + "tokens: {jwks_file: policy.yaml, audience: sideband}\n";
  const auto config = Load(absl::StrReplaceAll(
      tokens,
      {{"client_ca_file: ca.crt, client_auth_type: RequireAndVerifyClientCert", "client_auth_type: NoClientCert"},
       {"client_ca_file: ca.crt, min", "client_ca_file: ca.crt, client_auth_type: VerifyClientCertIfGiven, min"}}));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->tokens->audience, "sideband");
  EXPECT_EQ(config->http.listener.tls.client_auth, ClientAuth::kNone);
  EXPECT_EQ(config->grpc.listener.tls.client_auth, ClientAuth::kVerifyIfGiven);
  EXPECT_FALSE(Load(kGood)->tokens.has_value()) << "default";
}

TEST_F(ConfigTest, OneVmHasOneKey) {
  const std::string key = "    - {vm: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10, key_file: vm.key}\n";
  EXPECT_EQ(Error(key, key + key), "c.yaml:18: VM 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10 has two keys");
}

TEST_F(ConfigTest, ABadUuidIsRefusedWithItsLine) {
  EXPECT_EQ(Error("6f1c0a52-", "6f1c0a5-").substr(0, 10), "c.yaml:17:");
}

TEST_F(ConfigTest, DevicesAreNeeded) {
  EXPECT_EQ(Load("devices: []\n").status().message(), folder_ + "c.yaml:1: at least one device is needed");
  EXPECT_EQ(Load("grpc: {}\n").status().message(), folder_ + "c.yaml:1: key 'devices' is missing");
  EXPECT_EQ(Load("- 1\n").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Load("").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ConfigTest, ABmcMakesDevicesUnnecessary) {
  const std::string good = kGood, rest = good.substr(good.find("grpc:"));
  const std::string bmc =
      "bmcs: [{name: b, url: 'https://h', ca_file: ca.crt, session_token_file: vm.key, devices: [{name: gpu0, id: "
      "G}]}]\n";
  for (const char* devices : {"", "devices: []\n"}) {
    const auto config = Load(absl::StrCat(devices, bmc, rest));
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_TRUE(config->devices.empty());
    ASSERT_EQ(config->bmcs.size(), 1u);
    EXPECT_EQ(config->bmcs[0].ca_file, folder_ + "ca.crt");
  }
  EXPECT_EQ(Load(absl::StrCat("devices: []\nbmcs: []\n", rest)).status().message(),
            folder_ + "c.yaml:1: at least one device or BMC is needed");
  EXPECT_EQ(Load(absl::StrCat("bmcs: []\n", rest)).status().message(), folder_ + "c.yaml:1: key 'devices' is missing");
  EXPECT_EQ(Load(absl::StrCat("bmcs: b\n", rest)).status().message(), folder_ + "c.yaml:1: expected a list");
  EXPECT_EQ(Load(absl::StrCat(bmc, good)).status().message(), folder_ + "c.yaml:1: device 'gpu0' is given twice");
}

TEST_F(ConfigTest, AMissingFileIsNotFound) {
  EXPECT_EQ(LoadConfig(folder_ + "no.yaml").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace sideband::daemon
