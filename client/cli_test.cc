// SPDX-License-Identifier: Apache-2.0
//
// The parts that all commands share: help, global options, mistakes in the command line, exit statuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "client/cli_fixture.h"
#include "client/commands.h"
#include "proto/base/version.h"

namespace sideband::client {
namespace {

TEST_F(CliTest, AMissingSettingIsNamedWithItsFile) {
  connect_error_ = absl::InvalidArgumentError("no ca_file is given: the configuration must name it");
  EXPECT_EQ(Mistake({"devices"}),
            "there is no configuration: neither --config nor $SIDEBAND_CONFIG names a file, and "
            "~/.config/sideband/client.yaml does not exist; 127.0.0.1:9878 needs a ca_file: give --config FILE, such "
            "as operator.yaml");
  const std::string path = testing::TempDir() + "/client.yaml";
  std::ofstream(path) << "address: h:1\n";
  EXPECT_EQ(Mistake({"devices", "--config", path}), path + ": ca_file is missing, for h:1");
}

TEST_F(CliTest, HealthIsAnExitStatus) {
  Serve({});
  EXPECT_EQ(Printed({"health"}), "serving\n");
  EXPECT_EQ(Printed({"health", "--alive"}), "serving\n");
  Serve({.serving = false});
  const absl::Status status = Run({"health"});
  EXPECT_EQ(status.message(), "no device is fresh: see `sideband devices`");
  EXPECT_EQ(ReportCli(status), 1);
  EXPECT_EQ(Printed({"health", "--alive"}), "alive, no device is fresh\n");
}

TEST_F(CliTest, AnExpiredTokenIsSaidToBeOne) {
  const std::string token = testing::TempDir() + "/expired.token";
  std::ofstream(token) << "eyJ9." << absl::WebSafeBase64Escape(R"({"exp": 1700000599})") << ".c2ln";
  Serve({.status = grpc::Status(grpc::StatusCode::UNAUTHENTICATED, "who are you?")});
  EXPECT_EQ(Run({"devices", "--address", "h:1", "--token-file", token}).message(),
            absl::StrCat("h:1: who are you? (the token in ", token, " expired at 2023-11-14T22:23:19Z)"));
  EXPECT_EQ(Run({"devices", "--address", "h:1"}).message(), "h:1: who are you?");
}

TEST_F(CliTest, WhatTheDaemonRefusesEndsWithOne) {
  Serve({.status = grpc::Status(grpc::StatusCode::NOT_FOUND, "not found")});
  for (const std::string command : {"devices", "events", "scopes", "get", "watch"}) {
    const absl::Status status = Run({command, "--address", "h:1"});
    EXPECT_THAT(std::string(status.message()), testing::StartsWith("h:1: not found")) << command;
    EXPECT_EQ(ReportCli(status), 1) << command;
  }
}

TEST_F(CliTest, MarksAndSpansSayWhatElseTheyNeed) {
  FakeDaemon::Script script = ASite();
  script.marks_status = grpc::Status(grpc::StatusCode::NOT_FOUND, "no such device, VM, context or event");
  Serve(script);
  const auto refusal = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--device", "gpu0", "--address", "h:1"});
    const absl::Status status = Run(arguments);
    EXPECT_EQ(ReportCli(status), 1);
    absl::string_view message = status.message();
    EXPECT_TRUE(absl::ConsumePrefix(&message, "h:1: no such device, VM, context or event")) << message;
    return std::string(message);
  };
  EXPECT_EQ(refusal({"mark", "--vm", "vm0"}),
            ": the caller sees the VM; a mark needs the right `mark`, and one context of that name");
  EXPECT_EQ(refusal({"mark", "--vm", "vm9"}), ": VM 'vm9' (did you mean 'vm0'?)");
  const std::vector<std::string> span = {"span", "--vm", "vm0", "--from", "1", "--to", "2"};
  EXPECT_EQ(refusal(span), ", or no such mark: sideband marks lists them");
  std::vector<std::string> of_pattern = span;
  of_pattern.insert(of_pattern.end(), {"--event", "dram_*"});
  EXPECT_EQ(refusal(of_pattern), ": event 'dram_*' (--event of span takes a name without * and ?)");
}

TEST_F(CliTest, UsageMistakesEndWithTwo) {
  Serve({});
  EXPECT_EQ(Mistake({}), "A subcommand is required (see sideband --help)");
  EXPECT_EQ(Mistake({"wacth"}), "unknown argument 'wacth' (did you mean 'watch'?)");
  EXPECT_EQ(Mistake({"get", "vm1"}),
            "unknown argument 'vm1': 'get' takes names with --device, --vm, --context, --event");
  EXPECT_EQ(Mistake({"--wide", "devices"}), "option '--wide' comes after 'devices'");
  EXPECT_EQ(Mistake({"get", "--event", "--config", "a.yaml"}), "--event has no value: '--config' follows it");
  EXPECT_EQ(Mistake({"get", "--fromat", "json"}),
            "unknown option '--fromat' (did you mean '--format'?); see sideband get --help");
  EXPECT_EQ(Mistake({"get", "--adress", "h:1"}),
            "unknown option '--adress' (did you mean '--address'?); see sideband get --help");
  EXPECT_EQ(Mistake({"get", "--qqqqqq"}), "unknown option '--qqqqqq' (see sideband get --help)");
  EXPECT_NE(Mistake({"get", "--format", "xml"}).find("--format: xml not in {table,json,csv}"), std::string::npos);
  EXPECT_NE(Mistake({"watch", "--interval", "5x"}).find("'5x' is not a duration from 10ms to 24h"), std::string::npos);
  EXPECT_NE(Mistake({"watch", "--interval", "9ms"}).find("not a duration"), std::string::npos);
  EXPECT_NE(Mistake({"watch", "--count", "0"}).find("--count"), std::string::npos);
  EXPECT_NE(Mistake({"get", "--since", "5"}).find("'5' is neither a duration, such as 5m or 2d, nor a time"),
            std::string::npos);
  EXPECT_NE(Mistake({"get", "--since", "5m", "--step", "0s"}).find("not a duration from 1ms"), std::string::npos);
  EXPECT_NE(Mistake({"get", "--step", "5s"}).find("--step requires --since"), std::string::npos);
  EXPECT_NE(Mistake({"get", "--until", "5m"}).find("--until requires --since"), std::string::npos);
  EXPECT_EQ(Mistake({"get", "--since", "5m", "--until", "6m"}), "--until is before --since");
  EXPECT_NE(Mistake({"unseal", "--vm", "vm0"}).find("--key-file or --exchange is required"), std::string::npos);
  EXPECT_NE(Mistake({"peek", "--vm", "vm0"}).find("--event is required"), std::string::npos);
  EXPECT_NE(Mistake({"peek", "--context", "c", "--event", "e"}).find("--context requires --vm"), std::string::npos);
  EXPECT_EQ(
      Mistake({"span", "--vm", "vm0", "--from", "epoch 1 begins", "--to", "2"}),
      "--from: 'epoch 1 begins' is not the number of a mark; `sideband marks` lists them (see sideband span --help)");
  EXPECT_EQ(Mistake({"span", "--vm", "vm0", "--from", "1", "--to", "-2"}),
            "--to: '-2' is not the number of a mark; `sideband marks` lists them (see sideband span --help)");
  EXPECT_EQ(Mistake({"bus"}), "A subcommand is required (see sideband bus --help)");
  EXPECT_EQ(Mistake({"bus", "trace"}), "bus trace: either --bus or a capture FILE is needed");
  EXPECT_EQ(Mistake({"bus", "trace", "--bus", "unix:x", "--adress", "1"}),
            "unknown option '--adress' (did you mean '--address'?); see sideband bus trace --help");
  EXPECT_EQ(Mistake({"bus", "trace", "--bus", "unix:x", "--address", "0x80"}),
            "--address: the address must be from 0x08 to 0x77");
  EXPECT_EQ(Mistake({"bus", "trace", "--bus", "unix:x", "--address", "4f"}),
            "--address: the address must be from 0x08 to 0x77: write 0x4f");
  EXPECT_NE(Mistake({"get", "--config", "/nonexistent.yaml"}).find("/nonexistent.yaml"), std::string::npos);
}

TEST_F(CliTest, ConfigInitSaysWhatIsNext) {
  const std::string folder = testing::TempDir() + "/config_init";
  std::filesystem::remove_all(folder);
  const std::string printed = Printed({"config", "init", "--dir", folder});
  EXPECT_THAT(printed, testing::StartsWith("The files of a first site are in " + folder + ". Next:\n\n  cd " + folder));
  for (const char* command :
       {"sideband --config operator.yaml devices", "sideband --config operator.yaml top --batch --count 1",
        "curl --cacert ca.pem --cert operator.pem --key operator.key "
        "https://127.0.0.1:9877/metrics"}) {
    EXPECT_THAT(printed, testing::HasSubstr(absl::StrCat("\n  ", command, "\n")));
  }
  EXPECT_THAT(printed, testing::HasSubstr("\nFor production, replace:\n  *.pem, *.key "));
  EXPECT_EQ(Mistake({"config", "init", "--dir", folder}),
            folder + ": the folder is not empty, and nothing is overwritten");
  EXPECT_EQ(Mistake({"config"}), "A subcommand is required (see sideband config --help)");
  EXPECT_THAT(Mistake({"config", "init"}), testing::HasSubstr("--dir is required"));
}

// One table of commands for the installed files and for what is printed: it is complete here, too.
TEST_F(CliTest, CompletionNamesAllCommands) {
  for (const auto& [shell, start] : {std::pair("bash", "# Completion of sideband for bash."),
                                     {"zsh", "#compdef sideband\n"},
                                     {"fish", "# Completion of sideband for fish."}}) {
    const std::string printed = Printed({"completion", shell});
    EXPECT_THAT(printed, testing::StartsWith(start));
    for (const auto& command : AllCommands()) EXPECT_THAT(printed, testing::HasSubstr(command->name())) << shell;
    EXPECT_THAT(printed, testing::HasSubstr("bash")) << "the shells are completed, too";
    EXPECT_EQ(Printed({"completion", shell, "--address", "h:1"}), printed) << "whatever else is given";
  }
  EXPECT_THAT(Mistake({"completion", "tcsh"}), testing::HasSubstr("tcsh not in {bash,zsh,fish}"));
  EXPECT_THAT(Mistake({"completion"}), testing::HasSubstr("shell is required"));
}

TEST_F(CliTest, HelpOfEverythingHasExamples) {
  for (const auto& command : AllCommands()) {
    const std::string help = Printed({command->name(), "--help"});
    EXPECT_NE(help.find("Example"), std::string::npos) << command->name();
    EXPECT_NE(help.find("sideband " + command->name()), std::string::npos) << command->name();
    EXPECT_NE(Printed({"--help"}).find(command->description()), std::string::npos) << command->name();
  }
  EXPECT_THAT(Printed({"--help"}), testing::HasSubstr("\nRead counters and sensors:\n  devices "));
  EXPECT_NE(Printed({"bus", "trace", "--help"}).find("sideband bus trace"), std::string::npos);
  EXPECT_EQ(Printed({"--version"}), "sideband " + BuildVersion() + "\n");
  EXPECT_EQ(Printed({"version"}), Printed({"--version"}));
}

TEST_F(CliTest, HelpOfACommandHasTheGlobalOptions) {
  for (const auto& command : AllCommands()) {
    const std::string help = Printed({command->name(), "--help"});
    for (const char* option : {"--address", "--ca-file", "--token-file", "--config"}) {
      EXPECT_THAT(help, testing::HasSubstr(option)) << command->name();
    }
  }
  EXPECT_EQ(Printed({"help", "get"}), Printed({"get", "--help"}));
  EXPECT_EQ(Printed({"help", "bus", "trace"}), Printed({"bus", "trace", "--help"}));
  EXPECT_EQ(Printed({"help"}), Printed({"--help"}));
  EXPECT_THAT(Printed({"help", "unseal"}), testing::HasSubstr("before the subcommand only:\n  --key-file"));
  EXPECT_EQ(Mistake({"help", "wacth"}), "help: unknown command 'wacth' (did you mean 'watch'?)");
}

TEST_F(CliTest, GlobalOptionsMayStandOnEitherSide) {
  Serve({});
  Printed({"--address", "h:1", "devices", "--server-name", "s"});
  EXPECT_EQ(config_, (ClientConfig{.address = "h:1", .server_name = "s"}));
}

}  // namespace
}  // namespace sideband::client
