// SPDX-License-Identifier: Apache-2.0
//
// Commands that ask several daemons.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/cli_fixture.h"

namespace sideband::client {
namespace {

using nlohmann::json;

TEST_F(CliTest, DevicesOfSeveralHosts) {
  FakeDaemon::Script script;
  v1::Device& device = *script.devices.add_devices();
  device.set_name("gpu0");
  device.set_boot_id(0xb007);
  device.set_state(v1::Device::STATE_FRESH);
  device.mutable_interval()->set_seconds(1);
  device.set_reference_clock_hz(1'000'000'000);
  ServeAt("a:1", script);
  ServeAt("b:1", Refusal());
  device.set_name("gpu7");
  ServeAt("c:1", script);
  const auto printed = [&](const std::string& format) {
    EXPECT_EQ(ReportCli(Run({"devices", "--address", "a:1,b:1,c:1", "--format", format})), 1);
    EXPECT_EQ(err_.text(), "sideband: b:1: refused\n") << "one line, and the others are there";
    return out_.text();
  };
  EXPECT_EQ(printed("table"),
            "HOST  DEVICE  STATE  INTERVAL     CLOCK  BOOT\n"
            "a:1   gpu0    fresh        1s  1.00 GHz  000000000000b007\n"
            "c:1   gpu7    fresh        1s  1.00 GHz  000000000000b007\n");
  EXPECT_EQ(printed("csv"),
            "host,device,state,interval_seconds,reference_clock_hz,boot_id,uuid,kinds\r\n"
            "a:1,gpu0,fresh,1,1000000000,000000000000b007,,\r\n"
            "c:1,gpu7,fresh,1,1000000000,000000000000b007,,\r\n");
  const json hosts = json::parse(printed("json"))["hosts"];
  ASSERT_EQ(hosts.size(), 2u);
  EXPECT_EQ(hosts[1]["host"], "c:1");
  EXPECT_EQ(hosts[1]["devices"][0]["name"], "gpu7");
  EXPECT_EQ(Printed({"devices", "--address", "a:1,c:1"}).substr(0, 4), "HOST");
  EXPECT_EQ(err_.text(), "");
}

TEST_F(CliTest, SeveralHostsAreInTheConfiguration) {
  ServeAt("a:1", {});
  ServeAt("b:1", {});
  const std::string path = testing::TempDir() + "/hosts.yaml";
  std::ofstream(path) << "address: [a:1, b:1]\n";
  EXPECT_EQ(json::parse(Printed({"devices", "--config", path, "--format", "json"}))["hosts"].size(), 2u);
  EXPECT_EQ(err_.text(),
            "sideband: a:1: there is no device that this caller may see, or it has not answered yet\n"
            "sideband: b:1: there is no device that this caller may see, or it has not answered yet\n");
  EXPECT_EQ(Mistake({"scopes", "--config", path}),
            "address 'a:1,b:1': this command asks one daemon; several are for devices, get, watch and top");
  connect_error_ = absl::NotFoundError("ca.pem: no such file");
  EXPECT_EQ(Mistake({"devices", "--config", path}), "ca.pem: no such file") << "which is not of one host";
}

TEST_F(CliTest, GetFromSeveralHosts) {
  FakeDaemon::Script script;
  *script.snapshots.add_snapshots() = ASnapshot();
  ServeAt("a:1", script);
  ServeAt("b:1", script);
  EXPECT_THAT(Printed({"get", "--address", "a:1,b:1"}),
              testing::ContainsRegex("^a:1  gpu0  2023-[^\n]+\n[^$]+\n\nb:1  gpu0  2023-"));
  EXPECT_THAT(Printed({"get", "--address", "a:1,b:1", "--format", "csv"}),
              testing::ContainsRegex("^host,device,[^$]+\na:1,gpu0,[^$]+\nb:1,gpu0,"));
  const json hosts = json::parse(Printed({"get", "--address", "a:1,b:1", "--format", "json"}))["hosts"];
  EXPECT_EQ(hosts[0]["host"], "a:1");
  EXPECT_EQ(hosts[1]["snapshots"][0]["device"], "gpu0");
  // One of them has what is asked for.
  script.get_snapshot_status = grpc::Status(grpc::StatusCode::NOT_FOUND, "no such VM");
  ServeAt("b:1", script);
  EXPECT_THAT(Printed({"get", "--address", "a:1,b:1"}), testing::StartsWith("a:1  gpu0"));
  EXPECT_EQ(err_.text(), "");
  ServeAt("a:1", script);
  EXPECT_EQ(ReportCli(Run({"get", "--address", "a:1,b:1"})), 1);
  EXPECT_EQ(err_.text(), "sideband: a:1: no such VM\nsideband: b:1: no such VM\n") << "on none";
}

TEST_F(CliTest, GetSinceFromSeveralHosts) {
  FakeDaemon::Script script;
  v1::DeviceHistory& history = *script.history.add_devices();
  history.set_device("gpu0");
  ServeAt("a:1", script);
  ServeAt("b:1", script);
  const std::vector<std::string> arguments = {"get", "--address", "a:1,b:1", "--since", "5m"};
  EXPECT_THAT(Printed(arguments), testing::ContainsRegex("^a:1  gpu0  0 points[^$]+\nb:1  gpu0  0 points"));
  std::vector<std::string> csv = arguments;
  csv.insert(csv.end(), {"--format", "csv"});
  EXPECT_THAT(Printed(csv), testing::StartsWith("host,device,host_time,"));
}

// c:1 refuses. The round is over when the others have told their state.
class SeveralHostsTest : public CliTest {
 protected:
  std::string ARound(const std::string& format) {
    ServeAt("a:1", UpdatesOf({"gpu0", "gpu1", ""}));
    ServeAt("b:1", UpdatesOf({"gpu0", ""}));
    ServeAt("c:1", Refusal());
    EXPECT_EQ(ReportCli(Run({"watch", "--address", "a:1,b:1,c:1", "--count", "1", "--format", format})), 1);
    EXPECT_EQ(err_.text(), "sideband: c:1: refused\n");
    return out_.text();
  }
};

TEST_F(SeveralHostsTest, WatchHasAColumn) {
  const std::string lines = ARound("lines");
  EXPECT_THAT(lines, testing::HasSubstr("TIME (UTC) HOST DEVICE VM "));
  for (const char* start : {"22:13:20.0 a:1  gpu0 ", "22:13:20.0 a:1  gpu1 ", "22:13:20.0 b:1  gpu0 "}) {
    EXPECT_THAT(lines, testing::HasSubstr(start));
  }
}

TEST_F(SeveralHostsTest, WatchAsJsonHasAMember) {
  std::map<std::string, int> updates;
  std::istringstream stream(ARound("json"));
  for (std::string line; std::getline(stream, line);) ++updates[json::parse(line)["host"].get<std::string>()];
  EXPECT_EQ(updates, (std::map<std::string, int>{{"a:1", 2}, {"b:1", 1}}));
}

TEST_F(SeveralHostsTest, WatchAsCsvHasTheTitlesOnce) {
  const std::string csv = ARound("csv");
  EXPECT_THAT(csv, testing::StartsWith("host,device,boot_id,"));
  EXPECT_EQ(csv.find("host,", 1), std::string::npos);
  EXPECT_THAT(csv, testing::HasSubstr("\nb:1,gpu0,"));
}

TEST_F(SeveralHostsTest, WatchAsTablesNamesTheHost) {
  EXPECT_THAT(ARound("table"), testing::HasSubstr("b:1  gpu0  2023-"));
}

TEST_F(SeveralHostsTest, TopHasAColumn) {
  for (const char* host : {"a:1", "b:1"}) ServeAt(host, Updates(1, true));
  ServeAt("c:1", Refusal());
  wait_ = [this](absl::Duration delay) { return cancellation_.WaitFor(delay); };
  EXPECT_EQ(ReportCli(Run({"top", "-b", "-n", "1", "--event", "dram_read", "--address", "a:1,b:1,c:1"})), 1);
  EXPECT_EQ(err_.text(), "sideband: c:1: refused\n");
  EXPECT_THAT(out_.text(), testing::ContainsRegex("^sideband top  3 daemons  22:23:20 UTC  dram_read\n"
                                                  "c:1: refused; connecting again\n"
                                                  "HOST +NAME +STATE +READS +UTIL +RATE\n"
                                                  "a:1   gpu0 +fresh 0.0s +- +- +-\n"
                                                  "a:1     vm0 +- +- +- +-\n"
                                                  "a:1       train +idle +- +- +~1.23k/s\n"
                                                  "b:1   gpu0 +fresh "));
}

// Listing its devices fails, after the names on the command line have been checked: here there are none.
TEST_F(SeveralHostsTest, TopGoesOnWithoutTheFirst) {
  ServeAt("a:1", Refusal());
  ServeAt("b:1", Updates(1, true));
  wait_ = [this](absl::Duration delay) { return cancellation_.WaitFor(delay); };
  EXPECT_EQ(ReportCli(Run({"top", "-b", "-n", "1", "--address", "a:1,b:1"})), 1);
  EXPECT_EQ(err_.text(), "sideband: a:1: refused\n");
  EXPECT_THAT(out_.text(), testing::HasSubstr("\nb:1   gpu0 "));
}

TEST_F(SeveralHostsTest, TopDoesNotWaitForASilentOne) {
  ServeAt("a:1", Updates(1, true));
  ServeAt("b:1", {.keeps_streams = true});
  std::atomic<int> asked = 0;
  now_ = [&asked] { return absl::FromUnixSeconds(1'700'000'600 + 10 * ++asked); };
  EXPECT_EQ(ReportCli(Run({"top", "-b", "-n", "1", "--address", "a:1,b:1"})), 0);
  EXPECT_EQ(err_.text(), "");
  EXPECT_THAT(out_.text(), testing::StartsWith("sideband top  2 daemons  "));
}

TEST_F(SeveralHostsTest, TopNotesWhatHasEnded) {
  ServeAt("a:1", {});
  ServeAt("b:1", Updates(1, true));
  EXPECT_EQ(ReportCli(Run({"top", "-b", "-n", "1", "--address", "a:1,b:1"})), 1);
  EXPECT_EQ(err_.text(), "sideband: a:1: the server ended the stream\n");
  EXPECT_THAT(out_.text(), testing::ContainsRegex("\na:1: the server ended the stream\nHOST [^$]+\nb:1   gpu0 "));
}

TEST_F(SeveralHostsTest, TopNotesAllThatHaveEnded) {
  for (const char* host : {"a:1", "b:1"}) ServeAt(host, {});
  EXPECT_EQ(ReportCli(Run({"top", "-b", "--address", "a:1,b:1"})), 1);
  EXPECT_EQ(err_.text(), "sideband: a:1: the server ended the stream\nsideband: b:1: the server ended the stream\n");
}

TEST_F(SeveralHostsTest, TopEndsIfNoneIsThere) {
  for (const char* host : {"a:1", "b:1"}) ServeAt(host, Refusal());
  EXPECT_EQ(ReportCli(Run({"top", "-b", "--address", "a:1,b:1"})), 1);
  EXPECT_EQ(err_.text(), "sideband: a:1: refused\nsideband: b:1: refused\n");
  EXPECT_EQ(out_.text(), "");
}

TEST_F(SeveralHostsTest, ALossNamesItsHostOnce) {
  FakeDaemon::Script lost = Updates(1, false);
  lost.status = grpc::Status(grpc::StatusCode::UNAVAILABLE, "gone");
  ServeAt("a:1", lost);
  ServeAt("b:1", Updates(1, false));
  EXPECT_EQ(ReportCli(Run({"watch", "--address", "a:1,b:1", "--no-reconnect"})), 1);
  EXPECT_THAT(err_.text(), testing::HasSubstr("sideband: a:1: gone\n"));
  EXPECT_THAT(err_.text(), testing::HasSubstr("sideband: b:1: the server ended the stream\n"));
  EXPECT_EQ(ReportCli(Run({"watch", "--address", "a:1,b:1"})), 1);
  EXPECT_THAT(err_.text(), testing::HasSubstr("sideband: a:1: gone; connecting again\n"));
  EXPECT_THAT(err_.text(), testing::HasSubstr("sideband: b:1: the server ended the stream; connecting again\n"));
  EXPECT_THAT(out_.text(), testing::HasSubstr(" a:1  gpu0 "));
}

TEST_F(SeveralHostsTest, WatchEndsIfNoneIsThere) {
  ServeAt("a:1", Refusal());
  ServeAt("b:1", Refusal());
  EXPECT_EQ(ReportCli(Run({"watch", "--address", "a:1,b:1"})), 1);
  EXPECT_THAT(err_.text(), testing::HasSubstr("sideband: a:1: refused\n"));
  EXPECT_THAT(err_.text(), testing::HasSubstr("sideband: b:1: refused\n"));
  EXPECT_EQ(out_.text(), "");
}

TEST_F(CliTest, OneAddressThatIsGivenTwiceIsOneDaemon) {
  Serve(Updates(1, true));
  EXPECT_EQ(Printed({"devices", "--address", "h:1, h:1,", "--format", "csv"}).substr(0, 7), "device,");
  EXPECT_EQ(config_.address, "h:1");
}

}  // namespace
}  // namespace sideband::client
