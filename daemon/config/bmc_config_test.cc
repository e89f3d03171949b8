// SPDX-License-Identifier: Apache-2.0
#include "daemon/config/bmc_config.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "daemon/base/socket_folder.h"

namespace sideband::daemon {
namespace {

constexpr char kLeast[] = "bmcs:\n  - {name: b, url: 'https://h', ca_file: ca.pem, user: u, password_file: pw}\n";

constexpr char kWhole[] = R"(bmcs:
  - name: rack7-node3
    url: https://192.0.2.10:8443/hmc/
    ca_file: ca.pem
    user: sideband
    password_file: pw
    requests_per_minute: 60
    interval: 10s
    timeout: 20s
    links: true
    devices: {name: "node3-gpu{index}"}
  - name: rack7-node4
    url: https://[2001:DB8::10]
    pin_sha256: 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
    session_token_file: token
    devices:
      - {name: gpu0, id: GPU_SXM_1}
      - {name: gpu1, id: 6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10}
)";

KeyPin CountingPin() {
  KeyPin pin;
  for (size_t i = 0; i < pin.size(); ++i) pin[i] = static_cast<uint8_t>(i);
  return pin;
}

// The section is read as the file c.yaml in a folder with the files that it may name.
class BmcConfigTest : public testing::Test {
 protected:
  BmcConfigTest() {
    for (const char* name : {"ca.pem", "pw", "token"}) {
      std::ofstream(folder_ + name) << "content is looked at elsewhere\n";
      chmod((folder_ + name).c_str(), 0600);
    }
    std::ofstream(folder_ + "empty").close();
    chmod((folder_ + "empty").c_str(), 0600);
    std::ofstream(folder_ + "blank") << "\n";
    chmod((folder_ + "blank").c_str(), 0600);
  }

  // Beside the devices d0 and d1.
  std::vector<BmcConfig> Read(const std::string& text, ErrorList& errors) const {
    const auto document = YamlNode::Parse(text, "c.yaml");
    if (!errors.Add(document.status())) return {};
    const auto root = document->Map({"bmcs"}, errors);
    if (!root) return {};
    std::vector<DeviceConfig> devices(2);
    devices[0].name = "d0";
    devices[1].name = "d1";
    return ReadBmcs(*root, devices, {.path = "c.yaml", .folder = folder_, .errors = errors});
  }

  absl::StatusOr<std::vector<BmcConfig>> Read(const std::string& text) const {
    ErrorList errors;
    auto bmcs = Read(text, errors);
    if (!errors.empty()) return errors.First();
    return bmcs;
  }

  // All errors of `text`, without the folder.
  std::string Errors(const std::string& text) const {
    ErrorList errors;
    Read(text, errors);
    std::vector<std::string> lines;
    for (const absl::Status& error : errors.All()) {
      lines.push_back(absl::StrReplaceAll(std::string(error.message()), {{folder_, ""}}));
    }
    return absl::StrJoin(lines, "\n");
  }

  // The errors of kWhole with `from` replaced by `to`.
  std::string Errors(const std::string& from, const std::string& to) const {
    const std::string text = absl::StrReplaceAll(kWhole, {{from, to}});
    EXPECT_NE(text, kWhole) << "the test changes nothing: " << from;
    return Errors(text);
  }

  const SocketFolder socket_folder_;
  const std::string folder_ = socket_folder_.path() + "/";
};

TEST_F(BmcConfigTest, ReadsEverything) {
  const auto bmcs = Read(kWhole);
  ASSERT_TRUE(bmcs.ok()) << bmcs.status();
  const BmcConfig discovered{.name = "rack7-node3",
                             .url = "https://192.0.2.10:8443/hmc/",
                             .host = "192.0.2.10",
                             .port = 8443,
                             .prefix = "/hmc",
                             .ca_file = folder_ + "ca.pem",
                             .user = "sideband",
                             .password_file = folder_ + "pw",
                             .requests_per_minute = 60,
                             .interval = absl::Seconds(10),
                             .timeout = absl::Seconds(20),
                             .has_links = true,
                             .device_pattern = "node3-gpu{index}"};
  const BmcConfig listed{
      .name = "rack7-node4",
      .url = "https://[2001:DB8::10]",
      .host = "2001:db8::10",
      .pin = CountingPin(),
      .session_token_file = folder_ + "token",
      .devices = {{"gpu0", "GPU_SXM_1"}, {"gpu1", "6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10"}},
  };
  EXPECT_EQ(*bmcs, (std::vector<BmcConfig>{discovered, listed}));
}

TEST_F(BmcConfigTest, HasDefaults) {
  const auto bmcs = Read(kLeast);
  ASSERT_TRUE(bmcs.ok()) << bmcs.status();
  EXPECT_EQ(bmcs->at(0).device_pattern, "b-gpu{index}");
  EXPECT_EQ(bmcs->at(0).port, 443);
  EXPECT_EQ(bmcs->at(0).prefix, "");
  EXPECT_EQ(bmcs->at(0).requests_per_minute, 40u);
  EXPECT_EQ(bmcs->at(0).interval, absl::Seconds(5));
  EXPECT_EQ(bmcs->at(0).timeout, absl::Seconds(15));
  EXPECT_TRUE(Read("{}\n")->empty()) << "the section is optional";
  EXPECT_TRUE(Read("bmcs: []\n")->empty());
}

TEST_F(BmcConfigTest, EveryMistakeHasItsLine) {
  struct Row {
    const char *from, *to, *error;
  };
  for (const Row& row : {
           Row{"name: rack7-node3", "name: rack 7", "c.yaml:2: BMC name 'rack 7' may hold letters, digits, _ . - only"},
           Row{"rack7-node4", "rack7-node3", "c.yaml:12: BMC 'rack7-node3' is given twice"},
           Row{"    url: https://192.0.2.10:8443/hmc/\n", "", "c.yaml:2: key 'url' is missing"},
           Row{"https://192", "http://192", "c.yaml:3: the password would go in the clear: use https://"},
           Row{"https://192", "HTTP://192", "c.yaml:3: the password would go in the clear: use https://"},
           Row{"https://192", "https://root:secret@192",
               "c.yaml:3: url has a login: put the password in password_file"},
           Row{"https://192", "http://root@192", "c.yaml:3: url has a login: put the password in password_file"},
           Row{"/hmc/", "/hmc/redfish/v1", "c.yaml:3: url must end before /redfish, which the daemon adds"},
           Row{"    ca_file: ca.pem\n", "",
               "c.yaml:2: ca_file or pin_sha256 is needed, to know the BMC before it gets a password"},
           Row{"ca_file: ca.pem", "ca_file: absent.pem", "c.yaml:4: absent.pem: No such file or directory"},
           Row{"    session_token_file", "    ca_file: ca.pem\n    session_token_file",
               "c.yaml:14: ca_file and pin_sha256 exclude each other: leave one out"},
           Row{"1e1f", "1e",
               "c.yaml:14: pin_sha256 is neither 64 hexadecimal digits nor base64 of 32 bytes: docs/bmc.md has its "
               "command"},
           Row{"    user: sideband\n", "", "c.yaml:2: key 'user' is missing"},
           Row{"user: sideband", "user: \"side\\nband\"",
               "c.yaml:5: user has more than 256 bytes, or control characters"},
           Row{"    user: sideband\n    password_file: pw\n", "",
               "c.yaml:2: user and password_file are needed, or session_token_file"},
           Row{"    password_file: pw\n", "    password_file: pw\n    session_token_file: token\n",
               "c.yaml:7: password_file and session_token_file exclude each other: leave one out"},
           Row{"    session_token_file: token\n", "    session_token_file: token\n    user: sideband\n",
               "c.yaml:16: user has no effect with session_token_file: leave it out"},
           Row{"password_file: pw", "password_file: .", "c.yaml:6: .: is a directory"},
           Row{"password_file: pw", "password_file: empty", "c.yaml:6: empty: is empty"},
           Row{"password_file: pw", "password_file: blank", "c.yaml:6: blank: is empty"},
           Row{"session_token_file: token", "session_token_file: empty", "c.yaml:15: empty: is empty"},
           Row{"password_file: pw", "password: secret",
               "c.yaml:6: unknown key 'password' (did you mean 'password_file'?)\n"
               "c.yaml:2: user and password_file are needed, or session_token_file"},
           Row{"minute: 60", "minute: 0", "c.yaml:7: expected a whole number from 1 to 120"},
           Row{"minute: 60", "minute: 121", "c.yaml:7: expected a whole number from 1 to 120"},
           Row{"interval: 10s", "interval: 4999ms", "c.yaml:8: interval is 4999ms: the shortest one of a BMC is 5s"},
           Row{"interval: 10s", "interval: 61m",
               "c.yaml:8: interval is 61m, must be a duration from 5s to 1h, such as 250ms or 1s"},
           Row{"interval: 10s", "interval: 10",
               "c.yaml:8: interval is 10, must be a duration from 5s to 1h, such as 250ms or 1s"},
           Row{"timeout: 20s", "timeout: 999ms",
               "c.yaml:9: timeout is 999ms, must be a duration from 1s to 2m, such as 250ms or 1s"},
           Row{"timeout: 20s", "timeout: 121s",
               "c.yaml:9: timeout is 121s, must be a duration from 1s to 2m, such as 250ms or 1s"},
           Row{"timeout:", "time_out:", "c.yaml:9: unknown key 'time_out' (did you mean 'timeout'?)"},
           Row{"node3-gpu{index}", "node3-gpu",
               "c.yaml:11: device name 'node3-gpu' must have {index} once, as \"gpu{index}\" has"},
           Row{"node3-gpu{index}", "{index}-gpu{index}",
               "c.yaml:11: device name '{index}-gpu{index}' must have {index} once, as \"gpu{index}\" has"},
           Row{"node3-gpu{index}", "node 3 gpu{index}",
               "c.yaml:11: device name 'node 3 gpu{index}' may hold {index}, letters, digits, _ . - only"},
           Row{"{name: \"node3-gpu{index}\"}", "gpu", "c.yaml:11: expected a mapping (key: value)"},
           Row{"{name: \"node3-gpu{index}\"}", "{}", "c.yaml:11: key 'name' is missing"},
           Row{"{name: \"node3-gpu{index}\"}", "[]",
               "c.yaml:11: devices is empty: leave it out to read all GPUs of the BMC"},
           Row{"id: GPU_SXM_1", "id: GPU/1", "c.yaml:17: id 'GPU/1' may hold letters, digits, _ . - only"},
           Row{", id: GPU_SXM_1", "", "c.yaml:17: key 'id' is missing"},
           Row{"id: GPU_SXM_1", "ids: GPU_SXM_1",
               "c.yaml:17: unknown key 'ids' (did you mean 'id'?)\n"
               "c.yaml:17: key 'id' is missing"},
           Row{"id: GPU_SXM_1", "id: 6F1C0A52-3D0E-4A53-9A51-0D4C2A7E9B10",
               "c.yaml:18: id '6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10' is given twice"},
       }) {
    EXPECT_EQ(Errors(row.from, row.to), row.error);
  }
}

TEST_F(BmcConfigTest, ASectionIsAListOfBmcs) {
  EXPECT_EQ(Errors("bmcs: {name: b}\n"), "c.yaml:1: expected a list");
  EXPECT_EQ(Errors("bmcs: [b]\n"), "c.yaml:1: expected a mapping (key: value)");
}

TEST_F(BmcConfigTest, AUrlIsTakenApart) {
  struct Row {
    const char *url, *host;
    uint16_t port;
    const char* prefix;
  };
  for (const Row& row :
       {Row{"https://192.0.2.10", "192.0.2.10", 443, ""}, Row{"https://192.0.2.10/", "192.0.2.10", 443, ""},
        Row{"HTTPS://BMC-7.Example.org:1/", "bmc-7.example.org", 1, ""}, Row{"https://bmc:65535", "bmc", 65535, ""},
        Row{"https://[::1]:8443/hmc", "::1", 8443, "/hmc"},
        Row{"https://bmc/a/b-c_d.e~f/", "bmc", 443, "/a/b-c_d.e~f"}}) {
    const auto bmcs = Read(absl::StrReplaceAll(kLeast, {{"https://h", row.url}}));
    ASSERT_TRUE(bmcs.ok()) << bmcs.status();
    EXPECT_EQ(bmcs->at(0).url, row.url);
    EXPECT_EQ(bmcs->at(0).host, row.host);
    EXPECT_EQ(bmcs->at(0).port, row.port);
    EXPECT_EQ(bmcs->at(0).prefix, row.prefix);
  }
}

TEST_F(BmcConfigTest, WhatIsNoUrlIsRefused) {
  for (const char* url :
       {"192.0.2.10",       "https:192.0.2.10",    "https://",        "https:///hmc",        "ftp://bmc",
        "https://192.0.2",  "https://192.0.2.256", "https://bmc:",    "https://bmc:0",       "https://bmc:65536",
        "https://bmc:+1",   "https://bmc:443:443", "https://a b",     "https://-bmc",        "https://.bmc",
        "https://::1",      "https://[::1",        "https://[::1]x",  "https://[192.0.2.1]", "https://[fe80::1%25eth0]",
        "https://bmc?a=1",  "https://bmc/#a",      "https://bmc/a?b", "https://bmc/%2e",     "https://bmc//",
        "https://bmc/a//b", "https://bmc/..",      "https://bmc/./a", "https://bmc/a/../b"}) {
    EXPECT_EQ(Errors(absl::StrReplaceAll(kLeast, {{"https://h", url}})),
              absl::StrCat("c.yaml:2: '", url,
                           "' is not https://HOST, such as https://192.0.2.10, https://[2001:db8::10]:8443 or "
                           "https://bmc.example.org/hmc"));
  }
  EXPECT_EQ(Errors(absl::StrReplaceAll(kLeast, {{"https://h", std::string("https://") + std::string(254, 'h')}}))
                .substr(0, 9),
            "c.yaml:2:");
}

TEST_F(BmcConfigTest, APinHasThreeForms) {
  const KeyPin pin = CountingPin();
  const std::string bytes(pin.begin(), pin.end()), hex = absl::BytesToHexString(bytes);
  std::string colons = hex.substr(0, 2);
  for (size_t at = 2; at < hex.size(); at += 2) absl::StrAppend(&colons, ":", hex.substr(at, 2));
  const std::string base64 = absl::Base64Escape(bytes);
  const auto read = [&](const std::string& text) {
    return Read(absl::StrReplaceAll(kLeast, {{"ca_file: ca.pem", absl::StrCat("pin_sha256: '", text, "'")}}));
  };
  for (const std::string& text : {hex, absl::AsciiStrToUpper(hex), colons, base64, absl::StrCat("sha256//", base64)}) {
    const auto bmcs = read(text);
    ASSERT_TRUE(bmcs.ok()) << bmcs.status();
    EXPECT_EQ(bmcs->at(0).pin, pin) << text;
  }
  for (const std::string& text :
       {hex.substr(2), hex + "00", "x" + hex.substr(1), colons + ":", ":" + colons.substr(1),
        absl::StrReplaceAll(colons, {{":1f", "-1f"}}), base64.substr(0, 43), base64 + "=", " " + base64,
        absl::Base64Escape(bytes.substr(1)), absl::StrCat("sha256//", hex), absl::StrCat("sha1//", base64),
        absl::StrCat("sha256//", base64, ";sha256//", base64)}) {
    EXPECT_FALSE(read(text).ok()) << text;
  }
}

TEST_F(BmcConfigTest, FilesOfSecretsAreClosedToOthers) {
  struct Row {
    const char* file;
    mode_t mode;
    const char* error;
  };
  for (const Row& row :
       {Row{"pw", 0604, "c.yaml:6: pw: a password or token that other users may access: run chmod o= on it"},
        Row{"token", 0601, "c.yaml:15: token: a password or token that other users may access: run chmod o= on it"},
        Row{"ca.pem", 0602, "c.yaml:4: ca.pem: everybody may write it (chmod o-w it)"}}) {
    chmod((folder_ + row.file).c_str(), row.mode);
    EXPECT_EQ(Errors(kWhole), row.error);
    chmod((folder_ + row.file).c_str(), 0640);
    EXPECT_EQ(Errors(kWhole), "") << "its group is trusted: " << row.file;
  }
}

TEST_F(BmcConfigTest, OneBmcHasOneEntry) {
  const auto two = [&](const char* url) {
    return absl::StrCat(kLeast, "  - {name: c, url: '", url, "', ca_file: ca.pem, user: u, password_file: pw}\n");
  };
  for (const char* url : {"https://h", "https://H:443/"}) {
    EXPECT_EQ(Errors(two(url)), "c.yaml:3: BMC 'b' has this url, too: list the devices of both in one entry");
  }
  for (const char* url : {"https://h:444", "https://h/hmc", "https://i"}) EXPECT_EQ(Errors(two(url)), "");
}

TEST_F(BmcConfigTest, NoTwoDevicesMayHaveOneName) {
  const auto bmc = [](const char* name, const char* devices) {
    return absl::StrCat("  - {name: ", name, ", url: 'https://", name,
                        "', ca_file: ca.pem, user: u, password_file: pw, devices: ", devices, "}\n");
  };
  const auto discovered = [](const char* name) {
    return absl::StrCat("a discovered device may get the name '", name,
                        "', which another has: give devices of this BMC other names");
  };
  struct Row {
    const char *first, *second;
    std::string error;
  };
  for (const Row& row :
       {Row{"[{name: g0, id: a}, {name: g0, id: b}]", "[{name: g1, id: a}]", "c.yaml:2: device 'g0' is given twice"},
        Row{"[{name: g0, id: a}]", "[{name: g0, id: a}]", "c.yaml:3: device 'g0' is given twice"},
        Row{"[{name: d1, id: a}]", "[{name: g1, id: a}]", "c.yaml:2: device 'd1' is given twice"},
        Row{"{name: 'd{index}'}", "[{name: g1, id: a}]", absl::StrCat("c.yaml:2: ", discovered("d0"))},
        Row{"{name: 'g{index}'}", "[{name: g255, id: a}]", absl::StrCat("c.yaml:2: ", discovered("g255"))},
        Row{"{name: 'g{index}'}", "{name: 'g{index}'}", absl::StrCat("c.yaml:3: ", discovered("g0"))},
        Row{"{name: 'g{index}'}", "{name: 'g1{index}'}", absl::StrCat("c.yaml:3: ", discovered("g10"))},
        Row{"{name: 'g{index}'}", "[{name: g256, id: a}, {name: g01, id: b}, {name: g, id: c}]", ""},
        Row{"{name: 'g{index}'}", "{name: 'g{index}a'}", ""}, Row{"[{name: g0, id: a}]", "[{name: g1, id: a}]", ""}}) {
    EXPECT_EQ(Errors(absl::StrCat("bmcs:\n", bmc("b", row.first), bmc("c", row.second))), row.error);
  }
}

TEST_F(BmcConfigTest, NumbersOfBmcsAndDevicesAreBounded) {
  const auto bmcs = [](size_t count) {
    std::string text = "bmcs:\n";
    for (size_t i = 0; i < count; ++i) {
      absl::StrAppend(&text, "  - {name: b", i, ", url: 'https://h", i,
                      "', ca_file: ca.pem, user: u, password_file: pw}\n");
    }
    return text;
  };
  EXPECT_EQ(Errors(bmcs(64)), "");
  EXPECT_EQ(Errors(bmcs(65)), "c.yaml:2: more than 64 BMCs");
  const auto devices = [](size_t count) {
    std::string text = "    devices:\n";
    for (size_t i = 0; i < count; ++i) absl::StrAppend(&text, "      - {name: g", i, ", id: i", i, "}\n");
    return text;
  };
  const std::string pattern = "    devices: {name: \"node3-gpu{index}\"}\n";
  EXPECT_EQ(Errors(pattern, devices(256)), "");
  EXPECT_EQ(Errors(pattern, devices(257)), "c.yaml:12: more than 256 devices");
}

TEST_F(BmcConfigTest, DiscoveredNamesAreRecognised) {
  BmcConfig bmc{.device_pattern = "n3-gpu{index}.a"};
  EXPECT_EQ(DiscoveredName(bmc, 0), "n3-gpu0.a");
  EXPECT_EQ(DiscoveredName(bmc, 255), "n3-gpu255.a");
  for (const char* name : {"n3-gpu0.a", "n3-gpu7.a", "n3-gpu255.a"}) EXPECT_TRUE(IsDiscoveredName(bmc, name)) << name;
  for (const char* name : {"", "n3-gpu.a", "n3-gpu256.a", "n3-gpu07.a", "n3-gpu+7.a", "n3-gpu 7.a", "n3-gpu-7.a",
                           "n3-gpu7", "gpu7.a", "n3-gpu7.ab", "n3-gpu{index}.a"}) {
    EXPECT_FALSE(IsDiscoveredName(bmc, name)) << name;
  }
  EXPECT_TRUE(IsDiscoveredName({.device_pattern = "{index}"}, "3"));
  bmc.device_pattern.clear();
  EXPECT_FALSE(IsDiscoveredName(bmc, "n3-gpu0.a")) << "its devices are listed";
}

}  // namespace
}  // namespace sideband::daemon
