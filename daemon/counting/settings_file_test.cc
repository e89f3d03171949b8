// SPDX-License-Identifier: Apache-2.0
#include "daemon/counting/settings_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace sideband::daemon {
namespace {

std::vector<std::string> Errors(const std::string& text) {
  ErrorList errors;
  ParseCountingFile(text, "counting.yaml", errors);
  std::vector<std::string> messages;
  for (const absl::Status& error : errors.All()) messages.emplace_back(error.message());
  return messages;
}

// The example of README.md.
TEST(CountingFileTest, ReadsEveryField) {
  constexpr char kText[] = R"(
version: 1
devices:
  gpu0:
    groups:
      host: {valid: true, guest: false, host: true, identifier: 7}
    vms:
      vm1: {value: [tlb], host_value: none, allowed: [tlb, tensor], pinned: [], ids: [7, 8], guest_access: true,
            useren: false, store: true, selection: 2}
      11111111-0000-4000-8000-000000000001: {value: all}
)";
  ErrorList errors;
  const DeviceSettings devices = ParseCountingFile(kText, "counting.yaml", errors);
  ASSERT_TRUE(errors.empty()) << errors.First();
  CountingSettings expected;
  expected.groups["host"] = {.valid = true, .guest = false, .host = true, .identifier = 7};
  expected.vms["vm1"] = {.value = GateSetting{.groups = {{"tlb"}}},
                         .host_value = GateSetting{.master = false},
                         .allowed = {{"tlb", "tensor"}},
                         .pinned = GroupNames(),
                         .ids = {{7, 8}},
                         .guest_access = true,
                         .useren = false,
                         .store = true,
                         .selection = 2};
  expected.vms["11111111-0000-4000-8000-000000000001"] = {.value = GateSetting()};
  EXPECT_EQ(devices, (DeviceSettings{{"gpu0", expected}}));
}

TEST(CountingFileTest, EveryErrorHasItsLine) {
  EXPECT_THAT(Errors("version: 2\n"), testing::ElementsAre("counting.yaml:1: unknown version 2, must be 1"));
  EXPECT_THAT(Errors(R"(version: 1
devices:
  gpu0:
    groups: {host: {identifier: 65536}}
    vms:
      vm1: {value: some, ids: [0], selection: 16}
      vm2: {alowed: []}
)"),
              testing::ElementsAre(testing::StartsWith("counting.yaml:4: "),
                                   "counting.yaml:6: 'some': must be all, none or a list of gate groups",
                                   testing::StartsWith("counting.yaml:6: "), testing::StartsWith("counting.yaml:6: "),
                                   testing::HasSubstr("counting.yaml:7: unknown key 'alowed'")));
}

namespace fs = std::filesystem;

constexpr char kVm[] = "00000000-0000-0000-0000-000000000001";
constexpr char kOtherVm[] = "00000000-0000-0000-0000-000000000002";
const Uuid kFileDevice = *Uuid::Parse("6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10");

// One with each field.
CountingSettings SomeSettings() {
  CountingSettings settings;
  settings.groups["tlb"] = {.valid = false, .guest = true, .host = false, .identifier = 65'535};
  settings.groups["a \"quoted\\\" näme: {x}"].valid = true;
  VmSetting& vm = settings.vms[kVm];
  vm = {.value = GateSetting{.groups = {{"tlb", "tensor"}}},
        .host_value = GateSetting{.groups = GroupNames()},
        .allowed = GroupNames{"tlb"},
        .pinned = GroupNames(),
        .ids = {{1, 65'535}},
        .guest_access = true,
        .useren = false,
        .store = true,
        .selection = 15,
        .selection_name = "- 'fp': 8"};
  vm.contexts["train"] = {.groups = {{"tlb"}}};
  vm.contexts["- # null"] = {};
  settings.vms[kOtherVm].value = {.master = false};
  return settings;
}

class SettingsFileTest : public testing::Test {
 protected:
  SettingsFileTest() { fs::create_directories(folder_); }
  ~SettingsFileTest() override { fs::remove_all(folder_); }

  static absl::Status Decode(const std::string& text, const Uuid& device = kFileDevice) {
    return DecodeSettings(text, "FILE", device).status();
  }

  const std::string folder_ = testing::TempDir() + "settings_file_test";
  const std::string path_ = folder_ + "/counting-6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10";
  SettingsFiles files_{folder_};
};

TEST_F(SettingsFileTest, SavedSettingsAreLoaded) {
  EXPECT_EQ(files_.Load(kFileDevice).status().code(), absl::StatusCode::kNotFound);
  for (const CountingSettings& settings : {SomeSettings(), CountingSettings()}) {
    ASSERT_TRUE(files_.Save(kFileDevice, settings).ok());
    const auto loaded = files_.Load(kFileDevice);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ(*loaded, settings);
  }
  EXPECT_EQ(files_.Load(Uuid{}).status().code(), absl::StatusCode::kNotFound) << "a file for each device";
}

// The example of README.md.
TEST_F(SettingsFileTest, TheFormatIsThatOfVersion1) {
  CountingSettings settings;
  settings.groups["memory"].valid = false;
  settings.vms["5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e101"].contexts["train"] = {.groups = {{"tlb"}}};
  EXPECT_EQ(EncodeSettings(kFileDevice, settings),
            "# sideband counting 1 29cc8be3\n"
            R"({"devices":{"6f1c0a52-3d0e-4a53-9a51-0d4c2a7e9b10":{"groups":{"memory":{"valid":false}},)"
            R"("vms":{"5b0f6a2e-7c64-4d0c-9d7e-2f1a90c3e101":{"contexts":{"train":["tlb"]}}}}},"version":1})"
            "\n");
}

TEST_F(SettingsFileTest, TheFileIsItsOwners) {
  ASSERT_TRUE(files_.Save(kFileDevice, SomeSettings()).ok());
  struct stat status = {};
  ASSERT_EQ(lstat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode, mode_t{S_IFREG | 0600});
}

TEST_F(SettingsFileTest, EveryPrefixIsRefused) {
  const std::string text = EncodeSettings(kFileDevice, SomeSettings());
  for (size_t size = 0; size < text.size(); ++size) {
    const absl::Status status = Decode(text.substr(0, size));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << size;
    EXPECT_TRUE(absl::StartsWith(status.message(), "FILE:1: ")) << status;
  }
  EXPECT_FALSE(Decode(text + "x").ok());
}

TEST_F(SettingsFileTest, EveryBitFlipIsRefused) {
  const std::string text = EncodeSettings(kFileDevice, SomeSettings());
  for (size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string changed = text;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    EXPECT_EQ(Decode(changed).code(), absl::StatusCode::kInvalidArgument) << bit;
  }
}

// The checksum is right, but EncodeSettings does not write this: it is of a later version, or made by hand.
TEST_F(SettingsFileTest, OtherContentIsRefusedWithItsReason) {
  const std::string text = EncodeSettings(kFileDevice, SomeSettings());
  EXPECT_EQ(Decode(text, Uuid{}).message(), "FILE:2: belongs to another device");
  std::string later = text;
  later[text.find(" 1 ") + 1] = '2';
  EXPECT_EQ(Decode(later).message(), "FILE:1: not a file of this version");
  EXPECT_EQ(Decode("").message(), "FILE:1: ends too early");
  CountingSettings by_name;
  by_name.vms["vm1"].useren = true;
  EXPECT_EQ(Decode(EncodeSettings(kFileDevice, by_name)).message(), "FILE:2: a VM has no UUID");
  CountingSettings beyond;
  beyond.vms[kVm].selection = 16;
  EXPECT_TRUE(absl::StartsWith(Decode(EncodeSettings(kFileDevice, beyond)).message(), "FILE:2: "))
      << "as the grammar says";
}

TEST_F(SettingsFileTest, NoiseIsRefused) {
  std::minstd_rand random(1);
  const std::string text = EncodeSettings(kFileDevice, SomeSettings());
  for (int i = 0; i < 10'000; ++i) {
    std::string noise = text;
    for (uint32_t n = 1 + random() % 20; n > 0; --n) noise[random() % noise.size()] = static_cast<char>(random());
    EXPECT_TRUE(noise == text || !Decode(noise).ok());
  }
}

TEST_F(SettingsFileTest, TheSizeIsLimited) {
  CountingSettings settings = SomeSettings();
  ASSERT_TRUE(files_.Save(kFileDevice, settings).ok());
  settings.vms[kVm].contexts[std::string(kSettingsFileMax, 'x')] = {};
  EXPECT_EQ(files_.Save(kFileDevice, settings).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(*files_.Load(kFileDevice), SomeSettings()) << "the previous ones";
  std::ofstream(path_) << std::string(kSettingsFileMax + 1, 'x');
  EXPECT_EQ(files_.Load(kFileDevice).status().code(), absl::StatusCode::kOutOfRange);
}

TEST_F(SettingsFileTest, SettingsOfAFullCatalogueAreLoaded) {
  CountingSettings settings;
  for (int vm = 0; vm < 1024; ++vm) {
    Uuid uuid;
    uuid.bytes = {static_cast<uint8_t>(vm >> 8), static_cast<uint8_t>(vm)};
    VmSetting& setting = settings.vms[uuid.ToString()];
    setting = {.allowed = {{"tlb", "tensor"}}, .useren = true};
    for (int context = 0; context < 16; ++context) {
      setting.contexts[absl::StrCat("context", context)] = {.groups = {{"tlb", "tensor"}}};
    }
  }
  ASSERT_TRUE(files_.Save(kFileDevice, settings).ok());
  EXPECT_EQ(*files_.Load(kFileDevice), settings);
}

TEST_F(SettingsFileTest, AFileThatOthersCanWriteIsRefused) {
  ASSERT_TRUE(files_.Save(kFileDevice, SomeSettings()).ok());
  ASSERT_EQ(chmod(path_.c_str(), 0606), 0);
  EXPECT_EQ(files_.Load(kFileDevice).status().code(), absl::StatusCode::kPermissionDenied);
  ASSERT_EQ(chmod(path_.c_str(), 0600), 0);
  ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
  EXPECT_EQ(files_.Load(kFileDevice).status().code(), absl::StatusCode::kPermissionDenied)
      << "everybody may replace it";
  ASSERT_EQ(chmod(folder_.c_str(), 0700), 0);
  EXPECT_TRUE(files_.Load(kFileDevice).ok());
}

TEST_F(SettingsFileTest, AFileOfAnotherUserIsRefused) {
  ASSERT_TRUE(files_.Save(kFileDevice, SomeSettings()).ok());
  if (chown(path_.c_str(), 12'345, 12'345) != 0) GTEST_SKIP() << "only root can give a file away";
  EXPECT_EQ(files_.Load(kFileDevice).status().code(), absl::StatusCode::kPermissionDenied);
}

TEST_F(SettingsFileTest, AFolderThatIsNotThereIsAnError) {
  fs::remove_all(folder_);
  EXPECT_EQ(files_.Save(kFileDevice, {}).code(), absl::StatusCode::kNotFound);
}

}  // namespace

}  // namespace sideband::daemon
