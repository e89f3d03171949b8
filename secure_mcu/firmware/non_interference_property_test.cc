// SPDX-License-Identifier: Apache-2.0
//
// Two clients of one device of version 2, one at the shared registers, one at the extension's own: whatever each does
// and however their transactions interleave, each reads what it would read alone. (mailbox.md, "Version 2".)
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <ostream>
#include <vector>

#include "proto/mailbox/extension.h"
#include "proto/mailbox/word.h"
#include "proto/smbus/transfer.h"
#include "secure_mcu/firmware/fake_device.h"
#include "secure_mcu/firmware/firmware.h"
#include "secure_mcu/firmware/mailbox_target.h"

namespace sideband::mcu {
namespace {

namespace gen = rc::gen;
using mailbox::RegisterSet;
using smbus::Message;
using smbus::Transfer;

constexpr uint8_t kAddress = 0x4F;
constexpr uint64_t kLatencyUs = 300;

struct Step {
  bool own = false;  // at the extension's registers
  uint8_t kind = 0;
  uint8_t opcode = 0;
  uint8_t arg1 = 0;
  uint8_t arg2 = 0;
  uint32_t value = 0;
  uint64_t wait_us = 0;  // before it
};

std::ostream& operator<<(std::ostream& out, const Step& step) {
  return out << (step.own ? "own " : "shared ") << int{step.kind} << " opcode " << int{step.opcode} << " "
             << int{step.arg1} << " " << int{step.arg2} << " value " << step.value << " after " << step.wait_us;
}

Transfer WriteOf(uint8_t code, uint32_t value, bool with_pec) {
  ByteWriter out;
  out.U8(code);
  out.U8(mailbox::kRegisterBytes);
  out.U32(value);
  const uint8_t address_byte = smbus::AddressByte(kAddress, /*read=*/false);
  if (with_pec) out.U8(smbus::Pec(out.written(), smbus::Pec({&address_byte, 1})));
  return {{Message::Write(kAddress, std::move(out).Take())}};
}

// Writes to the upload buffer, which the extension's own side alone has.
Transfer WindowWriteOf(uint8_t index, uint32_t bytes) {
  ByteWriter out;
  out.U8(mailbox::kWindowFirst + index);
  out.U8(static_cast<uint8_t>(bytes));
  out.Raw(Bytes(bytes, index));
  const uint8_t address_byte = smbus::AddressByte(kAddress, /*read=*/false);
  out.U8(smbus::Pec(out.written(), smbus::Pec({&address_byte, 1})));
  return {{Message::Write(kAddress, std::move(out).Take())}};
}

Transfer ReadOf(uint8_t code) { return {{Message::Write(kAddress, {code}), Message::Read(kAddress, 12)}}; }

Transfer TransferOf(const Step& step) {
  const RegisterSet codes = step.own ? mailbox::kOwnRegisters : mailbox::kSharedRegisters;
  // The shared side does without PEC, like the clients in the field.
  const bool with_pec = step.own;
  const mailbox::CommandWord word = {
      .opcode = static_cast<mailbox::Opcode>(step.opcode), .arg1 = step.arg1, .arg2 = step.arg2, .execute = true};
  switch (step.kind) {
    case 0:
      return WriteOf(codes.command, word.Encode(), with_pec);
    case 1:
      return WriteOf(codes.data, step.value, with_pec);
    case 2:
      return WriteOf(codes.extended_data, step.value, with_pec);
    case 3:
      return ReadOf(codes.command);
    case 4:
      return ReadOf(codes.data);
    case 5:
      return ReadOf(codes.extended_data);
    case 6:  // malformed: too short
      return {{Message::Write(kAddress, {codes.command, 4, 1})}};
    case 7:  // the code in a transaction of its own
      return {{Message::Write(kAddress, {step.value % 2 == 0 ? codes.command : codes.data})}};
    case 8:  // a read without a code: the shared registers keep the last one
      return step.own ? ReadOf(codes.command) : Transfer{{Message::Read(kAddress, 12)}};
    case 9:
      return step.own ? WindowWriteOf(step.arg1 % 16, step.value) : ReadOf(codes.data);
    default:  // a client of the extension alone reads windows and the signature
      if (!step.own) return ReadOf(mailbox::kVendorIdLowRegister);
      return ReadOf(step.value % 2 == 0 ? mailbox::kSignatureRegister : mailbox::kWindowFirst + step.arg1 % 16);
  }
}

// A device whose clock the caller advances.
class DeviceWithClock {
 public:
  smbus::TransferResult Execute(const Transfer& transfer, uint64_t now_us) {
    now_us_ = now_us;
    return bus_.Execute(transfer);
  }

 private:
  MailboxTarget::Options Options() {
    return {.registers = {.now_us = [this] { return now_us_; }, .latency_us = kLatencyUs},
            .own_handler = firmware_.own()};
  }

  uint64_t now_us_ = 0;
  FakeDevice device_;
  FirmwarePair firmware_{device_, PowerModel({.idle_mw = 1000}), Persona::kSideband, mailbox::ExtensionVersion::kTwo};
  MailboxTarget target_{kAddress, firmware_.shared(), Options()};
  VirtualBus bus_ = [this] {
    VirtualBus bus;
    bus.Connect(kAddress, target_);
    return bus;
  }();
};

rc::Gen<Step> AnyStep() {
  // Base commands with state of their own (scratch memory, requests, registers), sensors, and the whole extension.
  const auto opcode =
      gen::elementOf(std::vector<uint8_t>{0x00, 0x01, 0x03, 0x04, 0x05, 0x0D, 0x0E, 0x0F, 0x10, 0x11, 0x18,
                                          0x22, 0x28, 0x60, 0x61, 0x62, 0x63, 0x64, 0x69, 0x6A, 0x7F});
  // The marks of the device's first snapshots, in LATCH and in ACK, beside small numbers.
  std::vector<uint8_t> firsts = {0, 1, 2, 3}, seconds = {0, 1, 2, 3};
  for (uint32_t id = 1; id <= 3; ++id) {
    const uint16_t mark = mailbox::SnapshotMark(FakeDevice().identity().boot_id, id);
    firsts.push_back(mailbox::LatchMark(FakeDevice().identity().boot_id, id));
    firsts.push_back(static_cast<uint8_t>(mark));
    seconds.push_back(static_cast<uint8_t>(mark >> 8));
  }
  return gen::build<Step>(gen::set(&Step::own), gen::set(&Step::kind, gen::inRange<uint8_t>(0, 11)),
                          gen::set(&Step::opcode, opcode), gen::set(&Step::arg1, gen::elementOf(firsts)),
                          gen::set(&Step::arg2, gen::elementOf(seconds)),
                          gen::set(&Step::value, gen::inRange<uint32_t>(0, 6)),
                          gen::set(&Step::wait_us, gen::element<uint64_t>(0, 10, 500)));
}

TEST(NonInterferencePropertyTest, EachClientReadsWhatItWouldReadAlone) {
  EXPECT_TRUE(rc::check([] {
    const auto steps = *gen::container<std::vector<Step>>(AnyStep());
    DeviceWithClock both, shared_alone, own_alone;
    uint64_t now_us = 0;
    for (const Step& step : steps) {
      now_us += step.wait_us;
      const Transfer transfer = TransferOf(step);
      const auto together = both.Execute(transfer, now_us);
      const auto alone = (step.own ? own_alone : shared_alone).Execute(transfer, now_us);
      RC_ASSERT(together.outcome == alone.outcome);
      RC_ASSERT(together.read == alone.read);
    }
  }));
}

}  // namespace
}  // namespace sideband::mcu
