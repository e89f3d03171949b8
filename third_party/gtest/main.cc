// SPDX-License-Identifier: Apache-2.0
//
// The main function of all test programs. The tests of a folder share a process, in a random order, so:
// * testing::TempDir() is another, empty folder in each test, and another one in what a suite shares;
// * a test fails if it leaves the process changed: working folder, umask, blocked signals, environment, limits.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace {

constexpr char kTemporary[] = "TEST_TMPDIR";  // what testing::TempDir() reads

struct State {
  std::string folder;
  mode_t mask = 0;
  std::vector<int> blocked_signals;
  std::vector<std::string> environment;
  std::vector<rlim_t> limits;

  bool operator==(const State&) const = default;
};

State CurrentState() {
  State state{.folder = std::filesystem::current_path(), .mask = umask(0)};
  umask(state.mask);
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  for (int signal = 1; signal < SIGRTMIN; ++signal)
    if (sigismember(&blocked, signal) == 1) state.blocked_signals.push_back(signal);
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (const std::string text = *variable; text.rfind(kTemporary, 0) != 0) state.environment.push_back(text);
  std::sort(state.environment.begin(), state.environment.end());
  for (const auto resource : {RLIMIT_AS, RLIMIT_CORE, RLIMIT_FSIZE, RLIMIT_NOFILE}) {
    rlimit limit;
    getrlimit(resource, &limit);
    state.limits.push_back(limit.rlim_cur);
  }
  return state;
}

class Isolation final : public testing::EmptyTestEventListener {
 public:
  void OnTestSuiteStart(const testing::TestSuite&) override { MakeFolder(); }
  void OnTestStart(const testing::TestInfo&) override {
    MakeFolder();
    before_ = CurrentState();
  }
  void OnTestEnd(const testing::TestInfo&) override {
    const State after = CurrentState();
    EXPECT_EQ(after.folder, before_.folder) << "the test changed the working folder";
    EXPECT_EQ(after.mask, before_.mask) << "the test changed the umask";
    EXPECT_EQ(after.blocked_signals, before_.blocked_signals) << "the test changed which signals are blocked";
    EXPECT_EQ(after.environment, before_.environment) << "the test changed the environment";
    EXPECT_EQ(after.limits, before_.limits) << "the test changed RLIMIT_AS, _CORE, _FSIZE or _NOFILE";
  }
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
  State before_;
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new Isolation);
  return RUN_ALL_TESTS();
}
