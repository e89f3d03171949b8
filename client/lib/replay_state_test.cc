// SPDX-License-Identifier: Apache-2.0
#include "client/lib/replay_state.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>
#include <vector>

#include "proto/base/wait_until.h"

namespace sideband::client {
namespace {

using envelope::RecordHeader;

constexpr Uuid kStateVm{{2}};
constexpr Uuid kStateDevice{{1}};

RecordHeader HeaderOf(uint64_t epoch, uint64_t sequence) {
  return {.device = kStateDevice, .boot_id = 11, .vm = kStateVm, .generation = 3, .epoch = epoch, .sequence = sequence};
}

class OpenerStateTest : public testing::Test {
 protected:
  OpenerStateTest() { std::filesystem::create_directory(folder_); }
  ~OpenerStateTest() override { std::filesystem::remove_all(folder_); }

  std::optional<RecordHeader> Newest() const { return *state_.Acquire()->Read(); }
  absl::Status Raise(const RecordHeader& header) const { return state_.Acquire()->Raise(header); }
  absl::Status ReadOf(const std::string& text) const {
    std::ofstream(state_.path()) << text;
    ::chmod(state_.path().c_str(), 0600);
    return state_.Acquire()->Read().status();
  }
  std::string Text() const {
    std::ifstream file(state_.path());
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const std::string folder_ = testing::TempDir() + "/opener_state." + std::to_string(::getpid());
  const OpenerState state_{folder_ + "/state.json"};
};

TEST_F(OpenerStateTest, RemembersTheNewestRecord) {
  EXPECT_EQ(Newest(), std::nullopt);
  ASSERT_TRUE(Raise(HeaderOf(5, 7)).ok());
  EXPECT_EQ(Newest(), HeaderOf(5, 7));
  RecordHeader with_nonce = HeaderOf(6, 0);
  with_nonce.guest_nonce = envelope::GuestNonce{0xAB, 1};
  ASSERT_TRUE(Raise(with_nonce).ok());
  EXPECT_EQ(Newest(), with_nonce);
}

TEST_F(OpenerStateTest, IsNeverLowered) {
  ASSERT_TRUE(Raise(HeaderOf(5, 7)).ok());
  for (const RecordHeader& older : {HeaderOf(5, 7), HeaderOf(5, 6), HeaderOf(4, 99)}) {
    EXPECT_TRUE(Raise(older).ok());
    EXPECT_EQ(Newest(), HeaderOf(5, 7));
  }
  EXPECT_TRUE(Raise(HeaderOf(5, 8)).ok());
  EXPECT_EQ(Newest(), HeaderOf(5, 8));
}

TEST_F(OpenerStateTest, IsOfOneVmOnOneDevice) {
  ASSERT_TRUE(Raise(HeaderOf(5, 7)).ok());
  RecordHeader vm = HeaderOf(6, 0), device = HeaderOf(6, 0);
  vm.vm.bytes[3] = 9;
  device.device.bytes[3] = 9;
  EXPECT_EQ(Raise(vm).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Raise(device).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Newest(), HeaderOf(5, 7));
}

TEST_F(OpenerStateTest, IsItsOwnersAlone) {
  const mode_t before = ::umask(0);
  EXPECT_TRUE(Raise(HeaderOf(5, 7)).ok());
  ::umask(before);
  struct stat info;
  for (const char* name : {"", ".lock"}) {
    ASSERT_EQ(::stat((state_.path() + name).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(state_.path() + ".partial"));
  ::chmod(state_.path().c_str(), 0620);
  EXPECT_EQ(state_.Acquire()->Read().status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_FALSE(Raise(HeaderOf(6, 0)).ok()) << "nor is it replaced";
}

TEST_F(OpenerStateTest, WhatIsNoRegularFileIsRefusedAtOnce) {
  ASSERT_EQ(::mkfifo(state_.path().c_str(), 0600), 0);
  EXPECT_FALSE(state_.Acquire()->Read().ok());
  std::filesystem::remove(state_.path());
  std::ofstream(folder_ + "/elsewhere") << Text();
  std::filesystem::create_symlink(folder_ + "/elsewhere", state_.path());
  EXPECT_FALSE(state_.Acquire()->Read().ok()) << "a link may lead anywhere";
  std::filesystem::create_symlink(folder_ + "/elsewhere", folder_ + "/linked.json.lock");
  EXPECT_FALSE(OpenerState(folder_ + "/linked.json").Acquire().ok());
}

TEST_F(OpenerStateTest, WhatIsNoStateIsRefusedWithItsPath) {
  ASSERT_TRUE(Raise(HeaderOf(5, 7)).ok());
  const std::string good = Text();
  ASSERT_TRUE(ReadOf(good).ok());
  std::vector<std::string> bad = {"", "{}", "[]", "null", "5", good.substr(0, good.size() / 2), std::string(5000, ' ')};
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"\"version\":1", "\"version\":2"},
                                                        {"\"epoch\":\"5\"", "\"epoch\":5"},
                                                        {"\"epoch\":\"5\"", "\"epoch\":\"-5\""},
                                                        {"\"nonce\":\"\"", "\"nonce\":\"ab\""},
                                                        {"\"generation\":\"3\"", "\"generation\":\"4294967296\""},
                                                        {"\"vm\":\"0", "\"vm\":\"x"}}) {
    std::string text = good;
    ASSERT_NE(text.find(from), std::string::npos) << from;
    bad.push_back(text.replace(text.find(from), from.size(), to));
  }
  for (const std::string& text : bad) {
    const absl::Status status = ReadOf(text);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_EQ(status.message().substr(0, state_.path().size() + 1), state_.path() + ":");
  }
  EXPECT_FALSE(Raise(HeaderOf(6, 0)).ok()) << "it may have been a later one";
}

TEST_F(OpenerStateTest, OneOpenerAtATime) {
  constexpr int kThreads = 4, kRecords = 50;
  std::atomic<int> accepted = 0;
  std::vector<std::thread> openers;
  for (int i = 0; i < kThreads; ++i) {
    openers.emplace_back([&] {
      for (uint64_t sequence = 1; sequence <= kRecords; ++sequence) {
        const auto lock = *state_.Acquire();
        const auto after = *lock.Read();
        if (after.has_value() && after->sequence >= sequence) continue;
        ++accepted;
        EXPECT_TRUE(lock.Raise(HeaderOf(5, sequence)).ok());
      }
    });
  }
  const TimeLimit limit("the end of the openers");
  for (std::thread& opener : openers) opener.join();
  EXPECT_LE(accepted, kRecords) << "no record was accepted twice";
  EXPECT_EQ(Newest(), HeaderOf(5, kRecords));
}

TEST_F(OpenerStateTest, FolderIsThatOfTheEnvironment) {
  std::map<std::string, std::string> environment;
  const auto folder = [&] {
    return StateFolder([&](const std::string& name) -> std::optional<std::string> {
      const auto found = environment.find(name);
      return found == environment.end() ? std::nullopt : std::optional(found->second);
    });
  };
  EXPECT_EQ(*folder(), std::nullopt);
  environment["HOME"] = folder_ + "/nobody";
  EXPECT_EQ(*folder(), std::nullopt) << "a home that is not there is not made";
  environment["HOME"] = folder_;
  EXPECT_EQ(*folder(), folder_ + "/.local/state/sideband");
  EXPECT_EQ(*folder(), folder_ + "/.local/state/sideband") << "again";
  environment["XDG_STATE_HOME"] = "relative";
  EXPECT_EQ(*folder(), folder_ + "/.local/state/sideband");
  environment["XDG_STATE_HOME"] = folder_ + "/xdg";
  EXPECT_EQ(*folder(), folder_ + "/xdg/sideband");
  struct stat info;
  ASSERT_EQ(::stat((folder_ + "/xdg/sideband").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 077, 0u);
  std::ofstream(folder_ + "/file") << "x";
  environment["XDG_STATE_HOME"] = folder_ + "/file";
  EXPECT_NE(folder().status().message().find("XDG_STATE_HOME"), std::string::npos) << "says what to set";
  EXPECT_EQ(StateFileName(kStateVm, kStateDevice),
            "unseal-" + kStateVm.ToString() + "-" + kStateDevice.ToString() + ".json");
}

constexpr uint64_t kFirstBoot = 90;

RecordHeader Header(uint64_t boot_id, uint32_t generation, uint64_t time_ns) {
  return {.device = {{1}},
          .boot_id = boot_id,
          .vm = {{2}},
          .generation = generation,
          .reference_time_ns = time_ns,
          .guest_nonce = envelope::GuestNonce{0xAB, 1}};
}

class ExchangeStateTest : public testing::Test {
 protected:
  ExchangeStateTest() { std::filesystem::create_directory(folder_); }
  ~ExchangeStateTest() override { std::filesystem::remove_all(folder_); }

  absl::Status Raise(const RecordHeader& header) const { return state_.Acquire()->Raise(header); }
  bool Follows(const RecordHeader& header) const {
    const absl::Status status = state_.Acquire()->CheckFollows(header);
    EXPECT_TRUE(status.ok() || status == absl::DataLossError("record rejected")) << status;
    return status.ok();
  }
  absl::Status CheckWith(const std::string& text) const {
    std::ofstream(path_) << text;
    ::chmod(path_.c_str(), 0600);
    return state_.Acquire()->CheckFollows(Header(kFirstBoot, 1, 1));
  }
  std::string Text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const std::string folder_ = testing::TempDir() + "/exchange_state." + std::to_string(::getpid());
  const std::string path_ = folder_ + "/state.json";
  const ExchangeState state_{path_};
};

TEST_F(ExchangeStateTest, AnOlderInstantOfABootIsRejected) {
  EXPECT_TRUE(Follows(Header(kFirstBoot, 3, 0))) << "nothing is known yet";
  ASSERT_TRUE(Raise(Header(kFirstBoot, 3, 1000)).ok());
  EXPECT_TRUE(Follows(Header(kFirstBoot, 3, 1000))) << "the same snapshot, opened by two programs";
  EXPECT_TRUE(Follows(Header(kFirstBoot, 4, 1001)));
  EXPECT_FALSE(Follows(Header(kFirstBoot, 3, 999)));
  EXPECT_FALSE(Follows(Header(kFirstBoot, 2, 1001)));
  EXPECT_FALSE(Follows(Header(kFirstBoot, 4, 999)));
}

TEST_F(ExchangeStateTest, ABootThatHasEndedDoesNotComeBack) {
  for (uint64_t boot = 0; boot <= ExchangeState::kEarlierBootsMax; ++boot) {
    ASSERT_TRUE(Follows(Header(kFirstBoot + boot, 0, 0))) << "a new boot begins at any time";
    ASSERT_TRUE(Raise(Header(kFirstBoot + boot, 0, 0)).ok());
  }
  EXPECT_FALSE(Follows(Header(kFirstBoot, 9, 9999)));
  ASSERT_TRUE(Raise(Header(1, 0, 0)).ok());
  EXPECT_TRUE(Follows(Header(kFirstBoot, 0, 0))) << "it is forgotten after 16 others";
  EXPECT_FALSE(Follows(Header(kFirstBoot + 1, 0, 0)));
}

TEST_F(ExchangeStateTest, IsNeverLowered) {
  ASSERT_TRUE(Raise(Header(kFirstBoot, 3, 1000)).ok());
  const std::string text = Text();
  ASSERT_TRUE(Raise(Header(kFirstBoot, 3, 10)).ok());
  EXPECT_EQ(Text(), text);
  EXPECT_EQ(text.substr(0, 14), "{\"version\":2,\"");
}

TEST_F(ExchangeStateTest, OfAnotherVm) {
  ASSERT_TRUE(Raise(Header(kFirstBoot, 3, 1000)).ok());
  RecordHeader other = Header(kFirstBoot, 3, 1001);
  other.vm = {{7}};
  EXPECT_EQ(state_.Acquire()->CheckFollows(other).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Raise(other).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ExchangeStateTest, WhatIsNoState) {
  ASSERT_TRUE(Raise(Header(kFirstBoot, 1, 1)).ok());
  const std::string good = Text();
  EXPECT_TRUE(CheckWith(good).ok());
  for (const std::string text : {"", "{}", "[]", "{\"version\":1}"}) {
    EXPECT_EQ(CheckWith(text).code(), absl::StatusCode::kInvalidArgument) << text;
  }
  const size_t boots = good.find("[]");
  for (const std::string bad : {"[1]", "[\"x\"]", "{}", "null"}) {
    std::string text = good;
    EXPECT_EQ(CheckWith(text.replace(boots, 2, bad)).code(), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_EQ(CheckWith(good.substr(0, good.size() - 3)).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sideband::client
