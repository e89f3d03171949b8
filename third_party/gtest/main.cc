// SPDX-License-Identifier: Apache-2.0
//
// The main function of all test programs. The tests of a folder share a process, in a random order, so:
// * testing::TempDir() is another, empty folder in each test, and another one in what a suite shares;
// * what a test or a suite has changed of the process is restored at its end: working folder, umask, environment,
//   limits and signals.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace {

constexpr char kTemporary[] = "TEST_TMPDIR";  // what testing::TempDir() reads
constexpr __rlimit_resource kLimits[] = {RLIMIT_AS, RLIMIT_CORE, RLIMIT_FSIZE, RLIMIT_NOFILE};
constexpr int kSignals[] = {SIGHUP, SIGINT, SIGPIPE, SIGTERM, SIGUSR1, SIGXFSZ};  // those that tests handle

// The state of the process when the object was made.
class ProcessState {
 public:
  ProcessState() {
    umask(mask_);
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked_);
    for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], nullptr, &actions_[i]);
    for (char** variable = environ; *variable != nullptr; ++variable) environment_.emplace_back(*variable);
    for (size_t i = 0; i < std::size(kLimits); ++i) getrlimit(kLimits[i], &limits_[i]);
  }

  void Restore() const {
    std::filesystem::current_path(folder_);
    umask(mask_);
    for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &actions_[i], nullptr);
    pthread_sigmask(SIG_SETMASK, &blocked_, nullptr);
    clearenv();
    for (const std::string& variable : environment_) {
      const size_t end = variable.find('=');
      setenv(variable.substr(0, end).c_str(), variable.substr(end + 1).c_str(), /*overwrite=*/1);
    }
    for (size_t i = 0; i < std::size(kLimits); ++i) setrlimit(kLimits[i], &limits_[i]);
  }

 private:
  const std::filesystem::path folder_ = std::filesystem::current_path();
  const mode_t mask_ = umask(0);
  sigset_t blocked_;
  struct sigaction actions_[std::size(kSignals)];
  std::vector<std::string> environment_;
  rlimit limits_[std::size(kLimits)];
};

class Isolation final : public testing::EmptyTestEventListener {
 public:
  void OnTestSuiteStart(const testing::TestSuite&) override {
    before_suite_.emplace();
    MakeFolder();
  }
  void OnTestStart(const testing::TestInfo&) override {
    before_test_.emplace();
    MakeFolder();
  }
  void OnTestEnd(const testing::TestInfo&) override { before_test_->Restore(); }
  void OnTestSuiteEnd(const testing::TestSuite&) override { before_suite_->Restore(); }
  void OnTestProgramEnd(const testing::UnitTest&) override {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

 private:
  // Short, because paths of Unix sockets are.
  void MakeFolder() {
    const std::string folder = root_ + "/" + std::to_string(++folders_);
    std::filesystem::create_directories(folder);
    setenv(kTemporary, folder.c_str(), /*overwrite=*/1);
  }

  const std::string root_ = testing::TempDir() + "/" + std::to_string(getpid());
  int folders_ = 0;
  std::optional<ProcessState> before_suite_, before_test_;
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new Isolation);
  return RUN_ALL_TESTS();
}
