// SPDX-License-Identifier: Apache-2.0
#include "daemon/sealing/vm_sealer.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "proto/envelope/open.h"
#include "proto/envelope/record.h"

namespace sideband::daemon {
namespace {

const Bytes kKey(envelope::kStaticKeyBytes, 0x42);
constexpr Uuid kSealingDevice{{1}};
constexpr Uuid kSealedVm{{2}};

class VmSealerTest : public testing::Test {
 protected:
  std::unique_ptr<VmSealer> NewSealer(uint64_t records_max = kRecordsPerEpochMax) {
    return *VmSealer::Create(envelope::Secret::CopyOf(kKey), kSealingDevice, kSealedVm, epochs_,
                             {.records_per_epoch_max = records_max});
  }

  static absl::StatusOr<Bytes> Seal(VmSealer& sealer, uint64_t boot_id, uint32_t generation,
                                    const std::string& content = "counts") {
    return sealer.Seal(
        {.boot_id = boot_id, .generation = generation, .reference_time_ns = 77, .content = AsBytes(content)});
  }

  static envelope::RecordHeader HeaderOf(const Bytes& record) { return envelope::ParseRecord(record)->header; }

  FakeClock clock_{absl::FromUnixMillis(1000)};
  EpochSource epochs_{clock_, [] { return uint16_t{7}; }};
};

TEST_F(VmSealerTest, RecordHoldsWhatWasGiven) {
  const auto sealer = NewSealer();
  const Bytes record = *Seal(*sealer, 5, 6);
  const envelope::RecordHeader header = HeaderOf(record);
  EXPECT_EQ(header, (envelope::RecordHeader{.device = kSealingDevice,
                                            .boot_id = 5,
                                            .vm = kSealedVm,
                                            .generation = 6,
                                            .epoch = (1000 << 16) + 7,
                                            .sequence = 0,
                                            .reference_time_ns = 77}));
  const auto keys = envelope::SessionKeys::Derive(envelope::Secret::CopyOf(kKey), envelope::KeyScope::Of(header));
  EXPECT_EQ(*envelope::OpenRecord(*keys, *envelope::ParseRecord(record)), (SecretBytes{'c', 'o', 'u', 'n', 't', 's'}));
}

TEST_F(VmSealerTest, AGuestNonceIsInEveryRecordAndInTheKey) {
  const envelope::GuestNonce nonce{1, 2, 3};
  const auto sealer =
      *VmSealer::Create(envelope::Secret::CopyOf(kKey), kSealingDevice, kSealedVm, epochs_, {.guest_nonce = nonce});
  for (const uint32_t generation : {6, 6, 7}) {
    const Bytes record = *Seal(*sealer, 5, generation);
    const envelope::RecordHeader header = HeaderOf(record);
    EXPECT_EQ(header.version(), envelope::kRecordVersion2);
    EXPECT_EQ(header.guest_nonce, nonce);
    envelope::KeyScope scope = envelope::KeyScope::Of(header);
    const envelope::Secret key = envelope::Secret::CopyOf(kKey);
    EXPECT_TRUE(envelope::OpenRecord(*envelope::SessionKeys::Derive(key, scope), *envelope::ParseRecord(record)).ok());
    scope.guest_nonce.reset();
    EXPECT_NE(envelope::SessionKeys::Derive(key, scope)->key(),
              envelope::SessionKeys::Derive(key, envelope::KeyScope::Of(header))->key());
  }
}

TEST_F(VmSealerTest, SequenceCountsUpWithinAnEpoch) {
  const auto sealer = NewSealer();
  const uint64_t epoch = HeaderOf(*Seal(*sealer, 1, 1)).epoch;
  for (uint64_t sequence = 1; sequence < 5; ++sequence) {
    const envelope::RecordHeader header = HeaderOf(*Seal(*sealer, 1, 1));
    EXPECT_EQ(header.sequence, sequence);
    EXPECT_EQ(header.epoch, epoch);
  }
}

TEST_F(VmSealerTest, NewBootOrGenerationBeginsAnEpoch) {
  const auto sealer = NewSealer();
  std::set<uint64_t> epochs;
  // The last two return to earlier values and start new epochs all the same.
  for (const auto& [boot_id, generation] : {std::pair{1, 1}, {1, 2}, {2, 2}, {1, 2}, {1, 1}}) {
    const envelope::RecordHeader header = HeaderOf(*Seal(*sealer, boot_id, generation));
    EXPECT_EQ(header.sequence, 0u);
    EXPECT_TRUE(epochs.empty() || header.epoch > *epochs.rbegin());
    epochs.insert(header.epoch);
    EXPECT_EQ(HeaderOf(*Seal(*sealer, boot_id, generation)).sequence, 1u);
  }
  EXPECT_EQ(epochs.size(), 5u);
}

TEST_F(VmSealerTest, ARestartBeginsAnEpoch) {
  const uint64_t before = HeaderOf(*Seal(*NewSealer(), 1, 1)).epoch;
  EXPECT_GT(HeaderOf(*Seal(*NewSealer(), 1, 1)).epoch, before);
}

TEST_F(VmSealerTest, LengthGrowsByWholePagesAndNeverShrinks) {
  const auto sealer = NewSealer();
  EXPECT_EQ(HeaderOf(*Seal(*sealer, 1, 1, std::string(10, 'x'))).padded_length, 4096u);
  EXPECT_EQ(HeaderOf(*Seal(*sealer, 1, 1, std::string(4092, 'x'))).padded_length, 4096u);
  EXPECT_EQ(HeaderOf(*Seal(*sealer, 1, 1, std::string(4093, 'x'))).padded_length, 8192u);
  EXPECT_EQ(HeaderOf(*Seal(*sealer, 1, 2, "")).padded_length, 8192u) << "not even for a new generation";
}

TEST_F(VmSealerTest, BudgetIsKeptAndANewEpochRefillsIt) {
  const auto sealer = NewSealer(2);
  EXPECT_TRUE(Seal(*sealer, 1, 1).ok());
  EXPECT_TRUE(Seal(*sealer, 1, 1).ok());
  EXPECT_EQ(Seal(*sealer, 1, 1).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Seal(*sealer, 1, 1).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(Seal(*sealer, 1, 2).ok());
}

TEST_F(VmSealerTest, ContentThatNoRecordHoldsIsRefusedWithoutGrowing) {
  const auto sealer = NewSealer();
  const std::string content(envelope::kContentBytesMax + 1, 'x');
  EXPECT_EQ(Seal(*sealer, 1, 1, content).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(HeaderOf(*Seal(*sealer, 1, 1)).padded_length, 4096u);
}

TEST_F(VmSealerTest, StaticKeyOfAnotherSizeIsRefused) {
  EXPECT_FALSE(VmSealer::Create(envelope::Secret(16), kSealingDevice, kSealedVm, epochs_, {}).ok());
}

TEST_F(VmSealerTest, NothingIsSealedWithoutAnEpoch) {
  EpochSource dry(clock_, [] { return absl::InternalError("dry"); });
  const auto sealer = *VmSealer::Create(envelope::Secret::CopyOf(kKey), kSealingDevice, kSealedVm, dry, {});
  EXPECT_EQ(Seal(*sealer, 1, 1).status().code(), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace sideband::daemon
