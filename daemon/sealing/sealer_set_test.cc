// SPDX-License-Identifier: Apache-2.0
#include "daemon/sealing/sealer_set.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "proto/envelope/record.h"

namespace sideband::daemon {
namespace {

constexpr Uuid kDevice{{1}};
constexpr Uuid kVm{{2}};

std::string KeyFile(const std::string& name, char digit) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path) << std::string(64, digit) << "\n";
  ::chmod(path.c_str(), 0600);
  return path;
}

class SealerSetTest : public testing::Test {
 protected:
  std::unique_ptr<SealerSet> Loaded() { return *SealerSet::Load({{kVm, KeyFile("vm.key", '1')}}, epochs_); }

  FakeClock clock_{absl::FromUnixMillis(1000)};
  EpochSource epochs_{clock_, [] { return uint16_t{7}; }};
};

TEST_F(SealerSetTest, SealsPerDevice) {
  const auto set = Loaded();
  const Bytes content = {1, 2, 3};
  for (const uint64_t sequence : {0, 1}) {
    for (const Uuid& device : {kDevice, Uuid{{9}}}) {
      const Bytes record = *set->Seal(device, kVm, {.boot_id = 1, .content = content});
      EXPECT_EQ(envelope::ParseRecord(record)->header.device, device);
      EXPECT_EQ(envelope::ParseRecord(record)->header.sequence, sequence) << "each device counts for itself";
    }
  }
}

TEST_F(SealerSetTest, NoKeyNoRecord) {
  const auto set = Loaded();
  const Uuid stranger{{3}};
  EXPECT_TRUE(set->HasKey(kVm));
  EXPECT_FALSE(set->HasKey(stranger));
  EXPECT_EQ(set->Seal(kDevice, stranger, {}).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(SealerSetTest, LoadingIsAllOrNothing) {
  const std::string good = KeyFile("vm.key", '1'), bad = KeyFile("bad.key", 'x');
  const auto set = SealerSet::Load({{kVm, good}, {kDevice, bad}}, epochs_);
  EXPECT_EQ(set.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(set.status().message().substr(0, bad.size() + 1), bad + ":");
  EXPECT_EQ(SealerSet::Load({{kVm, "/nonexistent.key"}}, epochs_).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(SealerSetTest, AVmHasOneKey) {
  const std::string path = KeyFile("vm.key", '1');
  EXPECT_EQ(SealerSet::Load({{kVm, path}, {kVm, path}}, epochs_).status().message(),
            path + ": VM " + kVm.ToString() + " already has a key");
}

TEST_F(SealerSetTest, DevicesPerVmAreBounded) {
  const auto set = Loaded();
  for (size_t i = 0; i < kDevicesPerVmMax; ++i) {
    EXPECT_TRUE(set->Seal(Uuid{{static_cast<uint8_t>(i)}}, kVm, {}).ok());
  }
  EXPECT_EQ(set->Seal(Uuid{{0xFF}}, kVm, {}).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(set->Seal(Uuid{{0}}, kVm, {}).ok()) << "known ones go on";
}

}  // namespace
}  // namespace sideband::daemon
