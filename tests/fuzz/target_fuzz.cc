// SPDX-License-Identifier: Apache-2.0
//
// Any sequence of START, bytes and STOP against the microcontroller's mailbox. Afterwards a correct command must be
// executed normally.
//   Input: 0 START to write · 1 START to read · 2 STOP · 3 and a byte, or any other byte: the byte is written, or a
//   byte is read.
#include "proto/mailbox/extension.h"
#include "proto/mailbox/word.h"
#include "proto/smbus/transfer.h"
#include "secure_mcu/firmware/fake_device.h"
#include "secure_mcu/firmware/firmware.h"
#include "secure_mcu/firmware/mailbox_target.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

using mailbox::CommandWord;
using mailbox::Opcode;

constexpr uint8_t kAddress = 0x4F;
constexpr uint8_t kStartWrite = 0, kStartRead = 1, kStop = 2, kByte = 3;

// The controller's side of the wire. It obeys only the order of calls that the interface requires.
class Wire {
 public:
  explicit Wire(mcu::BusTarget& target) : target_(target) {}
  ~Wire() { Stop(); }

  void Start(bool read) {
    target_.Start(read);
    started_ = true;
    read_ = read;
    refused_ = false;
  }
  void Stop() {
    if (started_) target_.Stop();
    started_ = false;
  }
  void Byte(uint8_t byte) {
    if (!started_ || refused_) return;
    if (read_) {
      target_.Read();
    } else {
      refused_ = !target_.Write(byte);
    }
  }

 private:
  mcu::BusTarget& target_;
  bool started_ = false;
  bool read_ = false;
  bool refused_ = false;
};

Bytes WriteOf(uint8_t code, uint32_t value) {
  ByteWriter out;
  out.U8(code);
  out.U8(mailbox::kRegisterBytes);
  out.U32(value);
  const uint8_t address = smbus::AddressByte(kAddress, false);
  out.U8(smbus::Pec(out.written(), smbus::Pec({&address, 1})));
  return std::move(out).Take();
}

void CheckThatACommandWorks(smbus::Bus& bus) {
  using smbus::Message;
  const uint32_t word = CommandWord{.opcode = Opcode::kGetTemp, .execute = true}.Encode();
  FUZZ_CHECK(bus.Execute({{Message::Write(kAddress, WriteOf(mailbox::kCommandRegister, word))}}).outcome ==
             smbus::Outcome::kOk);
  const smbus::TransferResult status =
      bus.Execute({{Message::Write(kAddress, {mailbox::kCommandRegister}), Message::ReadBlock(kAddress, 1)}});
  FUZZ_CHECK(status.read.size() == 1 && status.read[0].size() == mailbox::kRegisterBytes + 2);
  const CommandWord reply = CommandWord::Decode(ByteReader(ByteSpan(status.read[0]).subspan(1)).U32());
  FUZZ_CHECK(reply.opcode == Opcode::kGetTemp && reply.status == mailbox::MailboxStatus::kSuccess && !reply.execute);
  const uint8_t before[] = {smbus::AddressByte(kAddress, false), mailbox::kCommandRegister,
                            smbus::AddressByte(kAddress, true)};
  FUZZ_CHECK(smbus::Pec(status.read[0], smbus::Pec(before)) == 0);
}

void AddBytes(ByteSpan bytes, Bytes& input) {
  for (const uint8_t byte : bytes) {
    input.push_back(kByte);
    input.push_back(byte);
  }
}

void AddWrite(ByteSpan bytes, Bytes& input) {
  input.push_back(kStartWrite);
  AddBytes(bytes, input);
  input.push_back(kStop);
}

void AddRead(uint8_t code, size_t size, Bytes& input) {
  input.push_back(kStartWrite);
  AddBytes({&code, 1}, input);
  input.push_back(kStartRead);
  AddBytes(Bytes(size), input);
  input.push_back(kStop);
}

// Appends a command with its data-in, and the reads of its result.
void AddCommand(const CommandWord& word, uint32_t data, uint32_t extended_data, Bytes& input) {
  AddWrite(WriteOf(mailbox::kDataRegister, data), input);
  AddWrite(WriteOf(mailbox::kExtendedDataRegister, extended_data), input);
  AddWrite(WriteOf(mailbox::kCommandRegister, word.Encode()), input);
  for (const uint8_t code : {mailbox::kCommandRegister, mailbox::kDataRegister, mailbox::kExtendedDataRegister}) {
    AddRead(code, mailbox::kRegisterBytes + 2, input);
  }
}

std::vector<Bytes> Seeds() {
  std::vector<Bytes> seeds;
  for (uint32_t opcode = 0; opcode < 0x70; ++opcode) {
    Bytes& seed = seeds.emplace_back();
    AddCommand({.opcode = static_cast<Opcode>(opcode), .execute = true}, 0, 0, seed);
    if (mailbox::IsExtension(static_cast<Opcode>(opcode))) AddRead(mailbox::kWindowFirst, 20, seed);
  }
  Bytes& whole = seeds.emplace_back();
  AddCommand({.opcode = Opcode::kLatch, .execute = true}, 0, 0, whole);
  AddCommand({.opcode = Opcode::kRead, .execute = true}, 0, 1, whole);
  AddRead(mailbox::kWindowFirst, 100, whole);
  const uint16_t mark = mailbox::SnapshotMark(mcu::FakeDevice().identity().boot_id, /*snapshot_id=*/1);
  const auto mark_low = static_cast<uint8_t>(mark), mark_high = static_cast<uint8_t>(mark >> 8);
  AddCommand({.opcode = Opcode::kAck, .arg1 = mark_low, .arg2 = mark_high, .execute = true}, 1, 0, whole);
  AddCommand({.opcode = Opcode::kLatch,
              .arg1 = mailbox::LatchMark(mcu::FakeDevice().identity().boot_id, /*base_id=*/1),
              .execute = true},
             1, 0, whole);
  return seeds;
}

int RunInput(const uint8_t* data, size_t size) {
  mcu::FakeDevice device;
  mcu::FirmwarePair firmware(device, mcu::PowerModel({}), mcu::Persona::kSideband,
                             size % 2 == 0 ? mailbox::ExtensionVersion::kOne : mailbox::ExtensionVersion::kTwo);
  mcu::MailboxTarget target(fuzz::kAddress, firmware.shared(), {.registers = {}, .own_handler = firmware.own()});
  {
    fuzz::Wire wire(target);
    for (ByteReader in({data, size}); in.remaining() > 0;) {
      const uint8_t what = in.U8();
      if (what == fuzz::kStartWrite || what == fuzz::kStartRead) {
        wire.Start(what == fuzz::kStartRead);
      } else if (what == fuzz::kStop) {
        wire.Stop();
      } else {
        wire.Byte(what == fuzz::kByte ? in.U8() : what);
      }
    }
  }
  mcu::VirtualBus bus;
  bus.Connect(fuzz::kAddress, target);
  fuzz::CheckThatACommandWorks(bus);
  return 0;
}

FUZZ_TARGET(target_fuzz);

}  // namespace
}  // namespace sideband::fuzz
