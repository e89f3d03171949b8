// SPDX-License-Identifier: Apache-2.0
//
// Tests the program over real TLS: exit status, standard error, signals. The output of commands is tested in cli/.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "client/lib/fake_daemon.h"
#include "proto/base/wait_until.h"

namespace sideband::client {
namespace {

// A running `sideband`, with its output in pipes.
class Program {
 public:
  explicit Program(std::vector<std::string> arguments) {
    int out[2], err[2];
    EXPECT_EQ(::pipe2(out, O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(err, O_CLOEXEC), 0);
    arguments.insert(arguments.begin(), "client/sideband");
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(out[1], STDOUT_FILENO);
      ::dup2(err[1], STDERR_FILENO);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    ::close(out[1]);
    ::close(err[1]);
    out_ = out[0];
    err_ = err[0];
  }

  ~Program() {
    CloseOut();
    ::close(err_);
  }

  // Blocks until the program prints something.
  std::string ReadSome() {
    const TimeLimit limit("output of the program");
    char buffer[4096];
    const ssize_t size = ::read(out_, buffer, sizeof(buffer));
    return std::string(buffer, size > 0 ? size : 0);
  }
  void CloseOut() {
    if (out_ >= 0) ::close(out_);
    out_ = -1;
  }
  void Signal(int signal) { ::kill(pid_, signal); }

  // Waits for the program's end; returns the exit status, or the negated signal number.
  int Wait() {
    const TimeLimit limit("the end of the program");
    char buffer[4096];
    for (ssize_t size; (size = ::read(err_, buffer, sizeof(buffer))) > 0;) errors_.append(buffer, size);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  const std::string& errors() const { return errors_; }

 private:
  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::string errors_;
};

class SidebandTest : public testing::Test {
 protected:
  static FakeDaemon::Script AStream(int updates) {
    FakeDaemon::Script script;
    script.keeps_streams = true;
    for (int i = 0; i < updates; ++i) {
      v1::Snapshot& snapshot = *script.updates.emplace_back().mutable_update();
      snapshot.set_device("gpu0");
      snapshot.set_snapshot_id(i + 1);
      snapshot.add_scopes()->add_counters()->set_event("sm_active_cycles");
    }
    return script;
  }

  std::vector<std::string> Arguments(const std::string& command, const std::string& address) const {
    return {command,
            "--address",
            address,
            "--ca-file",
            files_.ca_file,
            "--cert-file",
            files_.client_cert_file,
            "--key-file",
            files_.client_key_file};
  }

  const TestCertificates files_ = TestCertificates::WriteTo(testing::TempDir());
};

TEST_F(SidebandTest, ListsOverTls) {
  FakeDaemon::Script script;
  script.devices.add_devices()->set_name("gpu0");
  const FakeDaemon daemon(script, files_.MutualTls());
  Program program(Arguments("devices", daemon.address()));
  EXPECT_NE(program.ReadSome().find("gpu0"), std::string::npos);
  EXPECT_EQ(program.Wait(), 0);
  EXPECT_EQ(program.errors(), "");
}

TEST_F(SidebandTest, NobodyThereIsOneLineAndOne) {
  Program program(Arguments("devices", "127.0.0.1:1"));
  EXPECT_EQ(program.Wait(), 1);
  EXPECT_EQ(program.errors().substr(0, 23), "sideband: 127.0.0.1:1: ");
  EXPECT_EQ(program.errors().find('\n'), program.errors().size() - 1);
}

TEST_F(SidebandTest, MistakesAreOneLineAndTwo) {
  Program option({"get", "--nonsense"});
  EXPECT_EQ(option.Wait(), 2);
  EXPECT_EQ(option.errors().substr(0, 24), "sideband: unknown option");
  EXPECT_EQ(option.errors().find('\n'), option.errors().size() - 1);
  Program file({"get", "--ca-file", "/nonexistent.pem", "--cert-file", "c", "--key-file", "k"});
  EXPECT_EQ(file.Wait(), 2);
  EXPECT_EQ(file.errors().substr(0, 26), "sideband: /nonexistent.pem");
  EXPECT_EQ(file.errors().find('\n'), file.errors().size() - 1);
}

TEST_F(SidebandTest, CtrlCEndsWatchWell) {
  const FakeDaemon daemon(AStream(1), files_.MutualTls());
  for (const int signal : {SIGINT, SIGTERM}) {
    Program program(Arguments("watch", daemon.address()));
    EXPECT_NE(program.ReadSome().find("gpu0"), std::string::npos);
    program.Signal(signal);
    EXPECT_EQ(program.Wait(), 0);
    EXPECT_EQ(program.errors(), "");
  }
}

TEST_F(SidebandTest, AClosedPipeEndsItQuietly) {
  const FakeDaemon daemon(AStream(1000), files_.MutualTls());
  Program program(Arguments("watch", daemon.address()));
  program.ReadSome();
  program.CloseOut();
  EXPECT_EQ(program.Wait(), 0);
  EXPECT_EQ(program.errors(), "");
}

}  // namespace
}  // namespace sideband::client
