// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "client/cli/cli.h"
#include "client/cli/command.h"
#include "proto/audit/chain.h"

namespace sideband::client {
namespace {

class AuditCommandTest : public testing::Test {
 protected:
  AuditCommandTest() { std::filesystem::create_directories(folder_); }

  void Add(const std::string& file, AuditEntry entry) {
    entry.sequence = ++sequence_;
    entry.time = absl::FromUnixSeconds(1'800'000'000 + static_cast<int64_t>(sequence_));
    const std::string line = EncodeAuditLine({.entry = entry, .prev = head_});
    head_ = AuditHash(line);
    std::ofstream(folder_ + file, std::ios::app) << line << "\n";
  }

  // Two files of four entries.
  void WriteLog() {
    Add("log.1", {.kind = AuditKind::kStart, .reason = "sidebandd 1"});
    Add("log.1", {.principal = "spiffe://example.org/ops",
                  .role = "operator",
                  .endpoint = "GET /metrics",
                  .resource = "/metrics",
                  .decision = AuditDecision::kAllow});
    Add("log", {.endpoint = "Telemetry/GetSnapshot",
                .decision = AuditDecision::kDeny,
                .reason = "not in the policy",
                .repeated = 7});
    Add("log", {.kind = AuditKind::kLost, .lost = 5});
  }

  int Run(std::vector<std::string> arguments) {
    for (std::string& argument : arguments) {
      if (argument.rfind("log", 0) == 0) argument = folder_ + argument;
    }
    out_ = StringOutput();
    StringOutput err;
    Environment environment{.out = out_,
                            .err = err,
                            .cancellation = cancellation_,
                            .get_env = [](const std::string&) { return std::nullopt; },
                            .connect = [](const ClientConfig&) { return absl::UnavailableError("no daemon"); }};
    std::vector<std::unique_ptr<Command>> commands;
    commands.push_back(NewAuditCommand());
    const absl::Status status = RunCli(arguments, std::move(commands), environment);
    error_ = std::string(status.message());
    return ReportCli(status);
  }

  const std::string folder_ = testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name() + "/";
  uint64_t sequence_ = 0;
  std::string head_ = kAuditNoPrev;
  StringOutput out_;
  std::string error_;
  Cancellation cancellation_;
};

TEST_F(AuditCommandTest, SumsUpAWholeLog) {
  WriteLog();
  EXPECT_EQ(Run({"audit", "verify", "log", "log.1"}), 0);
  EXPECT_EQ(out_.text(), absl::StrCat("entries    4\n"
                                      "sequences  1 to 4\n"
                                      "from       2027-01-15T08:00:01.000000Z\n"
                                      "to         2027-01-15T08:00:04.000000Z\n"
                                      "lost       5\n"
                                      "repeated   7\n"
                                      "head       ",
                                      head_, "\n"));
  EXPECT_EQ(Run({"audit", "verify", "log", "log.1", "--format", "json"}), 0);
  EXPECT_EQ(out_.text(),
            absl::StrCat("{\n  \"entries\": \"4\",\n  \"first_sequence\": \"1\",\n  \"last_sequence\": \"4\",\n"
                         "  \"first_time\": \"2027-01-15T08:00:01.000000Z\",\n"
                         "  \"last_time\": \"2027-01-15T08:00:04.000000Z\",\n  \"lost\": \"5\",\n  \"repeated\": "
                         "\"7\",\n  \"head\": \"",
                         head_, "\",\n  \"notes\": [],\n  \"notes_left_out\": \"0\"\n}\n"));
}

TEST_F(AuditCommandTest, TellsWhatIsInNoFile) {
  WriteLog();
  EXPECT_EQ(Run({"audit", "verify", "log"}), 0);
  EXPECT_NE(out_.text().find("note       entries 1 to 2 are in none of these files\n"), std::string::npos);
}

TEST_F(AuditCommandTest, AHeadShowsWhatWasCutOff) {
  WriteLog();
  const std::string noted = head_;
  Add("log", {});
  EXPECT_EQ(Run({"audit", "verify", "log", "log.1", "--head", noted}), 0);
  EXPECT_NE(out_.text().find("log:2, 1 entry before the end\n"), std::string::npos) << out_.text();
  EXPECT_EQ(Run({"audit", "verify", "log.1", "--head", noted}), 1);
  EXPECT_EQ(error_.substr(0, 21), "no entry has the head");
}

TEST_F(AuditCommandTest, ABreakIsOne) {
  WriteLog();
  std::string text;
  std::getline(std::ifstream(folder_ + "log"), text);
  std::ofstream(folder_ + "log") << text << "\nnothing\n";
  EXPECT_EQ(Run({"audit", "verify", "log", "log.1"}), 1);
  EXPECT_EQ(error_, folder_ + "log:2: not a JSON object");
  EXPECT_EQ(Run({"audit", "show", "log", "log.1"}), 1);
  EXPECT_NE(out_.text().find("not in the policy"), std::string::npos) << "what comes before is shown";
}

TEST_F(AuditCommandTest, MistakesAreTwo) {
  WriteLog();
  EXPECT_EQ(Run({"audit"}), 2);
  EXPECT_EQ(Run({"audit", "verify"}), 2);
  EXPECT_EQ(Run({"audit", "verify", "log.none"}), 2);
  EXPECT_EQ(Run({"audit", "verify", "log", "--head", "abc"}), 2);
  EXPECT_EQ(error_, "--head: 64 lower-case hexadecimal digits are needed");
}

TEST_F(AuditCommandTest, ShowsEntries) {
  WriteLog();
  EXPECT_EQ(Run({"audit", "show", "--wide", "log", "log.1"}), 0);
  EXPECT_EQ(out_.text(),
            "SEQUENCE  TIME                         KIND    DECISION  ENDPOINT                      PRINCIPAL  ABOUT\n"
            "       1  2027-01-15T08:00:01.000000Z  start   -         -                             -  (sidebandd 1)\n"
            "       2  2027-01-15T08:00:02.000000Z  access  allow     GET /metrics                  "
            "spiffe://example.org/ops  /metrics\n"
            "       3  2027-01-15T08:00:03.000000Z  access  deny      Telemetry/GetSnapshot         -  (not in the "
            "policy)  7 more like this until then\n"
            "       4  2027-01-15T08:00:04.000000Z  lost    -         -                             -  5 entries were "
            "not written\n");
  EXPECT_EQ(Run({"audit", "show", "--wide", "--denied", "log", "log.1"}), 0);
  EXPECT_EQ(std::count(out_.text().begin(), out_.text().end(), '\n'), 2);
  EXPECT_EQ(Run({"audit", "show", "--wide", "--principal", "spiffe://example.org/ops", "log", "log.1"}), 0);
  EXPECT_NE(out_.text().find("/metrics\n"), std::string::npos);
  EXPECT_EQ(std::count(out_.text().begin(), out_.text().end(), '\n'), 2);
}

TEST_F(AuditCommandTest, EntriesFitATerminal) {
  const std::string identity = "spiffe://example.org/" + std::string(90, 'x');
  Add("log", {.principal = identity,
              .endpoint = "Telemetry/GetSnapshot",
              .resource = "device gpu0",
              .decision = AuditDecision::kAllow,
              .detail = {"a detail"}});
  EXPECT_EQ(Run({"audit", "show", "log"}), 0);
  EXPECT_EQ(out_.text(), absl::StrCat("SEQUENCE  TIME                         KIND    DECISION  ENDPOINT\n"
                                      "          PRINCIPAL  ABOUT\n"
                                      "       1  2027-01-15T08:00:01.000000Z  access  allow     Telemetry/GetSnapshot\n"
                                      "          spiffe://example.org/",
                                      std::string(49, 'x'), "\n          ", std::string(41, 'x'),
                                      "  device gpu0\n"
                                      "          a detail\n"));
}

TEST_F(AuditCommandTest, ALongEndpointStandsOnTheNextLine) {
  Add("log", {.principal = "jwt:a", .endpoint = "Telemetry/" + std::string(20, 'X'), .resource = "device gpu0"});
  EXPECT_EQ(Run({"audit", "show", "log"}), 0);
  EXPECT_NE(out_.text().find(absl::StrCat("\n          Telemetry/", std::string(20, 'X'), "  jwt:a  device gpu0\n")),
            std::string::npos)
      << out_.text();
}

TEST_F(AuditCommandTest, ShowsEntriesToPrograms) {
  WriteLog();
  EXPECT_EQ(Run({"audit", "show", "log", "log.1", "--denied", "--format", "csv"}), 0);
  EXPECT_EQ(
      out_.text(),
      "sequence,time,kind,decision,endpoint,principal,role,resource,reason,policy_version,repeated,lost,detail\r\n"
      "3,2027-01-15T08:00:03.000000Z,access,deny,Telemetry/GetSnapshot,,,,not in the policy,0,7,0,\r\n");
  EXPECT_EQ(Run({"audit", "show", "log", "log.1", "--format", "json"}), 0);
  std::ifstream second(folder_ + "log.1"), first(folder_ + "log");
  const std::string lines((std::istreambuf_iterator<char>(second)), {});
  EXPECT_EQ(out_.text(), lines + std::string((std::istreambuf_iterator<char>(first)), {}));
}

TEST_F(AuditCommandTest, WhereThereIsNoEntryNothingIsVerified) {
  std::ofstream(folder_ + "log") << "";
  for (const char* format : {"table", "json"}) {
    EXPECT_EQ(Run({"audit", "verify", "log", "--format", format}), 1);
    EXPECT_EQ(error_, "0 entries in these files: there is nothing to verify");
    EXPECT_EQ(out_.text(), "");
  }
  WriteLog();
  EXPECT_EQ(Run({"audit", "verify", "log", "log.1"}), 0);
}

TEST_F(AuditCommandTest, WhatIsNoFileIsRefused) {
  EXPECT_EQ(Run({"audit", "verify", "/dev/null"}), 2);
  EXPECT_EQ(error_, "/dev/null: is not a regular file");
}

}  // namespace

}  // namespace sideband::client
