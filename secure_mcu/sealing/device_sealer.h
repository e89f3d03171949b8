// SPDX-License-Identifier: Apache-2.0
//
// Seals the blocks of confidential VMs inside the device, so that nothing outside of it has their counts (security.md,
// "Sealed records", `device`). Keys are exchanged with the VMs' guests, and live in this object alone.
//   DeviceSealer sealer(std::move(rules), measurement, device);
//   mailbox::Snapshot snapshot = device.Latch();
//   sealer.Seal(snapshot, DeviceSealer::kRecordEveryNs);   // has records now in place of the blocks
#ifndef SIDEBAND_SECURE_MCU_SEALING_DEVICE_SEALER_H_
#define SIDEBAND_SECURE_MCU_SEALING_DEVICE_SEALER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/base/bytes.h"
#include "proto/exchange/exchanger.h"
#include "proto/exchange/messages.h"
#include "proto/exchange/vm_records.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/snapshot.h"
#include "secure_mcu/firmware/device.h"

namespace sideband::mcu {

// Not thread-safe. Exchanges are reported on standard error, and one refusal in a second at most; the next report of
// one tells how many were left out.
class DeviceSealer final : public BlockSealer {
 public:
  // A VM has one record in this time at most. More frequent latches have the same record again, so that a flood of them
  // spends no keys.
  static constexpr uint64_t kRecordEveryNs = 10'000'000;

  // A VM has one new epoch on demand in this time at most, since an exchange has a limited number of them.
  static constexpr uint64_t kRotationEveryNs = 1'000'000'000;

  // `measurement` is that of the device's firmware, for statements. `device` must outlive it.
  DeviceSealer(exchange::SealingRules rules, const exchange::Sha384Digest& measurement, Device& device);

  // Takes the blocks of confidential VMs out of the device's newest snapshot, and adds the records of those VMs whose
  // guests have exchanged keys: new ones, or the last ones if they are younger than `fresh_for_ns`. A record has the
  // reference time of the snapshot in which it was new.
  void Seal(mailbox::Snapshot& snapshot, uint64_t fresh_for_ns = kRecordEveryNs);
  // Does the same with the last records alone.
  void AddLast(mailbox::Snapshot& snapshot) const;

  absl::StatusOr<Bytes> DrawChallenge(uint16_t vm) override;
  absl::StatusOr<Bytes> Exchange(ByteSpan request) override;
  absl::StatusOr<uint64_t> Rotate(uint16_t vm) override;
  std::optional<uint64_t> Records(uint16_t vm) const override;

 private:
  struct Sealed {
    uint64_t reference_time_ns = 0;
    bool lacks_exchange = false;  // keys have been exchanged since
    std::vector<mailbox::SealedBlocks> records;
  };

  const mailbox::VmInfo* FindConfidential(uint16_t vm) const;
  absl::StatusOr<Bytes> Answer(ByteSpan request);
  void SealVm(const mailbox::VmInfo& vm, const mailbox::Snapshot& snapshot);
  void DropKeysOfOthers();
  void RemoveBlocks(mailbox::Snapshot& snapshot) const;
  void ReportRefusal(const absl::Status& refusal);
  absl::Duration Now() const;

  const exchange::SealingRules rules_;
  Device& device_;
  exchange::Exchanger exchanger_;
  exchange::VmKeys keys_;
  std::map<uint16_t, Sealed> sealed_;        // the newest records of VMs
  std::map<uint16_t, uint64_t> rotated_ns_;  // when the last epochs on demand began
  std::optional<uint64_t> reported_ns_;      // when the last refusal was reported
  uint64_t refusals_left_out_ = 0;           // since then
};

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_SEALING_DEVICE_SEALER_H_
