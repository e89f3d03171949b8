// SPDX-License-Identifier: Apache-2.0
//
// Runs the subcommands of `sideband` in the test's process, against daemons that answer what a script says.
#ifndef SIDEBAND_CLIENT_CLI_FIXTURE_H_
#define SIDEBAND_CLIENT_CLI_FIXTURE_H_

#include <grpcpp/channel.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/cli/cli.h"
#include "client/cli/console.h"
#include "client/lib/fake_daemon.h"
#include "proto/envelope/keys.h"

namespace sideband::client {

inline constexpr char kVmUuid[] = "6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10";
// 32 times 'N'.
inline constexpr envelope::GuestNonce kNonce = [] {
  envelope::GuestNonce nonce{};
  nonce.fill('N');
  return nonce;
}();
inline constexpr char kDeviceUuid[] = "11111111-2222-4333-8444-555555555555";

// A snapshot of gpu0: its own row, and that of context train of vm0.
v1::Snapshot ASnapshot();
// The snapshot as `get` prints it.
inline constexpr char kSnapshotTable[] =
    "gpu0  2023-11-14T22:13:20.000Z ±1.5ms  snapshot 17  trigger 34\n"
    "  boot 000000000000b007  at 12.000000345 s\n"
    "VM   CONTEXT  EVENT                           COUNT       RATE  NOTES\n"
    "-    -        sm_active  18,446,744,073,709,551,615          -  -\n"
    "vm0  train    dram_read                         ~42  ~1.23 k/s  idle,overflow,estimated\n";

// A daemon that refuses every call.
FakeDaemon::Script Refusal();
// Two devices; gpu0 has a readable VM and a confidential one.
FakeDaemon::Script ASite();
// `count` updates of gpu0, the sync response after the first.
FakeDaemon::Script Updates(int count, bool keeps_streams);
// An update of each of the devices, in their order; "" is the sync response.
FakeDaemon::Script UpdatesOf(const std::vector<std::string>& devices);

// Standard error.
class Notes final : public Output {
 public:
  absl::Status Write(absl::string_view text) override {
    absl::StrAppend(&text_, text);
    if (on_write) on_write();
    return absl::OkStatus();
  }
  void Clear() { text_.clear(); }
  const std::string& text() const { return text_; }

  std::function<void()> on_write;

 private:
  std::string text_;
};

// Give it daemons by Serve() or ServeAt(), then call Printed(), Mistake() or Run(), and look at the members.
class CliTest : public testing::Test {
 protected:
  // The daemon at every address that has none of its own.
  void Serve(FakeDaemon::Script script) { daemon_ = std::make_unique<FakeDaemon>(std::move(script)); }
  void ServeAt(const std::string& host, FakeDaemon::Script script) {
    hosts_[host] = std::make_unique<FakeDaemon>(std::move(script));
  }

  // Keeps what the command has printed in out_ and err_.
  absl::Status Run(const std::vector<std::string>& arguments);

  // The output of a command that succeeds.
  std::string Printed(const std::vector<std::string>& arguments) {
    EXPECT_EQ(Run(arguments), absl::OkStatus());
    return out_.text();
  }

  // The message of an error that ends the program with 2.
  std::string Mistake(const std::vector<std::string>& arguments) {
    const absl::Status status = Run(arguments);
    EXPECT_EQ(ReportCli(status), 2);
    return std::string(status.message());
  }

  std::map<std::string, std::string> environment_;
  StringOutput out_;
  Notes err_;
  Cancellation cancellation_;
  std::function<absl::Time()> now_ = [] { return absl::FromUnixSeconds(1'700'000'600); };
  std::function<bool(absl::Duration)> wait_ = [](absl::Duration) { return true; };
  std::optional<TerminalSize> terminal_;
  ClientConfig config_;
  std::function<void()> on_connect_;
  absl::Status connect_error_;
  std::unique_ptr<FakeDaemon> daemon_;
  std::map<std::string, std::unique_ptr<FakeDaemon>> hosts_;  // by address
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_FIXTURE_H_
