// SPDX-License-Identifier: Apache-2.0
#include "sim/bus/faulty_bus.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "proto/mailbox/word.h"
#include "proto/smbus/transfer.h"

namespace sideband::sim {
namespace {

using smbus::Message;
using smbus::Outcome;
using smbus::Transfer;
using smbus::TransferResult;

size_t DataBytes(const Message& message) {
  if (!message.read) return message.write_bytes.size();
  // The length of a block is up to the target; that of a register is assumed.
  return message.block ? 1 + mailbox::kRegisterBytes + size_t{message.read_size} : message.read_size;
}

Message Shortened(const Message& message, size_t data_bytes) {
  if (message.read) return Message::Read(message.address, static_cast<uint16_t>(data_bytes));
  return Message::Write(
      message.address, Bytes(message.write_bytes.begin(), message.write_bytes.begin() + static_cast<long>(data_bytes)));
}

constexpr uint8_t kDirectionBit = 1;  // of an address byte

// The bytes that the controller clocks without an answer. A count byte, if it reads one, is 255 on an idle bus.
size_t IdleBytes(const Message& message) {
  return message.block ? 1 + size_t{kIdleByte} + message.read_size : message.read_size;
}

// The message as a target sees it if its address byte changes.
Message WithAddressFlipped(const Message& message, uint8_t mask) {
  const uint8_t address = message.address ^ mask >> 1;
  Message seen = message;
  if ((mask & kDirectionBit) != 0) {
    seen = message.read ? Message::Write(address, Bytes(IdleBytes(message), kIdleByte)) : Message::Read(address, 1);
  }
  seen.address = address;
  return seen;
}

// The transaction as the targets see it, not yet cut at the first message with a misread direction.
Transfer Seen(const Transfer& transfer, std::span<const BitFlip> flips) {
  Transfer seen = transfer;
  for (const BitFlip& flip : flips) {
    Message& message = seen.messages[flip.place.message];
    const bool turned = message.read != transfer.messages[flip.place.message].read;
    if (flip.place.part == WirePlace::Part::kWritten && !turned) message.write_bytes[flip.place.offset] ^= flip.mask;
    if (flip.place.part == WirePlace::Part::kAddress) message = WithAddressFlipped(message, flip.mask);
  }
  return seen;
}

void FlipRead(const Message& message, const BitFlip& flip, TransferResult& result, Bytes& answer) {
  if (answer.empty()) return;
  const size_t offset = flip.place.offset % answer.size();
  answer[offset] ^= flip.mask;
  // The controller clocks as many bytes as the changed count byte announces.
  if (!message.block || offset != 0) return;
  if (answer[0] == 0) {
    answer.resize(1);
    result.outcome = Outcome::kBadCount;
  } else {
    answer.resize(1 + size_t{answer[0]} + message.read_size, kIdleByte);
  }
}

// The outcome of a message whose direction the target misread.
void NoticeTurned(const Message& message, TransferResult& result) {
  if (message.read && (result.outcome == Outcome::kOk || result.outcome == Outcome::kDataNack)) {
    result.outcome = Outcome::kOk;  // a reading controller cannot see a NACK of the target
    result.read.emplace_back(IdleBytes(message), kIdleByte);
  } else if (!message.read && result.outcome == Outcome::kOk) {
    result.outcome = Outcome::kArbitrationLost;
    result.read.pop_back();
  }
}

bool Reads(const Transfer& transfer) {
  return std::any_of(transfer.messages.begin(), transfer.messages.end(), [](const Message& m) { return m.read; });
}

// The SMBus command code; absent if the transaction starts with a read.
std::optional<uint8_t> CommandCode(const Transfer& transfer) {
  if (transfer.messages.empty() || transfer.messages[0].read || transfer.messages[0].write_bytes.empty()) return {};
  return transfer.messages[0].write_bytes[0];
}

bool FitsKind(FaultKind kind, const Transfer& transfer) {
  switch (kind) {
    case FaultKind::kShortBlock:
    case FaultKind::kLongBlock:
      return Reads(transfer);
    case FaultKind::kBusyForever:
    case FaultKind::kStatus:
      return Reads(transfer) && (CommandCode(transfer) == mailbox::kSharedRegisters.command ||
                                 CommandCode(transfer) == mailbox::kOwnRegisters.command);
    default:
      return true;
  }
}

bool Fits(const FaultRule& rule, const Transfer& transfer) {
  if (rule.only == FaultRule::Only::kReads && !Reads(transfer)) return false;
  if (rule.only == FaultRule::Only::kWrites && Reads(transfer)) return false;
  if (rule.command && CommandCode(transfer) != rule.command) return false;
  return FitsKind(rule.kind, transfer);
}

// The time for which a held clock must be abandoned (SMBus 2.0, 3.1.1).
constexpr uint32_t kClockLowUs = 35'000;

// The place of the `index`-th written byte in the transaction.
std::optional<size_t> WrittenByte(const Transfer& transfer, uint64_t index) {
  size_t byte = 0;
  for (const smbus::Message& message : transfer.messages) {
    if (index < message.write_bytes.size()) return byte + 1 + index;
    index -= message.write_bytes.size();
    byte += WireBytes({{message}});
  }
  return std::nullopt;
}

size_t WrittenBytes(const Transfer& transfer) {
  size_t bytes = 0;
  for (const smbus::Message& message : transfer.messages) bytes += message.write_bytes.size();
  return bytes;
}

BitFlip DrawFlip(FaultTrigger& trigger, const Transfer& transfer) {
  const FaultRule& rule = trigger.rule();
  const size_t size = WireBytes(transfer);
  BitFlip flip = {.place = PlaceOf(transfer, rule.byte ? std::min<size_t>(*rule.byte, size - 1) : trigger.Draw(size)),
                  .mask = static_cast<uint8_t>(1 << rule.bit.value_or(trigger.Draw(8)))};
  // A random byte of the answer, whose length is not known yet.
  if (!rule.byte && flip.place.part == WirePlace::Part::kRead)
    flip.place.offset = trigger.Draw(smbus::kMessageBytesMax);
  return flip;
}

bool SameByte(const BitFlip& a, const BitFlip& b) {
  return a.place.message == b.place.message && a.place.part == b.place.part && a.place.offset == b.place.offset;
}

}  // namespace

size_t WireBytes(const Transfer& transfer) {
  size_t bytes = 0;
  for (const Message& message : transfer.messages) bytes += 1 + DataBytes(message);
  return bytes;
}

WirePlace PlaceOf(const Transfer& transfer, size_t byte) {
  WirePlace place;
  while (byte > DataBytes(transfer.messages[place.message])) byte -= 1 + DataBytes(transfer.messages[place.message++]);
  if (byte == 0) return place;
  place.part = transfer.messages[place.message].read ? WirePlace::Part::kRead : WirePlace::Part::kWritten;
  place.offset = byte - 1;
  return place;
}

Transfer Prefix(const Transfer& transfer, size_t bytes) {
  Transfer prefix;
  for (const Message& message : transfer.messages) {
    if (bytes == 0) break;
    const size_t data_bytes = std::min(bytes - 1, DataBytes(message));
    prefix.messages.push_back(data_bytes < DataBytes(message) ? Shortened(message, data_bytes) : message);
    bytes -= 1 + data_bytes;
  }
  return prefix;
}

uint8_t PecOverAll(const Transfer& transfer, const TransferResult& result) {
  uint8_t pec = 0;
  size_t reads = 0;
  for (const Message& message : transfer.messages) {
    const uint8_t address = smbus::AddressByte(message.address, message.read);
    pec = smbus::Pec({&address, 1}, pec);
    // The transaction ended before this read.
    if (message.read && reads == result.read.size()) break;
    pec = smbus::Pec(message.read ? result.read[reads++] : message.write_bytes, pec);
  }
  return pec;
}

bool EndsWithBlock(const Transfer& transfer, const TransferResult& result) {
  if (transfer.messages.empty() || !transfer.messages.back().read || result.read.empty()) return false;
  const Bytes& answer = result.read.back();
  return !answer.empty() && answer[0] != 0 && answer.size() >= 1 + size_t{answer[0]};
}

void AnswerBlock(ByteSpan data, const Transfer& transfer, TransferResult& result) {
  const Message& message = transfer.messages.back();
  Bytes& answer = result.read.back();
  answer = {static_cast<uint8_t>(data.size())};
  answer.insert(answer.end(), data.begin(), data.end());
  answer.push_back(PecOverAll(transfer, result));
  // The controller may clock fewer or more bytes than the answer has.
  answer.resize(message.block ? 1 + data.size() + message.read_size : message.read_size, kIdleByte);
  // A block read ends at a count of 0.
  if (message.block && data.empty()) {
    answer.resize(1);
    result.outcome = smbus::Outcome::kBadCount;
  }
}

TransferResult ExecuteFlipped(smbus::Bus& bus, const Transfer& transfer, std::span<const BitFlip> flips) {
  Transfer seen = Seen(transfer, flips);
  size_t turned = 0;  // the first message with a misread direction
  while (turned < seen.messages.size() && seen.messages[turned].read == transfer.messages[turned].read) ++turned;
  // The wire is out of step after this message, so the rest is not sent.
  if (turned < seen.messages.size()) seen.messages.resize(turned + 1);

  TransferResult result = bus.Execute(seen);
  if (turned < seen.messages.size()) NoticeTurned(transfer.messages[turned], result);
  for (const BitFlip& flip : flips) {
    if (flip.place.part != WirePlace::Part::kRead) continue;
    size_t read = 0;
    for (size_t i = 0; i < flip.place.message; ++i) read += transfer.messages[i].read ? 1 : 0;
    if (read < result.read.size()) FlipRead(transfer.messages[flip.place.message], flip, result, result.read[read]);
  }
  return result;
}

bool FaultTrigger::Fires(uint64_t transaction, const Transfer& transfer) {
  if (transaction < rule_.from || transaction > rule_.to || fired_ == rule_.times || !Fits(rule_, transfer)) {
    return false;
  }
  if (++fitting_ % rule_.every != 0) return false;
  // The upper 53 bits make a number in [0, 1).
  if (rule_.probability < 1 && static_cast<double>(random_() >> 11) * 0x1p-53 >= rule_.probability) return false;
  ++fired_;
  return true;
}

FaultyBus::FaultyBus(smbus::Bus& inner, const FaultPlan& plan, Hooks hooks) : inner_(inner), hooks_(std::move(hooks)) {
  // One seed per rule: another rule in the plan does not change the faults of this rule.
  std::mt19937_64 seeds(plan.seed);
  for (const FaultRule& rule : plan.rules) triggers_.emplace_back(rule, seeds());
}

TransferResult FaultyBus::Execute(const Transfer& transfer) {
  ++transactions_;
  FaultTrigger* on_wire = nullptr;
  uint64_t delay_us = 0;
  for (FaultTrigger& trigger : triggers_) {
    const FaultRule& rule = trigger.rule();
    // Only the first wire fault applies; the others must not count as fired.
    if (IsWireFault(rule.kind) && on_wire != nullptr) continue;
    if (!trigger.Fires(transactions_, transfer)) continue;
    if (IsWireFault(rule.kind)) {
      on_wire = &trigger;
    } else if (Happen(rule)) {
      Count(rule);
      delay_us += static_cast<uint64_t>(absl::ToInt64Microseconds(rule.time));
    }
  }
  Spoiled spoiled;
  if (on_wire == nullptr) {
    spoiled.result = inner_.Execute(transfer);
  } else {
    spoiled = Spoil(*on_wire, transfer);
    if (spoiled.came_about) Count(on_wire->rule());
  }
  constexpr uint64_t kStretchMax = std::numeric_limits<decltype(spoiled.result.stretch_us)>::max();
  spoiled.result.stretch_us = std::min(kStretchMax, spoiled.result.stretch_us + delay_us);
  return std::move(spoiled.result);
}

std::vector<std::pair<absl::string_view, uint64_t>> FaultyBus::Counts() const {
  std::vector<std::pair<absl::string_view, uint64_t>> counts;
  for (size_t i = 0; i < kFaultKinds; ++i) {
    const auto kind = static_cast<FaultKind>(i);
    // Each of the board's faults has a word of its own.
    if (kind != FaultKind::kBoard && counts_[i] > 0) counts.emplace_back(FaultName(kind), counts_[i]);
  }
  for (const BoardFaultRow& row : kBoardFaults) {
    if (count(row.kind) > 0) counts.emplace_back(row.name, count(row.kind));
  }
  return counts;
}

void FaultyBus::Count(const FaultRule& rule) {
  ++counts_[static_cast<size_t>(rule.kind)];
  if (rule.kind == FaultKind::kBoard) ++board_counts_[static_cast<size_t>(rule.board.kind)];
}

bool FaultyBus::Happen(const FaultRule& rule) {
  switch (rule.kind) {
    case FaultKind::kReset:
      if (hooks_.reset) hooks_.reset();
      return hooks_.reset != nullptr;
    case FaultKind::kSupersede:
      if (hooks_.supersede) hooks_.supersede();
      return hooks_.supersede != nullptr;
    case FaultKind::kChangeCatalog:
      if (hooks_.change_catalog) hooks_.change_catalog();
      return hooks_.change_catalog != nullptr;
    case FaultKind::kDelay:
      if (hooks_.delay) hooks_.delay(rule.time);
      return true;
    case FaultKind::kBoard:
      if (hooks_.on_board_fault) hooks_.on_board_fault(rule.board);
      return hooks_.on_board_fault != nullptr;
    case FaultKind::kAddressNack:
    case FaultKind::kDataNack:
    case FaultKind::kArbitrationLost:
    case FaultKind::kBusBusy:
    case FaultKind::kStuckClock:
    case FaultKind::kBitFlip:
    case FaultKind::kBadPec:
    case FaultKind::kShortBlock:
    case FaultKind::kLongBlock:
    case FaultKind::kBusyForever:
    case FaultKind::kStatus:
    case FaultKind::kDie:
      break;  // on the wire: Spoil
  }
  return false;
}

FaultyBus::Spoiled FaultyBus::Spoil(FaultTrigger& trigger, const Transfer& transfer) {
  switch (trigger.rule().kind) {
    case FaultKind::kAddressNack:
      return {{.outcome = Outcome::kAddressNack}};
    case FaultKind::kBusBusy:
      return {{.outcome = Outcome::kArbitrationLost}};
    case FaultKind::kDataNack:
      return RefuseByte(trigger, transfer);
    case FaultKind::kArbitrationLost:
      return Cut(trigger, transfer, WireBytes(transfer) - 1, {.outcome = Outcome::kArbitrationLost});
    case FaultKind::kStuckClock:
      return Cut(trigger, transfer, WireBytes(transfer), {.outcome = Outcome::kTimeout, .stretch_us = kClockLowUs});
    case FaultKind::kDie:
      return Cut(trigger, transfer, WireBytes(transfer), {.outcome = Outcome::kTimeout, .controller_died = true});
    case FaultKind::kBitFlip:
      return FlipBits(trigger, transfer);
    case FaultKind::kBadPec:
      return ChangeLastByte(trigger, transfer);
    case FaultKind::kShortBlock:
    case FaultKind::kLongBlock:
      return ChangeLength(trigger, transfer);
    case FaultKind::kBusyForever:
    case FaultKind::kStatus:
      return ChangeStatus(trigger.rule(), transfer);
    case FaultKind::kReset:
    case FaultKind::kSupersede:
    case FaultKind::kChangeCatalog:
    case FaultKind::kDelay:
    case FaultKind::kBoard:
      break;  // beside the wire: Happen
  }
  return {inner_.Execute(transfer), false};
}

FaultyBus::Spoiled FaultyBus::Cut(FaultTrigger& trigger, const Transfer& transfer, size_t bytes_max,
                                  TransferResult result) {
  const auto& byte = trigger.rule().byte;
  const Transfer seen = Prefix(transfer, byte ? std::min<size_t>(*byte, bytes_max) : trigger.Draw(bytes_max + 1));
  if (seen.messages.empty()) return {std::move(result)};
  const TransferResult real = inner_.Execute(seen);
  // The transaction failed before the cut.
  if (real.outcome != Outcome::kOk && !result.controller_died) return {{.outcome = real.outcome}, false};
  return {std::move(result)};
}

FaultyBus::Spoiled FaultyBus::RefuseByte(FaultTrigger& trigger, const Transfer& transfer) {
  const size_t written = WrittenBytes(transfer);
  if (written == 0) return {inner_.Execute(transfer), false};
  const size_t refused = trigger.rule().byte.value_or(*WrittenByte(transfer, trigger.Draw(written)));
  const bool is_written = refused < WireBytes(transfer) && PlaceOf(transfer, refused).part == WirePlace::Part::kWritten;
  if (!is_written) return {inner_.Execute(transfer), false};
  const TransferResult real = inner_.Execute(Prefix(transfer, refused));
  if (real.outcome != Outcome::kOk) return {{.outcome = real.outcome}, false};
  return {{.outcome = Outcome::kDataNack}};
}

FaultyBus::Spoiled FaultyBus::FlipBits(FaultTrigger& trigger, const Transfer& transfer) {
  // Distinct bytes are drawn below, so there must be as many bytes as bits.
  const size_t bits = trigger.rule().byte ? 1 : std::min<size_t>(trigger.rule().bits, WireBytes(transfer));
  std::vector<BitFlip> flips;
  while (flips.size() < bits) {
    const BitFlip flip = DrawFlip(trigger, transfer);
    // Two flips in one byte could cancel each other.
    if (std::none_of(flips.begin(), flips.end(), [&](const BitFlip& other) { return SameByte(flip, other); })) {
      flips.push_back(flip);
    }
  }
  return {ExecuteFlipped(inner_, transfer, flips)};
}

FaultyBus::Spoiled FaultyBus::ChangeLastByte(FaultTrigger& trigger, Transfer transfer) {
  const auto change = static_cast<uint8_t>(1 + trigger.Draw(255));
  smbus::Message& last = transfer.messages.back();
  if (!last.read) {
    if (last.write_bytes.empty()) return {inner_.Execute(transfer), false};
    last.write_bytes.back() ^= change;
    return {inner_.Execute(transfer)};
  }
  TransferResult result = inner_.Execute(transfer);
  if (result.outcome != Outcome::kOk || result.read.back().empty()) return {std::move(result), false};
  result.read.back().back() ^= change;
  return {std::move(result)};
}

FaultyBus::Spoiled FaultyBus::ChangeLength(FaultTrigger& trigger, const Transfer& transfer) {
  const FaultRule& rule = trigger.rule();
  TransferResult result = inner_.Execute(transfer);
  if (result.outcome != Outcome::kOk || !EndsWithBlock(transfer, result)) return {std::move(result), false};
  Bytes data = result.read.back();
  const size_t count = data[0];
  const bool shorter = rule.kind == FaultKind::kShortBlock;
  // A block of the maximum length cannot become longer.
  if (!shorter && count == smbus::kBlockBytesMax) return {std::move(result), false};
  const size_t drawn = shorter ? trigger.Draw(count) : count + 1 + trigger.Draw(smbus::kBlockBytesMax - count);
  const size_t length = rule.length.value_or(drawn);
  // A length of the plan may suit one block and not another.
  if (shorter ? length >= count : length <= count) return {std::move(result), false};
  data.erase(data.begin());
  data.resize(std::min(length, count));
  data.resize(length, 0);
  AnswerBlock(data, transfer, result);
  return {std::move(result)};
}

FaultyBus::Spoiled FaultyBus::ChangeStatus(const FaultRule& rule, const Transfer& transfer) {
  TransferResult result = inner_.Execute(transfer);
  const bool is_register = result.outcome == Outcome::kOk && EndsWithBlock(transfer, result) &&
                           result.read.back()[0] == mailbox::kRegisterBytes;
  if (!is_register) return {std::move(result), false};
  mailbox::CommandWord word = mailbox::CommandWord::Decode(ByteReader(ByteSpan(result.read.back()).subspan(1)).U32());
  word.execute = rule.kind == FaultKind::kBusyForever;
  // The status of a busy register is null.
  word.status = word.execute ? mailbox::MailboxStatus::kNull : rule.status;
  ByteWriter out;
  out.U32(word.Encode());
  AnswerBlock(out.written(), transfer, result);
  return {std::move(result)};
}

}  // namespace sideband::sim
